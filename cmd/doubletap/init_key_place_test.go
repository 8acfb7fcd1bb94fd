package main

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitFindsTheKeyWhereverItStands holds that a request as it was sent once, with its key in some place, becomes a file in which the
// key is drawn for each intent.
func TestInitFindsTheKeyWhereverItStands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		manners
		curl, key string
	}{
		"in the query": {
			manners{created: 201, again: 201, mismatch: 409, takes: func(r *http.Request, _ []byte) string { return r.URL.Query().Get("requestId") }},
			`curl -d '{"note": "a lamp", "amount": 1200}' URL/orders?requestId=abc-77`, "key: {in: query, name: requestId",
		},
		"deep in the body": {
			manners{created: 201, again: 200, mismatch: 422, takes: func(_ *http.Request, body []byte) string {
				var order struct{ Meta map[string]string }
				json.Unmarshal(body, &order)
				return order.Meta["client_token"]
			}},
			`curl -d '{"note": "a lamp", "amount": 1200, "meta": {"client_token": "abc"}}' URL/orders`, "key: {in: body, name: /meta/client_token",
		},
		"in the path": {
			manners{created: 201, again: 200, mismatch: 409, takes: func(r *http.Request, _ []byte) string { return path.Base(r.URL.Path) }},
			`curl -X PUT -d '{"note": "a lamp", "amount": 1200}' URL/orders/0d9a1c1e-8f5c-4a4e-9d2e-0c6c1f6f7a11`, "key: {in: path, required: true, format: uuid}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := newMannered(t, c.manners)
			env := map[string]string{"DATABASE_URL": database}
			file, _ := initiated(t, env, exitPass, "--curl", strings.ReplaceAll(c.curl, "URL", address), "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, c.key)
			require.Contains(t, text, "on_mismatch: reject")
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "altered-after")
			require.Equal(t, exitPass, got.code, "%s\n%s", text, got)
		})
	}
}

// TestInitOfAKeyThatIsKnownWithItsBodyAlone holds that a token of a body is seen as the key, though the target takes another body with it for another
// request: what is called like a key, and makes the same body another order, is it, and not the text that differs.
func TestInitOfAKeyThatIsKnownWithItsBodyAlone(t *testing.T) {
	t.Parallel()
	address, database := newMannered(t, manners{created: 200, again: 200, mismatch: 409, takes: func(_ *http.Request, body []byte) string {
		var order struct{ ClientToken, Note string }
		json.Unmarshal(body, &order)
		return order.ClientToken + order.Note
	}})
	env := map[string]string{"DATABASE_URL": database}
	file, _ := initiated(t, env, exitPass, "--curl", `curl -d '{"ClientToken": "3f0c1f6e-52a5-4c0e-9d3a-7b1f0a2c4d5e", "note": "a lamp", "amount": 1200}' `+address+`/orders`, "--db", database)
	text := readFile(t, file)
	require.Contains(t, text, "key: {in: body, name: ClientToken")
	require.NotContains(t, text, "natural_key")
	require.NotContains(t, text, "API_CLIENT_TOKEN", "it is no secret")
	got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "altered-after")
	require.Equal(t, exitFinding, got.code, "%s\n%s", text, got)
}
