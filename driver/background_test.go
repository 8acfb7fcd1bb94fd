package driver_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// crowd is a target that tells the scenario's intents from those of the background.
type crowd struct {
	ledger
	own     func() // what it does when one of the scenario's intents comes
	others  func() // when one of the others comes
	failing map[string]int
}

// newCrowd makes a rig with one intent of its own before so many others at a rate.
func newCrowd(t *testing.T, c *crowd, rate float64, others int, retry *scenarios.Retry) *rig {
	t.Helper()
	send := plain()
	send.Retry = retry
	s := scenarios.Scenario{
		Name: "trial", Intents: 1, Concurrency: 1, Steps: []scenarios.Step{{Send: &scenarios.Send{Lane: scenarios.Clean, Timeout: fixed(long)}}},
		Background: &scenarios.Background{Rate: rate, Intents: others, Send: send},
	}
	var r *rig
	r = newRigFor(t, serve(t, func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		if strings.Contains(string(body), r.Names.Marker(1, history.Original)) {
			c.add("own")
			c.own()
			return
		}
		n := c.add("others")
		if c.others != nil {
			c.others()
		}
		if status := c.failing[map[bool]string{true: "first"}[n == 1]]; status != 0 {
			w.WriteHeader(status)
		}
	}), s)
	return r
}

// behind returns the intents of the background traffic that are on record, and their attempts.
func behind(t *testing.T, h *history.History) (intents map[string]history.Intent, attempts []history.Attempt) {
	t.Helper()
	intents = map[string]history.Intent{}
	for _, i := range h.Intents {
		if i.Behind {
			intents[i.ID] = i
		}
	}
	for _, a := range h.Attempts {
		if _, known := intents[a.Intent]; known {
			require.Equal(t, -1, a.Step)
			attempts = append(attempts, a)
		}
	}
	return intents, attempts
}

func TestBackgroundTrafficGoesOnBesideTheOthersAtItsRate(t *testing.T) {
	t.Parallel()
	const rate, enough, planned = 200, 20, 5000
	c := &crowd{}
	c.own = func() {
		require.Eventually(t, func() bool { return c.tally()["others"] >= enough }, long, time.Millisecond)
	}
	r := newCrowd(t, c, rate, planned, nil)
	began := time.Now()
	h := r.drive(t)
	most := 1 + int(time.Since(began).Seconds()*rate)
	seen := c.tally()
	intents, attempts := behind(t, h)
	require.GreaterOrEqual(t, seen["others"], enough)
	require.LessOrEqual(t, seen["others"], most, "not faster than planned")
	require.Len(t, attempts, seen["others"])
	require.Len(t, intents, len(attempts), "only what was sent is on record")
	require.Len(t, h.Intents, 1+len(intents))
	for _, a := range attempts {
		require.Equal(t, http.StatusOK, a.Status, a.Error)
		require.False(t, a.Together)
		require.NotEmpty(t, intents[a.Intent].Bodies[history.Original].Marker)
	}
	ids := r.lines(t, "begun")
	for _, id := range r.lines(t, "intent") {
		require.Contains(t, ids, id+".1", "what is on record was begun")
	}
}

func TestBackgroundTrafficEndsWithTheOthers(t *testing.T) {
	t.Parallel()
	c := &crowd{}
	inside, over := make(chan struct{}, 1000), make(chan struct{})
	c.others = func() { inside <- struct{}{}; within(t, over, "the end of the others") }
	c.own = func() { within(t, inside, "another request") }
	r := newCrowd(t, c, 50, 1000, nil)
	r.Hooks.Done = func() { close(over) }
	_, attempts := behind(t, r.drive(t))
	require.NotEmpty(t, attempts)
	for _, a := range attempts {
		require.Equal(t, http.StatusOK, a.Status, "what was on its way comes to its end: %s", a.Error)
	}
	require.Less(t, len(attempts), 1000)
	sent := c.tally()["others"]
	time.Sleep(5 * time.Millisecond)
	require.Equal(t, sent, c.tally()["others"], "nothing is sent any more")
}

func TestTheLastOfTheBackgroundTrafficNeedNotComeLast(t *testing.T) {
	t.Parallel()
	c := &crowd{}
	c.own = func() {
		require.Eventually(t, func() bool { return c.tally()["others"] == 3 }, long, time.Millisecond)
	}
	r := newCrowd(t, c, 1000, 3, nil)
	intents, attempts := behind(t, r.drive(t))
	require.Len(t, intents, 3)
	require.Len(t, attempts, 3)
	for n, a := range attempts {
		require.Contains(t, intents, scenarios.IntentID(2+n))
		require.GreaterOrEqual(t, a.Start.Duration(), time.Duration(0))
	}
}

func TestBackgroundTrafficIsRetriedAndProbed(t *testing.T) {
	t.Parallel()
	c := &crowd{failing: map[string]int{"first": http.StatusServiceUnavailable}}
	var retried sync.Once
	again := make(chan struct{})
	c.others = func() {
		if c.tally()["others"] == 4 { // three, and one again
			retried.Do(func() { close(again) })
		}
	}
	c.own = func() {
		if c.tally()["own"] == 1 {
			within(t, again, "a retry")
		}
	}
	r := newCrowd(t, c, 100, 3, &scenarios.Retry{Max: 2})
	intents, attempts := behind(t, r.drive(t))
	require.Len(t, intents, 3)
	require.Len(t, attempts, 4)
	retry := attempts[len(attempts)-1]
	for _, a := range attempts {
		if a.Retry > 0 {
			retry = a
		}
	}
	require.Equal(t, retry.Intent+".1.r1", retry.ID)
	require.Equal(t, http.StatusOK, retry.Status)
	require.Equal(t, r.Names.Key(retry.Intent, scenarios.OwnKey), retry.Key)

	require.NoError(t, r.Probe(t.Context(), driver.Probing{}, false, func(a history.Attempt) bool { return a.Status == 200 }))
	asked := probes(t, r.history(t))
	require.Len(t, asked, 1+3)
	for id := range intents {
		require.Equal(t, r.Names.Key(id, scenarios.OwnKey), asked[id][0].key)
		require.Len(t, asked[id], 1)
	}
}

func TestWhatWasNotSentIsNotProbed(t *testing.T) {
	t.Parallel()
	c := &crowd{own: func() {}}
	r := newCrowd(t, c, 0.001, 50, nil)
	intents, attempts := behind(t, r.drive(t))
	require.LessOrEqual(t, len(attempts), 1, "the second is due in a quarter of an hour")
	require.Len(t, intents, len(attempts))
	require.NoError(t, r.Probe(t.Context(), driver.Probing{}, false, func(history.Attempt) bool { return true }))
	require.Len(t, probes(t, r.history(t)), 1+len(attempts))
	require.Len(t, r.Markers()["create"], 51, "whether their markers are absent is asked of all")
}

func TestAnInterruptionEndsTheBackgroundTraffic(t *testing.T) {
	t.Parallel()
	c := &crowd{}
	stopped := make(chan struct{})
	c.others = func() { <-stopped }
	c.own = func() { <-stopped }
	r := newCrowd(t, c, 20, 1000, &scenarios.Retry{Max: 2, Backoff: fixed(time.Hour)})
	t.Cleanup(func() { close(stopped) })
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := r.begin(ctx)
	require.Eventually(t, func() bool { return c.tally()["others"] > 2 && c.tally()["own"] == 1 }, long, time.Millisecond)
	cancel(errEnough)
	require.ErrorIs(t, within(t, ended, "the end"), errEnough)
	_, attempts := behind(t, r.history(t))
	require.NotEmpty(t, attempts)
	for _, a := range attempts {
		require.Equal(t, history.Interrupted, a.ErrorKind)
	}
}

func TestWithoutBackgroundTrafficThereIsNone(t *testing.T) {
	t.Parallel()
	intents, attempts := behind(t, newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), send()).drive(t))
	require.Empty(t, intents)
	require.Empty(t, attempts)
}
