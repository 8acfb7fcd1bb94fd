package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"
)

// workers is how many attempts are under way at a time where throughput is measured.
const workers = 16

// rate is the throughput of one way to send, in requests per second.
type rate struct {
	name  string
	turns []float64
}

// median is that of the turns.
func (r rate) median() float64 {
	if len(r.turns) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(r.turns))[len(r.turns)/2]
}

// The ways to send, in the order of the table.
const (
	rateOurs    = "doubletap, history in a file"
	rateVegeta  = "vegeta, same lane"
	rateEntry   = "vegeta, lane without an upstream tap"
	rateNoProxy = "vegeta, no lane"
)

// measureThroughput has the driver and vegeta take turns on one server.
func measureThroughput(ctx context.Context, s settings) ([]rate, error) {
	t, err := serve(http.HandlerFunc(creating))
	if err != nil {
		return nil, err
	}
	defer t.close()
	var rates []rate
	err = onRoute(ctx, laneKinds()[0], t.address, func(r *route) error {
		j := job{route: r, bursts: s.attempts, members: 1, atOnce: workers, scratch: s.scratch}
		direct := new(net.Dialer).DialContext
		ways := []struct {
			name string
			send func() error
		}{
			{rateOurs, func() error { return plainOfOurs(ctx, j) }},
			{rateVegeta, func() error { return fresh(j, j.dialing) }},
			{rateEntry, func() error { return fresh(j, to(direct, r.entry.Address())) }},
			{rateNoProxy, func() error { return fresh(j, to(direct, t.address)) }},
		}
		for _, way := range ways {
			rates = append(rates, rate{name: way.name})
		}
		for range s.turns {
			for i, way := range ways {
				began := time.Now()
				if err := way.send(); err != nil {
					return fmt.Errorf("%s: %w", way.name, err)
				}
				rates[i].turns = append(rates[i].turns, float64(j.asked())/time.Since(began).Seconds())
			}
		}
		return ctx.Err()
	})
	return rates, err
}

// dialer connects as net/http wants it.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// to dials one address, whatever it is asked for.
func to(dial dialer, address string) dialer {
	return func(ctx context.Context, network, _ string) (net.Conn, error) { return dial(ctx, network, address) }
}

// fresh sends with vegeta alone, each request on a connection of its own as the driver does.
func fresh(j job, dial dialer) error {
	return attack(&http.Transport{DisableKeepAlives: true, DialContext: dial}, 1, j.asked(), workers)
}
