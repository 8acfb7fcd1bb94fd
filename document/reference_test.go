package document_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/document"
)

func TestAReferenceHasEveryKeyOnce(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, document.Reference(&out, []byte(`{
		"required": ["name"],
		"properties": {
			"name": {"description": "What it is | called.", "type": "string", "examples": ["shop"]},
			"count": {"description": "How many.", "type": "integer", "default": 3},
			"inner": {"description": "More.", "properties": {"mode": {"enum": ["a", "b"]}}},
			"parts": {"type": "array", "items": {"$ref": "#/$defs/part"}},
			"more": {"$ref": "#/$defs/part"},
			"by": {"patternProperties": {"^.*$": {"$ref": "#/$defs/size"}}}
		},
		"$defs": {
			"size": {"description": "A size.", "type": ["number", "null"], "examples": [[1, {"a": true}]]},
			"part": {"description": "A part.", "anyOf": [{"enum": ["short"]}, {"required": ["at"], "properties": {"at": {"const": 1}, "part": {"$ref": "#/$defs/part"}}}]}
		}
	}`)))
	require.Equal(t, `| Key | Takes | Default | Example | Means |
|---|---|---|---|---|
| `+"`name`"+` | a text | required | `+"`shop`"+` | What it is \| called. |
| `+"`count`"+` | a whole number | `+"`3`"+` |  | How many. |
| `+"`inner`"+` | mapping |  |  | More. |
| `+"`inner.mode`"+` | `+"`a`, `b`"+` |  |  |  |
| `+"`parts`"+` | list of [part](#part) |  |  |  |
| `+"`more`"+` | [part](#part) |  |  | A part. |
| `+"`by`"+` | mapping |  |  |  |
| `+"`by.NAME`"+` | a number or nothing |  | `+"`[1, {a: true}]`"+` | A size. |

### part

A part.

In short: `+"`short`"+`.

| Key | Takes | Default | Example | Means |
|---|---|---|---|---|
| `+"`at`"+` | `+"`1`"+` | required |  |  |
| `+"`part`"+` | [part](#part) |  |  | A part. |
`, out.String())
}

func TestAReferenceOfWhatIsNoSchema(t *testing.T) {
	t.Parallel()
	require.Error(t, document.Reference(&bytes.Buffer{}, []byte("{")))
}
