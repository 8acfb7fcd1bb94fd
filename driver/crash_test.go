package driver_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// mortal is a server that can be killed and started again at the same address, which nobody else gets in between.
// It answers no request of its first life.
type mortal struct {
	t       testing.TB
	port    *os.File // is listened on between two lives as well
	address string
	server  *http.Server
	lives   atomic.Int64
	came    chan struct{} // closed when a request is inside the first life
	coming  sync.Once
	stays   error // why it does not start again
	slow    time.Duration
	work    time.Duration // after which the first life answers as well; 0: it does not
}

func newMortal(t testing.TB) *mortal {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	port, err := listener.(*net.TCPListener).File()
	require.NoError(t, err)
	t.Cleanup(func() { _ = port.Close() })
	m := &mortal{t: t, port: port, address: listener.Addr().String(), came: make(chan struct{})}
	require.NoError(t, m.start(t.Context()))
	t.Cleanup(func() { _ = m.server.Close() })
	return m
}

func (m *mortal) start(context.Context) error {
	if m.stays != nil {
		return m.stays
	}
	time.Sleep(m.slow)
	listener, err := net.FileListener(m.port)
	require.NoError(m.t, err)
	first := m.lives.Add(1) == 1
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is it noticed that the client leaves
		m.coming.Do(func() { close(m.came) })
		time.Sleep(m.work)
		if first && m.work == 0 {
			<-r.Context().Done()
		}
		w.WriteHeader(http.StatusCreated)
	})}
	m.server = server
	go func() { _ = server.Serve(listener) }()
	return nil
}

// kill waits until a request is inside the first life: on a busy machine it may still wait at the port, where the second life would
// take it.
func (m *mortal) kill() error {
	m.awaitRequest()
	return m.server.Close()
}

func (m *mortal) awaitRequest() {
	select {
	case <-m.came:
	case <-time.After(long):
		m.t.Error("no request has come")
	}
}

func (m *mortal) crasher() *driver.Crasher { return &driver.Crasher{Kill: m.kill, Start: m.start} }

func crash(at time.Duration) scenarios.Step {
	return scenarios.Step{Crash: &scenarios.Crash{From: fixed(at), To: fixed(at), Send: plain()}}
}

func TestACrashStrikesWhileItsRequestIsInside(t *testing.T) {
	m := newMortal(t)
	r := newRig(t, m.address, crash(5*time.Millisecond), send())
	r.Controls.Crasher = m.crasher()
	h := r.drive(t)
	require.Len(t, h.Attempts, 2)
	require.Len(t, h.Crashes, 1)
	first, second, k := h.Attempts[0], h.Attempts[1], h.Crashes[0]
	require.Equal(t, first.ID, k.Attempt)
	require.Equal(t, history.Offset(5*time.Millisecond), k.After)
	require.GreaterOrEqual(t, k.Struck, first.Wrote+k.After)
	require.Contains(t, []history.ErrorKind{history.Closed, history.Reset}, first.ErrorKind)
	require.False(t, first.Together, "it is no member of a burst")
	require.GreaterOrEqual(t, first.End, k.Struck)
	require.GreaterOrEqual(t, k.Ended, k.Struck)
	require.GreaterOrEqual(t, k.Ready, k.Ended)
	require.GreaterOrEqual(t, second.Start, k.Ready, "the next step begins when the target is ready")
	require.Equal(t, http.StatusCreated, second.Status)
}

func TestASinkReleasesACrash(t *testing.T) {
	for name, c := range map[string]struct {
		comes   bool
		crashes int
	}{
		"an effect that comes":       {true, 1},
		"an effect that never comes": {false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMortal(t)
			if !c.comes {
				m.work = time.Nanosecond // the first life answers
			}
			step := crash(0)
			step.Crash.At = scenarios.AfterEffect
			r := newRig(t, m.address, step, send())
			r.Controls.Crasher = m.crasher()
			var texts []string
			var released []int64 // in which life
			r.Controls.Trap = &driver.Trap{Set: func(of []string, before bool) (<-chan string, func()) {
				texts = of
				require.False(t, before)
				sprung := make(chan string, 1)
				if c.comes {
					sprung <- "payments-1"
				}
				return sprung, func() { released = append(released, m.lives.Load()) }
			}}
			h := r.drive(t)
			require.Len(t, h.Attempts, 2)
			require.Equal(t, http.StatusCreated, h.Attempts[1].Status)
			require.Len(t, h.Crashes, c.crashes)
			require.Equal(t, []int64{1}, released, "what the next life sends is answered")
			require.Contains(t, texts, h.Intents[0].Bodies[history.Original].Marker)
			if c.comes {
				require.Equal(t, "payments-1", h.Crashes[0].Message)
				require.NotZero(t, h.Crashes[0].Ready)
			}
		})
	}
}

func TestRetriesWaitUntilTheTargetIsReadyAgain(t *testing.T) {
	m := newMortal(t)
	m.slow = 50 * time.Millisecond
	step := crash(time.Millisecond)
	step.Crash.Retry = &scenarios.Retry{Max: 1, Backoff: fixed(time.Millisecond)}
	r := newRig(t, m.address, step)
	r.Controls.Crasher = m.crasher()
	h := r.drive(t)
	require.Len(t, h.Attempts, 2)
	require.Equal(t, 1, h.Attempts[1].Retry)
	require.GreaterOrEqual(t, h.Attempts[1].Start, h.Crashes[0].Ready)
	require.Equal(t, http.StatusCreated, h.Attempts[1].Status)
}

func TestEveryIntentHasItsOwnCrash(t *testing.T) {
	m := newMortal(t)
	s := scenarios.Scenario{Name: "trial", Intents: 5, Concurrency: 1, Steps: []scenarios.Step{crash(time.Millisecond)}}
	s.Steps[0].Crash.To = scenarios.Span{Share: 2}
	r := newRigFor(t, m.address, s)
	r.Normal = 10 * time.Millisecond
	r.Controls.Crasher = m.crasher()
	h := r.drive(t)
	require.Len(t, h.Crashes, 5)
	require.EqualValues(t, 6, m.lives.Load())
	for i, k := range h.Crashes {
		require.Equal(t, h.Attempts[i].ID, k.Attempt)
		low := time.Millisecond + time.Duration(i)*19*time.Millisecond/5
		require.InDelta(t, low+19*time.Millisecond/10, k.After.Duration(), float64(19*time.Millisecond/10), "spread evenly")
	}
}

func TestATargetThatWasDeadAlreadyOrStaysDead(t *testing.T) {
	t.Run("dead already", func(t *testing.T) {
		m := newMortal(t)
		r := newRig(t, m.address, crash(time.Millisecond), send())
		r.Controls.Crasher = m.crasher()
		r.Controls.Crasher.Kill = func() error { return errors.Join(errors.New("exit status 3"), m.kill()) }
		require.NoError(t, r.Drive(t.Context()))
		require.Empty(t, r.history(t).Crashes, "it was not killed")
		require.EqualValues(t, 2, m.lives.Load(), "and is started again")
	})
	t.Run("dead already, and stays dead", func(t *testing.T) {
		m := newMortal(t)
		m.stays = errors.New("no configuration")
		r := newRig(t, m.address, crash(time.Millisecond), send())
		r.Controls.Crasher = m.crasher()
		r.Controls.Crasher.Kill = func() error { return errors.Join(errors.New("exit status 3"), m.kill()) }
		err := r.Drive(t.Context())
		require.ErrorIs(t, err, driver.ErrTargetGone)
		require.ErrorContains(t, err, "exit status 3")
		require.Empty(t, r.history(t).Crashes)
	})
	t.Run("stays dead", func(t *testing.T) {
		m := newMortal(t)
		m.stays = errors.New("no configuration")
		r := newRig(t, m.address, crash(time.Millisecond), send())
		r.Controls.Crasher = m.crasher()
		err := r.Drive(t.Context())
		require.ErrorIs(t, err, driver.ErrTargetGone)
		h := r.history(t)
		require.Len(t, h.Attempts, 1)
		require.Equal(t, "no configuration", h.Crashes[0].Error)
		require.Zero(t, h.Crashes[0].Ready)
	})
}

func TestAStoppedRunKillsNothing(t *testing.T) {
	for name, rigFor := range map[string]func(t *testing.T, m *mortal) *rig{
		"a crash of its own": func(t *testing.T, m *mortal) *rig {
			r := newRig(t, m.address, crash(long), send())
			r.Controls.Crasher = m.crasher()
			return r
		},
		"a shared crash": func(t *testing.T, m *mortal) *rig { return sharingRig(t, m, 3, fixed(long), fixed(long)) },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMortal(t)
			r := rigFor(t, m)
			ctx, cancel := context.WithCancel(t.Context())
			ended := r.begin(ctx)
			m.awaitRequest()
			cancel()
			require.ErrorIs(t, within(t, ended, "the end of driving"), context.Canceled)
			require.Empty(t, r.history(t).Crashes)
			require.EqualValues(t, 1, m.lives.Load())
		})
	}
}

func TestACrashAfterAWholeCreateWaitsForTheAnswer(t *testing.T) {
	m := newMortal(t)
	m.work = 80 * time.Millisecond // much longer than the pilot's creates took
	step := crash(0)
	step.Crash.From, step.Crash.To = scenarios.Span{Share: 1}, scenarios.Span{Share: 1.5}
	r := newRig(t, m.address, step, send())
	r.Normal = time.Millisecond
	r.Controls.Crasher = m.crasher()
	h := r.drive(t)
	require.Len(t, h.Attempts, 2)
	require.Equal(t, http.StatusCreated, h.Attempts[0].Status)
	require.Len(t, h.Crashes, 1)
	require.GreaterOrEqual(t, h.Crashes[0].Struck, h.Attempts[0].End)
}
