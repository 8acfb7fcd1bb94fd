package driver_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

func TestTabsGoOutInTheOrderOfTheirOffsets(t *testing.T) {
	t.Parallel()
	const late, middle = time.Hour, 40 * time.Millisecond
	step := scenarios.Step{Tabs: []scenarios.Tab{
		{At: fixed(late), Send: plain()}, {At: fixed(0), Send: plain()}, {At: fixed(middle), Send: plain()},
	}}
	came := make(chan struct{}, 3)
	r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) { came <- struct{}{} }), step)
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := r.begin(ctx)
	within(t, came, "the first tab")
	within(t, came, "the second tab")
	require.Eventually(t, func() bool { return len(r.lines(t, "attempt")) == 2 }, long, time.Millisecond)
	cancel(errEnough)
	require.ErrorIs(t, within(t, ended, "the end"), errEnough)
	starts := map[string]time.Duration{}
	for _, a := range r.history(t).Attempts {
		starts[a.ID] = a.Start.Duration()
	}
	require.Len(t, starts, 2, "the last is not due for an hour")
	require.Contains(t, starts, "i001.2")
	require.GreaterOrEqual(t, starts["i001.3"], middle)
}

// script answers the requests of one key, one after the other, with these statuses; 0 closes the
// connection, and after the last the answer is 201.
func script(seen *ledger, header http.Header, statuses ...int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		n := seen.add("request")
		if n > len(statuses) {
			w.WriteHeader(http.StatusCreated)
			return
		}
		if statuses[n-1] == 0 {
			panic(http.ErrAbortHandler)
		}
		for name, lines := range header {
			w.Header()[name] = lines
		}
		w.WriteHeader(statuses[n-1])
	}
}

func retrying(retry scenarios.Retry) scenarios.Step {
	s := plain()
	s.Retry = &retry
	return scenarios.Step{Send: &s}
}

func TestAClientRetriesAsItsPolicySays(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		statuses []int
		retry    scenarios.Retry
		want     []int
	}{
		"a satisfied client does not retry":        {nil, scenarios.Retry{Max: 3}, []int{201}},
		"until it is satisfied":                    {[]int{409, 0, 503}, scenarios.Retry{Max: 9}, []int{409, 0, 503, 201}},
		"as often as it may":                       {[]int{429, 425, 500, 502}, scenarios.Retry{Max: 2}, []int{429, 425, 500}},
		"a refusal is an answer":                   {[]int{400, 400}, scenarios.Retry{Max: 3}, []int{400}},
		"only on the statuses it names":            {[]int{503, 500}, scenarios.Retry{Max: 3, On: []scenarios.RetryOn{"503"}}, []int{503, 500}},
		"not where no answer is not among them":    {[]int{0}, scenarios.Retry{Max: 3, On: []scenarios.RetryOn{"5xx"}}, []int{0}},
		"where no answer is the only one of them":  {[]int{0, 500}, scenarios.Retry{Max: 3, On: []scenarios.RetryOn{"no-answer"}}, []int{0, 500}},
		"no retries at all":                        {[]int{500}, scenarios.Retry{}, []int{500}},
		"a client content with nothing but no-409": {[]int{409, 409}, scenarios.Retry{Max: 5, On: []scenarios.RetryOn{"409"}}, []int{409, 409, 201}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen ledger
			address := serve(t, quietly(script(&seen, nil, row.statuses...)))
			attempts := newRig(t, address, retrying(row.retry)).drive(t).Attempts
			var statuses []int
			for n, a := range attempts {
				statuses = append(statuses, a.Status)
				require.Equal(t, n, a.Retry)
				require.Equal(t, attempts[0].Key, a.Key)
				if n > 0 {
					require.Equal(t, "i001.1.r"+strconv.Itoa(n), a.ID)
				}
			}
			require.Equal(t, row.want, statuses)
			require.Len(t, seen.all(), len(row.want))
		})
	}
}

// quietly keeps the server from logging the handlers that give up.
func quietly(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() != nil {
				conn, _, _ := w.(http.Hijacker).Hijack()
				_ = conn.Close()
			}
		}()
		h(w, r)
	}
}

// pauses returns the time between the end of each attempt and the start of the next.
func pauses(attempts []history.Attempt) []time.Duration {
	var all []time.Duration
	for i := 1; i < len(attempts); i++ {
		all = append(all, (attempts[i].Start - attempts[i-1].End).Duration())
	}
	return all
}

func TestPausesBetweenRetriesAreAtLeastTheBackoff(t *testing.T) {
	t.Parallel()
	var seen ledger
	r := newRig(t, serve(t, script(&seen, nil, 500, 500, 500)), retrying(scenarios.Retry{Max: 3, Backoff: fixed(10 * time.Millisecond), Factor: 3}))
	all := pauses(r.drive(t).Attempts)
	require.Len(t, all, 3)
	for i, least := range []time.Duration{10, 30, 90} {
		require.GreaterOrEqual(t, all[i], least*time.Millisecond)
	}
}

func TestRetryAfterIsRespected(t *testing.T) {
	t.Parallel()
	t.Run("in seconds", func(t *testing.T) {
		t.Parallel()
		var seen ledger
		r := newRig(t, serve(t, script(&seen, http.Header{"Retry-After": {"1"}}, 503)), retrying(scenarios.Retry{Max: 1}))
		require.GreaterOrEqual(t, pauses(r.drive(t).Attempts)[0], time.Second)
	})
	t.Run("as a date", func(t *testing.T) {
		t.Parallel()
		var seen ledger
		when := time.Now().Add(2 * time.Second).Truncate(time.Second)
		r := newRig(t, serve(t, script(&seen, http.Header{"Retry-After": {when.UTC().Format(http.TimeFormat)}}, 503)), retrying(scenarios.Retry{Max: 1}))
		attempts := r.drive(t).Attempts
		require.Len(t, attempts, 2)
		require.False(t, r.Base.Add(attempts[1].Start.Duration()).Before(when))
	})
	for _, text := range []string{"0", "-5", "soon", "Thu, 01 Jan 1970 00:00:00 GMT"} {
		t.Run("but not "+text, func(t *testing.T) {
			t.Parallel()
			var seen ledger
			r := newRig(t, serve(t, script(&seen, http.Header{"Retry-After": {text}}, 503)), retrying(scenarios.Retry{Max: 1}))
			require.Len(t, r.drive(t).Attempts, 2)
		})
	}
}

func TestRetriesMayTakeAnotherLaneDeadlineAndKey(t *testing.T) {
	t.Parallel()
	retry := &scenarios.Retry{Max: 2, Lane: "side", Timeout: fixed(long / 2), Key: scenarios.FreshKey}
	tab := scenarios.Tab{Count: 2, Send: plain()}
	tab.Retry = retry
	r := newRig(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }), scenarios.Step{Tabs: []scenarios.Tab{tab}})
	lanes := &ledger{}
	r.watchLanes(lanes)
	keys := map[string]int{}
	for _, a := range r.drive(t).Attempts {
		keys[a.Key]++
		want := map[bool]string{true: "side", false: scenarios.Clean}[a.Retry > 0]
		require.Equal(t, want, a.Lane)
		require.Equal(t, map[bool]time.Duration{true: long / 2, false: long}[a.Retry > 0], a.Deadline.Duration())
	}
	own := r.Names.Key("i001", "own")
	require.Equal(t, 2, keys[own])
	require.Len(t, keys, 1+4, "every retry of every tab has a key of its own")
	require.Equal(t, map[string]int{scenarios.Clean: 2, "side": 4}, lanes.tally())
}
