package targets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets"
)

// FuzzExtract takes values from any answer, in all ways. The value of one member stands in no error.
func FuzzExtract(f *testing.F) {
	for _, text := range []string{
		`{"token": "t", "list": [{"a": 1e999}]}`, `<form><input name=token value="a&amp;b"><p>x<p>y</form>`, "<svg><table><select><template><input name=token", "\x00<!doctype\xff", `{"token": {}}`, "token=(",
	} {
		f.Add(text, "session=s1; Path=/; Expires=x")
	}
	ways := []targets.Extract{
		{JSON: "/token"}, {JSON: "/list/0/a"}, {Header: "location"}, {Cookie: "session"}, {HTML: "input[name=token]", Attribute: "value"}, {HTML: "form > p:nth-child(2), :not(p) ~ p"}, {Pattern: `token=([^&]+)`},
	}
	f.Fuzz(func(t *testing.T, body, head string) {
		for _, way := range ways {
			value, err := way.From(targets.Answer{Header: map[string]string{"Location": head}, Cookies: []string{head}, Body: body})
			require.Equal(t, err == nil, value != "", "%s: %v", way, err)
		}
	})
}
