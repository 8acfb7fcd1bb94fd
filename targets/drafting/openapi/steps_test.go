package openapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

func TestWhoSendsSignsInWhereTheDocumentHasAnOperationForIt(t *testing.T) {
	t.Parallel()
	d := draft(t, "crm.yaml", "addCompany")
	require.Equal(t, []drafting.Step{{
		Method: "POST", Path: "/token", Form: true, Body: map[string]any{"grant_type": "password", "username": "", "password": ""},
		Templates: map[string]string{"/username": "{{.Principal.User}}", "/password": "{{.Principal.Password}}"},
		Extract:   map[string]drafting.Extract{"Token": {JSON: "/access_token"}},
	}}, d.Login, "and does not register")
	require.Equal(t, drafting.Principal{User: "${API_USER}", Password: "${API_PASSWORD}"}, d.Principal)
	require.Equal(t, []string{"API_USER", "API_PASSWORD"}, d.Needed, "the token is no variable")
	require.Equal(t, "Bearer {{.Login.Token}}", d.Header["Authorization"])

	d = draft(t, "club.json", "addMember")
	require.Equal(t, "sid={{.Login.Token}}", d.Header["Cookie"])
	require.Equal(t, map[string]drafting.Extract{"Token": {Cookie: "sid"}}, d.Login[0].Extract)
	require.Equal(t, map[string]any{"login": "", "passwd": "", "device": "sample"}, d.Login[0].Body)

	d = draft(t, "crm.yaml", "addProduct")
	require.Empty(t, d.Login, "who needs no credentials does not sign in")
	require.Empty(t, d.Header)
}

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

func TestAFormHasWhatADocumentSpellsInOneWay(t *testing.T) {
	t.Parallel()
	d := draft(t, "forms.yaml", "")
	require.True(t, d.Form)
	require.Equal(t, map[string]any{"amount": int64(100), "currency": "eur", "description": "sample"}, d.Body)
	require.Equal(t, []string{"/description"}, d.Texts)
	for _, o := range d.Others {
		require.Contains(t, []string{"/amount", "/currency", "/description"}, o.Pointer)
	}
	require.Equal(t, "/id", d.Identity)
	require.Contains(t, d.Doubts[0], "Whether the sample body fits its schema", "which requires what is left out")
}
