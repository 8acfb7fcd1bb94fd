package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/document"
)

const schema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "name": {"type": "string", "minLength": 1, "maxLength": 8},
    "count": {"type": "integer", "minimum": 1, "exclusiveMaximum": 10, "multipleOf": 2},
    "share": {"type": "number", "maximum": 1, "exclusiveMinimum": 0},
    "on": {"type": "boolean"},
    "mode": {"enum": ["fast", "slow", "none"]},
    "only": {"const": "this"},
    "list": {"type": "array", "maxItems": 2, "uniqueItems": true},
    "pair": {"type": "object", "minProperties": 2, "additionalProperties": {"type": "integer"}},
    "few": {"type": "object", "maxProperties": 1},
    "either": {"oneOf": [{"type": "string", "pattern": "^a", "x-expected": "a word with a"}, {"type": "integer"}]},
    "deep": {"$ref": "#/$defs/deep"},
    "free": {}
  },
  "$defs": {
    "deep": {
      "type": "object",
      "additionalProperties": false,
      "required": ["leaf"],
      "properties": {"leaf": {"type": "string"}, "deep": {"$ref": "#/$defs/deep"}, "a/b~c.d": {"type": "string"}}
    }
  }
}`

func env(name string) (string, bool) {
	values := map[string]string{"WORD": "hunter2", "NUMBER": "42", "EMPTY": "", "TEMPLATE": "${WORD}", "DATE": "2024-01-02"}
	value, ok := values[name]
	return value, ok
}

func parse(text string) (*document.Document, error) {
	return document.Parse([]byte(text), document.Options{File: "f.yaml", Schema: []byte(schema), Env: env})
}

func TestMistakesAreToldInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"an empty file", "", "f.yaml:1:1: the file is empty"},
		{"comments only", "# nothing\n", "f.yaml:1:1: the file is empty"},
		{"a second document", "name: a\n---\nname: b\n", "f.yaml:2:1: a second document begins here; a file holds one"},
		{"a text that is not UTF-8", "name: a\nonly: \xff", "f.yaml:2:7: this byte is not UTF-8 text"},
		{"a control character", "name: \"a\x00b\"", "f.yaml:1:9: this is a control character, which a YAML file cannot hold"},
		{"an open quote", "name: 'a\ncount: 2\n", "f.yaml:1:1: this is not valid YAML: found unexpected end of stream"},
		{"a colon too many", "name: a\ncount: 2: 3\n", "f.yaml:2:1: this is not valid YAML: mapping values are not allowed in this context (a text with a colon needs quotes; an entry begins below its neighbours)"},
		{"a tab", "deep:\n\tleaf: a\n", "f.yaml:2:1: this is not valid YAML: found character that cannot start any token (a text that begins with this character needs quotes; indentation takes spaces, not tabs)"},
		{"a variable in brackets", "free: {a: ${WORD}}\n", "f.yaml:1:1: this is not valid YAML: did not find expected ',' or '}' (inside brackets, ${NAME} needs quotes)"},
		{"an unknown anchor", "name: *a\n", "f.yaml:1:1: this is not valid YAML: unknown anchor 'a' referenced"},
		{"a key twice", "name: a\nname: b\n", `f.yaml:2:1: the key "name" is already there in line 1`},
		{"a key that is a list", "[a]: b\n", "f.yaml:1:1: a key must be a plain text"},
		{"a tag", "name: !secret a\n", "f.yaml:1:7: name: the tag !secret is not supported"},
		{"a tag that does not fit", "count: !!int many\n", "f.yaml:1:8: count: this value does not fit its tag !!int"},
		{"an infinite number", "free: {a: -.inf}\n", "f.yaml:1:11: free.a: a number must be finite"},
		{"a value inside itself", "free: &a {b: *a}\n", "f.yaml:1:7: free.b: this value contains itself"},
		{"a merge of itself", "free: &a {<<: *a}\n", "f.yaml:1:7: free: this value contains itself"},
		{"a merge of a text", "free: {<<: a}\n", "f.yaml:1:12: free: << takes a mapping or a list of mappings"},
		{"a mistyped key", "nmae: a\n", `f.yaml:1:1: nmae: unknown key "nmae", did you mean "name"?`},
		{"a key from elsewhere", "deep: {leaf: x, other: y}\n", `f.yaml:1:17: deep.other: unknown key "other"; the keys here are leaf, deep and a/b~c.d`},
		{"an odd key", "deep: {leaf: x, a/b~c.d: 1}\n", `f.yaml:1:26: deep["a/b~c.d"]: expected a text, got a number (1)`},
		{"a missing key", "deep:\n  deep: {leaf: a}\n", `f.yaml:1:1: deep: the key "leaf" is missing`},
		{"a mistyped key is not missing too", "deep: {laef: a}\n", `f.yaml:1:8: deep.laef: unknown key "laef", did you mean "leaf"?`},
		{"a wrong type", "count: many\n", `f.yaml:1:8: count: expected a whole number, got a text ("many")`},
		{"a long text", "count: " + strings.Repeat("x", 100) + "\n", `f.yaml:1:8: count: expected a whole number, got a text ("` + strings.Repeat("x", 60) + `...")`},
		{"a truth value", "name: true\n", "f.yaml:1:7: name: expected a text, got true"},
		{"no value", "on:\n", "f.yaml:1:1: on: expected true or false, got nothing"},
		{"a comma in braces before a known key", "deep: {leaf}\n", `f.yaml:1:8: deep.leaf: "leaf" has no value (in { }, a text with a comma needs quotes)`},
		{"too small", "count: 0\n", "f.yaml:1:8: count: must be at least 1, got 0"},
		{"too large", "share: 1.5\n", "f.yaml:1:8: share: must be at most 1, got 1.5"},
		{"not large enough", "share: 0\n", "f.yaml:1:8: share: must be more than 0, got 0"},
		{"not small enough", "count: 10\n", "f.yaml:1:8: count: must be less than 10, got 10"},
		{"odd", "count: 3\n", "f.yaml:1:8: count: must be a multiple of 2, got 3"},
		{"an empty text", "name: ''\n", "f.yaml:1:7: name: must not be empty"},
		{"a variable that is empty", "name: \"${EMPTY}\"\n", `f.yaml:1:7: name: must not be empty, and "${EMPTY}" gives nothing: is its variable set, and empty?`},
		{"a text that is too long", "name: 123456789a\n", "f.yaml:1:7: name: must be at most 8 characters long"},
		{"a word that is not known", "mode: fsat\n", `f.yaml:1:7: mode: expected one of fast, slow or none, got a text ("fsat"), did you mean "fast"?`},
		{"a word from elsewhere", "mode: [fast]\n", "f.yaml:1:1: mode: expected one of fast, slow or none, got a list"},
		{"another constant", "only: another\n", `f.yaml:1:7: only: expected this, got a text ("another")`},
		{"too many entries", "list: [1, 2, 3]\n", "f.yaml:1:1: list: takes at most 2 entries"},
		{"equal entries", "list: [1, 1]\n", "f.yaml:1:1: list: entries 1 and 2 are the same"},
		{"too few keys", "pair: {a: 1}\n", "f.yaml:1:1: pair: at least 2 keys are expected; found a"},
		{"too many keys", "few: {a: 1, b: 1}\n", "f.yaml:1:1: few: at most one key is expected; found a and b"},
		{"no alternative fits", "either: [1]\n", "f.yaml:1:1: either: expected a word with a, or a whole number, got a list"},
		{"a pattern does not fit", "either: b\n", `f.yaml:1:9: either: expected a word with a, or a whole number, got a text ("b")`},
		{"a variable that is not set", "name: ${ORDERS_URL}\n", "f.yaml:1:7: name: the environment variable ORDERS_URL is not set; set it, or write ${ORDERS_URL:-default}"},
		{"a variable that does not fit", "count: ${WORD}\n", `f.yaml:1:8: count: expected a whole number, got a text (from "${WORD}")`},
		{"a variable that is too long", "name: x${WORD}y${WORD}\n", "f.yaml:1:7: name: must be at most 8 characters long"},
		{"a variable out of bounds", "count: ${NUMBER}\n", "f.yaml:1:8: count: must be less than 10, got ${NUMBER}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(c.text)
			require.EqualError(t, err, c.want)
			require.ErrorAs(t, err, new(document.Mistakes))
		})
	}
}

func TestSizeIsBounded(t *testing.T) {
	t.Parallel()
	_, err := parse("free: " + strings.Repeat("x", document.MaxBytes))
	require.EqualError(t, err, "f.yaml:1:1: the file is larger than 1 MiB")
	_, err = parse("free: " + strings.Repeat("[", 200) + strings.Repeat("]", 200))
	require.ErrorContains(t, err, "nested deeper than 100 levels")
	_, err = parse("free: [" + strings.Repeat("1,", document.MaxValues) + "]")
	require.ErrorContains(t, err, "more than 100000 values")

	bomb := "free:\n  a0: &a0 [x, x]\n"
	for i := 1; i < 60; i++ {
		bomb += fmt.Sprintf("  a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	_, err = parse(bomb)
	require.ErrorContains(t, err, "more than 100000 values")
	_, err = parse(strings.Repeat("name: 1\n", 50_000))
	require.ErrorAs(t, err, new(document.Mistakes))
	require.Less(t, strings.Count(err.Error(), "\n"), 2000)

	var keys strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&keys, "key%d: %d\n", i, i)
	}
	_, err = parse(keys.String())
	require.EqualError(t, err, "f.yaml:1:1: this has 50000 keys, expected 2000 at most")
}

func TestVariablesAreExpanded(t *testing.T) {
	t.Parallel()
	doc, err := parse(`
free:
  plain: ${WORD}
  inside: a ${WORD} b${EMPTY}c
  number: ${NUMBER}
  quoted: "${NUMBER}"
  fallback: ${NONE:-3}
  empty: ${EMPTY:-x}
  nothing: "${EMPTY}"
  once: ${TEMPLATE}
  dollar: $${WORD} costs $5$
  date: ${DATE}
  anchored: &a ["$${WORD}"]
  again: *a
  '${WORD}': key
`)
	require.NoError(t, err)
	var into struct{ Free map[string]any }
	require.NoError(t, doc.Decode(&into))
	require.Equal(t, map[string]any{
		"plain": "hunter2", "inside": "a hunter2 bc", "number": 42, "quoted": "42", "fallback": 3, "empty": "x",
		"nothing": "", "once": "${WORD}", "dollar": "${WORD} costs $5$", "date": "2024-01-02",
		"anchored": []any{"${WORD}"}, "again": []any{"${WORD}"}, "${WORD}": "key",
	}, into.Free)
	require.NotContains(t, string(doc.Source()), "hunter2")
	require.Equal(t, `"${WORD}"`, doc.Shown("/free/plain"))
	require.True(t, doc.Expanded("/free/plain"))
	require.False(t, doc.Expanded("/free/again/1"))
	require.False(t, doc.Expanded("/free/dollar"), "a doubled dollar sign is no variable")
	require.Equal(t, `f.yaml:4:11: free.inside: this is "a ${WORD} b${EMPTY}c"`,
		doc.Mistake("/free/inside", "this is %s", doc.Shown("/free/inside")).String())
}

func TestWithoutAnEnvironmentDollarsAreDollars(t *testing.T) {
	t.Parallel()
	doc, err := document.Parse([]byte("name: $${A}"), document.Options{Schema: []byte(schema)})
	require.NoError(t, err)
	var into struct{ Name string }
	require.NoError(t, doc.Decode(&into))
	require.Equal(t, "$${A}", into.Name)
}

func TestMergesKeepWhatAMappingSaysItself(t *testing.T) {
	t.Parallel()
	doc, err := parse(`
free:
  a: &a {x: 1, y: {deep: 1}}
  b: &b {x: 2, z: 2}
  c: {<<: [*a, *b], y: 3}
`)
	require.NoError(t, err)
	var into struct{ Free map[string]map[string]any }
	require.NoError(t, doc.Decode(&into))
	require.Equal(t, map[string]any{"x": 1, "y": 3, "z": 2}, into.Free["c"])
	require.True(t, doc.Has("/free/c/z"))
	require.False(t, doc.Has("/free/c/y/deep"))
}

func TestADocumentWithMistakesCanStillBeDecoded(t *testing.T) {
	t.Parallel()
	doc, err := parse("count: 0\nfree: {a: b}\nmoed: fast\n")
	require.Error(t, err)
	var into struct {
		Count int
		Free  map[string]string
	}
	require.NoError(t, doc.Decode(&into))
	require.Equal(t, "b", into.Free["a"])
	require.False(t, doc.Sound("/count"))
	require.False(t, doc.Sound("/mode"), "it is what the mistyped key stands for")
	require.True(t, doc.Sound("/free"))
	require.False(t, doc.Sound("/free", "/count"))
}

// picky complains about everything.
type picky struct{}

func (picky) UnmarshalYAML(node *yaml.Node) error { return document.Wrong(node, "too %s", "plain") }

func TestWhatDecodersComplainAboutHasItsPlace(t *testing.T) {
	t.Parallel()
	doc, err := parse("name: a\nfree: [x, '${WORD}']\n")
	require.NoError(t, err)
	var into struct{ Free []picky }
	require.EqualError(t, doc.Decode(&into), "f.yaml:2:8: free[0]: too plain\nf.yaml:2:11: free[1]: too plain")
	var numbers struct{ Free []int }
	require.EqualError(t, doc.Decode(&numbers), "f.yaml:2:1: a value on this line does not fit its key")
}

func TestAPlaceThatIsNotThereIsThatOfWhatSurroundsIt(t *testing.T) {
	t.Parallel()
	doc, err := parse("name: a\ndeep:\n  leaf: x\nlist: [1]\n")
	require.NoError(t, err)
	require.Equal(t, "f.yaml:2:1: deep.deep.leaf: no", doc.Mistake("/deep/deep/leaf", "no").String())
	require.Equal(t, "f.yaml:4:1: list[7]: no", doc.Mistake("/list/7", "no").String())
	require.Equal(t, "f.yaml:1:1: no", doc.Mistake("", "no").String())
	require.Equal(t, 1, doc.Length("/list"))
}

func TestTheNearestWordIsSuggested(t *testing.T) {
	t.Parallel()
	known := []string{"timeout", "lane", "key", "retry", "request-lost", "intent", "execute"}
	for word, want := range map[string]string{
		"timout": "timeout", "Lane": "lane", "request_lost": "request-lost", "retyr": "retry", "keys": "key",
		"listen": "", "re-execute": "execute", "wait": "", "xyz": "", "": "", strings.Repeat("timeout", 20): "",
	} {
		nearest, _ := document.Nearest(word, known)
		require.Equal(t, want, nearest, word)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"name: ${WORD}\ncount: 2\n", "deep: {leaf: x, deep: {leaf: y}}", "free: &a [1, *a]", "free: {<<: [*a]}\n",
		"free: &a {b: c}\nlist: [*a, {<<: *a, b: 1}]", "a: b: c", "---\n---\n", "? [a]\n: b", "free: !!binary aGk=", "- |\n  x\n - y", "%YAML 1.1\n---\nname: a",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := document.Parse(data, document.Options{File: "f", Schema: []byte(schema), Env: env})
		if err != nil {
			var mistakes document.Mistakes
			require.ErrorAs(t, err, &mistakes)
			require.NotEmpty(t, mistakes)
			for _, m := range mistakes {
				require.Positive(t, m.Line)
				require.Positive(t, m.Column)
				require.NotEmpty(t, m.Text)
			}
		}
		if doc != nil {
			var into map[string]any
			_ = doc.Decode(&into)
		}
	})
}
