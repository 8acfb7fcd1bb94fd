package targets_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets"
)

func withContract(t *testing.T, contract string) targets.Contract {
	t.Helper()
	target, err := targets.Load("p.yaml", []byte(`
name: p
base_url: http://localhost
operations: {create: {request: {path: /c, body: {n: "{{.Intent.Marker}}"}}, key: {in: header}}}
contract: `+contract+"\n"), nil)
	require.NoError(t, err)
	return target.Contract
}

func TestEveryPresetIsKnownAndInTheSchema(t *testing.T) {
	t.Parallel()
	var schema struct {
		Defs struct {
			Contract struct {
				Properties struct {
					Preset struct{ Enum []string }
				}
			}
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(targets.Schema(), &schema))
	require.Equal(t, targets.Presets(), schema.Defs.Contract.Properties.Preset.Enum)
	for _, name := range targets.Presets() {
		c, known := targets.Preset(name)
		require.True(t, known, name)
		require.Equal(t, name, c.Preset)
		require.NotEmpty(t, c.Level)
		require.NotEmpty(t, c.Ack.Statuses)
	}
	_, known := targets.Preset("unheard-of")
	require.False(t, known)
}

func TestPresetsSayWhatTheirSourceSays(t *testing.T) {
	t.Parallel()
	ietf := withContract(t, "{preset: ietf}")
	require.Equal(t, targets.Idempotent, ietf.Level)
	require.Equal(t, []int{409}, ietf.InProgress.Statuses)
	require.Equal(t, []int{422}, ietf.Fingerprint.Statuses)
	require.Equal(t, []int{400}, ietf.MissingKey.Statuses)
	require.Equal(t, targets.SameJSON, ietf.Replay.Body)
	require.Nil(t, ietf.Errors.Store5xx)

	stripe := withContract(t, "{preset: stripe}")
	require.Equal(t, map[string]any{"/error/code": "idempotency_key_in_use"}, stripe.InProgress.Where)
	require.Equal(t, &targets.ReplayMarker{Name: "Idempotent-Replayed", Value: "true"}, stripe.Replay.Marker)
	require.True(t, *stripe.Errors.Store5xx)
	require.Nil(t, stripe.Errors.Store4xx)

	natural := withContract(t, "{preset: natural-key, natural_key: [/n]}")
	require.Equal(t, targets.DedupOnly, natural.Level)
	require.Equal(t, []int{409}, natural.Existing.Statuses)
	require.Equal(t, targets.AnyBody, withContract(t, "{preset: dedup-only}").Replay.Body)
}

func TestAFileOverridesItsPresetFieldByField(t *testing.T) {
	t.Parallel()
	c := withContract(t, "{preset: ietf, in_progress: {mode: wait}, replay: {headers: [Location]}}")
	require.Equal(t, targets.InProgressWait, c.InProgress.Mode)
	require.Equal(t, []int{409}, c.InProgress.Statuses, "not mentioned, so the preset's")
	require.Equal(t, []int{422}, c.Fingerprint.Statuses)
	require.Equal(t, targets.Replay{Body: targets.SameJSON, Headers: []string{"Location"}}, c.Replay)

	c = withContract(t, `{preset: stripe, in_progress: {where: {/code: busy}}, replay: {marker: {required: true}, status: {201: [200]}}}`)
	require.Equal(t, map[string]any{"/code": "busy"}, c.InProgress.Where, "a map that is mentioned is replaced")
	require.Equal(t, []int{409}, c.InProgress.Statuses)
	require.Equal(t, &targets.ReplayMarker{Name: "Idempotent-Replayed", Value: "true", Required: true}, c.Replay.Marker)
	require.Equal(t, map[int][]int{201: {200}}, c.Replay.Status)

	c = withContract(t, "{preset: stripe, replay: {marker: null}, errors: {store_5xx: null}, ack: {statuses: [202]}}")
	require.Nil(t, c.Replay.Marker)
	require.Nil(t, c.Errors.Store5xx)
	require.Equal(t, []int{202}, c.Ack.Statuses)
}
