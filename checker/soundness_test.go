package checker_test

import (
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
)

// schedules says how many random schedules to try: DOUBLETAP_SOAK, or this many, or a tenth when short.
func schedules(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("DOUBLETAP_SOAK")
	if text == "" && testing.Short() {
		return usual / 10
	}
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// A correct server is never reported, whatever happens around it.
func TestCorrectModelsAreNeverReported(t *testing.T) {
	t.Parallel()
	designs := correctDesigns()
	each := (schedules(t, 4_000) + len(designs) - 1) / len(designs)
	for _, d := range designs {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			attempts, unanswered, excused := 0, 0, 0
			for seed := range uint64(each) {
				w := play(d, seed)
				require.Empty(t, w.damaged(), "the model itself is wrong with seed %d", seed)
				r := check(w.story, d.terms)
				if slices.ContainsFunc(r.Findings, notExcused) {
					require.Fail(t, "false alarm", "seed %d: %+v", seed, r.Findings)
				}
				require.NotEqual(t, checker.Fail, r.Verdict)
				excused += len(r.Findings)
				attempts += r.Attempts
				unanswered += r.Outcomes[checker.Unknown]
			}
			require.NotZero(t, unanswered, "the model loses no answers")
			if !testing.Short() { // which may be too short to need an excuse
				require.Equal(t, d.excused, excused > 0)
			}
			t.Logf("%s: %d schedules, %d attempts, %d of them unknown: no false alarm", d.name, each, attempts, unanswered)
		})
	}
}

// A broken server is reported with the finding that it is declared to show, and whenever its last
// state shows the damage.
func TestBrokenModelsAreCaught(t *testing.T) {
	t.Parallel()
	designs := brokenDesigns()
	each := max(schedules(t, 0)/len(designs), 100)
	for _, d := range designs {
		if d.terms.Contract.Level == "" {
			d.terms = modelTerms()
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			caught, flagged, damaged := 0, 0, 0
			for seed := range uint64(each) {
				w := play(d, seed)
				r := check(w.story, d.terms)
				wrong := w.damaged() != "" || d.name == "replay-status-changed" && len(w.statuses()) > 1
				if wrong {
					damaged++
					require.Equal(t, checker.Fail, r.Verdict, "seed %d: %s", seed, w.damaged())
				}
				if len(r.Findings) > 0 {
					flagged++
				}
				if slices.ContainsFunc(r.Findings, func(f checker.Finding) bool { return slices.Contains(d.kinds, f.Kind) && notExcused(f) }) {
					caught++
				}
			}
			require.NotZero(t, caught, "never found as %v", d.kinds)
			t.Logf("%s: %d schedules: %.1f%% found as %v, %.1f%% found, %.1f%% damaged", d.name, each,
				percent(caught, each), d.kinds, percent(flagged, each), percent(damaged, each))
		})
	}
}

func notExcused(f checker.Finding) bool { return f.Excused == "" }

func percent(n, of int) float64 { return 100 * float64(n) / float64(of) }
