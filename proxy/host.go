package proxy

import (
	"context"
	"fmt"
)

// host is where toxiproxy runs: in this process (inProcess) or on a server (server).
type host interface {
	place() string         // "in-process" or the URL of a server
	reachesLoopback() bool // a listener of ours on 127.0.0.1 can be its upstream
	build(ctx context.Context, plan proxyPlan) (toxicProxy, error)
	leave()
}

// toxicProxy is one toxiproxy proxy that accepts connections.
type toxicProxy interface {
	address() string                               // host:port to dial
	add(ctx context.Context, i int, t toxic) error // the i-th toxic, also to connections that are there
	clearToxics(ctx context.Context) error         // removes the toxics, so that none sleeps on; may be repeated
	lost() error                                   // why it is not there any more; nil: it is
	close(ctx context.Context) error               // removes the proxy and its connections; may be repeated
}

// proxyPlan describes a toxicProxy.
type proxyPlan struct {
	name     string
	listen   string // empty: a free port
	upstream string
	toxics   []toxic
}

// hostAt returns the toxiproxy server at a URL, or this process if that is empty.
func hostAt(url string) (host, error) {
	if url == "" {
		return newInProcess(), nil
	}
	s, err := newServer(url)
	if err == nil {
		_, _ = s.sweep() // what others have left does not keep us from beginning
	}
	return s, err
}

// inTime runs f, which cannot be interrupted, but waits for it no longer than ctx:
// removing a toxic that sleeps takes as long as it sleeps. f may go on after that, and
// must then not change what others read.
func inTime(ctx context.Context, doing string, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", doing, ctx.Err())
	}
}
