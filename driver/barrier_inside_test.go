package driver

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is longer than anything that is waited for should take.
const patience = time.Minute

// roll notes the members that were released, in order.
type roll struct {
	mu    sync.Mutex
	names []string
	at    map[string]time.Time
}

func (r *roll) call(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil {
		r.at = map[string]time.Time{}
	}
	r.names, r.at[name] = append(r.names, name), time.Now()
}

func (r *roll) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.names...)
}

// come makes a member of the barrier, which arrives at once.
func (b *barrier) come(r *roll, name string, later time.Duration) *member {
	s := b.member()
	s.later = later
	s.Arrive(func() { r.call(name) })
	return s
}

// soon returns what a client's wait returned, and fails where it does not end.
func soon(t *testing.T, s *member) error {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		require.FailNow(t, "a member waits in vain")
		return nil
	}
}

func requireWaiting(t *testing.T, seats ...*member) {
	t.Helper()
	for _, s := range seats {
		select {
		case <-s.gone:
			require.FailNow(t, "a member does not wait any more")
		default:
		}
	}
}

func TestMembersGoInTheOrderOfTheirTimes(t *testing.T) {
	t.Parallel()
	g, stop := newBarrier(t.Context(), &releaser{}, 5, patience)
	r := &roll{}
	last := g.come(r, "last", 40*time.Millisecond)
	g.come(r, "first", 0)
	g.come(r, "middle", 20*time.Millisecond)
	g.come(r, "middle too", 20*time.Millisecond)
	require.Empty(t, r.all(), "one is missing")
	came := time.Now()
	g.come(r, "first too", 0)
	require.NoError(t, soon(t, last))
	stop()
	names := r.all()
	require.Len(t, names, 5)
	require.ElementsMatch(t, []string{"first", "first too"}, names[:2], "in whatever order those go that go at once")
	require.ElementsMatch(t, []string{"middle", "middle too"}, names[2:4])
	require.Equal(t, "last", names[4])
	for name, later := range map[string]time.Duration{"middle": 20 * time.Millisecond, "middle too": 20 * time.Millisecond, "last": 40 * time.Millisecond} {
		require.GreaterOrEqual(t, r.at[name].Sub(came), later, name)
	}
}

func TestEachMembersWaitEndsWhenItIsReleased(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g, stop := newBarrier(ctx, &releaser{}, 2, patience)
	r := &roll{}
	second := g.come(r, "second", time.Hour)
	first := g.come(r, "first", 0)
	require.NoError(t, soon(t, first))
	requireWaiting(t, second)
	cancel()
	require.ErrorIs(t, soon(t, second), context.Canceled)
	stop()
	require.Equal(t, []string{"first"}, r.all(), "when the context has ended no member is released any more")
}

func TestAMemberThatComesLateGoesAlone(t *testing.T) {
	t.Parallel()
	g, stop := newBarrier(t.Context(), &releaser{}, 3, time.Millisecond)
	defer stop()
	r := &roll{}
	require.NoError(t, soon(t, g.come(r, "first", 0)))
	require.NoError(t, soon(t, g.come(r, "late", time.Hour)), "its time is over")
	require.NoError(t, soon(t, g.come(r, "later", 0)))
	require.Equal(t, []string{"first", "late", "later"}, r.all())
}

func TestWhoLeavesHoldsNobody(t *testing.T) {
	t.Parallel()
	g, stop := newBarrier(t.Context(), &releaser{}, 3, patience)
	defer stop()
	r := &roll{}
	first := g.come(r, "first", 0)
	g.member().leave()
	twice := g.member()
	twice.leave()
	twice.leave()
	twice.Arrive(func() { r.call("gone") })
	require.NoError(t, soon(t, first))
	require.Equal(t, []string{"first"}, r.all())
}

func TestASeatCountsOnce(t *testing.T) {
	t.Parallel()
	g, stop := newBarrier(t.Context(), &releaser{}, 2, patience)
	defer stop()
	r := &roll{}
	first := g.come(r, "first", 0)
	first.leave()
	first.Arrive(func() { r.call("again") })
	requireWaiting(t, first)
	g.come(r, "second", 0)
	require.NoError(t, soon(t, first))
	require.ElementsMatch(t, []string{"first", "second"}, r.all())
}

func TestNoMemberIsReleasedWhenTheContextHasEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	g, stop := newBarrier(ctx, &releaser{}, 3, patience)
	r := &roll{}
	g.before, g.after = func() { r.call("before") }, func() { r.call("after") }
	waiting := g.come(r, "first", 0)
	requireWaiting(t, waiting)
	cancel()
	require.ErrorIs(t, soon(t, waiting), context.Canceled)
	require.ErrorIs(t, soon(t, g.come(r, "late", 0)), context.Canceled)
	stop()
	require.Equal(t, []string{"after"}, r.all(), "what was begun before may have to be ended")
}

func TestWhatIsDoneBeforeAndAfter(t *testing.T) {
	t.Parallel()
	g, stop := newBarrier(t.Context(), &releaser{}, 2, patience)
	r := &roll{}
	ready, done := make(chan struct{}), make(chan struct{})
	g.before = func() { <-ready; r.call("before") }
	g.after = func() { <-done; r.call("after") }
	first, second := g.come(r, "first", 0), g.come(r, "second", time.Millisecond)
	requireWaiting(t, first, second)
	require.Empty(t, r.all(), "the member that comes last does not do it itself")
	close(ready)
	require.NoError(t, soon(t, first))
	require.NoError(t, soon(t, second))
	require.Equal(t, []string{"before", "first", "second"}, r.all(), "the members do not wait for what is done after")
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	select {
	case <-stopped:
		require.Fail(t, "stop does not wait for what the barrier does")
	case <-time.After(10 * time.Millisecond):
	}
	close(done)
	<-stopped
	require.Equal(t, []string{"before", "first", "second", "after"}, r.all())
}

func TestABarrierThatNeverOpenedIsStopped(t *testing.T) {
	t.Parallel()
	g, stop := newBarrier(t.Context(), &releaser{}, 2, patience)
	r := &roll{}
	g.before, g.after = func() { r.call("before") }, func() { r.call("after") }
	g.come(r, "first", 0)
	stop()
	require.Empty(t, r.all())
	g.come(r, "late", 0)
	require.Equal(t, []string{"late"}, r.all(), "a member that comes after that waits for no other")
}

func TestABarrierKnowsWhenAllAreAnswered(t *testing.T) {
	t.Parallel()
	b, stop := newBarrier(t.Context(), &releaser{}, 3, time.Hour)
	defer stop()
	first, second, third := b.member(), b.member(), b.member()
	all := first.answered()
	first.answered() // which counts once
	second.answered()
	select {
	case <-all:
		t.Fatal("one has no answer")
	default:
	}
	third.leave() // that alone says nothing of its answer
	select {
	case <-all:
		t.Fatal("one may still get an answer")
	default:
	}
	third.answered()
	<-all
	one, done := newBarrier(t.Context(), &releaser{}, 1, time.Hour)
	defer done()
	require.Nil(t, one.member().answered(), "there are no others for whose sake an answer is kept")
}
