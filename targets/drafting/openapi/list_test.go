package openapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/drafting/openapi"
)

// TestABodyThatIsAList holds that a list of objects is the one member of the sample: of an example, or made.
func TestABodyThatIsAList(t *testing.T) {
	t.Parallel()
	for name, example := range map[string]string{"made": "", "an example": ", example: [{sensor: t-1, note: cold}, {sensor: t-2, note: warm}]"} {
		doc, err := openapi.Read("", []byte(`openapi: 3.0.0
info: {title: Readings, version: "1"}
paths:
  /readings:
    post:
      operationId: add
      requestBody: {content: {application/json: {schema: {type: array, items: {type: object, required: [sensor, note], properties: {sensor: {type: string}, note: {type: string}}}}`+example+`}}}
      responses: {"207": {description: Each}}
`))
		require.NoError(t, err, name)
		d, err := doc.Draft(doc.Creates()[0], "API")
		require.NoError(t, err, name)
		require.Equal(t, "{{.items | json}}", d.Written)
		require.Contains(t, d.Texts, "/items/0/note", name)
		require.Empty(t, d.Doubts, name)
		list := d.Body["items"].([]any)
		if example != "" {
			require.Equal(t, map[string]any{"sensor": "t-1", "note": "cold"}, list[0])
		}
	}
}
