package proxy

import (
	"context"
	"errors"
	"fmt"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
)

// Link is a connection inside the target with faults, such as the one to its database: a toxiproxy proxy on an
// address that the target was told to use. It has no upstream tap, so nothing is recorded of it.
type Link struct {
	Name     string
	Listen   string // host:port, from where toxiproxy runs
	Upstream string // host:port of what the target talks to
	Faults   []faults.Fault
}

// PlainLink is an open [Link]. Its faults stay as they are. Its methods are safe for concurrent use.
type PlainLink struct {
	facts history.Lane
	host  host
	proxy toxicProxy
}

// OpenLink opens a link; of the options only Toxiproxy matters.
func OpenLink(ctx context.Context, link Link, o Options) (*PlainLink, error) {
	effects, err := effectsOf(link.Faults)
	if err != nil {
		return nil, fmt.Errorf("open link %q: %w", link.Name, err)
	}
	h, err := hostAt(o.Toxiproxy)
	if err != nil {
		return nil, fmt.Errorf("open link %q: %w", link.Name, err)
	}
	plan := proxyPlan{name: link.Name, listen: link.Listen, upstream: link.Upstream, toxics: effects.toxics}
	r, err := h.build(ctx, plan)
	if err != nil {
		h.leave()
		return nil, fmt.Errorf("open link %q: %w", link.Name, err)
	}
	return &PlainLink{facts: effects.facts(link.Name, h.place()), host: h, proxy: r}, nil
}

// Address is where the link listens, as host:port; the port is the true one if it was given as 0.
func (l *PlainLink) Address() string { return l.proxy.address() }

// Facts describes the link as it was opened.
func (l *PlainLink) Facts() history.Lane { return l.facts }

// Close closes the link and all connections on it. It may be repeated.
func (l *PlainLink) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	defer l.host.leave()
	if err := errors.Join(l.proxy.clearToxics(ctx), l.proxy.close(ctx)); err != nil {
		return fmt.Errorf("close link %q: %w", l.facts.Name, err)
	}
	return nil
}
