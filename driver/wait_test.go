package driver_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// watchLanes counts the dials by lane.
func (r *rig) watchLanes(lanes *ledger) {
	dial := r.Dialers[0]
	r.Dialers[0] = func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
		lanes.add(lane)
		return dial(ctx, lane)
	}
}

func committed(within time.Duration) scenarios.Step {
	return scenarios.Step{Wait: &scenarios.Wait{For: scenarios.WaitCommitted, Within: fixed(within)}}
}

// look is what one look into the database gives.
type look struct {
	rows int
	err  error
}

// waiting drives send, wait, send over a database that shows these looks, the last one for ever.
func waiting(t *testing.T, within time.Duration, looks ...look) (*rig, *history.History, *ledger) {
	t.Helper()
	r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), send(), committed(within), send())
	var asked ledger
	r.Rows = func(_ context.Context, _, marker string) (int, error) {
		now := looks[min(asked.add(marker), len(looks))-1]
		return now.rows, now.err
	}
	h := r.drive(t)
	require.Len(t, h.Attempts, 2)
	return r, h, &asked
}

func TestWaitingForACommitEndsWhenTheRowIsSeen(t *testing.T) {
	t.Parallel()
	r, h, asked := waiting(t, long, look{}, look{err: errors.New("busy")}, look{rows: 2})
	marker := r.Names.Marker(1, history.Original)
	require.Equal(t, map[string]int{marker: 3}, asked.tally())
	require.Len(t, h.Sightings, 1)
	seen := h.Sightings[0]
	require.Equal(t, history.Sighting{Intent: "i001", Marker: marker, At: seen.At, Rows: 2}, seen)
	require.GreaterOrEqual(t, seen.At, h.Attempts[0].End)
	require.LessOrEqual(t, seen.At, h.Attempts[1].Start)
}

// A client whose answer was lost does not know that it was refused. The tap does.
func TestNobodyWaitsForWhatWasRefused(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusConflict, http.StatusUnprocessableEntity} {
		r := newRig(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }), send(), committed(time.Hour), send())
		var asked ledger
		r.Rows = func(_ context.Context, _, marker string) (int, error) { asked.add(marker); return 0, nil }
		h := r.drive(t)
		require.Len(t, h.Attempts, 2)
		require.Len(t, asked.all(), 1, "one look shows that there is nothing")
		require.Len(t, h.Sightings, 1)
	}
}

func TestWaitingForACommitGivesUp(t *testing.T) {
	t.Parallel()
	_, h, asked := waiting(t, 3*time.Second, look{})
	require.Greater(t, len(asked.all()), 1)
	require.Len(t, h.Sightings, 1)
	require.Zero(t, h.Sightings[0].Rows)
	require.NotZero(t, h.Sightings[0].At)
}

func TestADatabaseErrorIsNoSighting(t *testing.T) {
	t.Parallel()
	_, h, _ := waiting(t, 50*time.Millisecond, look{err: errors.New("gone")})
	require.Empty(t, h.Sightings)
}

func TestADatabaseThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), send(), committed(20*time.Millisecond), send())
	r.Rows = func(ctx context.Context, _, _ string) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	h := r.drive(t)
	require.Len(t, h.Attempts, 2)
	require.Empty(t, h.Sightings)
}

func TestWithoutADatabaseNobodyWaits(t *testing.T) {
	t.Parallel()
	r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), send(), committed(time.Hour), send())
	require.Len(t, r.drive(t).Attempts, 2)
}

func TestAPauseIsAPause(t *testing.T) {
	t.Parallel()
	pause := scenarios.Step{Wait: &scenarios.Wait{Pause: scenarios.Span{Share: 0.5}}}
	r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), send(), pause, send())
	r.Normal = 60 * time.Millisecond
	r.Rows = func(context.Context, string, string) (int, error) { return 0, errors.New("not to be asked") }
	h := r.drive(t)
	require.Empty(t, h.Sightings)
	require.GreaterOrEqual(t, pauses(h.Attempts)[0], r.Normal/2)
	require.Equal(t, 2, h.Attempts[1].Step)
}

func TestALookIsOneLook(t *testing.T) {
	t.Parallel()
	for rows := range 2 {
		r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), send(), scenarios.Step{Look: &scenarios.Look{}})
		asked := 0
		r.Rows = func(_ context.Context, operation, _ string) (int, error) {
			require.Equal(t, "create", operation)
			asked++
			return rows, nil
		}
		h := r.drive(t)
		require.Equal(t, 1, asked)
		require.Len(t, h.Sightings, 1)
		require.Equal(t, rows, h.Sightings[0].Rows)
		require.Greater(t, h.Sightings[0].At, h.Attempts[0].End)
	}
	r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), send(), scenarios.Step{Look: &scenarios.Look{}})
	r.Rows = func(context.Context, string, string) (int, error) { return 0, errors.New("gone") }
	require.Empty(t, r.drive(t).Sightings)
}

func TestAKeyIsWaitedForUntilItIsForgotten(t *testing.T) {
	t.Parallel()
	expired := scenarios.Step{Wait: &scenarios.Wait{For: scenarios.WaitExpired}}
	r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), send(), expired, send())
	r.Target.Contract.Expiry.After = contract.Duration(50 * time.Millisecond)
	require.GreaterOrEqual(t, pauses(r.drive(t).Attempts)[0], 150*time.Millisecond)
}

func TestALateRetryComesWhileTheKeyMustStillBeKnown(t *testing.T) {
	t.Parallel()
	const wanted = 300 * time.Millisecond
	pause := func(wanted, after time.Duration, natural ...string) time.Duration {
		late := scenarios.Step{Wait: &scenarios.Wait{For: scenarios.WaitRemembered, Pauses: []scenarios.Span{{Fixed: wanted}}}}
		r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), send(), late, send())
		r.Target.Contract.Expiry.After, r.Target.Contract.NaturalKey = contract.Duration(after), natural
		return pauses(r.drive(t).Attempts)[0]
	}
	require.GreaterOrEqual(t, pause(wanted, 0), wanted, "nothing says that a key is forgotten")
	require.GreaterOrEqual(t, pause(wanted, time.Hour), wanted)
	require.GreaterOrEqual(t, pause(wanted, time.Millisecond, "/reference"), wanted, "a natural key is not forgotten")
	require.Less(t, pause(time.Minute, time.Millisecond), time.Minute, "the key would be forgotten")
}
