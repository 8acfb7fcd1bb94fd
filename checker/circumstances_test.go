package checker_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The recorded runs hold findings under nearly all circumstances.
func TestCircumstancesAreThoseOfTheRequests(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, name := range recordedNames(t) {
		var run recordedRun
		readJSON(t, &run, recorded, name, "run.json")
		for _, s := range run.Scenarios {
			h := readRecorded(t, name, s.Scenario)
			if h == nil {
				continue
			}
			for _, f := range check(h, run.Terms, s.Known...).Findings {
				got[name+" "+s.Scenario+" "+string(f.Kind)] = fmt.Sprint(f.Circumstances) // those of the hardest one
			}
		}
	}
	require.Equal(t, map[string]string{
		"altered-body altered-after altered-body-violation":     "[other-body]",
		"altered-body altered-after replay-mismatch":            "[other-body]",
		"crashes crash-sweep lost-acknowledged-write":           "[lost-answer crashed]",
		"deaths double-click target-died":                       "[overlapping lost-answer]",
		"downstream-key two-clicks downstream-key-changed":      "[overlapping]",
		"downstream-key two-clicks effect-mismatch":             "[overlapping]",
		"duplicate burst-same-key duplicate":                    "[overlapping]",
		"duplicate burst-write-gate duplicate":                  "[overlapping]",
		"duplicate sweep duplicate":                             "[overlapping]",
		"effect-without-row other-body effect-before-commit":    "[other-body]",
		"effects distinct-twins effect-mismatch":                "[other-intent]",
		"effects sequential-replay effect-mismatch":             "[]",
		"effects withheld-answer effect-mismatch":               "[lost-answer]",
		"expiry key-expired duplicate":                          "[expired]",
		"false-conflict respelled-body false-conflict":          "[other-spelling]",
		"instances crash-between duplicate":                     "[other-instance crashed]",
		"instances other-instance duplicate":                    "[overlapping other-instance]",
		"keys key-blank false-conflict":                         "[no-key other-intent]",
		"keys key-blank missing-key-accepted":                   "[no-key other-intent]",
		"known burst-same-key duplicate":                        "[overlapping]",
		"leak same-form-two-principals leak":                    "[other-intent other-principal]",
		"leak same-form-two-principals lost-acknowledged-write": "[other-intent other-principal]",
		"leak same-key-two-principals leak":                     "[other-principal]",
		"leak same-key-two-principals lost-acknowledged-write":  "[other-intent other-principal]",
		"phantom-row altered-after duplicate":                   "[other-body]",
		"phantom-row altered-after phantom-row":                 "[other-body]",
		"phantom-row altered-after refused-though-done":         "[other-body]",
		"phantom-row altered-after replay-mismatch":             "[other-body]",
		"phantom-row sequential-replay replay-mismatch":         "[]",
		"regions regions diverged":                              "[overlapping other-instance]",
		"replays sequential-replay replay-mismatch":             "[]",
		"two-bodies altered-after duplicate":                    "[other-body]",
		"two-bodies altered-race duplicate":                     "[other-body overlapping]",
		"unanswered burst-same-key unanswered":                  "[overlapping lost-answer]",
		"unavailable burst-same-key refused-though-done":        "[overlapping]",
		"undeclared sequential-replay undeclared-answer":        "[]",
	}, got)
}
