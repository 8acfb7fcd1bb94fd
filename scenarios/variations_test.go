package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/scenarios"
)

// Whatever is changed in a scenario of the library, the file of it can be written, read and played, and gives the same plans.
func TestVariationsAreScenariosOfTheirOwn(t *testing.T) {
	t.Parallel()
	files := scenarios.Library()
	names, racing := map[string]bool{}, 0
	for _, f := range files {
		names[f.Scenario.Name] = true
	}
	for _, f := range files {
		before := writtenYAML(t, f.Scenario)
		all := scenarios.Variations(f.Scenario)
		if !f.Scenario.Races() {
			require.Empty(t, all, f.Scenario.Name)
			continue
		}
		racing++
		require.NotEmpty(t, all, f.Scenario.Name)
		for _, v := range all {
			require.NotEmpty(t, v.With)
			require.False(t, names[v.Scenario.Name], "%s is there twice", v.Scenario.Name)
			names[v.Scenario.Name] = true
			source, err := scenarios.Source(v.Scenario)
			require.NoError(t, err)
			again, err := scenarios.Load("again.yaml", source)
			require.NoError(t, err, "%s\n%s", v.Scenario.Name, source)
			require.Equal(t, scenarios.NewPlan(v.Scenario, 7), scenarios.NewPlan(again, 7), v.Scenario.Name)
			require.NotEqual(t, scenarios.NewPlan(f.Scenario, 7), scenarios.NewPlan(v.Scenario, 7), v.Scenario.Name)
		}
		require.Equal(t, before, writtenYAML(t, f.Scenario), "the scenario itself is left alone")
	}
	require.Greater(t, racing, 10, "the library is not empty by mistake")
}

func TestABurstIsVariedInWhatDecidesARace(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Load("race.yaml", []byte("name: race\nsummary: Ten at once.\nconcurrency: 2\nsteps: [burst: {copies: 10}]\nexercised: [overlapped]\n"))
	require.NoError(t, err)
	with := map[string]scenarios.Scenario{}
	for _, v := range scenarios.Variations(s) {
		with[v.With] = v.Scenario
	}
	require.Equal(t, 50, with["50 copies"].Steps[0].Burst.Copies)
	require.Equal(t, "race-50-copies", with["50 copies"].Name)
	require.Equal(t, 4, with["4 at a time"].Concurrency)
	require.Contains(t, with["write gate"].Needs, scenarios.NeedsWriteGate)
	require.Equal(t, 1, with["write gate"].Concurrency)
	require.Equal(t, scenarios.JitterLane, with["jitter"].Steps[0].Burst.Lane)
	require.NotContains(t, with, "10 copies")
}
