package openapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

func TestWhatHasToExistIsCreatedAhead(t *testing.T) {
	t.Parallel()
	d := draft(t, "crm.yaml", "addDeal")
	require.Equal(t, "/companies/{{.Prepared.Company}}/people/{{.Prepared.People}}/deals", d.Path)
	require.Equal(t, map[string]string{"/product_id": "{{.Prepared.Product | json}}"}, d.Templates, "a number stays one")
	require.NotContains(t, d.Texts, "/product_id")
	var paths []string
	for _, s := range d.Prepare {
		paths = append(paths, s.Path)
	}
	require.Equal(t, []string{"/companies", "/companies/{{.Prepared.Company}}/people", "/products"}, paths, "each once, and before who needs it")
	company, person, product := d.Prepare[0], d.Prepare[1], d.Prepare[2]
	require.Equal(t, map[string]string{"Authorization": "Bearer {{.Login.Token}}", "Idempotency-Key": "{{.Intent.Reference}}"}, company.Header)
	require.Equal(t, map[string]string{"/name": "{{.Intent.Reference}}", "/contact": "{{.Intent.Reference}}@example.com"}, company.Templates, "another one for every intent")
	require.Equal(t, map[string]drafting.Extract{"Company": {JSON: "/id"}}, company.Extract)
	require.Equal(t, map[string]drafting.Extract{"People": {JSON: "/data/id"}}, person.Extract)
	require.Equal(t, map[string]string{"/name": "{{.Intent.Reference}}"}, person.Templates)
	require.Empty(t, product.Header, "each with its own credentials")
	require.Len(t, d.Login, 1)
	require.Empty(t, d.Doubts)
	require.Equal(t, "sample", d.Body["ledgerId"], "a create that wants a UUID for a key is left to the person")
	require.Equal(t, int64(100), d.Body["currency_id"], "nobody creates currencies")
}

func TestAnIdStaysAVariableWhereNothingCreatesWhatItNames(t *testing.T) {
	t.Parallel()
	d := draft(t, "security.yaml", "addItem")
	require.Empty(t, d.Prepare)
	require.Contains(t, d.Doubts, "Which vaultId the path leads to: set API_VAULT_ID to one that exists.")
}

func TestWhatIsCreatedWithoutABodyIsCreatedAhead(t *testing.T) {
	t.Parallel()
	d := draft(t, "carts.yaml", "checkout")
	require.Equal(t, "/carts/{{.Prepared.Cart}}/checkout", d.Path)
	require.Len(t, d.Prepare, 1)
	require.Equal(t, "/carts", d.Prepare[0].Path)
	require.Nil(t, d.Prepare[0].Body)
	require.Equal(t, map[string]drafting.Extract{"Cart": {JSON: "/id"}}, d.Prepare[0].Extract)
	require.Empty(t, d.Doubts)
	require.Equal(t, map[string]string{"/cart_id": "{{.Prepared.Cart}}"}, draft(t, "carts.yaml", "addCoupon").Templates, "an id in the body, too")
}
