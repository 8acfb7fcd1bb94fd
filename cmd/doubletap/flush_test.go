package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets/caches"
)

// Short forms of the scenarios of the library.
const (
	lateScenario = `name: late
summary: A few copies while the store is slow.
intents: 2
links: {store: [latency: 10ms]}
steps: [burst: {copies: 3}]
exercised: [{proof: link-delayed, at_least: 100%}]
`
	goneScenario = `name: gone
summary: The store cannot be reached while the same request comes twice.
intents: 1
concurrency: 1
steps: [send: {cut: {link: store, moment: 1, for: 1500ms}}, send, wait: 1500ms, send]
exercised: [link-away]
`
	emptiedScenario = `name: emptied
summary: The store loses what it holds.
intents: 2
concurrency: 1
steps: [send, flush: store, send]
exercised: [{proof: flushed, at_least: 100%}]
`
)

func TestTheStoreOfADesignIsSlowAwayAndEmptied(t *testing.T) {
	t.Parallel()
	for target, broken := range map[string]string{"builtin:store-fails-closed": "", "builtin:store-fails-open": "gone", "served:store-forgets": "emptied"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			x := trial{reports: t.TempDir()}
			got := typed(t, "run", "--target", target, "--seed", "3", "--reports", x.reports,
				writeFile(t, "late.yaml", lateScenario), writeFile(t, "gone.yaml", goneScenario), writeFile(t, "emptied.yaml", emptiedScenario))
			x.checked(t, got)
			for _, r := range onlyReport(t, x.reports).Results {
				require.Equal(t, r.Exercise[0].Of, r.Exercise[0].Held, "%s\n%s", r.Scenario, got)
				if r.Scenario != broken {
					continue
				}
				require.NotEmpty(t, r.Findings, "%s", got)
				require.Equal(t, checker.Duplicate, r.Findings[0].Kind, "%s", got)
				again := typed(t, "replay", filepath.Join(onlyRun(t, x.reports), "findings", r.Findings[0].ID), "--reports", t.TempDir())
				require.Equal(t, exitFinding, again.code, "%s", again)
			}
			if broken == "" {
				require.Equal(t, exitPass, got.code, "%s", got)
				require.NotContains(t, got.out+got.err, "redis:", "what the library of Redis prints is nobody's business")
			}
		})
	}
}

// The store stands for another service here: a link may lead to anything.
func TestTheLinkToADependencyBreaks(t *testing.T) {
	t.Parallel()
	store, err := caches.AddressOf(os.Getenv(sut.StoreVariable))
	require.NoError(t, err)
	listen := strings.TrimPrefix(freeAddress(t), "http://")
	source, err := os.ReadFile("../../docs/examples/orders.yaml")
	require.NoError(t, err)
	text := strings.Replace(string(source), `{url: "${DATABASE_URL}"}`, "{ephemeral: sqlite}", 1) + `
process:
  command: [doubletap, targets, serve, store-fails-open, --listen, "127.0.0.1:{{.Port}}", --database, "{{.Database.URL}}", --keep, --store-proxy, "` + listen + `"]
  env: {DOUBLETAP_STORE: "` + os.Getenv(sut.StoreVariable) + `"}
links: {dependency: {listen: "` + listen + `", to: "` + store + `"}}
`
	file := writeFile(t, "orders.yaml", strings.Replace(text, "${ORDERS_URL}", "http://127.0.0.1:0", 1))
	brief := writeFile(t, "brief.yaml", strings.Replace(goneScenario, "link: store", "link: dependency", 1))
	x := trial{reports: t.TempDir()}
	got := typed(t, "run", "--target", file, "--seed", "3", "--reports", x.reports, brief, "dependency-cut", "store-cut")
	x.checked(t, got)
	report := onlyReport(t, x.reports)
	require.Equal(t, checker.Duplicate, report.Results[0].Findings[0].Kind, "%s", got)
	require.GreaterOrEqual(t, report.Results[1].Exercise[0].Held, 6, "%s", got)
	for _, h := range histories(t, onlyRun(t, x.reports)) {
		for _, a := range h.Attempts {
			if a.Cut != nil {
				require.NotContains(t, a.Cut.Moment, "commit", "nobody commits there")
			}
		}
	}
	require.Contains(t, got.out, `the target has no link "store", only dependency`)
}

// typed runs the program as users have it, with the store of the tests.
func typed(t *testing.T, args ...string) outcome {
	t.Helper()
	var out, complaints bytes.Buffer
	command := exec.CommandContext(t.Context(), usual(t), patient(args)...)
	command.Stdout, command.Stderr = &out, &complaints
	_ = command.Run() // its exit code tells
	require.NotNil(t, command.ProcessState)
	return outcome{code: command.ProcessState.ExitCode(), out: out.String(), err: complaints.String()}
}

func TestThePrivateStoreOfAProcess(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../docs/examples/orders.yaml")
	require.NoError(t, err)
	run := func(t *testing.T, store, promise string) (outcome, string) {
		text := strings.Replace(string(source), `{url: "${DATABASE_URL}"}`, "{ephemeral: sqlite}", 1)
		text = strings.Replace(text, "contract:\n", "contract:\n"+promise, 1)
		file := writeFile(t, "orders.yaml", text+`
process:
  command: [doubletap, targets, serve, store-forgets, --listen, "127.0.0.1:{{.Port}}", --database, "{{.Database.URL}}", --keep, --store-prefix, "shop:"]
  env: {DOUBLETAP_STORE: "{{.Store.URL}}"}
store: `+store+"\n")
		x := trial{reports: t.TempDir()}
		got := callWith(t.Context(), map[string]string{"ORDERS_URL": "http://127.0.0.1:0"}, "run", "--target", file, "--reports", x.reports,
			"plain-create", writeFile(t, "late.yaml", lateScenario), writeFile(t, "emptied.yaml", emptiedScenario))
		return got, x.reports
	}
	t.Run("it is emptied", func(t *testing.T) {
		t.Parallel()
		got, reports := run(t, `{ephemeral: redis, flush: "shop:*"}`, "")
		require.Equal(t, exitFinding, got.code, "%s", got)
		require.Contains(t, strings.Join(strings.Fields(got.out), " "), "the target's store was flushed (1 key) at")
		report := onlyReport(t, reports)
		require.Equal(t, checker.Pass, report.Results[1].Verdict, "%s", got)
		require.Equal(t, checker.Duplicate, report.Results[2].Findings[0].Kind, "%s", got)
		for _, h := range histories(t, onlyRun(t, reports)) {
			for _, f := range h.Flushes {
				require.True(t, f.Deleted == 1 || f.Step < 0, "%+v", f)
			}
		}
	})
	t.Run("nothing of it may be deleted", func(t *testing.T) {
		t.Parallel()
		got, _ := run(t, `{ephemeral: redis}`, "")
		require.Equal(t, exitPass, got.code, "%s", got)
		require.Contains(t, got.out, "the target file names no keys of its store that may be deleted (store.flush)")
	})
	t.Run("the target lives without it", func(t *testing.T) {
		t.Parallel()
		got, reports := run(t, `{ephemeral: redis, flush: "shop:*"}`, "  store: {on_failure: fail-open}\n")
		require.Equal(t, exitPass, got.code, "%s", got)
		for _, r := range onlyReport(t, reports).Results[1:] {
			require.Equal(t, "the target lives without its store on purpose (contract.store.on_failure: fail-open)", r.Reasons[0], "%s", got)
		}
	})
}
