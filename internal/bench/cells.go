package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"
)

// spot names a cell: one sender, on one lane, with one number of members.
type spot struct {
	lane    string
	members int
	sender  string
}

// cell is what was measured of one sender on one lane.
type cell struct {
	spreads []time.Duration // first to last arrival of each burst
	gaps    []time.Duration // first to second
	asked   int             // requests
	counted int             // by the target
	took    time.Duration
	busy    time.Duration   // of all processors together; 0: the system does not say
	differs map[string]bool // headers that were not the same in all requests of a burst
}

// longestTurn is how many bursts a sender lets go before it is the next one's turn, so that whatever
// else the machine does strikes them all.
const longestTurn = 100

// measureCells measures every sender on every lane with every number of members. The senders take
// turns.
func measureCells(ctx context.Context, s settings, senders []sender, progress io.Writer) (map[spot]*cell, error) {
	cells := map[spot]*cell{}
	began := time.Now()
	for _, w := range s.lanes {
		for _, members := range s.members {
			fmt.Fprintf(progress, "%6s %s, %d members\n", time.Since(began).Round(time.Second), w.words, members)
			for left := s.bursts; left > 0; left -= longestTurn {
				for _, one := range senders {
					at := spot{lane: w.name, members: members, sender: one.name}
					if cells[at] == nil {
						cells[at] = &cell{differs: map[string]bool{}}
					}
					j := job{bursts: min(left, longestTurn), members: members, atOnce: w.atOnce, scratch: s.scratch, apart: s.apart}
					if err := cells[at].turn(ctx, w, one, j); err != nil {
						return nil, fmt.Errorf("%s, %s, %d members: %w", one.name, w.words, members, err)
					}
				}
			}
		}
	}
	return cells, nil
}

// turn lets a sender send a job to a server of its own and adds what arrived there.
func (c *cell) turn(ctx context.Context, w laneKind, by sender, j job) error {
	sent := sendHere
	if j.apart {
		sent = sendApart
	}
	came, took, err := sent(ctx, w, by.burst, j)
	if err != nil {
		return err
	}
	c.took += took.time
	c.busy += took.busy
	c.asked += j.asked()
	for _, burst := range came {
		c.add(burst)
	}
	return nil
}

// spent is what a sending has taken.
type spent struct {
	time time.Duration
	busy time.Duration // of all processors together
}

// sendHere has a job sent to a target in this process, and returns what came there.
func sendHere(ctx context.Context, w laneKind, send burstSender, j job) (map[string][]arrival, spent, error) {
	came := newArrivals()
	took, err := sendTo(ctx, routes(came), w, send, j)
	return came.all(), took, err
}

// sendTo serves a handler while a job is sent to it, and returns what the sending took.
func sendTo(ctx context.Context, handler http.Handler, w laneKind, send burstSender, j job) (spent, error) {
	t, err := serve(handler)
	if err != nil {
		return spent{}, err
	}
	defer t.close()
	return sendOn(ctx, t.address, w, send, j)
}

// sendOn opens a route to an address, sends a job on it, and returns what the sending took.
func sendOn(ctx context.Context, address string, w laneKind, send burstSender, j job) (took spent, err error) {
	err = onRoute(ctx, w, address, func(r *route) error {
		j.route = r
		began, before := time.Now(), processors()
		err := send(ctx, j)
		took = spent{time.Since(began), processors() - before}
		return err
	})
	return took, err
}

// add adds one burst.
func (c *cell) add(burst []arrival) {
	c.counted += len(burst)
	slices.SortFunc(burst, func(a, b arrival) int { return cmp.Compare(a.After, b.After) })
	if len(burst) > 1 {
		c.spreads = append(c.spreads, burst[len(burst)-1].After-burst[0].After)
		c.gaps = append(c.gaps, burst[1].After-burst[0].After)
	}
	for _, a := range burst {
		maps.Copy(c.differs, differing(burst[0].Header, a.Header))
	}
}

// differing returns the headers that are not the same.
func differing(a, b http.Header) map[string]bool {
	names := map[string]bool{}
	for _, headers := range []http.Header{a, b} {
		for name := range headers {
			if !slices.Equal(a[name], b[name]) {
				names[name] = true
			}
		}
	}
	return names
}

// quantile returns the value below which a share of the others lie, zero of none.
func quantile(of []time.Duration, share float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	return sorted[int(float64(len(sorted)-1)*share)]
}

// windows are how long a check-then-insert may take.
func windows() []time.Duration {
	const us = time.Microsecond
	return []time.Duration{50 * us, 100 * us, usualWindow, 500 * us, 1000 * us, 2000 * us, 5000 * us, 20000 * us}
}

// usualWindow is the one that targets are set for: a query and an insert on a near database.
const usualWindow = 200 * time.Microsecond

// duplicated counts the bursts that a check-then-insert of some length duplicates: those whose second
// check comes before the first insert.
func (c *cell) duplicated(window time.Duration) int {
	n := 0
	for _, gap := range c.gaps {
		if gap < window {
			n++
		}
	}
	return n
}

// share is the share of bursts that are duplicated. A burst of which fewer than two requests came is none.
func (c *cell) share(window time.Duration) float64 {
	if len(c.gaps) == 0 {
		return 0
	}
	return float64(c.duplicated(window)) / float64(len(c.gaps))
}

// perSecond is how many duplicates are found in a second of sending.
func (c *cell) perSecond(window time.Duration) float64 {
	return float64(c.duplicated(window)) / c.took.Seconds()
}

// check is what a server that really checks and inserts made of a sender's bursts.
type check struct {
	sender     string
	duplicated int
	bursts     int
	window     time.Duration // median of what the window came to
}

const checkMembers = 10

// measureChecks holds the arithmetic of the windows against a server that really has one.
func measureChecks(ctx context.Context, s settings, senders []sender) ([]check, error) {
	jitter, err := lanesNamed("jitter")
	if err != nil {
		return nil, err
	}
	var checks []check
	for _, one := range senders {
		server := &racy{window: usualWindow, rows: map[string]int{}}
		j := job{bursts: s.bursts, members: checkMembers, atOnce: jitter[0].atOnce, scratch: s.scratch}
		if _, err := sendTo(ctx, routes(server), jitter[0], one.burst, j); err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		checks = append(checks, check{
			sender: one.name, duplicated: server.duplicated(), bursts: len(server.rows), window: quantile(server.waits, 0.5),
		})
	}
	return checks, nil
}

// hidden is what a sender sent to a server that breaks connections.
type hidden struct {
	sender         string
	asked, counted int
}

// measureHidden has plain requests sent, one after the other, to a server that takes every second one
// and closes the connection without an answer.
func measureHidden(ctx context.Context, s settings, senders []sender) ([]hidden, error) {
	clean, err := lanesNamed("clean")
	if err != nil {
		return nil, err
	}
	var all []hidden
	for _, one := range senders {
		server := &breaking{}
		j := job{bursts: 100, members: 1, atOnce: 1, scratch: s.scratch}
		if _, err := sendTo(ctx, routes(server), clean[0], one.plain, j); err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		all = append(all, hidden{sender: one.name, asked: j.asked(), counted: server.counted})
	}
	return all, nil
}
