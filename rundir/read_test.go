package rundir_test

import (
	"os"
	"path/filepath"
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
