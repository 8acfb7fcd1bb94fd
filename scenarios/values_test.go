package scenarios_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/doubletap-harness/doubletap/scenarios"
)

// anySpan draws what a file can say: whole nanoseconds, or percentages of up to four decimals.
func anySpan(t *rapid.T) scenarios.Span {
	if rapid.Bool().Draw(t, "fixed") {
		return scenarios.Span{Fixed: time.Duration(rapid.Int64Min(0).Draw(t, "nanoseconds"))}
	}
	digits := strconv.FormatFloat(float64(rapid.IntRange(1, 10_000_000).Draw(t, "percent"))/1e4, 'f', -1, 64)
	var s scenarios.Span
	require.NoError(t, s.UnmarshalText([]byte(digits+"%")))
	require.Equal(t, digits+"%", s.String())
	return s
}

func TestSpansAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anySpan(t)
		var fromJSON, fromYAML scenarios.Span
		data, err := json.Marshal(s)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &fromJSON))
		data, err = yaml.Marshal(s)
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(data, &fromYAML))
		require.Equal(t, s, fromJSON)
		require.Equal(t, s, fromYAML)
	})
}

func TestSpansAreFixedOrAShareOfTheNormalTime(t *testing.T) {
	t.Parallel()
	require.Equal(t, 300*time.Millisecond, scenarios.Span{Fixed: 300 * time.Millisecond}.Of(time.Second))
	require.Equal(t, 500*time.Millisecond, scenarios.Span{Share: 0.5}.Of(time.Second))
	require.Equal(t, time.Duration(0), scenarios.Span{}.Of(time.Second))
	require.True(t, scenarios.Span{}.IsZero())
	require.False(t, scenarios.Span{Share: 0.1}.IsZero())
}

func TestSpansRefuseWhatIsNeitherATimeNorAShare(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "300", "-1s", "1001%", "-5%", "%", "1e2%", "inf%", "NaN%", "half", "1.2.3%"} {
		require.Error(t, new(scenarios.Span).UnmarshalText([]byte(text)), text)
	}
}
