package drafting

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestABodyThatIsAList holds that its elements are members as those of a list inside of a body, with their types.
func TestABodyThatIsAList(t *testing.T) {
	t.Parallel()
	r, err := ReadCurl(`curl http://localhost/readings -d '[{"sensor": "t-1", "value": 20, "note": "so cold"}, {"sensor": "t-2", "value": 2.5, "note": "warm"}]'`)
	require.NoError(t, err)
	d := r.Draft("API")
	require.Equal(t, "text", payload(d.Payload))
	require.Equal(t, "{{.items | json}}", d.Written)
	require.Equal(t, "application/json", d.Header["Content-Type"])
	require.False(t, d.textual())
	require.Contains(t, d.Texts, "/items/0/note")
	require.Equal(t, map[string]any{"sensor": "t-1", "value": int64(20), "note": "so cold"}, d.Body["items"].([]any)[0])
	for _, other := range []string{"[]", "[1]", `["a"]`, `[{}] [{}]`, `[{"a": 1}, 2]`} {
		_, err := ReadCurl("curl http://localhost/readings -d '" + other + "'")
		require.ErrorContains(t, err, "no list of them", other)
	}
}
