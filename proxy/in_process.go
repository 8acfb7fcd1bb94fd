package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/rs/zerolog"
)

// inProcess is toxiproxy in this process, without its API.
type inProcess struct {
	server *toxiproxy.ApiServer
}

// newInProcess changes nothing outside toxiproxy: it registers our toxic there, and gives
// the server a logger that says nothing. The user's process may log with zerolog too, so
// zerolog's global level stays as it is.
func newInProcess() inProcess {
	toxics.Register(bandwidthKind, new(bandwidthToxic))
	return inProcess{server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())}
}

// It is on this machine, and there is nothing to give up.
func (inProcess) place() string         { return "in-process" }
func (inProcess) reachesLoopback() bool { return true }
func (inProcess) leave()                {}

// build adds the toxics before it starts the proxy, so that no connection can be there
// first.
func (h inProcess) build(ctx context.Context, plan proxyPlan) (toxicProxy, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	listen := plan.listen
	if listen == "" {
		listen = net.JoinHostPort(loneHost(), "0")
	}
	r := inProcessProxy{proxy: toxiproxy.NewProxy(h.server, plan.name, listen, plan.upstream)}
	for i, t := range plan.toxics {
		if err := r.add(ctx, i, t); err != nil {
			return nil, err
		}
	}
	if err := r.proxy.Start(); err != nil {
		return nil, fmt.Errorf("start proxy on %s: %w", listen, err)
	}
	return r, nil
}

// inProcessProxy is a proxy in this process.
type inProcessProxy struct {
	proxy *toxiproxy.Proxy
}

// add adds a toxic as toxiproxy's API takes it, in JSON: its Go types are checked there.
func (r inProcessProxy) add(ctx context.Context, i int, t toxic) error {
	kind := t.kind
	if _, limits := t.attributes.(*toxics.BandwidthToxic); limits {
		kind = bandwidthKind
	}
	content, err := json.Marshal(map[string]any{
		"name":       t.name(i),
		"type":       kind,
		"stream":     t.stream,
		"toxicity":   always,
		"attributes": t.attributes,
	})
	if err != nil {
		return fmt.Errorf("add toxic %s: %w", t.name(i), err)
	}
	return inTime(ctx, "add toxic "+t.name(i), func() error {
		if _, err := r.proxy.Toxics.AddToxicJson(bytes.NewReader(content)); err != nil {
			return fmt.Errorf("add toxic %s: %w", t.name(i), err)
		}
		return nil
	})
}

// address is where it listens, with its true port.
func (r inProcessProxy) address() string { return r.proxy.Listen }

// lost returns nil: what is in this process is lost with it.
func (inProcessProxy) lost() error { return nil }

// clearToxics removes the last toxic first: what lies behind a toxic that has closed its stream can only
// be removed before it (ResetToxics, which goes forwards, leaves it asleep).
func (r inProcessProxy) clearToxics(ctx context.Context) error {
	return inTime(ctx, "remove toxics", func() error {
		for _, t := range slices.Backward(r.proxy.Toxics.GetToxicArray()) {
			err := r.proxy.Toxics.RemoveToxic(context.WithoutCancel(ctx), nameOf(t))
			if err != nil && !errors.Is(err, toxiproxy.ErrToxicNotFound) {
				return fmt.Errorf("remove toxic %s: %w", nameOf(t), err)
			}
		}
		return nil
	})
}

// close stops the proxy and ends its connections.
func (r inProcessProxy) close(ctx context.Context) error {
	return inTime(ctx, "stop proxy", func() error {
		r.proxy.Stop()
		return nil
	})
}
