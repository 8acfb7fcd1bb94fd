package targets_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

func withContract(t *testing.T, promise string) contract.Contract {
	t.Helper()
	target, err := targets.Load("p.yaml", []byte(`
name: p
base_url: http://localhost
operations: {create: {request: {path: /c, body: {n: "{{.Intent.Marker}}"}}, key: {in: header}}}
contract: `+promise+"\n"), nil)
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
	require.Equal(t, contract.Idempotent, ietf.Level)
	require.Equal(t, []int{409}, ietf.InProgress.Statuses)
	require.Equal(t, []int{422}, ietf.Fingerprint.Statuses)
	require.Equal(t, []int{400}, ietf.MissingKey.Statuses)
	require.Equal(t, contract.SameJSON, ietf.Replay.Body)
	require.Nil(t, ietf.Errors.Store5xx)

	stripe := withContract(t, "{preset: stripe}")
	require.Equal(t, map[string]any{"/error/code": "idempotency_key_in_use"}, stripe.InProgress.Where)
	require.Equal(t, &contract.ReplayMarker{Name: "Idempotent-Replayed", Value: "true"}, stripe.Replay.Marker)
	require.True(t, *stripe.Errors.Store5xx)
	require.Nil(t, stripe.Errors.Store4xx)
	require.Equal(t, contract.Expiry{After: contract.Duration(24 * time.Hour), Then: contract.ExpiryExecute}, stripe.Expiry)
	require.Equal(t, contract.Scope{Operation: contract.ScopeReject}, stripe.Scope)

	natural := withContract(t, "{preset: natural-key, natural_key: [/n]}")
	require.Equal(t, contract.DedupOnly, natural.Level)
	require.Equal(t, []int{409}, natural.Existing.Statuses)
	require.Equal(t, contract.AnyBody, withContract(t, "{preset: dedup-only}").Replay.Body)
}

func TestProvidersPromiseWhatTheirDocumentationSays(t *testing.T) {
	t.Parallel()
	paypal := withContract(t, "{preset: paypal}")
	require.Equal(t, contract.SameIdentity, paypal.Replay.Body)
	require.Equal(t, contract.Statuses{201: {200}}, paypal.Replay.Status)
	require.Equal(t, "409 where /details/0/issue is PREVIOUS_REQUEST_IN_PROGRESS", paypal.InProgress.Signature.String())
	require.Equal(t, "422 where /details/0/issue is PAYPAL_REQUEST_ID_PREVIOUSLY_USED", paypal.Fingerprint.Signature.String())

	adyen := withContract(t, "{preset: adyen}")
	require.Equal(t, contract.SameJSON, adyen.Replay.Body)
	require.Equal(t, contract.MismatchUnspecified, adyen.Fingerprint.OnMismatch)
	require.Nil(t, adyen.Replay.Marker)
	require.Empty(t, adyen.Expiry)

	square := withContract(t, "{preset: square}")
	require.Equal(t, "400 where /errors/0/code is IDEMPOTENCY_KEY_REUSED", square.Fingerprint.Signature.String())
	require.Empty(t, square.InProgress.Statuses)

	gocardless := withContract(t, "{preset: gocardless}")
	require.Equal(t, contract.DedupOnly, gocardless.Level)
	require.Equal(t, "409 where /error/errors/0/reason is idempotent_creation_conflict", gocardless.Existing.Signature.String())
	require.Equal(t, contract.Identity{JSON: "/error/errors/0/links/conflicting_resource_id"}, gocardless.Existing.Identity)
	require.Empty(t, gocardless.NaturalKey)

	aws := withContract(t, "{preset: aws}")
	require.Equal(t, contract.SameIdentity, aws.Replay.Body)
	require.Equal(t, contract.MismatchReject, aws.Fingerprint.OnMismatch)

	aip := withContract(t, "{preset: aip-155}")
	require.Equal(t, contract.SameIdentity, aip.Replay.Body)
	require.Empty(t, aip.Fingerprint)
	require.Empty(t, aip.InProgress)
}

func TestAPresetIsACopyOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, name := range targets.Presets() {
		spoilt, _ := targets.Preset(name)
		for _, where := range []map[string]any{spoilt.Fingerprint.Where, spoilt.InProgress.Where, spoilt.Existing.Where} {
			clear(where)
		}
		clear(spoilt.Ack.Statuses)
		clear(spoilt.Replay.Status)
		fresh, _ := targets.Preset(name)
		require.NotContains(t, fresh.Ack.Statuses, 0)
		require.Len(t, fresh.Replay.Status, map[bool]int{true: 1}[name == "paypal"])
	}
}

func TestAFileOverridesItsPresetFieldByField(t *testing.T) {
	t.Parallel()
	c := withContract(t, "{preset: ietf, in_progress: {mode: wait}, replay: {headers: [Location]}}")
	require.Equal(t, contract.InProgressWait, c.InProgress.Mode)
	require.Equal(t, []int{409}, c.InProgress.Statuses, "not mentioned, so the preset's")
	require.Equal(t, []int{422}, c.Fingerprint.Statuses)
	require.Equal(t, contract.Replay{Body: contract.SameJSON, Headers: []string{"Location"}}, c.Replay)

	c = withContract(t, `{preset: stripe, in_progress: {where: {/code: busy}}, replay: {marker: {required: true}, status: {201: [200]}}}`)
	require.Equal(t, map[string]any{"/code": "busy"}, c.InProgress.Where, "a map that is mentioned is replaced")
	require.Equal(t, []int{409}, c.InProgress.Statuses)
	require.Equal(t, &contract.ReplayMarker{Name: "Idempotent-Replayed", Value: "true", Required: true}, c.Replay.Marker)
	require.Equal(t, contract.Statuses{201: {200}}, c.Replay.Status)

	c = withContract(t, "{preset: stripe, replay: {marker: null}, errors: {store_5xx: null}, ack: {statuses: [202]}}")
	require.Nil(t, c.Replay.Marker)
	require.Nil(t, c.Errors.Store5xx)

	c = withContract(t, "{preset: stripe, expiry: {after: 0s}, ack: {statuses: [202]}}")
	require.Empty(t, c.Expiry, "what follows an expiry goes with it")
	c = withContract(t, "{preset: stripe, expiry: {after: 20s}, ack: {statuses: [202]}}")
	require.Equal(t, contract.Expiry{After: contract.Duration(20 * time.Second), Then: contract.ExpiryExecute}, c.Expiry)
	require.Equal(t, []int{202}, c.Ack.Statuses)
}
