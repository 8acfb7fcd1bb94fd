package drafting_test

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// TestTheArgumentsOfADocument holds that what a document of GraphQL says in its arguments are the members of the body, that it is sent as it was
// with the same values, and that what stands in variables, comments and other texts is left alone.
func TestTheArgumentsOfADocument(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body    map[string]any
		members map[string]any // nil: the body's own
	}{
		"texts and numbers": {
			map[string]any{"query": `mutation { create(data: {code: "WINTER25", title: "Winter sale", amount: 1250, rate: -2.5}) { id code } }`},
			map[string]any{"code": "WINTER25", "title": "Winter sale", "amount": "1250", "rate": "-2.5"},
		},
		"the same name twice, and words beside it": {
			map[string]any{"query": "mutation Make {\n a: create(name: \"one\", kind: OPEN, live: true) { id } # note: \"none\"\n b: create(name: \"two\") { id } }", "operationName": "Make"},
			map[string]any{"name": "one", "name2": "two"},
		},
		"texts of other forms": {
			map[string]any{"query": `mutation { create(text: """name: "no" """, tags: ["x: \"1\"", "y"], quoted: "a \"b\"", empty: "", name: "<&>") { id } }`},
			map[string]any{"name": "<&>"},
		},
		"braces": {
			map[string]any{"query": `mutation{create(data:{{name:"one"}}){id}}`},
			map[string]any{"name": "one"},
		},
		"variables":   {map[string]any{"query": `mutation ($name: String = "x") { create(name: $name) { id } }`, "variables": map[string]any{"name": "y"}}, nil},
		"no text":     {map[string]any{"query": `mutation { create { id } }`}, nil},
		"no mutation": {map[string]any{"query": `{ create(name: "x") { id } }`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := drafting.Request{Method: "POST", URL: &url.URL{Path: "/graphql"}, Body: c.body}.Draft("SHOP")
			if c.members == nil {
				require.Equal(t, c.body, d.Body)
				require.Empty(t, d.Written)
				return
			}
			require.Equal(t, c.members, d.Body)
			require.Equal(t, "application/json", d.Header["Content-Type"])
			sent, err := targets.Operation{Request: targets.Request{Method: "POST", Path: "/", Header: d.Header, Text: d.Body, Written: d.Written}}.Render(targets.Values{}, targets.AsItIs)
			require.NoError(t, err)
			var got map[string]any
			require.NoError(t, json.Unmarshal(sent.Body, &got), string(sent.Body))
			require.Equal(t, c.body, got)
		})
	}
}
