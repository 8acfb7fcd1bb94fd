package main

import (
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets/caches"
)

func TestThePasswordOfAStoreIsInNoFile(t *testing.T) {
	t.Parallel()
	link, err := url.Parse(os.Getenv(sut.StoreVariable))
	require.NoError(t, err)
	password, set := link.User.Password()
	require.True(t, set)
	dir := t.TempDir()
	for _, prefix := range []string{sut.BuiltinPrefix, sut.ServedPrefix} {
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

// A served design is told to keep what it has: it may be killed and started again. What is left is the harness's to delete.
func TestAServedDesignLeavesNothingInTheStore(t *testing.T) {
	t.Parallel()
	link, err := url.Parse(os.Getenv(sut.StoreVariable))
	require.NoError(t, err)
	link.Path = "/7" // where nobody else has anything
	store, err := caches.Open(t.Context(), link.String())
	require.NoError(t, err)
	broken := writeFile(t, "broken.yaml", "name: broken\nsteps: [send, flush: nothing]\n")
	for name, c := range map[string]struct {
		code int
		args []string
	}{
		"one that finds something":     {exitFinding, []string{"redis-recorded-before-commit", "plain-create", "impatient-retry"}},
		"one that kills the processes": {exitPass, []string{"redis-claim-and-record", "--instances", "2", "plain-create", "crash-between"}},
		"one that cannot start":        {exitConfig, []string{"redis-claim-and-record", broken}},
	} {
		args := append([]string{"run", "--store", link.String(), "--seed", "1", "--reports", t.TempDir(), "--target", sut.ServedPrefix + c.args[0]}, c.args[1:]...)
		got := typed(t, args...)
		require.Equal(t, c.code, got.code, "%s: %s", name, got)
		left, err := store.Flush(t.Context(), "*")
		require.NoError(t, err)
		require.Zero(t, left, "%s: %s", name, got)
	}
}
