package driver_test

import (
	"fmt"
	"hash/fnv"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// anySend draws what a client does with one request.
func anySend(t *rapid.T) scenarios.Send {
	s := plain()
	s.Key = rapid.SampledFrom([]scenarios.KeyChoice{"", scenarios.SameKey, scenarios.FreshKey, scenarios.NoKey}).Draw(t, "key")
	if rapid.Bool().Draw(t, "retries") {
		s.Retry = &scenarios.Retry{
			Max: rapid.IntRange(0, 3).Draw(t, "max"), Backoff: fixed(time.Millisecond), Jitter: rapid.Float64Range(0, 1).Draw(t, "jitter"),
			Key: rapid.SampledFrom([]scenarios.KeyChoice{"", scenarios.FreshKey}).Draw(t, "retry key"),
		}
	}
	return s
}

func anyStep(t *rapid.T) scenarios.Step {
	s := anySend(t)
	switch rapid.IntRange(0, 4).Draw(t, "step") {
	case 0:
		return scenarios.Step{Send: &s}
	case 1:
		return scenarios.Step{Alter: &s}
	case 2:
		copies := rapid.IntRange(1, 5).Draw(t, "copies")
		return scenarios.Step{Burst: &scenarios.Burst{Copies: copies, Altered: rapid.IntRange(0, copies).Draw(t, "altered"), Send: s}}
	case 3:
		return scenarios.Step{Wait: &scenarios.Wait{Pause: fixed(time.Millisecond)}}
	}
	return scenarios.Step{Tabs: []scenarios.Tab{
		{Count: rapid.IntRange(0, 3).Draw(t, "tabs"), Within: fixed(2 * time.Millisecond), Send: s},
		{At: fixed(time.Millisecond), Altered: rapid.Bool().Draw(t, "altered tab"), Send: anySend(t)},
	}}
}

func anyScenario(t *rapid.T) scenarios.Scenario {
	return scenarios.Scenario{
		Name: "any", Intents: rapid.IntRange(1, 4).Draw(t, "intents"), Concurrency: rapid.IntRange(0, 3).Draw(t, "concurrency"),
		Twins: rapid.IntRange(0, 2).Draw(t, "twins"), Steps: rapid.SliceOfN(rapid.Custom(anyStep), 1, 3).Draw(t, "steps"),
	}
}

// moody answers requests in a way that depends on how many came before.
func moody(seen *ledger) func(*peer) {
	return func(p *peer) {
		raw := p.request()
		n := seen.add("request")
		h := fnv.New32a()
		_, _ = fmt.Fprint(h, raw, n)
		switch h.Sum32() % 5 {
		case 0:
			p.reset()
		case 1:
			p.say("HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n")
		case 2:
			p.say("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 9\r\n\r\ncut")
		default:
			p.created()
		}
	}
}

func TestEveryPlannedAttemptIsRecorded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var seen ledger
		r := newRigFor(t, serveRaw(t, moody(&seen)), anyScenario(rt))
		h := r.drive(t)
		var want, got []string
		for _, i := range r.Plan.Intents {
			for _, m := range i.Moves {
				for _, a := range m.Batch {
					want = append(want, story(a, h.Attempts)...)
				}
			}
		}
		for _, a := range h.Attempts {
			got = append(got, a.ID)
		}
		require.ElementsMatch(t, want, got)
		require.LessOrEqual(t, len(got), r.Plan.Requests())

		require.NoError(t, r.Probe(t.Context(), driver.Probing{Tries: 4}, true, func(a history.Attempt) bool { return a.Status == 201 }))
		requireProbed(t, r.history(t))
		require.Len(t, seen.all(), len(r.lines(t, "attempt")), "what the server received is what is on record")
		require.ElementsMatch(t, r.lines(t, "begun"), r.lines(t, "attempt"))
	})
}

// story returns the IDs of an attempt and of the retries that its answers asked for.
func story(a scenarios.PlannedAttempt, attempts []history.Attempt) []string {
	ids := []string{a.ID}
	for n := range a.Pauses {
		last := ids[len(ids)-1]
		i := slices.IndexFunc(attempts, func(b history.Attempt) bool { return b.ID == last })
		if i < 0 || attempts[i].Complete && attempts[i].Status == 201 {
			break
		}
		ids = append(ids, fmt.Sprintf("%s.r%d", a.ID, n+1))
	}
	return ids
}

// requireProbed checks that every key and body was asked until it was answered with 201, or four times.
func requireProbed(t *testing.T, h *history.History) {
	t.Helper()
	type question struct{ intent, key, body string }
	tries, settled, sent := map[question]int{}, map[question]bool{}, map[question]bool{}
	for _, a := range h.Attempts {
		q := question{a.Intent, a.Key, a.Body}
		if !a.Probe {
			sent[q] = true
			continue
		}
		require.False(t, settled[q], "asked again after the answer")
		require.Equal(t, tries[q], a.Retry)
		tries[q]++
		settled[q] = a.Status == 201
	}
	for q := range sent {
		require.True(t, settled[q] || tries[q] == 4, "%v", q)
	}
	require.Len(t, tries, len(sent))
}
