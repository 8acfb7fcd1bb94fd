package rundir_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/rundir"
)

// broughtIn is the directory of a shard as another machine may have written it, with a finding and a target file beside that.
func broughtIn(t *testing.T, shard, target string) rundir.Dir {
	t.Helper()
	dir := t.TempDir()
	finding := filepath.Join(dir, rundir.FindingsName, "F1")
	require.NoError(t, os.MkdirAll(finding, 0o700))
	for path, text := range map[string]string{
		filepath.Join(dir, rundir.ManifestName):    fmt.Sprintf(`{"version":%d,"shard":%q,"scenarios":[{"scenario":"a","verdict":"fail"}]}`, rundir.ManifestVersion, shard),
		filepath.Join(finding, rundir.FindingName): `{"version":1,"target":"t.yaml","scenario":"a","intents":[1],"finding":{"id":"F1","kind":"duplicate","intent":"i001"}}`,
		filepath.Join(finding, rundir.TargetName):  target,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return rundir.Dir{Path: dir}
}

// TestAnotherMachineBringsInNoTargetFileOfItsOwn is about what a replay would start.
func TestAnotherMachineBringsInNoTargetFileOfItsOwn(t *testing.T) {
	t.Parallel()
	const ours = "name: shop"
	for text, taken := range map[string]bool{ours: true, "process: {command: [rm, -rf, /]}": false} {
		shard := broughtIn(t, "1/1", text)
		f, err := rundir.ReadFinding(filepath.Join(shard.Path, rundir.FindingsName, "F1"))
		require.NoError(t, err)
		merged, err := rundir.Merge([]rundir.Dir{shard})
		require.NoError(t, err)
		merged.As(rundir.Whole{Target: "shop.yaml", Digest: fmt.Sprintf("%x", sha256.Sum256([]byte(ours)))})
		into := rundir.Dir{Path: t.TempDir()}
		require.NoError(t, merged.WriteFindings(into, checker.Report{Results: []checker.Result{{Scenario: "a", Findings: []checker.Finding{f.Finding}}}}))
		found := filepath.Join(into.Path, rundir.FindingsName, "F1")
		require.FileExists(t, filepath.Join(found, rundir.FindingName))
		_, err = os.Stat(filepath.Join(found, rundir.TargetName))
		require.Equal(t, taken, err == nil, text)
	}
}

func TestNoRunHasAsManyShards(t *testing.T) {
	t.Parallel()
	for _, shard := range []string{"1/9223372036854775807", "1/10001", "0/1", "2/1"} {
		_, err := rundir.Merge([]rundir.Dir{broughtIn(t, shard, "")})
		require.ErrorContains(t, err, "is not a shard of at most 10000", shard)
	}
}
