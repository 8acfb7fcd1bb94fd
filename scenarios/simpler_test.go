package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/scenarios"
)

// Whatever is taken from a scenario of the library, what is left can be written, read and played, and it
// comes to an end: in the end nothing can be taken any more.
func TestSimplerScenariosAreScenariosAndHaveAnEnd(t *testing.T) {
	t.Parallel()
	files := scenarios.Library()
	extra, err := scenarios.Load("crowded.yaml", []byte(crowded))
	require.NoError(t, err)
	narrow, err := scenarios.Load("narrow.yaml", []byte("name: narrow\nsummary: Its beginning is rounded up.\nintents: 2\nsteps: [{sweep: {from: 6.5ms, to: 6.5ms}}]\nexercised: [swept]\n"))
	require.NoError(t, err)
	files = append(files, scenarios.File{Scenario: extra}, scenarios.File{Scenario: narrow})
	for _, f := range files {
		t.Run(f.Scenario.Name, func(t *testing.T) {
			t.Parallel()
			before := writtenYAML(t, f.Scenario)
			s := f.Scenario
			for steps := 0; ; steps++ {
				require.Less(t, steps, 200)
				simpler := scenarios.Simpler(s)
				for _, one := range simpler {
					require.NotEmpty(t, one.Without)
					again, err := scenarios.Load("again.yaml", []byte(writtenYAML(t, one.Scenario)))
					require.NoError(t, err, "without %s\n%s", one.Without, writtenYAML(t, one.Scenario))
					require.Equal(t, writtenYAML(t, one.Scenario), writtenYAML(t, again))
				}
				if len(simpler) == 0 {
					break
				}
				s = simpler[0].Scenario
			}
			require.Equal(t, before, writtenYAML(t, f.Scenario), "the scenario itself is left alone")
			require.Len(t, s.Steps, 1)
			require.Empty(t, s.Lanes)
			require.Equal(t, 1, s.Concurrency)
		})
	}
}

const crowded = `
name: crowded
summary: Everything that can be taken away.
intents: 50
concurrency: 4
background: {rate: 50, intents: 100}
lanes:
  slow:
    - latency: {delay: 47ms, jitter: 20ms}
    - bandwidth: 100
  torn:
    - cut: reset
    - slice: {size: 16, delay: 1ms}
    - slow-close: 20ms
steps:
  - burst: {copies: 20, altered: 3, lane: slow, timeout: 2s}
  - tabs: [{at: 13ms, within: 5ms, count: 3, lane: torn}, {altered: true}]
  - wait: 26ms
  - send: {key: fresh, retry: {max: 3, backoff: 17ms, jitter: 0.5, lane: slow, timeout: 1s}}
  - sweep: {from: 10ms, to: 90ms}
exercised: [overlapped, delayed, both-bodies, keys-differ]
`

func writtenYAML(t *testing.T, s scenarios.Scenario) string {
	out, err := yaml.Marshal(s)
	require.NoError(t, err)
	return string(out)
}

// without returns the simpler scenario that lacks something.
func without(t *testing.T, simpler []scenarios.Simplification, what string) scenarios.Scenario {
	t.Helper()
	var found []string
	for _, one := range simpler {
		if one.Without == what {
			return one.Scenario
		}
		found = append(found, one.Without)
	}
	require.Contains(t, found, what)
	return scenarios.Scenario{}
}

func TestWhatCanBeTakenFromAScenario(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Load("crowded.yaml", []byte(crowded))
	require.NoError(t, err)
	simpler := scenarios.Simpler(s)
	require.Nil(t, without(t, simpler, "the background traffic").Background)
	require.Equal(t, 1, without(t, simpler, "other intents at the same time").Concurrency)
	require.Len(t, without(t, simpler, "step 3 (wait)").Steps, 4)
	require.Equal(t, 2, without(t, simpler, "18 of 20 copies").Steps[0].Burst.Copies)
	require.Equal(t, 1, without(t, simpler, "18 of 20 copies").Steps[0].Burst.Altered, "at least one stays as it is")
	require.Equal(t, 10, without(t, simpler, "10 of 20 copies").Steps[0].Burst.Copies)
	require.Zero(t, without(t, simpler, "altered bodies").Steps[0].Burst.Altered)
	require.Equal(t, scenarios.Clean, without(t, simpler, "the lane slow").Steps[0].Burst.Lane)
	require.Len(t, without(t, simpler, "latency: {delay: 47ms, jitter: 20ms} on the lane slow").Lanes["slow"], 1)
	require.Zero(t, without(t, simpler, "the jitter of latency: {delay: 47ms, jitter: 20ms} on the lane slow").Lanes["slow"][0].Latency.Jitter)
	require.Equal(t, "20ms", without(t, simpler, "half of latency: {delay: 47ms, jitter: 20ms} on the lane slow").Lanes["slow"][0].Latency.Delay.String())
	require.Equal(t, "30ms", without(t, simpler, "the odd figure of a pause of 26ms").Steps[2].Wait.Pause.String())
	require.True(t, without(t, simpler, "a pause of 26ms").Steps[2].Wait.Pause.IsZero())
	require.Nil(t, without(t, simpler, "retries").Steps[3].Send.Retry)
	require.Equal(t, 1, without(t, simpler, "2 of 3 retries").Steps[3].Send.Retry.Max)
	require.Empty(t, without(t, simpler, "key: fresh").Steps[3].Send.Key)
	require.Len(t, without(t, simpler, "tab 2").Steps[1].Tabs, 1)
}

func TestTheLaneOfTheBackgroundTrafficStays(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Load("beside.yaml", []byte(`
name: beside
summary: Others are on slow roads.
intents: 6
background: {rate: 50, intents: 100, lane: slow, retry: {max: 2, lane: torn}}
lanes:
  slow: [{latency: {delay: 40ms}}]
  torn: [{cut: reset}]
steps: [send, {wait: 10ms}, send]
exercised: [acknowledged]
`))
	require.NoError(t, err)
	less := without(t, scenarios.Simpler(s), "step 2 (wait)")
	require.Equal(t, s.Lanes, less.Lanes)
	require.Equal(t, s.Background, less.Background)
	for _, fault := range []string{"latency: 40ms on the lane slow", "cut: reset on the lane torn"} {
		less = without(t, scenarios.Simpler(less), fault)
	}
	require.Empty(t, less.Lanes)
	require.Equal(t, scenarios.Clean, less.Background.Lane)
	require.Empty(t, less.Background.Retry.Lane)
	require.Empty(t, without(t, scenarios.Simpler(s), "the background traffic").Lanes)
}

func TestAFamilyIsWhatBelongsTogether(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1, scenarios.Scenario{}.GroupSize())
	require.Equal(t, 3, scenarios.Scenario{Twins: 3}.GroupSize())
	require.Equal(t, 4, scenarios.Scenario{Neighbours: &scenarios.Neighbours{Of: 4}}.GroupSize())
}

func TestTheSourceOfAScenarioIsReadAsTheScenario(t *testing.T) {
	t.Parallel()
	files := scenarios.Library()
	extra, err := scenarios.Load("crowded.yaml", []byte(crowded))
	require.NoError(t, err)
	for _, f := range append(files, scenarios.File{Scenario: extra}) {
		source, err := scenarios.Source(f.Scenario)
		require.NoError(t, err)
		again, err := scenarios.Load("again.yaml", source)
		require.NoError(t, err, string(source))
		require.ElementsMatch(t, f.Scenario.Needs, again.Needs)
		again.Needs = f.Scenario.Needs
		require.Equal(t, writtenYAML(t, f.Scenario), writtenYAML(t, again))
		require.NotContains(t, string(source), "concurrency: 4")
	}
}

func TestSimplerScenariosHaveOneOrder(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Load("crowded.yaml", []byte(crowded))
	require.NoError(t, err)
	first := scenarios.Simpler(s)
	for range 6 { // Go walks a map in another order every time
		require.Equal(t, first, scenarios.Simpler(s))
	}
}
