package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/sut"
)

// What becomes of designs that are killed in the middle of a request.
func TestCrashesOfServedDesigns(t *testing.T) {
	t.Parallel()
	for design, c := range map[string]struct {
		database string
		kind     checker.Kind
	}{
		"unique-key":          {"sqlite", ""},                  // key, order and answer are one transaction
		"in-progress-409":     {"postgres", ""},                // a dead claim is taken over when its lease is over
		"record-after-commit": {"postgres", checker.Duplicate}, // the order is there, and nothing knows its key
		"in-progress-stuck":   {"sqlite", checker.StuckKey},    // the claim of the dead is for ever
	} {
		t.Run(design+" on "+c.database, func(t *testing.T) {
			t.Parallel()
			reports := t.TempDir()
			p := start(t, []string{"TMPDIR=" + openFolder(t)}, "run", "--reports", reports, "--target", sut.ServedPrefix+design,
				"--database", c.database, "--pilot-timeout", "30s", "crash-sweep")
			code := p.wait(t)
			r := onlyReport(t, reports).Results[0]
			if c.kind == "" { // on a busy machine most are killed too late
				require.Contains(t, []int{exitPass, exitInconclusive}, code, "%s", p.out)
				require.Positive(t, r.Exercise[0].Held, "%s", p.out)
				return
			}
			require.Equal(t, exitFinding, code, "%s", p.out)
			f := r.Findings[0]
			require.Equal(t, c.kind, f.Kind)
			require.Len(t, f.Crashes, 1)
			require.Equal(t, f.Attempts[0].ID, f.Crashes[0].Attempt)
			require.Contains(t, p.out.String(), "the target was killed")
			require.FileExists(t, filepath.Join(onlyRun(t, reports), sut.ProcessLogName))
		})
	}
}
