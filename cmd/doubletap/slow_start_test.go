package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/rundir"
)

// A JVM starts in seconds: thirty crashes of it would take minutes.
func TestOneCrashOfASlowStarterStrikesSeveralIntents(t *testing.T) {
	t.Parallel()
	for design, kind := range map[string]checker.Kind{"unique-key": "", "record-after-commit": checker.Duplicate} {
		t.Run(design, func(t *testing.T) {
			t.Parallel()
			file, _ := serviceFile(t, design, "sqlite")
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			slow := strings.Replace(string(text), "; exec", "; sleep 1; exec", 1)
			require.NotEqual(t, string(text), slow)
			require.NoError(t, os.WriteFile(file, []byte(slow), 0o600))
			reports := t.TempDir()
			p := start(t, nil, "run", "--reports", reports, "--target", file, "--pilot-timeout", "30s", "crash-sweep")
			code := p.wait(t)
			h, err := rundir.Dir{Path: onlyRun(t, reports)}.ReadHistory("crash-sweep")
			require.NoError(t, err)
			struck := map[history.Offset]bool{}
			for _, k := range h.Crashes {
				require.NotZero(t, k.Ready)
				struck[k.Struck] = true
			}
			require.Len(t, h.Crashes, len(h.Intents), "each intent has a crash")
			require.GreaterOrEqual(t, len(h.Intents), 12, "the fewest that a busy machine leaves")
			require.LessOrEqual(t, len(struck), 20, "where it starts in a second")
			if kind == "" {
				require.Contains(t, []int{exitPass, exitInconclusive}, code, "%s", p.out) // on a busy machine many are killed too late
				return
			}
			require.Equal(t, exitFinding, code, "%s", p.out)
			require.Equal(t, kind, onlyReport(t, reports).Results[0].Findings[0].Kind)
		})
	}
}
