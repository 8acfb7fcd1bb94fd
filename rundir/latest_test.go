package rundir_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
)

// putRun makes the directory of a run that began so long ago.
func putRun(t *testing.T, runs, name string, ago time.Duration, reported bool) string {
	t.Helper()
	return putMerged(t, runs, name, ago, reported)
}

// putMerged is putRun, of a run that was merged from others.
func putMerged(t *testing.T, runs, name string, ago time.Duration, reported bool, shards ...rundir.ShardPlace) string {
	t.Helper()
	dir := filepath.Join(runs, name)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "plain-create"), 0o700))
	text, err := json.Marshal(rundir.Manifest{Version: rundir.ManifestVersion, Run: name, Started: time.Now().Add(-ago), Scenarios: []rundir.Entry{{Scenario: "plain-create"}}, Merged: shards})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, rundir.ManifestName), text, 0o600))
	if reported {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "report.json"), []byte("{}"), 0o600))
	}
	return dir
}

func TestOldRunsAreRemovedAndNothingElse(t *testing.T) {
	t.Parallel()
	runs := t.TempDir()
	newest, middle := putRun(t, runs, "newest", time.Hour, true), putRun(t, runs, "middle", 2*time.Hour, true)
	going, killed := putRun(t, runs, "going", 3*time.Hour, false), putRun(t, runs, "killed", 48*time.Hour, false)
	copied := putRun(t, runs, "copied", 72*time.Hour, true)
	require.NoError(t, os.Rename(copied, filepath.Join(runs, "baseline")))
	elsewhere := putRun(t, t.TempDir(), "linked", 96*time.Hour, true)
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(runs, "linked")))
	notes := filepath.Join(runs, "notes", "a.txt")
	require.NoError(t, os.MkdirAll(filepath.Dir(notes), 0o700))
	require.NoError(t, os.WriteFile(notes, nil, 0o600))

	removed, err := rundir.Prune(runs, 1, time.Now())
	require.NoError(t, err)
	require.Equal(t, []string{middle, killed}, removed)
	for _, path := range []string{newest, going, filepath.Join(runs, "baseline"), elsewhere, filepath.Join(runs, "linked"), notes} {
		require.True(t, rundir.Exists(path), path)
	}
	again, err := rundir.Prune(runs, 1, time.Now())
	require.NoError(t, err)
	require.Empty(t, again)
	none, err := rundir.Prune(filepath.Join(runs, "missing"), 1, time.Now())
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestTheLatestRunIsFoundByOneWord(t *testing.T) {
	t.Parallel()
	runs := t.TempDir()
	_, err := rundir.FindRun(rundir.LastRun, runs)
	require.ErrorContains(t, err, "no run in "+runs)
	putRun(t, runs, "older", 2*time.Hour, true)
	putRun(t, runs, "going", time.Minute, false)
	want := putRun(t, runs, "newest", time.Hour, true)
	got, err := rundir.FindRun(rundir.LastRun, runs)
	require.NoError(t, err)
	require.Equal(t, want, got.Path)
	named, err := rundir.FindRun("somewhere", runs)
	require.NoError(t, err)
	require.Equal(t, "somewhere", named.Path)
}

// A worker may play shards beside the coordinator, and they begin after the run that has them.
func TestTheLatestRunIsNoShardOfOne(t *testing.T) {
	t.Parallel()
	runs := t.TempDir()
	putRun(t, runs, "one", 2*time.Hour, true)
	putRun(t, runs, "two", time.Hour, true)
	want := putMerged(t, runs, "whole", 2*time.Hour, true, rundir.ShardPlace{Run: "one", Dir: "../one"}, rundir.ShardPlace{Run: "two", Dir: "../two"})
	got, err := rundir.FindRun(rundir.LastRun, runs)
	require.NoError(t, err)
	require.Equal(t, want, got.Path)
	later := putRun(t, runs, "later", time.Minute, true)
	got, err = rundir.FindRun(rundir.LastRun, runs)
	require.NoError(t, err)
	require.Equal(t, later, got.Path)
}
