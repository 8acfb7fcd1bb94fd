package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/scenarios"
)

func TestASignalIsWorseThanAnyVerdictOfAnOperation(t *testing.T) {
	worst := severity(exit{code: exitFinding})
	for _, code := range []int{exitPass, exitFixed, exitInconclusive, exitEnvironment, exitConfig} {
		require.Less(t, severity(exit{code: code}), worst, "exit %d", code)
	}
	for _, code := range []int{exitHungUp, exitInterrupted, exitQuit, exitTerminated} {
		require.Greater(t, severity(exit{code: code}), worst, "exit %d", code)
	}
}

// A bug of one operation is known there, and not fixed at the other; what failed is played again where it failed.
func TestOperationsInTurnKeepTheirOwnFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	register, runs := filepath.Join(dir, "known.yaml"), filepath.Join(dir, "runs")
	run := func(more ...string) outcome {
		return callWith(t.Context(), nil, append([]string{"run", "--target", "builtin:key-ignored-on-variant", "--reports", runs, "--seed", "7"}, more...)...)
	}
	got := run("sequential-replay", "--operation", "all", "--write-known", register)
	require.Equal(t, exitFinding, got.code, "%s", got)
	require.Contains(t, got.out, "create_order: pass\n  create_quote: fail\n")
	require.Contains(t, got.out, " · operation create_quote\n")
	known, err := engine.ReadRegister(register)
	require.NoError(t, err)
	require.Len(t, known["sequential-replay"], 1)
	require.Equal(t, "create_quote", known["sequential-replay"][0].Operation)

	got = run("--last-failed")
	require.Equal(t, exitFinding, got.code, "%s", got)
	require.Contains(t, got.out, "operation create_quote, not create_order")

	got = run("sequential-replay", "--operation", "all", "--known", register, "--write-known", register)
	require.Equal(t, exitPass, got.code, "%s", got)
	kept, err := engine.ReadRegister(register)
	require.NoError(t, err)
	require.Equal(t, known, kept)

	unnamed := writeFile(t, "unnamed.yaml", "known:\n  - {scenario: sequential-replay, expect: duplicate, link: https://issues.example.com/1}\n")
	got = run("sequential-replay", "--operation", "all", "--known", unnamed)
	require.Equal(t, exitPass, got.code, "one of the operations still shows it: %s", got)
	require.Contains(t, strings.Join(strings.Fields(got.out), " "), "which may not be the one that has it")

	passed := func(more ...string) outcome {
		return callWith(t.Context(), nil, append([]string{"run", "--target", "builtin:unique-key", "--reports", t.TempDir(), "sequential-replay", "--known", unnamed}, more...)...)
	}
	got = passed("--operation", "all")
	require.Equal(t, exitFixed, got.code, "no operation has it any more: %s", got)
	require.Contains(t, got.out, "fixed: a known duplicate of sequential-replay was not seen at any operation: take it out of the register (https://issues.example.com/1)")
	require.Equal(t, exitPass, passed("--operation", "all", "--fixed", "warn").code)
	require.Equal(t, exitPass, passed("--operation", "create_quote").code, "the other may have it")

	got = run("--last-failed")
	require.Equal(t, exitConfig, got.code, "%s", got)
	require.Contains(t, got.err, "failed")
	got = run("sequential-replay", "--operation", "create_order")
	require.Equal(t, exitPass, got.code, "%s", got)
	got = run("--last-failed", "--operation", "create_quote")
	require.Equal(t, exitConfig, got.code, "%s", got)
	require.Contains(t, got.err, "did not play the operation create_quote")
}

// The latest run of a command that played each operation may have passed, and one before it failed.
func TestLastFailedSeesEachOperationOfACommand(t *testing.T) {
	t.Parallel()
	runs := t.TempDir()
	run := func(more ...string) outcome {
		return callWith(t.Context(), nil, append([]string{"run", "--target", "builtin:check-then-insert", "--reports", runs, "--seed", "7"}, more...)...)
	}
	got := run("burst-same-key", "--operation", "all")
	require.Contains(t, got.out, "create_order: fail\n  create_quote: fail\n", "%s", got)
	got = run("--last-failed")
	require.Equal(t, exitFinding, got.code, "%s", got)
	require.Contains(t, got.out, "create_order: fail\n  create_quote: fail\n")
	got = run("--last-failed", "--operation", "create_order")
	require.Equal(t, exitFinding, got.code, "%s", got)
	require.Contains(t, got.out, "operation create_order, not create_quote")
}

// Programs read one JSON value from the standard output, whatever is played of however many operations.
func TestJSONIsOneValue(t *testing.T) {
	t.Parallel()
	read := func(into any, more ...string) {
		t.Helper()
		got := callWith(t.Context(), nil, append(more, "--target", "builtin:unique-key", "--reports", t.TempDir(), "--seed", "7", "--json")...)
		require.Equal(t, exitPass, got.code, "%s", got)
		require.NoError(t, json.Unmarshal([]byte(got.out), into), "%s", got)
	}
	var reported []checker.Report
	read(&reported, "run", "plain-create", "--operation", "all")
	require.Len(t, reported, 2)
	require.Equal(t, []string{"create_order", "create_quote"}, []string{reported[0].Operation, reported[1].Operation})

	var plan reports.Plan
	read(&plan, "run", "plain-create", "key-expired", "--dry-run")
	require.Equal(t, "create_order", plan.Operation)
	require.Equal(t, uint64(7), plan.Seed)
	require.Len(t, plan.Scenarios, 2)
	require.Equal(t, reports.Planned{Scenario: "plain-create", Intents: 8, Requests: 8}, plan.Scenarios[0])
	require.Contains(t, plan.Scenarios[1].NotApplicable, "expiry.after")

	var plans []reports.Plan
	read(&plans, "run", "plain-create", "--operation", "all", "--dry-run")
	require.Len(t, plans, 2)
	read(&plan, "hunt", "--dry-run", "--until", "10%")
	require.InDelta(t, 0.1, plan.Hunt.Until, 1e-9)
}

// What was interrupted says of each operation what came of it.
func TestAnInterruptedCommandNamesTheOperationsThatWereNotPlayed(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	var out bytes.Buffer
	play := func(context.Context, turn, runFlags) (*checker.Report, error) {
		interrupt()
		return &checker.Report{Verdict: checker.Pass}, nil
	}
	files := []scenarios.File{{}}
	require.NoError(t, runFlags{}.playEach(ctx, []turn{{operation: "create_order", files: files}, {operation: "create_quote", files: files}}, play, streams{out: &out, err: &out}))
	require.Equal(t, "\nOperations\n  create_order: pass\n  create_quote: not played\n", out.String())
}

// An operation that no scenario is for is not played: without scenarios it would be the whole library.
func TestAnOperationThatNoScenarioIsForIsNotPlayed(t *testing.T) {
	t.Parallel()
	file := func(operation, known string) string {
		return writeFile(t, "own.yaml", "name: own\nsummary: Two at once.\noperation: "+operation+"\nintents: 2\nsteps: [send: {}, send: {}]\nexercised: [replayed]\n"+known)
	}
	run := func(target, file string) outcome {
		return callWith(t.Context(), nil, "run", "--target", target, "--operation", "all", "--seed", "7", "--reports", t.TempDir(), file)
	}
	own := file("create_quote", "")
	got := run("builtin:unique-key", own)
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, got.out, "\nOperations\n  create_order: no scenario is for it\n  create_quote: pass\n")
	require.Equal(t, 1, strings.Count(got.out, "again "), "one was played")

	got = run("builtin:unique-key", file("create_quote", "known:\n  - {expect: duplicate, link: \"https://issues.example.com/1\"}\n"))
	require.Equal(t, exitFixed, got.code, "%s", got)

	got = run("builtin:unique-key", file("create_nothing", ""))
	require.Equal(t, exitConfig, got.code, "%s", got)
	require.Contains(t, got.err, `asks for the operation "create_nothing", and builtin:unique-key has create_order, create_quote`)
}
