package targets_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/explain"
)

// redirected is a target whose operation is a form that is answered with a redirect.
func redirected(t *testing.T, promise string) (targets.Target, error) {
	t.Helper()
	return targets.Load("form.yaml", []byte(`
name: form
base_url: http://localhost:8080
contract: `+promise+`
operations:
  create:
    request: {path: /orders, form: {note: "{{.Intent.Marker}}"}}
    key: {in: body, name: token}
    identity: {header: Location, pattern: "/orders/(\\d+)"}
  other: {request: {path: /c, body: {n: "{{.Intent.Marker}}"}}, identity: /id}
  written: {request: {path: /x, text: {n: "{{.Intent.Marker}}"}, written: "<n>{{.n}}</n>"}, identity: {pattern: "<Id>(\\d+)</Id>"}}
`), nil)
}

func TestAHeaderNamesWhatWasCreated(t *testing.T) {
	t.Parallel()
	target, err := redirected(t, `{ack: {statuses: [303], headers: {location: "^/orders/\\d"}}, existing: {statuses: [409], identity: {header: X-Id}}}`)
	require.NoError(t, err)
	named := target.Operations["create"].Identity
	require.Equal(t, contract.Identity{Header: "Location", Pattern: `/orders/(\d+)`}, named)
	require.Equal(t, "17", named.In("http://localhost:8080/orders/17?created=1"))
	require.Empty(t, named.In("/login"))
	require.Empty(t, named.In(""))
	require.Equal(t, "o-7", contract.Identity{Header: "X-Id"}.In("o-7"))
	require.Equal(t, "303 where Location matches ^/orders/\\d", target.Contract.Ack.String(), "the header's name is spelled as it is compared")
	for _, i := range []contract.Identity{named, target.Contract.Existing.Identity, target.Operations["other"].Identity, target.Operations["written"].Identity, {}} {
		text, err := json.Marshal(i)
		require.NoError(t, err)
		var back contract.Identity
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, i, back)
	}
	require.Equal(t, "body by "+`<Id>(\d+)</Id>`, target.Operations["written"].Identity.String())
	require.Equal(t, "17", target.Operations["written"].Identity.In("<Order><Id>17</Id></Order>"))
	require.Contains(t, explain.Operations(target)[0].String(), `names the same thing at Location by /orders/(\d+)`)
}

// Two answers of one status are told apart by where they lead, and not if both may lead there.
func TestHeadersTellAnswersApart(t *testing.T) {
	t.Parallel()
	_, err := redirected(t, `{ack: {statuses: [303], headers: {Location: "^/orders/\\d"}}, fingerprint: {on_mismatch: reject, statuses: [303], headers: {Location: "^/orders/new"}}}`)
	require.NoError(t, err)
	_, err = redirected(t, `{ack: {statuses: [303]}, fingerprint: {on_mismatch: reject, statuses: [303], headers: {Location: "^/orders/new"}}}`)
	require.ErrorContains(t, err, "every 303 that means that the body differs means that it is done as well")
}

// What is asked of every answer costs no compilation; it is read by many at once.
func TestPatternsAreCompiledOnce(t *testing.T) {
	place := contract.Identity{Header: "Location", Pattern: `^/orders/([0-9]+)(?:[/?#]|$)`}
	done := contract.Signature{Headers: map[string]string{"Location": `^/orders/[0-9]+$`}}
	leads := func(to string) func(string) string { return func(string) string { return to } }
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			assert.Equal(t, "17", place.In("/orders/17"))
			assert.True(t, done.Fits(leads("/orders/17")))
			assert.False(t, done.Fits(leads("/login")))
		})
	}
	all.Wait()
	to := leads("/orders/17")
	require.Less(t, testing.AllocsPerRun(100, func() {
		place.In("/orders/17")
		done.Fits(to)
	}), 10.0)
	for range 2 {
		require.Empty(t, contract.Identity{Header: "Location", Pattern: "("}.In("/orders/17"), "what is none finds nothing")
		require.False(t, contract.Signature{Headers: map[string]string{"Location": "("}}.Fits(to))
	}
}
