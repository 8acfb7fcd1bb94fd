package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/proxy"
)

// footprint is what this process occupies.
type footprint struct {
	heap       int64 // bytes in use after a collection
	stacks     int64 // bytes
	goroutines int
}

// look collects garbage and looks at what is left.
func look() footprint {
	runtime.GC()
	runtime.GC() // what the first one only finalized is freed by the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{heap: int64(m.HeapAlloc), stacks: int64(m.StackInuse), goroutines: runtime.NumGoroutine()}
}

// growth is what each of n things has added to a footprint.
type growth struct {
	heap, stacks, goroutines float64
}

// since is what each of n things has added since another look.
func (f footprint) since(before footprint, n int) growth {
	each := func(now, then int64) float64 { return float64(now-then) / float64(n) }
	return growth{
		heap: each(f.heap, before.heap), stacks: each(f.stacks, before.stacks),
		goroutines: float64(f.goroutines-before.goroutines) / float64(n),
	}
}

// memory is what the driver occupies.
type memory struct {
	inFlight growth // of an attempt inside the target, with its lane and the server
	server   growth // of that, a plain connection to the server with a request inside
	ended    growth // of an attempt that has ended, while its scenario is still running
	soak     []mark
}

// mark is one look during the soak.
type mark struct {
	after    time.Duration
	attempts int
	footprint
}

// inFlight is how many attempts are held inside the server at a time.
const inFlight = 1000

// measureMemory measures what attempts occupy while they are under way and when they have ended,
// and whether memory grows in a long run.
func measureMemory(ctx context.Context, s settings) (*memory, error) {
	var m memory
	var errs [4]error
	m.inFlight, errs[0] = held(ctx, s, driveHeld)
	m.server, errs[1] = held(ctx, s, connectHeld)
	m.ended, errs[2] = ended(ctx, s)
	m.soak, errs[3] = soak(ctx, s)
	return &m, errors.Join(errs[:]...)
}

// held measures what requests cost that are all inside the server. Send returns what waits until they
// have ended; they end when the server lets them go.
func held(ctx context.Context, s settings, send func(context.Context, job, *target) (func() error, error)) (growth, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*longest)
	defer cancel()
	h := &holding{inside: make(chan struct{}), open: make(chan struct{})}
	t, err := serve(h)
	if err != nil {
		return growth{}, err
	}
	defer t.close()
	var g growth
	err = onRoute(ctx, laneKinds()[0], t.address, func(r *route) error {
		before := look()
		end, err := send(ctx, job{route: r, bursts: inFlight, members: 1, atOnce: inFlight, scratch: s.scratch}, t)
		if err != nil {
			return err
		}
		waited := h.wait(ctx, inFlight)
		g = look().since(before, inFlight)
		close(h.open)
		return errors.Join(waited, end())
	})
	return g, err
}

// driveHeld sends with the driver.
func driveHeld(ctx context.Context, j job, _ *target) (func() error, error) {
	ended := make(chan error, 1)
	go func() { ended <- plainOfOurs(ctx, j) }()
	return func() error { return <-ended }, nil
}

// connectHeld sends the same request on plain connections, without a driver and a lane.
func connectHeld(ctx context.Context, j job, t *target) (func() error, error) {
	var conns []net.Conn
	end := func() error {
		for _, conn := range conns {
			conn.Close()
		}
		return nil
	}
	for id := range j.bursts {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", t.address)
		if err != nil {
			return nil, errors.Join(err, end())
		}
		conns = append(conns, conn)
		if _, err := io.WriteString(conn, rawRequest(id, "close")); err != nil {
			return nil, errors.Join(err, end())
		}
	}
	return end, nil
}

// ended measures what an attempt leaves behind until its scenario's run is over.
func ended(ctx context.Context, s settings) (growth, error) {
	t, err := serve(http.HandlerFunc(creating))
	if err != nil {
		return growth{}, err
	}
	defer t.close()
	var g growth
	err = onRoute(ctx, laneKinds()[0], t.address, func(r *route) error {
		j := job{route: r, bursts: s.attempts, members: 1, atOnce: workers}
		if err := driver.Send(ctx, j.config(j.plainStep(), io.Discard)); err != nil { // so that all pools are filled
			return err
		}
		before := look()
		prepared, err := driver.New(j.config(j.plainStep(), io.Discard)).SetUp(ctx)
		if err != nil {
			return err
		}
		sent, err := prepared.Send(ctx)
		g = look().since(before, s.attempts)
		runtime.KeepAlive(sent)
		return err
	})
	return g, err
}

// marks is how many looks there are at a soak.
const marks = 10

// soak drives one scenario after the other on the same lanes, as a long run does.
func soak(ctx context.Context, s settings) ([]mark, error) {
	t, err := serve(http.HandlerFunc(creating))
	if err != nil {
		return nil, err
	}
	defer t.close()
	var all []mark
	err = onRoute(ctx, laneKinds()[0], t.address, func(r *route) error {
		const scenario = 500
		j := job{route: r, bursts: scenario, members: 1, atOnce: workers, scratch: s.scratch}
		began, attempts := time.Now(), 0
		for next := time.Duration(0); len(all) <= marks; {
			if err := plainOfOurs(ctx, j); err != nil {
				return err
			}
			attempts += scenario
			if after := time.Since(began); after >= next {
				all = append(all, mark{after: after, attempts: attempts, footprint: look()})
				next += s.soak / marks
			}
		}
		return nil
	})
	return all, err
}

// lanesCost is what lanes occupy.
type lanesCost struct {
	lanes     int
	idle      growth // of a lane that nobody has dialled
	connected growth // of one connection on it, with all of its ends
}

// laneCounts are how many lanes are opened at a time.
func laneCounts() []int { return []int{1, 10, 100, 1000} }

// measureLanes measures what lanes occupy, for several numbers of them.
func measureLanes(ctx context.Context) ([]lanesCost, error) {
	var all []lanesCost
	for _, n := range append([]int{1}, laneCounts()...) { // the first one fills pools
		c, err := costOf(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("%d lanes: %w", n, err)
		}
		all = append(all, c)
	}
	return all[1:], nil
}

// costOf measures n lanes, first without a connection and then with one each.
func costOf(ctx context.Context, n int) (lanesCost, error) {
	s, err := newSink()
	if err != nil {
		return lanesCost{}, err
	}
	defer s.close()
	c := lanesCost{lanes: n}
	faults := map[string][]faults.Fault{}
	for i := range n - 1 { // the clean lane is always there
		faults[fmt.Sprint("lane", i)] = latency(50 * time.Millisecond)
	}
	before := look()
	lanes, err := proxy.Open(ctx, faults, proxy.Options{Upstream: s.listener.Addr().String()})
	if err != nil {
		return c, err
	}
	idle := look()
	c.idle = idle.since(before, n)
	for _, lane := range lanes.Facts() {
		if _, _, err := lanes.Dial(ctx, lane.Name); err != nil {
			return c, errors.Join(err, lanes.Close())
		}
	}
	if err := s.wait(ctx, n); err != nil {
		return c, errors.Join(err, lanes.Close())
	}
	c.connected = look().since(idle, n)
	return c, lanes.Close()
}

// sink is a target that takes connections and costs next to nothing.
type sink struct {
	listener net.Listener
	taken    chan struct{}
	ended    chan struct{}
	taking   sync.WaitGroup
}

// newSink listens on loopback.
func newSink() (*sink, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &sink{listener: listener, taken: make(chan struct{}), ended: make(chan struct{})}
	s.taking.Go(s.take)
	return s, nil
}

// take takes connections and keeps them open until the sink is closed.
func (s *sink) take() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		select {
		case s.taken <- struct{}{}:
		case <-s.ended:
			return
		}
	}
}

// wait returns when so many connections have come.
func (s *sink) wait(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	for range n {
		select {
		case <-s.taken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// close ends the listening and all connections.
func (s *sink) close() {
	close(s.ended)
	_ = s.listener.Close()
	s.taking.Wait()
}
