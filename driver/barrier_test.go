package driver_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proxy"
)

const members = 8

// doorman serves bursts of members. It reads a first request to learn how long they are, and then
// notes of every further one when all but its last byte is there ("almost") and when all is ("last").
type doorman struct {
	ledger
	length chan int      // of one request, once
	almost chan struct{} // one for every member that lacks its last byte
}

func serveDoorman(t *testing.T) (*doorman, string) {
	d := &doorman{length: make(chan int, 1), almost: make(chan struct{}, members)}
	var first sync.Once
	return d, serveRaw(t, func(p *peer) {
		measured := false
		first.Do(func() {
			d.length <- len(p.request())
			measured = true
		})
		if !measured {
			length := <-d.length
			d.length <- length
			if _, err := io.CopyN(io.Discard, p.in, int64(length-1)); err != nil {
				return
			}
			d.add("almost")
			d.almost <- struct{}{}
			if _, err := p.in.ReadByte(); err != nil {
				return
			}
			d.add("last")
		}
		p.created()
		p.stay()
	})
}

// hold makes one dial of the burst, the road's n-th of all, go through hindrance first.
func (r *rig) hold(n int64, hindrance func(context.Context) error) {
	var dials atomic.Int64
	dial := r.Dialers[0]
	r.Dialers[0] = func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
		if dials.Add(1) == n {
			if err := hindrance(ctx); err != nil {
				return nil, nil, err
			}
		}
		return dial(ctx, lane)
	}
}

func TestABurstIsReleasedOnlyWhenAllAreThere(t *testing.T) {
	t.Parallel()
	d, address := serveDoorman(t)
	r := newRig(t, address, send(), burst(members))
	r.hold(3, func(context.Context) error {
		for range members - 1 {
			within(t, d.almost, "a member at the barrier")
		}
		d.add("released")
		return nil
	})
	for _, a := range r.drive(t).Attempts {
		require.Equal(t, 201, a.Status, a.Error)
	}
	seen := d.all()
	require.Equal(t, append(slices.Repeat([]string{"almost"}, members-1), "released"), seen[:members])
	require.Equal(t, map[string]int{"almost": members, "released": 1, "last": members}, d.tally())
}

func TestAMemberThatCannotBeDialledDoesNotHoldTheOthers(t *testing.T) {
	t.Parallel()
	d, address := serveDoorman(t)
	r := newRig(t, address, send(), burst(members))
	r.hold(4, func(context.Context) error { return errors.New("no road") })
	kinds := map[history.ErrorKind]int{}
	for _, a := range r.drive(t).Attempts {
		kinds[a.ErrorKind]++
	}
	require.Equal(t, map[history.ErrorKind]int{"": members, history.Refused: 1}, kinds)
	require.Equal(t, map[string]int{"almost": members - 1, "last": members - 1}, d.tally())
}

func TestACancelledBurstIsNotReleased(t *testing.T) {
	t.Parallel()
	d, address := serveDoorman(t)
	r := newRig(t, address, send(), burst(members))
	r.Hold = time.Hour
	r.hold(3, func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := r.begin(ctx)
	for range members - 1 {
		within(t, d.almost, "a member at the barrier")
	}
	stop := errors.New("enough")
	cancel(stop)
	require.ErrorIs(t, within(t, ended, "the end"), stop)
	attempts := r.history(t).Attempts
	require.Len(t, attempts, 1+members)
	for _, a := range attempts[1:] {
		require.Equal(t, history.Interrupted, a.ErrorKind)
		if a.Sent > 0 {
			require.Equal(t, attempts[0].Sent-1, a.Sent)
		}
	}
	require.NotContains(t, d.all(), "last")
}

func TestABurstWaitsForItsSlowestMemberOnlySoLong(t *testing.T) {
	t.Parallel()
	d, address := serveDoorman(t)
	r := newRig(t, address, send(), burst(members))
	r.Hold = time.Millisecond
	r.hold(3, func(context.Context) error {
		require.Eventually(t, func() bool { return d.tally()["last"] == members-1 }, long, time.Millisecond)
		d.add("late")
		return nil
	})
	for _, a := range r.drive(t).Attempts {
		require.Equal(t, 201, a.Status, a.Error)
	}
	seen := d.all()
	require.Equal(t, []string{"late", "almost", "last"}, seen[len(seen)-3:], "the late one goes alone")
}

// deadlines notes the deadlines that a connection was given.
type deadlines struct {
	net.Conn
	mu  *sync.Mutex
	set *[]time.Time
}

func (d deadlines) SetDeadline(at time.Time) error {
	d.mu.Lock()
	*d.set = append(*d.set, at)
	d.mu.Unlock()
	return d.Conn.SetDeadline(at)
}

// The deadline of a member begins when it is released: waiting for the others is not its timeout.
func TestTheBarrierDoesNotUseUpAClientsTimeout(t *testing.T) {
	t.Parallel()
	d, address := serveDoorman(t)
	r := newRig(t, address, send(), burst(members))
	const slowness = time.Second
	r.hold(3, func(context.Context) error {
		for range members - 1 {
			within(t, d.almost, "a member at the barrier")
		}
		time.Sleep(slowness)
		return nil
	})
	var mu sync.Mutex
	var all []*[]time.Time
	dial := r.Dialers[0]
	r.Dialers[0] = func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
		conn, tap, err := dial(ctx, lane)
		set := new([]time.Time)
		mu.Lock()
		all = append(all, set)
		mu.Unlock()
		return deadlines{conn, &mu, set}, tap, err
	}
	for _, a := range r.drive(t).Attempts {
		require.Equal(t, 201, a.Status, a.Error)
	}
	waited := 0
	for _, set := range all {
		if len(*set) == 1 {
			continue // a request alone
		}
		require.Len(t, *set, 3, "when it is connected, while it waits, and when it is released")
		require.Zero(t, (*set)[1], "it waits without a deadline")
		if (*set)[2].Sub((*set)[0]) >= slowness {
			waited++
		}
	}
	require.Equal(t, members-1, waited, "all but the slow one")
}

// A lane may swallow what is sent: nothing of a burst comes to the barrier then, and the clients give up.
func TestABurstThatIsSwallowedIsGivenUp(t *testing.T) {
	t.Parallel()
	address := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request has come through") })
	weather := map[string][]faults.Fault{"hole": {{Toxic: &faults.Toxic{Type: "timeout", Stream: "upstream"}}}}
	lanes, err := proxy.Open(t.Context(), weather, proxy.Options{Upstream: address, Base: time.Now()})
	require.NoError(t, err)
	step := burst(members)
	step.Burst.Lane, step.Burst.Timeout = "hole", fixed(30*time.Second) // on a busy machine dialing takes seconds
	r := newRig(t, "", step)
	r.Hold = 50 * time.Millisecond
	r.Dialers[0] = func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) { return lanes.Dial(ctx, lane) }
	require.NoError(t, within(t, r.begin(t.Context()), "the end of the burst"))
	require.NoError(t, lanes.Close())
	attempts := r.history(t).Attempts
	require.Len(t, attempts, members)
	for _, a := range attempts {
		require.Equal(t, history.Timeout, a.ErrorKind, a.Error)
	}
}
