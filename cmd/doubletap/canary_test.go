package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/sut"
)

// TestNoSecretIsInAFileHoweverARunEnds ends runs against a service that prints every secret that it gives and gets. The canaries
// are a token, a password of a header, cookies and what steps extract.
func TestNoSecretIsInAFileHoweverARunEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]os.Signal{"by itself": nil, "an interrupt": syscall.SIGINT, "terminated": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reports, scenario := t.TempDir(), "made-again"
			if end != nil {
				scenario = writeFile(t, "long.yaml", long)
			}
			p := start(t, nil, "run", "--target", writeFile(t, "gossip.yaml", gossipFile), "--reports", reports, "--pilot-timeout", "30s", scenario)
			if end != nil {
				eventually(t, "it is busy", busyWith(reports, "long", 20))
				require.NoError(t, p.cmd.Process.Signal(end))
			}
			code := p.wait(t)
			require.NotEqual(t, exitConfig, code, "%s", p.out)
			requireNowhere(t, reports, "s3cr3t")
			requireNowhere(t, p.tmp, "s3cr3t")
			require.NotContains(t, p.out.String(), "s3cr3t")
			run := onlyRun(t, reports)
			for path, mode := range map[string]os.FileMode{
				"": os.ModeDir | 0o700, rundir.ManifestName: 0o600, sut.ProcessLogName: 0o600,
			} {
				info, err := os.Stat(filepath.Join(run, path))
				require.NoError(t, err)
				require.Equal(t, mode, info.Mode(), path)
			}
		})
	}
}
