package main

import (
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/sut"
)

// Short forms of the scenarios of the library.
const (
	gateScenario = `name: gate
summary: A few copies, and nobody writes until all that got so far stand in line.
intents: 3
concurrency: 1
steps: [burst: {copies: 5, write_gate: true}, send]
exercised: [{proof: writes-held, at_least: 100%}]
`
	sweepScenario = `name: moving
summary: The same request a second time, each time a little later.
intents: 6
concurrency: 1
needs: [repeatable]
steps: [sweep: {to: 80%}]
exercised: [{proof: swept, at_least: 1%}]
`
)

func TestWritersAreHeldBackAndOffsetsMove(t *testing.T) {
	t.Parallel()
	for _, on := range stores()[:2] {
		for design, code := range map[string]int{"check-then-insert": exitFinding, "unique-key": exitPass} {
			t.Run(design+" on "+on.name, func(t *testing.T) {
				t.Parallel()
				x := trial{reports: t.TempDir()}
				got := callWith(t.Context(), nil, append([]string{"run", "--target", sut.BuiltinPrefix + design, "--seed", "3", "--reports", x.reports,
					writeFile(t, "gate.yaml", gateScenario), writeFile(t, "moving.yaml", sweepScenario)}, on.flag()...)...)
				require.Equal(t, code, got.code, "%s", got)
				x.checked(t, got)
				report := onlyReport(t, x.reports)
				gate, sweep := report.Results[0], report.Results[1]
				require.Equal(t, []string{"orders"}, gate.Writers.Tables, "%s", got)
				require.Equal(t, []int{3, 3}, []int{gate.Writers.Held, gate.Writers.Of})
				require.NotEmpty(t, sweep.Phases)
				require.Nil(t, sweep.Bursts)
				require.Contains(t, got.out, "Blocked writers")
				require.Contains(t, got.out, "Sweeps: answers to the second request")
				for _, r := range report.Results {
					if code == exitPass {
						require.Equal(t, checker.Pass, r.Verdict, "%s", got)
						continue
					}
					for _, f := range r.Findings {
						require.Equal(t, checker.Duplicate, f.Kind)
					}
				}
				require.Equal(t, code == exitFinding, len(gate.Findings) > 0, "%s", got)
				if len(sweep.Findings) > 0 { // on a busy machine it may not hit
					requireReplayed(t, onlyRun(t, x.reports), sweep.Findings[0], on.flag()...)
				}
			})
		}
	}
}

// requireReplayed replays a finding of a sweep: its second request goes so long after the first as it
// did then.
func requireReplayed(t *testing.T, run string, f checker.Finding, flags ...string) {
	t.Helper()
	offset := func(attempts []history.Attempt) (after history.Offset) {
		for _, a := range attempts {
			after = max(after, a.After)
		}
		return after
	}
	require.NotZero(t, offset(f.Attempts))
	reports := t.TempDir()
	got := callWith(t.Context(), nil, append([]string{"replay", filepath.Join(run, "findings", f.ID), "--times", "1", "--reports", reports}, flags...)...)
	require.Contains(t, []int{exitFinding, exitPass}, got.code, "%s", got)
	again := slices.DeleteFunc(histories(t, onlyRun(t, reports)), func(h *history.History) bool { return h.Run.Scenario != "moving" })
	require.Len(t, again, 1)
	require.Equal(t, offset(f.Attempts), offset(again[0].Attempts))
}

func TestATargetFileThatNamesNoTable(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	x := s.trial(t, writeFile(t, "gate.yaml", gateScenario), "plain-create")
	got := x.run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, got.out, "the target file names no table to which writes may be held back (database.write_gate)")
	x.checked(t, got)
}

// gatedShop is a shop's target file that names a table.
func gatedShop(table string) string {
	return edited(`"${SHOP_DATABASE}"}`, `"${SHOP_DATABASE}", write_gate: {tables: [`+table+`]}}`)
}

func TestATableThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	x := s.trial(t, writeFile(t, "gate.yaml", gateScenario))
	x.file = gatedShop("thingz")
	got := x.run(t)
	require.Equal(t, exitEnvironment, got.code, "%s", got)
	require.Contains(t, got.err, "database.write_gate")
	require.Contains(t, got.err, "thingz")
	require.Equal(t, 1, lines(got.err), "one message: %s", got.err)
	require.Zero(t, s.things(t), "nothing was sent")

	x.reports, x.args = t.TempDir(), []string{"plain-create"}
	require.Equal(t, exitPass, x.run(t).code, "a run that holds nobody back does not ask for the table")

	x.reports, x.args, x.file = t.TempDir(), []string{writeFile(t, "gate.yaml", gateScenario)}, gatedShop("things")
	got = x.run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, got.out, "the writers of things were blocked in 3 of 3 bursts")
}

// guest is a PostgreSQL user who may read the orders of a target and nothing else; the result is the URL.
func guest(t *testing.T, databaseURL string) string {
	t.Helper()
	name := "guest_" + strings.ToLower(strings.NewReplacer("-", "", "/", "").Replace(filepath.Base(t.TempDir()))) + time.Now().Format("150405")
	for _, s := range []struct{ url, statement string }{
		{os.Getenv(postgresVariable), "create role " + name + " login password 'hunter22'"},
		{databaseURL, "do $$ begin execute format('grant usage on schema %I to " + name + "', current_schema()); end $$"},
		{databaseURL, "grant select on orders to " + name},
	} {
		db, err := sql.Open("pgx", s.url)
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), s.statement)
		require.NoError(t, err, s.statement)
		require.NoError(t, db.Close())
	}
	u, err := url.Parse(databaseURL)
	require.NoError(t, err)
	u.User = url.UserPassword(name, "hunter22")
	return u.String()
}

func TestATableThatOneMayNotLock(t *testing.T) {
	t.Parallel()
	_, env := serving(t, "unique-key")
	source, err := os.ReadFile("../../docs/examples/orders.yaml")
	require.NoError(t, err)
	file := writeFile(t, "orders.yaml", strings.Replace(string(source), `"${DATABASE_URL}"`, `"${DATABASE_URL}", write_gate: {tables: [orders]}`, 1))
	run := func(scenario string) outcome {
		return callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), scenario)
	}
	gate := writeFile(t, "gate.yaml", gateScenario)
	got := run(gate)
	require.Equal(t, exitPass, got.code, "%s", got)
	env["DATABASE_URL"] = guest(t, env["DATABASE_URL"])
	got = run(gate)
	require.Equal(t, exitEnvironment, got.code, "%s", got)
	require.Contains(t, got.err, "permission denied")
	require.Contains(t, got.err, "orders")
	require.NotContains(t, got.String(), "hunter22")
	require.Equal(t, 1, lines(got.err), "one message: %s", got.err)
	require.Equal(t, exitPass, run("plain-create").code, "reading is enough for the others")
}
