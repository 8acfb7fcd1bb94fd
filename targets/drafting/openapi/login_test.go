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
