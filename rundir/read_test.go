package rundir_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
)

const leastScenario = "name: small\nsummary: s\nintents: 1\nsteps: [{sweep: {from: 0s, to: 5ms}}]\nexercised: [acknowledged]\n"

// FuzzReadFinding reads anything as what a finding's directory says, and prepares to replay it.
func FuzzReadFinding(f *testing.F) {
	f.Add([]byte(`{"version":1,"target":"t","intents":[1],"finding":{"kind":"duplicate","intent":"i001","attempts":[{"id":"a","intent":"i001","step":0,"after":1}]}}`))
	f.Add([]byte(`{"version":1,"target":"t","intents":[-1],"finding":{"attempts":[{"step":-1}]}}`))
	f.Add([]byte(`null`))
	s, err := scenarios.Load("s.yaml", []byte(leastScenario))
	require.NoError(f, err)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, rundir.FindingName), text, 0o600))
		if found, err := rundir.ReadFinding(dir); err == nil {
			narrow := found.Narrowed(s)
			require.NotZero(t, scenarios.NewPlan(narrow, found.Seed).Only(found.Intents).Scenario)
		}
	})
}

// FuzzReadManifest reads anything as what a run says about itself, and judges the run.
func FuzzReadManifest(f *testing.F) {
	f.Add([]byte(`{"version":1,"scenarios":[{"scenario":"a","verdict":"pass"},{"scenario":"../../..","why":"x"}],"replay":"a; b"}`))
	f.Add([]byte(`{"version":1,"scenarios":[{"known":[{}]}],"terms":{}}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, rundir.ManifestName), text, 0o600))
		d := rundir.Dir{Path: dir}
		if m, err := d.ReadManifest(); err == nil {
			require.NotNil(t, d.Report(m))
			if merged, err := rundir.Merge([]rundir.Dir{d}); err == nil {
				require.NotNil(t, merged.Report(rundir.Dir{Path: dir}, nil))
			}
		}
	})
}

// TestAFullDiskLeavesWhatWasThere replaces a file on a disk that has no room left for it.
func TestAFullDiskLeavesWhatWasThere(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=16k"); err != nil {
		if os.Getenv("DOUBLETAP_ROOT") == "required" {
			t.Fatal(err)
		}
		t.Skipf("no disk to fill here: mount: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, 0) })
	dir := rundir.Dir{Path: disk}
	require.NoError(t, dir.Write([]byte("the first"), rundir.ManifestName))
	err := dir.Write(make([]byte, 32<<10), rundir.ManifestName)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, filepath.Join(disk, rundir.ManifestName)+": no space left on device")
	text, err := os.ReadFile(filepath.Join(disk, rundir.ManifestName))
	require.NoError(t, err)
	require.Equal(t, "the first", string(text))
	left, err := os.ReadDir(disk)
	require.NoError(t, err)
	require.Len(t, left, 1)
	_, err = rundir.Create(filepath.Join(disk, "reports"), "a")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(disk, "rest"), nil, 0o600))
	for full := (error)(nil); full == nil; {
		var f *os.File
		f, full = os.OpenFile(filepath.Join(disk, "rest"), os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, full)
		_, full = f.Write(make([]byte, 4<<10))
		require.NoError(t, f.Close())
	}
	_, err = rundir.Create(filepath.Join(disk, "others"), "a")
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoDirExists(t, filepath.Join(disk, "others"), "or git would not be told of it later")
}
