package rundir_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
)

func TestALinkLeadsToTheLatestRun(t *testing.T) {
	t.Parallel()
	const first, second = "20260102-150405-abcd", "20260102-150406-abcd"
	runs := t.TempDir()
	link := filepath.Join(runs, rundir.LatestName)
	rundir.Dir{Path: putRun(t, runs, first, time.Hour, true)}.MarkLatest()
	require.FileExists(t, filepath.Join(link, "report.json"))
	older := rundir.Dir{Path: putRun(t, runs, second, time.Minute, true)}
	older.MarkLatest()
	to, err := os.Readlink(link)
	require.NoError(t, err)
	require.Equal(t, second, to)
	require.FileExists(t, filepath.Join(runs, first, "report.json"), "what the link led to is as it was")

	latest, err := rundir.Latest(runs)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(runs, second), latest.Path, "a run has one name")
	_, err = rundir.Create(link, "20260102-150407-abcd")
	require.ErrorContains(t, err, "leads to the latest run")

	require.NoError(t, os.RemoveAll(filepath.Join(runs, second)))
	_, err = rundir.Prune(runs, 1, time.Now())
	require.NoError(t, err)
	require.NoFileExists(t, link, "it led nowhere any more")
}

func TestWhatIsNoLinkOfOursStays(t *testing.T) {
	t.Parallel()
	const run = "20260102-150405-abcd"
	elsewhere := t.TempDir()
	for name, put := range map[string]func(link string) error{
		"a folder":             func(link string) error { return os.Mkdir(link, 0o700) },
		"a file":               func(link string) error { return os.WriteFile(link, []byte("mine\n"), 0o600) },
		"a link to elsewhere":  func(link string) error { return os.Symlink(elsewhere, link) },
		"a link to who knows":  func(link string) error { return os.Symlink("../notes", link) },
		"a file with much":     func(link string) error { return os.WriteFile(link, []byte(run+"\n"+run+"\n"), 0o600) },
		"a link through a run": func(link string) error { return os.Symlink(run+"/../..", link) },
	} {
		runs := t.TempDir()
		link := filepath.Join(runs, rundir.LatestName)
		require.NoError(t, put(link), name)
		before, err := os.Lstat(link)
		require.NoError(t, err)
		rundir.Dir{Path: putRun(t, runs, run, time.Hour, true)}.MarkLatest()
		after, err := os.Lstat(link)
		require.NoError(t, err)
		require.True(t, os.SameFile(before, after), name)
	}
	left, err := os.ReadDir(elsewhere)
	require.NoError(t, err)
	require.Empty(t, left)

	runs := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(runs, rundir.LatestName), []byte(run+"\n"), 0o600)) // from where there are no links
	rundir.Dir{Path: putRun(t, runs, run, time.Hour, true)}.MarkLatest()
	require.FileExists(t, filepath.Join(runs, rundir.LatestName, "report.json"))
}
