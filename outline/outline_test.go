package outline_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/outline"
)

func of(t *testing.T, text string) outline.Outline {
	t.Helper()
	o, ok := outline.Of([]byte(text))
	require.True(t, ok, text)
	return o
}

func TestAnOutlineKeepsWhatIsShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	items := strings.Repeat(`{"name":"lamp","amount":1},`, 5_000)
	o := of(t, `{"terms":"`+long+`","id":7.0,"a/b":{"items":[`+items+`{}],"state":"paid"},"n":null}`)
	require.JSONEq(t, `{"terms":null,"id":7,"a/b":{"items":null,"state":"paid"},"n":null}`, string(o.Value))
	require.Len(t, o.Folded, 2)
	require.Equal(t, 100_002, o.Folded["/terms"].Bytes)
	require.Contains(t, o.Folded, "/a~1b/items")

	at, folded := o.Covers("/a~1b/items/3/name")
	require.True(t, folded)
	require.Equal(t, "/a~1b/items", at)
	_, folded = o.Covers("/a~1b/items2")
	require.False(t, folded)
}

func TestAnOutlineIsShortWhateverItIsOf(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"many numbers": "[" + strings.Repeat("1,", 100_000) + "1]",
		"many texts":   "[" + strings.Repeat(`"`+strings.Repeat("y", 300)+`",`, 3_000) + "1]",
		"many members": "{" + strings.Repeat(`"m":1,`, 10) + members(20_000) + "}",
		"deep":         strings.Repeat(`{"a":[`, 400) + strings.Repeat("1,", 10_000) + "1" + strings.Repeat("]}", 400),
	} {
		written, err := json.Marshal(of(t, text))
		require.NoError(t, err)
		require.Less(t, len(written), 20<<10, name)
	}
}

func members(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"member-%d":%d`, i, i)
	}
	return strings.Join(all, ",")
}

func TestADigestIsThatOfTheValue(t *testing.T) {
	t.Parallel()
	digest := func(text string) string {
		f, ok := of(t, text).At("")
		require.True(t, ok, text)
		return f.SHA256
	}
	require.Equal(t, digest(`{"a":1,"b":[true,null,"é"]}`), digest(` { "b" : [ true, null, "\u00e9" ] , "a" : 1.0e0 } `))
	for _, pair := range [][2]string{
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`},
		{`{"a":"1"}`, `{"a":1}`},
		{`{"a":{"b":1}}`, `{"a":{},"b":1}`},
		{`["ab","c"]`, `["a","bc"]`},
		{`[[1],2]`, `[[1,2]]`},
		{"{\"name\":\"Jos\xe9\"}", "{\"name\":\"Jos\xe8\"}"},
		{`{"a":null}`, `{}`},
	} {
		require.NotEqual(t, digest(pair[0]), digest(pair[1]), pair)
	}
}

// What is folded in one answer may not be in another, which is larger elsewhere.
func TestAPartIsTheSameWhetherItIsFolded(t *testing.T) {
	t.Parallel()
	part := `{"n":[1,{"x":2.0}],"terms":"` + strings.Repeat("x", 1_000) + `","more":[` + strings.Repeat(`"twenty characters...",`, 600) + `"end"]}`
	folded := of(t, `{"a":`+part+`,"b":[`+strings.Repeat(`"ten chars.",`, 900)+`0]}`)
	open := of(t, `{"a":`+part+`}`)
	require.Contains(t, folded.Folded, "/a")
	require.NotContains(t, open.Folded, "/a")
	want, ok := folded.At("/a")
	require.True(t, ok)
	got, ok := open.At("/a")
	require.True(t, ok)
	require.Equal(t, want, got)
	_, ok = open.At("/c")
	require.False(t, ok)
	_, ok = folded.At("/a/n")
	require.False(t, ok)
	_, ok = outline.Outline{Value: []byte("{")}.At("")
	require.False(t, ok)
}

func TestWhatIsNoJSONHasNoOutline(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `{`, `{"a":1}x`, `{"a":1} {"b":2}`, "{\xe9}", `{"a"}`, `{"a":1,}`, `[1 2]`, strings.Repeat("[", 1_000_000), strings.Repeat("[", 2_000) + strings.Repeat("]", 2_000)} {
		_, ok := outline.Of([]byte(text))
		require.False(t, ok, text[:min(len(text), 20)])
	}
}

func TestExactNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1.0": "1", "1e0": "1", "100e-2": "1", "0.10": "0.1", "-0": "0", "9007199254740993": "9007199254740993", "1e401": "1e401", "1e999999999": "1e999999999", "lamp": "lamp",
	} {
		require.Equal(t, want, outline.Exact(text))
	}
	long := strings.Repeat("7", 4<<20)
	require.Equal(t, long, outline.Exact(long))
}
