package faults_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/doubletap-harness/doubletap/faults"
)

func TestDurationsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := faults.Duration(rapid.Int64Min(0).Draw(t, "nanoseconds"))
		var fromJSON, fromYAML faults.Duration
		data, err := json.Marshal(d)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &fromJSON))
		data, err = yaml.Marshal(d)
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(data, &fromYAML))
		require.Equal(t, d, fromJSON)
		require.Equal(t, d, fromYAML)
	})
}

func TestFaultsSpeakTheWordsOfAFile(t *testing.T) {
	t.Parallel()
	ms := func(n int) faults.Duration { return faults.Duration(time.Duration(n) * time.Millisecond) }
	for want, f := range map[string]faults.Fault{
		"latency: 100ms": {Latency: &faults.Latency{Delay: ms(100)}},
		"latency: {delay: 100ms, jitter: 20ms, way: response}": {
			Latency: &faults.Latency{Delay: ms(100), Jitter: ms(20), Way: faults.ResponseWay},
		},
		"bandwidth: 20":     {Bandwidth: &faults.Bandwidth{Rate: 20}},
		"withhold":          {Withhold: &faults.Withhold{}},
		"hang-up: 50ms":     {HangUp: &faults.HangUp{After: ms(50)}},
		"cut: reset":        {Cut: &faults.Cut{Reset: true}},
		"cut: {after: 0}":   {Cut: &faults.Cut{}},
		"lose: request":     {Lose: faults.LoseRequest},
		"slow-close: 500ms": {SlowClose: &faults.SlowClose{Delay: ms(500)}},
		"slice: 16":         {Slice: &faults.Slice{Size: 16}},
		"toxic: {type: limit_data, stream: upstream, attributes: {bytes: 5}}": {
			Toxic: &faults.Toxic{Type: "limit_data", Stream: "upstream", Attributes: map[string]any{"bytes": 5}},
		},
	} {
		require.Equal(t, want, f.String())
		var again faults.Fault
		data, err := yaml.Marshal(f)
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(data, &again))
		require.Equal(t, f, again)
	}
}

func TestTheLongFormsAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]faults.Fault{
		"withhold: {}":            {Withhold: &faults.Withhold{}},
		"withhold:":               {Withhold: &faults.Withhold{}},
		"latency: {delay: 100ms}": {Latency: &faults.Latency{Delay: faults.Duration(100 * time.Millisecond)}},
		"bandwidth: {rate: 20}":   {Bandwidth: &faults.Bandwidth{Rate: 20}},
		"hang-up: {after: 50ms}":  {HangUp: &faults.HangUp{After: faults.Duration(50 * time.Millisecond)}},
		"cut: {reset: true}":      {Cut: &faults.Cut{Reset: true}},
		"slow-close: {delay: 1s}": {SlowClose: &faults.SlowClose{Delay: faults.Duration(time.Second)}},
		"slice: {size: 16}":       {Slice: &faults.Slice{Size: 16}},
	} {
		var f faults.Fault
		require.NoError(t, yaml.Unmarshal([]byte(text), &f), text)
		require.Equal(t, want, f, text)
	}
}

func TestWhatIsNoFaultIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"latency: -1s", "latency: +1s", "latency: 100", "latency: {delay: soon}", "cut: off", "swallow", "slice: many", "bandwidth: [1]"} {
		var f faults.Fault
		require.Error(t, yaml.Unmarshal([]byte(text), &f), text)
	}
}
