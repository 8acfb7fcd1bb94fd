package driver_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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

// table is a table whose writers can be held back. It is its own lock.
type table struct {
	ledger
	secretive bool  // it cannot tell who waits
	locked    error // why the lock cannot be had
	puzzled   error // why it cannot tell who waits now
	lost      error // what comes of giving the lock back

	mu      sync.Mutex
	shut    chan struct{} // nil: open
	waiting int
	longest time.Duration // as it was asked for
}

func (b *table) Hold(_ context.Context, longest time.Duration) (driver.Held, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.longest = longest; b.locked != nil {
		return nil, b.locked
	}
	b.add("shut")
	b.shut = make(chan struct{})
	return b, nil
}

func (b *table) Waiting(context.Context) (int, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting, !b.secretive, b.puzzled
}

func (b *table) Release() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut != nil {
		b.add("opened")
		close(b.shut)
		b.shut = nil
	}
	return b.lost
}

// write stands in line until the table is open.
func (b *table) write() {
	b.mu.Lock()
	shut := b.shut
	if shut != nil {
		b.waiting++
		b.mu.Unlock()
		<-shut
		b.mu.Lock()
		b.waiting--
	}
	b.mu.Unlock()
	b.add("written")
}

func (b *table) gate(name string, longest time.Duration) driver.WriteGate {
	return driver.WriteGate{Table: name, Hold: b.Hold, Longest: longest}
}

// handler is a target: the first so many requests of all write, the others are refused before that.
func (b *table) handler(writers int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if b.add("came") > writers {
			w.WriteHeader(http.StatusConflict)
			return
		}
		b.write()
		w.WriteHeader(http.StatusCreated)
	}
}

func gated(copies int) scenarios.Step {
	step := burst(copies)
	step.Burst.WriteGate = true
	return step
}

// holding drives a burst of members past a table and returns what is on record of the table.
func (r *rig) holding(t *testing.T) history.Holding {
	t.Helper()
	holdings := r.drive(t).Holdings
	require.Len(t, holdings, 1)
	return holdings[0]
}

func inLine(n int) *int { return &n }

func TestWritersAreHeldBackUntilAllStandInLine(t *testing.T) {
	t.Parallel()
	b := &table{}
	r := newRig(t, serve(t, b.handler(members)), gated(members))
	r.Controls.WriteGates = []driver.WriteGate{b.gate("orders", time.Hour)}
	held := r.holding(t)
	require.Less(t, held.Shut, held.Opened)
	require.Equal(t, history.Holding{Intent: "i001", Table: "orders", Shut: held.Shut, Opened: held.Opened, Waiting: inLine(members)}, held)
	require.Equal(t, time.Hour, b.longest)
	seen := b.all()
	require.Equal(t, "shut", seen[0], "before the first was let go")
	require.Equal(t, "opened", seen[members+1], "when the last had come, and before one had written")
	for _, a := range r.history(t).Attempts {
		require.Equal(t, http.StatusCreated, a.Status, a.Error)
		require.True(t, a.Together)
		require.Greater(t, a.End, held.Shut)
	}
}

func TestWhoIsAnsweredIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		table   *table
		writers int
		want    *int
	}{
		"some were refused before they wrote":        {&table{}, 3, inLine(3)},
		"all were, and nobody stands there":          {&table{}, 0, inLine(0)},
		"all were, and the database does not tell":   {&table{secretive: true}, 0, nil},
		"all were, and the database cannot be asked": {&table{puzzled: errors.New("no")}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, serve(t, c.table.handler(c.writers)), gated(members))
			r.Controls.WriteGates = []driver.WriteGate{c.table.gate("orders", time.Hour)}
			held := r.holding(t)
			require.Equal(t, c.want, held.Waiting)
			require.Empty(t, held.Error)
			require.Equal(t, c.writers, c.table.tally()["written"])
		})
	}
}

func TestWritersAreHeldBackOnlySoLong(t *testing.T) {
	t.Parallel()
	const longest = 30 * time.Millisecond
	for name, b := range map[string]*table{
		"the database does not tell":   {secretive: true},
		"the database cannot be asked": {puzzled: errors.New("no")},
		"not all come to the table":    {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opened := make(chan struct{})
			write := b.handler(members)
			r := newRig(t, serve(t, func(w http.ResponseWriter, q *http.Request) {
				if !b.secretive && b.puzzled == nil && b.add("asked") == 1 {
					<-opened // one has business elsewhere
				}
				write(w, q)
			}), gated(members))
			gate := b.gate("orders", longest)
			gate.Hold = func(ctx context.Context, longest time.Duration) (driver.Held, error) {
				held, err := b.Hold(ctx, longest)
				return &watchedLock{Held: held, opened: opened}, err
			}
			r.Controls.WriteGates = []driver.WriteGate{gate}
			held := r.holding(t)
			require.GreaterOrEqual(t, (held.Opened - held.Shut).Duration(), longest)
			for _, a := range r.history(t).Attempts {
				require.Equal(t, http.StatusCreated, a.Status, a.Error)
			}
		})
	}
}

// watchedLock says when it is given back.
type watchedLock struct {
	driver.Held
	once   sync.Once
	opened chan struct{}
}

func (w *watchedLock) Release() error {
	defer w.once.Do(func() { close(w.opened) })
	return w.Held.Release()
}

func TestATableThatCannotBeShutHoldsNobody(t *testing.T) {
	t.Parallel()
	b := &table{locked: errors.New("refused for the password sesame-open-9")}
	r := newRig(t, serve(t, b.handler(members)), gated(members))
	r.Controls.WriteGates = []driver.WriteGate{b.gate("orders", time.Hour)}
	require.Equal(t, history.Holding{Intent: "i001", Table: "orders", Error: "refused for the password ***"}, r.holding(t))
	for _, a := range r.history(t).Attempts {
		require.Equal(t, http.StatusCreated, a.Status, a.Error)
	}
	require.Equal(t, map[string]int{"came": members, "written": members}, b.tally())
}

func TestALockThatWasLostIsOnRecord(t *testing.T) {
	t.Parallel()
	b := &table{lost: errors.New("the session of sesame-open-9 is gone")}
	r := newRig(t, serve(t, b.handler(members)), gated(members))
	r.Controls.WriteGates = []driver.WriteGate{b.gate("orders", time.Hour)}
	held := r.holding(t)
	require.Equal(t, "the session of *** is gone", held.Error)
	require.NotZero(t, held.Shut)
	require.NotZero(t, held.Opened)
}

func TestAnInterruptionLetsTheWritersGo(t *testing.T) {
	t.Parallel()
	b := &table{secretive: true}
	r := newRig(t, serve(t, b.handler(members)), gated(members))
	r.Controls.WriteGates = []driver.WriteGate{b.gate("orders", time.Hour)}
	r.Normal = time.Hour // so that nothing but the interruption ends it
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := r.begin(ctx)
	require.Eventually(t, func() bool { return b.tally()["came"] == members }, long, time.Millisecond)
	cancel(errEnough)
	require.ErrorIs(t, within(t, ended, "the end"), errEnough)
	require.Equal(t, 1, b.tally()["opened"])
	holdings := r.history(t).Holdings
	require.Len(t, holdings, 1)
	require.NotZero(t, holdings[0].Opened)
}

func TestAnInterruptionBeforeTheBurstShutsNothing(t *testing.T) {
	t.Parallel()
	b := &table{}
	r := newRig(t, serve(t, b.handler(members)), gated(members))
	r.Controls.WriteGates, r.Hold = []driver.WriteGate{b.gate("orders", time.Hour)}, time.Hour
	ctx, cancel := context.WithCancelCause(t.Context())
	r.hold(3, func(ctx context.Context) error {
		cancel(errEnough)
		<-ctx.Done()
		return ctx.Err()
	})
	require.ErrorIs(t, r.Drive(ctx), errEnough)
	require.NotContains(t, b.all(), "shut")
}

func TestTablesAreTakenInTurn(t *testing.T) {
	t.Parallel()
	orders, keys := &table{}, &table{}
	s := scenarios.Scenario{Name: "trial", Intents: 5, Concurrency: 1, Steps: []scenarios.Step{send(), gated(2), burst(2)}}
	address := serve(t, func(http.ResponseWriter, *http.Request) {})
	r := newRigFor(t, address, s)
	r.Controls.WriteGates = []driver.WriteGate{orders.gate("orders", time.Hour), keys.gate("keys", time.Minute)}
	var got []string
	for _, h := range r.drive(t).Holdings {
		got = append(got, fmt.Sprintf("%s step %d: %s", h.Intent, h.Step, h.Table))
	}
	require.Equal(t, []string{
		"i001 step 1: orders", "i002 step 1: keys", "i003 step 1: orders", "i004 step 1: keys", "i005 step 1: orders",
	}, got, "and a burst that does not ask for it holds back nobody")
	require.Equal(t, time.Hour, orders.longest)
	require.Equal(t, time.Minute, keys.longest)

	again := newRigFor(t, address, s)
	again.Plan, again.Controls.WriteGates = again.Plan.Only([]int{4}), r.Controls.WriteGates
	require.Equal(t, "keys", again.holding(t).Table, "a part of the plan takes the same tables")
}

func TestAHistoryThatCannotBeWrittenIsNoticedAfterAHolding(t *testing.T) {
	t.Parallel()
	b := &table{}
	r := newRig(t, serve(t, b.handler(2)), gated(2), send())
	r.Controls.WriteGates = []driver.WriteGate{b.gate("orders", time.Hour)}
	r.file.limit = 1 + 1 + 2 // run, intent, begun
	require.ErrorIs(t, r.Drive(t.Context()), errFull)
	require.Equal(t, 1, b.tally()["opened"])
}

func TestTheSecondOfASweepIsLetGoLater(t *testing.T) {
	t.Parallel()
	const after = 40 * time.Millisecond
	step := scenarios.Step{Sweep: &scenarios.Sweep{From: fixed(after), To: fixed(after), Send: plain()}}
	s := scenarios.Scenario{Name: "trial", Intents: 4, Concurrency: 1, Steps: []scenarios.Step{step}}
	r := newRigFor(t, serve(t, func(http.ResponseWriter, *http.Request) {}), s)
	h := r.drive(t)
	require.Len(t, h.Attempts, 2*4)
	pairs := map[string][]history.Attempt{}
	for _, a := range h.Attempts {
		require.True(t, a.Together)
		pairs[a.Intent] = append(pairs[a.Intent], a)
	}
	for _, pair := range pairs {
		first, second := pair[0], pair[1]
		if strings.HasSuffix(first.ID, ".2") {
			first, second = second, first
		}
		require.Zero(t, first.After)
		require.Equal(t, after, second.After.Duration())
		require.GreaterOrEqual(t, (second.Wrote - second.Start).Duration(), after)
		require.Less(t, first.Wrote, second.Wrote)
		require.Equal(t, first.Key, second.Key)
	}
}

func TestWhatASweepHadDecidedIsSentAgain(t *testing.T) {
	t.Parallel()
	step := scenarios.Step{Sweep: &scenarios.Sweep{To: scenarios.Span{Share: 1}, Send: plain()}}
	s := scenarios.Scenario{Name: "trial", Intents: 9, Concurrency: 1, Steps: []scenarios.Step{step}}
	address := serve(t, func(http.ResponseWriter, *http.Request) {})
	offsets := func(h *history.History) map[string]time.Duration {
		all := map[string]time.Duration{}
		for _, a := range h.Attempts {
			all[a.Intent] = cmp.Or(all[a.Intent], a.After.Duration())
		}
		return all
	}
	r := newRigFor(t, address, s)
	r.Normal = 10 * time.Millisecond
	decided := offsets(r.drive(t))
	require.Len(t, decided, 9)
	for _, offset := range decided {
		require.Less(t, offset, r.Normal)
	}
	again := newRigFor(t, address, s)
	again.Normal, again.Repeat.Offsets = time.Hour, decided
	require.Equal(t, decided, offsets(again.drive(t)))
}

func TestASweepAsksWhatEveryAnswerMeans(t *testing.T) {
	t.Parallel()
	step := scenarios.Step{Sweep: &scenarios.Sweep{To: fixed(20 * time.Millisecond), Send: plain()}}
	s := scenarios.Scenario{Name: "trial", Intents: 24, Concurrency: 1, Steps: []scenarios.Step{step}}
	var came ledger
	second := make(chan struct{}, 1)
	r := newRigFor(t, serve(t, func(_ http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		if came.add(q.Header.Get("Idempotency-Key")) == 2 {
			second <- struct{}{}
			return
		}
		within(t, second, "the second, before which the first is not answered")
	}), s)
	var asked atomic.Int64
	r.Hooks.Phase = func(operation string, first, second history.Attempt) string {
		asked.Add(1)
		require.Equal(t, "create", operation)
		require.Less(t, first.Wrote, second.Wrote)
		return "the same"
	}
	r.drive(t)
	require.EqualValues(t, s.Intents, asked.Load())
}
