package cmd

import (
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThePasswordOfAStoreIsInNoFile(t *testing.T) {
	t.Parallel()
	link, err := url.Parse(os.Getenv(storeVariable))
	require.NoError(t, err)
	password, set := link.User.Password()
	require.True(t, set)
	dir := t.TempDir()
	for _, prefix := range []string{builtinPrefix, servedPrefix} {
		run := exec.CommandContext(t.Context(), "doubletap", "run", "--target", prefix+"redis-recorded-before-commit",
			"--store", link.String(), "--seed", "1", "--reports", dir, "plain-create", "impatient-retry")
		out, err := run.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, exitFinding, run.ProcessState.ExitCode(), "%s", out)
		require.NotContains(t, string(out), password)
	}
	files := 0
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		require.NotContains(t, string(text), password, path)
		return err
	})
	require.NoError(t, err)
	require.Positive(t, files)
}
