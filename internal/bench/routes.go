package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// laneKind is what a lane does to what passes.
type laneKind struct {
	name   string
	words  string
	faults []faults.Fault
	atOnce int // bursts at a time
}

// laneKinds are the lanes of the benchmark. Where requests spend their time waiting, several bursts are
// on their way at a time, of every sender alike, so that the whole takes minutes.
func laneKinds() []laneKind {
	return []laneKind{
		{name: scenarios.Clean, words: "clean lane", atOnce: 1},
		{name: "latency", words: "100 ms latency", faults: latency(0), atOnce: 4},
		{name: "jitter", words: "100 ms latency with 50 ms jitter", faults: latency(50 * time.Millisecond), atOnce: 4},
	}
}

// latency delays requests by 100 ms, with a jitter to either side. Answers come back at once.
func latency(jitter time.Duration) []faults.Fault {
	return []faults.Fault{{Latency: &faults.Latency{
		Delay: faults.Duration(100 * time.Millisecond), Jitter: faults.Duration(jitter), Way: faults.RequestWay,
	}}}
}

// lanesNamed returns the lanes of a list, in its order.
func lanesNamed(list string) ([]laneKind, error) {
	var known []string
	byName := map[string]laneKind{}
	for _, w := range laneKinds() {
		known = append(known, w.name)
		byName[w.name] = w
	}
	names, err := among("lanes", list, known)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("read -lanes: name at least one of %s", strings.Join(known, ", "))
	}
	var chosen []laneKind
	for _, name := range names {
		chosen = append(chosen, byName[name])
	}
	return chosen, nil
}

// route is one lane to a target, in its forms. Senders in this process dial the lane itself. Other
// processes need an address, and get that of a toxiproxy proxy with the same toxics and without an
// upstream tap. That spares them one relay, so what differs is in their favour. Behind the far entry is a
// relay that only copies, so that what passes there is passed on as often as on the lane.
type route struct {
	lane  string
	lanes *proxy.Lanes
	entry *proxy.PlainLink
	far   *proxy.PlainLink
	relay *proxy.Balancer
}

// openRoute opens a lane to an upstream address, and its plain forms beside it.
func openRoute(ctx context.Context, w laneKind, upstream string) (_ *route, err error) {
	r := &route{lane: w.name}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	faults := map[string][]faults.Fault{w.name: w.faults}
	if r.lanes, err = proxy.Open(ctx, faults, proxy.Options{Upstream: upstream, Base: time.Now()}); err != nil {
		return nil, err
	}
	if r.relay, err = proxy.OpenBalancer(ctx, "127.0.0.1:0", []string{upstream}); err != nil {
		return nil, err
	}
	link := proxy.Link{Name: w.name, Listen: "127.0.0.1:0", Upstream: upstream, Faults: w.faults}
	if r.entry, err = proxy.OpenLink(ctx, link, proxy.Options{}); err != nil {
		return nil, err
	}
	link.Upstream = fmt.Sprintf("127.0.0.1:%d", r.relay.Port())
	r.far, err = proxy.OpenLink(ctx, link, proxy.Options{})
	return r, err
}

// close closes all forms, as far as they are open.
func (r *route) close() error {
	var errs []error
	if r.lanes != nil {
		errs = append(errs, r.lanes.Close())
	}
	for _, link := range []*proxy.PlainLink{r.entry, r.far} {
		if link != nil {
			errs = append(errs, link.Close())
		}
	}
	if r.relay != nil {
		errs = append(errs, r.relay.Close())
	}
	return errors.Join(errs...)
}

// near is the address of the entry that leads to the target itself.
func (r *route) near() string { return r.entry.Address() }

// beyond is the address of the entry that leads to the relay.
func (r *route) beyond() string { return r.far.Address() }

// dial connects to the target by the lane.
func (r *route) dial(ctx context.Context) (net.Conn, error) {
	conn, _, err := r.lanes.Dial(ctx, r.lane)
	return conn, err
}

// asDriver is the route as the driver takes it.
func (r *route) asDriver(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
	conn, passage, err := r.lanes.Dial(ctx, lane)
	if err != nil {
		return nil, nil, err // and not a passage that is nil inside
	}
	return conn, passage, nil
}

// onRoute opens a route to an address and closes it after use.
func onRoute(ctx context.Context, w laneKind, address string, use func(*route) error) error {
	r, err := openRoute(ctx, w, address)
	if err != nil {
		return err
	}
	return errors.Join(use(r), r.close())
}
