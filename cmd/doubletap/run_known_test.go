package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// What a run finds is known to the next one. Who mends it is told so, and a person's links stay.
func TestWhatARunFindsIsKnownToTheNext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	register, reports := filepath.Join(dir, "known.yaml"), filepath.Join(dir, "runs")
	run := func(target string, more ...string) outcome {
		return callWith(t.Context(), nil, append([]string{"run", "--target", "builtin:" + target, "--reports", reports, "--seed", "7", "sequential-replay"}, more...)...)
	}
	got := run("replay-body-wrapped", "--write-known", register)
	require.Equal(t, exitFinding, got.code, "it is new to this run: %s", got)
	require.Contains(t, got.err, register+" has ")
	text, err := os.ReadFile(register)
	require.NoError(t, err)
	require.Contains(t, string(text), "  # ", "a comment says what happened")

	got = run("replay-body-wrapped", "--known", register)
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, got.out, "known bug: https://tracker.example.com/")

	got = run("replay-body-wrapped", "--write-known", register)
	require.Equal(t, exitConfig, got.code, "%s", got)
	require.Contains(t, got.err, "--known "+register+" --write-known "+register)

	mine := strings.ReplaceAll(string(text), "tracker.example.com", "issues.example.com")
	require.NoError(t, os.WriteFile(register, []byte(mine), 0o600))
	got = run("replay-headers-lost", "--known", register, "--write-known", register)
	require.Equal(t, exitFinding, got.code, "another bug: %s", got)
	text, err = os.ReadFile(register)
	require.NoError(t, err)
	require.Contains(t, string(text), "tracker.example.com")

	got = run("unique-key", "--known", register, "--write-known", register)
	require.Equal(t, exitFixed, got.code, "%s", got)
	require.Contains(t, got.out, "take it out of the register")
	known, err := engine.ReadRegister(register)
	require.NoError(t, err)
	require.Empty(t, known)
}

func TestARegisterKeepsWhatWasNotSeenToBeFixed(t *testing.T) {
	t.Parallel()
	const one, other = "https://issues.example.com/1", "https://issues.example.com/2"
	old := scenarios.Register{
		"sweep":          {{Expect: "duplicate", Link: one}},
		"burst-same-key": {{Expect: "duplicate", Link: one}},
		"tabs-one-key":   {{Expect: "duplicate", Link: other}},
		"long-work":      {{Expect: "duplicate", Link: other}}, // not played
	}
	played := []checker.Report{{Results: []checker.Result{
		{Scenario: "sweep", Verdict: checker.Mended},
		{Scenario: "burst-same-key", Verdict: checker.Known, Findings: []checker.Finding{{Kind: checker.Duplicate, Known: one}}},
		{Scenario: "tabs-one-key", Verdict: checker.Mended},
	}}}
	text, err := scenarios.RegisterSource("", stillKnown(old, played, false))
	require.NoError(t, err)
	kept, err := scenarios.LoadRegister("known.yaml", text)
	require.NoError(t, err)
	delete(old, "tabs-one-key")
	require.Equal(t, old, kept)
}

// A line that names no operation speaks of any: it is fixed when every operation was played, and none showed it.
func TestALineWithoutAnOperationIsFixedWhereNoOperationShowsIt(t *testing.T) {
	t.Parallel()
	const link = "https://issues.example.com/1"
	unnamed, quotes := scenarios.KnownBug{Expect: "duplicate", Link: link}, scenarios.KnownBug{Expect: "duplicate", Operation: "quotes", Link: link}
	of := func(operation string, v checker.Verdict) checker.Report {
		return checker.Report{Operation: operation, Results: []checker.Result{{Scenario: "sweep", Verdict: v}}}
	}
	for _, c := range []struct {
		name   string
		bug    scenarios.KnownBug
		every  bool
		played []checker.Report
		want   bool
	}{
		{"none shows it", unnamed, true, []checker.Report{of("orders", checker.Pass), of("quotes", checker.Pass)}, true},
		{"it is for one of them", unnamed, true, []checker.Report{of("orders", checker.NotApplicable), of("quotes", checker.Pass)}, true},
		{"it is for none of them", unnamed, true, []checker.Report{of("orders", checker.NotApplicable), of("quotes", checker.NotApplicable)}, false},
		{"the other shows it", unnamed, true, []checker.Report{of("orders", checker.Pass), of("quotes", checker.Known)}, false},
		{"the other was not exercised", unnamed, true, []checker.Report{of("orders", checker.Pass), of("quotes", checker.Inconclusive)}, false},
		{"the other was not played", unnamed, false, []checker.Report{of("orders", checker.Pass)}, false},
		{"there is one alone", unnamed, false, []checker.Report{of("orders", checker.Mended)}, true},
		{"it is said which", quotes, true, []checker.Report{of("orders", checker.Pass), of("quotes", checker.Mended)}, true},
		{"it is said which, and not seen there", quotes, true, []checker.Report{of("orders", checker.Pass), of("quotes", checker.Inconclusive)}, false},
	} {
		require.Equal(t, c.want, fixed(c.played, "sweep", c.bug, c.every), c.name)
	}
}

func TestABugOfAnOwnScenarioIsNoneOfTheRegister(t *testing.T) {
	t.Parallel()
	parts, own := newlyKnown([]checker.Report{{Results: []checker.Result{{Scenario: "mine", Verdict: checker.Fail, Findings: []checker.Finding{
		{Kind: checker.ReplayMismatch, Detail: "status", Intent: "i1"}, {Kind: checker.ReplayMismatch, Detail: "status", Intent: "i2"},
	}}}}})
	require.Empty(t, parts)
	require.Equal(t, map[string][]string{"mine": {"replay-mismatch status"}}, own)
}
