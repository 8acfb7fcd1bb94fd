package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/sut"
)

func TestTheLinkOfABuiltInTargetToWhatItAsks(t *testing.T) {
	t.Parallel()
	for design, found := range map[string]checker.Kind{
		"dependency-error-frees-key": checker.Duplicate, "dependency-error-cached": checker.StoredError, "dependency-resumes": "",
	} {
		t.Run(design, func(t *testing.T) {
			t.Parallel()
			x := trial{reports: t.TempDir()}
			got := typed(t, "run", "--target", sut.BuiltinPrefix+design, "--seed", "3", "--reports", x.reports, "plain-create", "dependency-cut")
			x.checked(t, got)
			report := onlyReport(t, x.reports)
			plain, broke := report.Results[0], report.Results[1]
			require.Equal(t, checker.Pass, plain.Verdict, "%s", got)
			require.GreaterOrEqual(t, broke.Exercise[0].Held, 6, "%s", got)
			run := onlyRun(t, x.reports)
			for _, h := range histories(t, run) {
				if h.Run.Scenario == "dependency-cut" {
					requireChargesOnRecord(t, h)
				}
			}
			if found == "" {
				require.Equal(t, exitPass, got.code, "%s", got)
				return
			}
			require.Equal(t, exitFinding, got.code, "%s", got)
			require.GreaterOrEqual(t, broke.Failed, 6, "%s", got)
			require.Equal(t, found, broke.Findings[0].Kind)
			again := typed(t, "replay", filepath.Join(run, "findings", broke.Findings[0].ID), "--reports", t.TempDir())
			require.Equal(t, exitFinding, again.code, "%s", again)
		})
	}
}

// requireChargesOnRecord holds that one question and one answer pass for a create, and that the link broke at each of
// them and a moment later.
func requireChargesOnRecord(t *testing.T, h *history.History) {
	t.Helper()
	require.Len(t, h.Run.Links, 1)
	require.Equal(t, "dependency", h.Run.Links[0].Name)
	require.Equal(t, 2, h.Run.Links[0].Moments)
	moments := map[string]int{}
	for _, a := range h.Attempts {
		if a.Cut != nil {
			moments[a.Cut.Moment]++
		}
	}
	require.Equal(t, map[string]int{"1": 4, "2": 4, "3": 4}, moments)
}

func TestATargetThatAsksNobodyHasNoSuchLink(t *testing.T) {
	t.Parallel()
	for target, why := range map[string]string{
		sut.BuiltinPrefix + "unique-key":        "the target asks no other service",
		sut.ServedPrefix + "unique-key":         "the target asks no other service",
		sut.ServedPrefix + "dependency-resumes": "the service that the target asks is in its own process, where no link leads; builtin: in place of served: has one",
	} {
		got := typed(t, "run", "--target", target, "--seed", "1", "--reports", t.TempDir(), "plain-create", "dependency-cut")
		require.Equal(t, exitPass, got.code, "%s", got)
		require.Contains(t, strings.Join(strings.Fields(got.out), " "), why)
	}
}

func TestATargetOfItsOwnThatAsksAnotherService(t *testing.T) {
	t.Parallel()
	service, listen := strings.TrimPrefix(freeAddress(t), "http://"), strings.TrimPrefix(freeAddress(t), "http://")
	source, err := os.ReadFile("../../docs/examples/orders.yaml")
	require.NoError(t, err)
	text := strings.Replace(string(source), `{url: "${DATABASE_URL}"}`, "{ephemeral: sqlite}", 1) + `
process:
  command: [doubletap, targets, serve, dependency-error-frees-key, --listen, "127.0.0.1:{{.Port}}", --database, "{{.Database.URL}}", --keep,
    --dependency, "` + service + `", --dependency-proxy, "` + listen + `"]
links: {dependency: {listen: "` + listen + `", to: "` + service + `"}}
`
	x := trial{reports: t.TempDir()}
	got := typed(t, "run", "--target", writeFile(t, "orders.yaml", strings.Replace(text, "${ORDERS_URL}", "http://127.0.0.1:0", 1)),
		"--seed", "3", "--reports", x.reports, "dependency-cut")
	x.checked(t, got)
	require.Equal(t, exitFinding, got.code, "%s", got)
	require.Equal(t, checker.Duplicate, onlyReport(t, x.reports).Results[0].Findings[0].Kind, "%s", got)
}
