package outline_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/outline"
)

// FuzzOf holds that the outline of any answer is short, is JSON, and has digests that do not depend on spelling.
func FuzzOf(f *testing.F) {
	for _, text := range []string{
		`{"id":7,"items":[1,2.50,1e3,-0,null,true],"a/b~":"x"}`, `{"a":1,"a":2}`, "[" + strings.Repeat(`"0123456789",`, 2000) + "0]", strings.Repeat("[", 1001) + strings.Repeat("]", 1001),
		`"` + strings.Repeat("x", 300) + `"`, "\"caf\xe9\"", `1e999999999`, `[1e400,1E-400,0.000]`, `{} {}`, "\xef\xbb\xbf{}", `"\ud800"`, ` `,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		o, ok := outline.Of(text)
		if !ok {
			return
		}
		short, err := json.Marshal(o)
		require.NoError(t, err)
		require.Less(t, len(short), 100<<10)
		var again outline.Outline
		require.NoError(t, json.Unmarshal(short, &again))
		whole, found := o.At("")
		require.True(t, found)
		same, found := again.At("")
		require.True(t, found)
		require.Equal(t, whole, same, "as a file has it")
		for at, fold := range o.Folded {
			part, found := o.At(at)
			require.True(t, found)
			require.Equal(t, fold, part)
		}
		if !utf8.Valid(text) {
			return
		}
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, text))
		spelled, ok := outline.Of(compact.Bytes())
		require.True(t, ok)
		part, found := spelled.At("")
		require.True(t, found)
		require.Equal(t, whole, part, "without spaces")
	})
}
