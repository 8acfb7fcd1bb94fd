package openapi_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/drafting"
	"github.com/doubletap-harness/doubletap/targets/drafting/openapi"
)

func draft(t *testing.T, name, operation string) drafting.Draft {
	t.Helper()
	doc, err := read(t, name)
	require.NoError(t, err)
	creates := doc.Creates()
	if operation != "" {
		c, found := doc.Find(operation)
		require.True(t, found, operation)
		creates = []openapi.Create{c}
	}
	require.Len(t, creates, 1)
	d, err := doc.Draft(creates[0], "API")
	require.NoError(t, err)
	return d
}

func TestKeysAreFoundWhereTheDocumentNamesThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		document, operation string
		key                 targets.Key
	}{
		{"orders.yaml", "", targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "Idempotency-Key", Required: true}}},
		{"payments.yaml", "", targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "idempotency_key", Required: true, Format: contract.OnlyUUID}}},
		{"security.yaml", "addItem", targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "X-Request-Id", Format: contract.OnlyUUID}}},
		{"security.yaml", "addVault", targets.Key{}},
		{"minimal.json", "", targets.Key{}},
	} {
		require.Equal(t, c.key, draft(t, c.document, c.operation).Key, c.document)
	}
}

// TestKeysHaveTheFormThatTheDocumentAsksFor holds that a key is drawn in another form than a UUID's where that is what the pattern takes.
func TestKeysHaveTheFormThatTheDocumentAsksFor(t *testing.T) {
	t.Parallel()
	const document = `{"openapi": "3.0.3", "info": {"title": "shop", "version": "1"}, "paths": {"/orders": {"post": {
		"parameters": [{"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"%s}}],
		"requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {"note": {"type": "string"}}}}}},
		"responses": {"201": {"description": "made"}}}}}}`
	for schema, like := range map[string]string{
		``: "",
		`, "example": "01HZX3V9K8Q2M5N7P4R6S8T0WY"`:                                                "",
		`, "pattern": "^[0-9A-Za-z-]+$", "example": "01HZX3V9K8Q2M5N7P4R6S8T0WY"`:                  "",
		`, "pattern": "^[0-9A-HJKMNP-TV-Z]{26}$", "example": "01HZX3V9K8Q2M5N7P4R6S8T0WY"`:         "01HZX3V9K8Q2M5N7P4R6S8T0WY",
		`, "pattern": "^ik_[0-9a-f]{12}$"`:                                                         "ik_a0a0a0a0a0a0",
		`, "pattern": "^[0-9A-HJKMNP-TV-Z]{26}$", "example": "a-key-that-does-not-match-the-form"`: "11111111111111111111111111", // of the pattern
	} {
		doc, err := openapi.Read("shop.json", fmt.Appendf(nil, document, schema))
		require.NoError(t, err)
		creates := doc.Creates()
		require.Len(t, creates, 1)
		d, err := doc.Draft(creates[0], "API")
		require.NoError(t, err)
		require.Equal(t, targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "Idempotency-Key", Like: like}}, d.Key, schema)
	}
}

func TestCredentialsAreVariables(t *testing.T) {
	t.Parallel()
	d := draft(t, "security.yaml", "addItem")
	require.Equal(t, map[string]string{"X-Tenant": "acme", "X-Api-Key": "${API_API_KEY}", "Cookie": "session=${API_SESSION}"}, d.Header)
	require.Equal(t, "/vaults/${API_VAULT_ID:-sample}/items?mode=a+b%26c&api_key=${API_API_KEY}", d.Path)
	require.Equal(t, []string{"API_SESSION", "API_API_KEY", "API_API_KEY"}, d.Needed)
	require.Len(t, d.Doubts, 2)
	require.Equal(t, map[string]string{"Authorization": "Bearer ${API_TOKEN}"}, draft(t, "security.yaml", "addVault").Header)
	require.Equal(t, map[string]string{"Authorization": "Basic ${API_BASIC}"}, draft(t, "security.yaml", "addKey").Header)
	require.Empty(t, draft(t, "security.yaml", "addGuest").Header)
}

func TestTextsThatTakeAMarkerComeWithTheLikeliestFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		document, operation string
		texts               []string
	}{
		{"orders.yaml", "", []string{"/note", "/reference"}},
		{"payments.yaml", "", []string{"/memo"}},
		{"pets.yaml", "", []string{"/name"}},
		{"staff.yaml", "", []string{"/name", "/nickname", "/home/street"}},
		{"several.json", "createItem", []string{"/title"}},
		{"tickets.json", "", []string{"/seat"}},
	} {
		require.Equal(t, c.texts, draft(t, c.document, c.operation).Texts, c.document)
	}
}

func TestAnswersNameTheirIdentity(t *testing.T) {
	t.Parallel()
	require.Equal(t, "/id", draft(t, "orders.yaml", "").Identity)
	require.Equal(t, "/data/id", draft(t, "pets.yaml", "").Identity)
	require.Equal(t, "/payment/id", draft(t, "payments.yaml", "").Identity)
	require.Empty(t, draft(t, "minimal.json", "").Identity)
	require.Equal(t, []int{200, 202, 409}, draft(t, "payments.yaml", "").Statuses)
}
