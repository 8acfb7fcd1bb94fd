package driver_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

var errEnough = errors.New("enough")

func TestAnInterruptedRunRecordsWhatWasInFlight(t *testing.T) {
	t.Parallel()
	const inFlight = 4
	arrived := make(chan struct{}, inFlight)
	address := serveRaw(t, func(p *peer) { p.request(); arrived <- struct{}{}; p.stay() })
	r := newRigFor(t, address, scenarios.Scenario{
		Name: "trial", Intents: 9, Concurrency: 2, Steps: []scenarios.Step{tabs(2, ""), send()},
	})
	done := 0
	r.Hooks.Done = func() { done++ }
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := r.begin(ctx)
	for range inFlight {
		within(t, arrived, "a request")
	}
	cancel(errEnough)
	require.ErrorIs(t, within(t, ended, "the end"), errEnough)
	attempts := r.history(t).Attempts
	require.Len(t, attempts, inFlight)
	for _, a := range attempts {
		require.Equal(t, history.Interrupted, a.ErrorKind)
		require.NotZero(t, a.Sent)
	}
	require.Zero(t, done)
}

func TestAnInterruptionEndsEveryKindOfWaiting(t *testing.T) {
	t.Parallel()
	ages := fixed(time.Hour)
	late := scenarios.Tab{At: ages, Send: plain()}
	for name, step := range map[string]scenarios.Step{
		"a tab that is not due yet":     {Tabs: []scenarios.Tab{{Send: plain()}, late, late}},
		"the pause before a retry":      retrying(scenarios.Retry{Max: 1, Backoff: ages}),
		"a pause":                       {Wait: &scenarios.Wait{Pause: ages}},
		"a row that is never there":     committed(time.Hour),
		"a tab that was not waited for": {Tabs: []scenarios.Tab{late}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			address := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
			r := newRig(t, address, send(), step, send())
			r.Rows = func(context.Context, string, string) (int, error) { return 0, nil }
			ended := r.begin(ctx)
			require.Eventually(t, func() bool { return len(r.lines(t, "attempt")) >= 1 }, long, time.Millisecond)
			cancel(errEnough)
			require.ErrorIs(t, within(t, ended, "the end"), errEnough)
			for _, a := range r.history(t).Attempts {
				require.Less(t, a.Step, 2, "nothing is sent any more")
			}
		})
	}
}

// A context that ends at the very moment at which the connection stands must end the exchange too.
func TestAnInterruptionDuringTheDialEndsTheExchange(t *testing.T) {
	t.Parallel()
	address := serveRaw(t, (*peer).stay)
	for n := range 30 {
		step := send()
		step.Send.Timeout = fixed(time.Hour)
		r := newRig(t, address, step)
		ctx, cancel := context.WithCancelCause(t.Context())
		r.Dialers[0] = func(context.Context, string) (net.Conn, driver.Tap, error) {
			conn, err := net.Dial("tcp", address)
			cancel(errEnough)
			return conn, nil, err
		}
		require.ErrorIs(t, within(t, r.begin(ctx), "the end"), errEnough)
		require.Equal(t, history.Interrupted, r.history(t).Attempts[0].ErrorKind, "round %d", n)
	}
}

// meddling is a connection whose context ends at the very moment at which it gets its n-th deadline,
// and that gets it only when the driver has done what it does at the end of a context.
type meddling struct {
	net.Conn
	countdown int
	cancel    func()
	once      sync.Once
	ended     chan struct{}
}

func (m *meddling) SetDeadline(at time.Time) error {
	if time.Until(at) < 0 {
		defer m.once.Do(func() { close(m.ended) })
		return m.Conn.SetDeadline(at)
	}
	if m.countdown--; m.countdown == 0 {
		m.cancel()
		<-m.ended
	}
	return m.Conn.SetDeadline(at)
}

func (m *meddling) Close() error {
	defer m.once.Do(func() { close(m.ended) })
	return m.Conn.Close()
}

func TestAnInterruptionAtTheReleaseEndsTheExchange(t *testing.T) {
	t.Parallel()
	address := serveRaw(t, (*peer).stay)
	step := burst(1)
	step.Burst.Timeout = fixed(time.Hour)
	r := newRig(t, address, step)
	ctx, cancel := context.WithCancelCause(t.Context())
	r.Dialers[0] = func(context.Context, string) (net.Conn, driver.Tap, error) {
		conn, err := net.Dial("tcp", address)
		return &meddling{Conn: conn, countdown: 2, cancel: func() { cancel(errEnough) }, ended: make(chan struct{})}, nil, err
	}
	require.ErrorIs(t, within(t, r.begin(ctx), "the end"), errEnough)
	require.Equal(t, history.Interrupted, r.history(t).Attempts[0].ErrorKind)
}

func TestAHistoryThatCannotBeWrittenStopsTheSending(t *testing.T) {
	t.Parallel()
	const intents, head = 10, 1 + 10
	for _, limit := range []int{3, head, head + 1, head + 2, head + 5} {
		t.Run(fmt.Sprintf("after %d lines", limit), func(t *testing.T) {
			t.Parallel()
			var seen ledger
			address := serve(t, func(http.ResponseWriter, *http.Request) { seen.add("request") })
			r := newRigFor(t, address, scenarios.Scenario{
				Name: "trial", Intents: intents, Concurrency: 2, Steps: []scenarios.Step{send(), tabs(3, ""), burst(2)},
			})
			r.file.limit = limit
			require.ErrorIs(t, r.Drive(t.Context()), errFull)
			require.LessOrEqual(t, len(seen.all()), len(r.lines(t, "begun")), "nothing is sent that is not on record")
		})
	}
}

// refusals drives intents one after the other while the road refuses where refuse says so.
func refusals(t *testing.T, intents int, refuse func(dial int) bool) (*rig, error) {
	t.Helper()
	address := serve(t, func(http.ResponseWriter, *http.Request) {})
	r := newRigFor(t, address, scenarios.Scenario{Name: "trial", Intents: intents, Steps: []scenarios.Step{send()}})
	dial, dials := r.Dialers[0], 0
	r.Dialers[0] = func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
		dials++
		if refuse(dials) {
			return nil, nil, errors.New("connection refused")
		}
		return dial(ctx, lane)
	}
	return r, r.Drive(t.Context())
}

func TestATargetThatIsGoneStopsTheSending(t *testing.T) {
	t.Parallel()
	r, err := refusals(t, 20, func(int) bool { return true })
	require.ErrorIs(t, err, driver.ErrTargetGone)
	require.Len(t, r.history(t).Attempts, 8)
	r, err = refusals(t, 20, func(dial int) bool { return dial > 5 })
	require.ErrorIs(t, err, driver.ErrTargetGone)
	require.Len(t, r.history(t).Attempts, 13)
}

func TestATargetThatComesBackIsNotGone(t *testing.T) {
	t.Parallel()
	r, err := refusals(t, 30, func(dial int) bool { return dial%8 != 0 })
	require.NoError(t, err)
	require.Len(t, r.history(t).Attempts, 30)
}

func TestATargetThatBreaksConnectionsIsNotGone(t *testing.T) {
	t.Parallel()
	r := newRigFor(t, serveRaw(t, func(p *peer) { p.request(); p.reset() }),
		scenarios.Scenario{Name: "trial", Intents: 20, Steps: []scenarios.Step{send()}})
	require.Len(t, r.drive(t).Attempts, 20)
}

// Behind a lane, a connection always stands; it is the upstream tap that sees the refusal.
func TestARefusalAtTheDoorstepCounts(t *testing.T) {
	t.Parallel()
	address := serveRaw(t, func(*peer) {})
	r := newRigFor(t, address, scenarios.Scenario{Name: "trial", Intents: 20, Steps: []scenarios.Step{send()}})
	dial := r.Dialers[0]
	r.Dialers[0] = func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
		conn, _, err := dial(ctx, lane)
		return conn, seenAs(func() history.Passage { return history.Passage{Refused: true} }), err
	}
	require.ErrorIs(t, r.Drive(t.Context()), driver.ErrTargetGone)
	require.Len(t, r.history(t).Attempts, 8)
}

func TestStoriesAreTalliedOneAtATime(t *testing.T) {
	t.Parallel()
	r := newRigFor(t, serve(t, func(http.ResponseWriter, *http.Request) {}),
		scenarios.Scenario{Name: "trial", Intents: 60, Concurrency: 8, Steps: []scenarios.Step{send()}})
	done := 0 // not guarded: the race detector watches
	r.Hooks.Done = func() { done++ }
	r.drive(t)
	require.Equal(t, 60, done)
}

func TestNoMoreStoriesAreToldAtOnceThanThePlanSays(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	address := serve(t, func(http.ResponseWriter, *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		now.Add(-1)
	})
	r := newRigFor(t, address, scenarios.Scenario{Name: "trial", Intents: 60, Concurrency: 3, Steps: []scenarios.Step{send()}})
	r.drive(t)
	require.LessOrEqual(t, most.Load(), int64(3))
}

func TestAPlanThatCannotBeRenderedIsNotBegun(t *testing.T) {
	t.Parallel()
	r := newRig(t, deaf(t), send())
	r.Operations[0].Request.Body["who"] = "{{.Principal.Nobody}}"
	err := r.Drive(t.Context())
	require.ErrorContains(t, err, "intent i001")
	require.False(t, strings.Contains(err.Error(), "sesame"))
}
