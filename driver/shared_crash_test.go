package driver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// sharingRig plays so many intents with a crash each, of which one crash strikes three.
func sharingRig(t *testing.T, m *mortal, intents int, from, to scenarios.Span) *rig {
	step := crash(0)
	step.Crash.From, step.Crash.To = from, to
	r := newRigFor(t, m.address, scenarios.Scenario{Name: "trial", Intents: intents, Concurrency: 1, Steps: []scenarios.Step{step, send()}})
	r.Normal, r.PerCrash = 20*time.Millisecond, 3
	r.Controls.Crasher = m.crasher()
	return r
}

// struckTogether are the intents by the moment at which they were struck.
func struckTogether(h *history.History) map[history.Offset][]string {
	together := map[history.Offset][]string{}
	for _, k := range h.Crashes {
		for _, a := range h.Attempts {
			if a.ID == k.Attempt {
				together[k.Struck] = append(together[k.Struck], a.Intent)
			}
		}
	}
	return together
}

func TestACrashStrikesSeveralIntentsEachAtItsMoment(t *testing.T) {
	m := newMortal(t)
	h := sharingRig(t, m, 8, fixed(0), scenarios.Span{Share: 2}).drive(t)
	require.EqualValues(t, 4, m.lives.Load(), "three crashes")
	require.Len(t, h.Crashes, 8)
	var sizes []int
	for _, intents := range struckTogether(h) {
		sizes = append(sizes, len(intents))
	}
	require.ElementsMatch(t, []int{3, 3, 2}, sizes)
	first, again := map[string]history.Attempt{}, map[string]history.Attempt{}
	for _, a := range h.Attempts {
		if _, sent := first[a.Intent]; sent {
			again[a.Intent] = a
		} else {
			first[a.Intent] = a
		}
	}
	require.Len(t, again, 8)
	for _, k := range h.Crashes {
		for intent, a := range first {
			if a.ID != k.Attempt {
				continue
			}
			require.GreaterOrEqual(t, k.Struck, a.Wrote+k.After, "each at its moment, or later")
			require.GreaterOrEqual(t, again[intent].Start, k.Ready, "the next step begins when the target is ready")
			require.Equal(t, http.StatusCreated, again[intent].Status)
		}
	}
	// Those that share a crash are far from each other in the plan.
	for _, intents := range struckTogether(h) {
		for i, one := range intents {
			for _, other := range intents[i+1:] {
				require.GreaterOrEqual(t, max(numberOf(h, one)-numberOf(h, other), numberOf(h, other)-numberOf(h, one)), 3)
			}
		}
	}
}

// numberOf is the place of an intent in the plan.
func numberOf(h *history.History, intent string) int {
	for n, i := range h.Intents {
		if i.ID == intent {
			return n
		}
	}
	return -1
}

func TestACrashAfterWholeCreatesWaitsForAllAnswers(t *testing.T) {
	m := newMortal(t)
	m.work = 80 * time.Millisecond
	h := sharingRig(t, m, 3, scenarios.Span{Share: 1}, scenarios.Span{Share: 1.5}).drive(t)
	require.EqualValues(t, 2, m.lives.Load(), "one crash")
	require.Len(t, h.Crashes, 3)
	for _, a := range h.Attempts {
		require.Equal(t, http.StatusCreated, a.Status)
	}
	for _, k := range h.Crashes {
		for _, a := range h.Attempts {
			if a.ID == k.Attempt {
				require.GreaterOrEqual(t, k.Struck, a.End)
			}
		}
	}
}
