package document_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/document"
)

// slipsSchema is that of a file like a target file.
const slipsSchema = `{"type": "object", "additionalProperties": false, "required": ["name", "base_url"], "properties": {
	"name": {"type": "string"}, "base_url": {"type": "string"}, "body": {"type": "object"}}}`

func TestACommonSlipIsOneMessageWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, want string }{
		{"a template without quotes", "name: n\nbase_url: u\nbody: {note: {{.Intent.Marker}}}\n", `f.yaml:3:15: body.note: a value that begins with {{ needs quotes, as in "{{.Intent.Marker}}"`},
		{"the same in a block", "name: n\nbase_url: u\nbody:\n  note: {{.Intent.Marker}}\n", `f.yaml:4:10: body.note: a value that begins with {{ needs quotes, as in "{{.Intent.Marker}}"`},
		{"a comma is missing", "name: n\nbase_url: u\nbody: {note: \"a\" item: b}\n", "f.yaml:3:1: this is not valid YAML: did not find expected ',' or '}' (a comma stands between the members of { } and of [ ]; is every bracket closed?)"},
		{"a text with a comma", "name: n\nbase_url: u\nbody: {accept: a/b, c/d}\n", `f.yaml:3:21: body["c/d"]: "c/d" has no value (in { }, a text with a comma needs quotes)`},
		{"a tab", "name: n\nbase_url: u\nbody:\n\tnote: b\n", "f.yaml:4:1: this is not valid YAML: found character that cannot start any token (a text that begins with this character needs quotes; indentation takes spaces, not tabs)"},
		{"a misspelt key", "name: n\nbase_url: u\nbdy: {}\n", `f.yaml:3:1: bdy: unknown key "bdy", did you mean "body"?`},
		{"an OpenAPI document", "openapi: 3.1.0\ninfo: {}\npaths: {}\n", "f.yaml:1:10: openapi: this is an OpenAPI document; doubletap init --openapi FILE makes a target file of it"},
		{"the same as JSON", `{"swagger": "2.0", "paths": {}}`, "f.yaml:1:13: swagger: this is an OpenAPI document; doubletap init --openapi FILE makes a target file of it"},
		{"a scenario", "name: n\nsummary: s\nsteps: [send]\n", "f.yaml:3:1: steps: this is a scenario; it is an argument of run, as in doubletap run FILE --target TARGET"},
		{"a register", "known: []\n", "f.yaml:1:1: known: this is a register of known bugs; it belongs behind --known"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := document.Parse([]byte(c.file), document.Options{File: "f.yaml", Schema: []byte(slipsSchema)})
			require.EqualError(t, err, c.want)
		})
	}
	_, err := document.Parse([]byte("name: n\nbase_url: u\nsteps: []\n"), document.Options{File: "f.yaml", Schema: []byte(slipsSchema)})
	require.ErrorContains(t, err, "unknown key", "a target file with a key too much is still one")
}
