package reports

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// TestWhereToLookInTheTargetFile holds that a cause which a mistake in a target file makes of a correct target names the lines, where there is a file.
func TestWhereToLookInTheTargetFile(t *testing.T) {
	t.Parallel()
	const lines = "In the target file, see whether key.in and key.name say where the API reads its key, and whether rows finds no line for each request."
	repeated := func(intents int, key string) checker.Report {
		r := checker.Report{Again: "doubletap run --target orders.yaml --seed 7", Results: []checker.Result{{Scenario: "plain-create", Verdict: checker.Pass, Intents: 1}}}
		for _, scenario := range []string{"sequential-replay", "burst-same-key", "tabs-one-key", "hang-up", "late-retry", "retry-elsewhere"} {
			r.Results = append(r.Results, checker.Result{Scenario: scenario, Verdict: checker.Fail, Intents: intents, Failed: 1, Findings: []checker.Finding{
				{ID: "F1", Kind: checker.Duplicate, Intent: "i1", Attempts: []history.Attempt{
					{ID: "1", Intent: "i1", Key: key, Complete: true, Status: 201}, {ID: "2", Intent: "i1", Key: key, Complete: true, Status: 201},
				}},
			}})
		}
		return r
	}
	look := func(r checker.Report) string { return newView(r).Causes[0].Likely.Look }
	require.Contains(t, look(repeated(1, "k")), "another name. "+lines)
	require.Contains(t, look(repeated(1, "")), "In the target file, see whether contract.natural_key is what the API goes by, and whether rows finds no line for each request.")
	require.NotContains(t, look(repeated(2, "k")), "target file", "only some of the repetitions are executed")
	builtin := repeated(1, "k")
	builtin.Again = "doubletap run --target builtin:unique-missing --seed 7"
	require.NotContains(t, look(builtin), "target file")

	content := repeated(1, "k")
	f := &content.Results[1].Findings[0]
	f.Kind, f.Detail, f.Attempts = checker.AlteredBody, "content", f.Attempts[:1]
	require.Contains(t, look(content), "In the target file, see whether rows.content names the right member for each column, in the same unit.")
}
