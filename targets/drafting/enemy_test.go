package drafting_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// harmless holds that a target file says no more than what init writes: it starts nothing and names no other place, whatever a document, a recording or
// a catalogue says.
func harmless(t *testing.T, text string) {
	t.Helper()
	require.NotRegexp(t, `[\x00-\x08\x0b-\x1f\x7f\x{85}\x{2028}\x{2029}]`, text, "a line ends where a reader does not see it")
	var file map[string]any
	if yaml.Unmarshal([]byte(text), &file) != nil {
		return
	}
	usual := []string{"name", "base_url", "database", "contract", "principals", "login", "operations", "tls"}
	for key := range file {
		require.Contains(t, usual, key, "%s", text)
	}
	require.Len(t, file["operations"], 1, "%s", text)
	_, _ = targets.Load("x.yaml", []byte(text), func(name string) (string, bool) {
		require.Regexp(t, `^(API[A-Z0-9_]*|[A-Z0-9_]+_URL)$`, name, "a variable that a stranger asks for: %s", text)
		return "sqlite:x.db", true
	})
}

// written is a target file that has a text of a stranger in every place. It is of a database of that kind.
func written(text string, dialect databases.Dialect) drafting.File {
	table := databases.Table{Schema: text, Name: text, Unique: [][]string{{text}, {text, "b"}}}
	return drafting.File{
		Target: drafting.Slug(text), Source: text, BaseURL: "http://127.0.0.1:8080/" + text, Database: true, Dialect: dialect, Doubts: []string{text},
		KeySeen: text, KeysTried: []string{text}, Differing: []string{text},
		Proof: &drafting.Proof{
			Table: table, Where: drafting.Where{Column: text}, Text: "/" + text, Identity: text, Row: map[string]string{text: text},
			Several: drafting.Several{Rows: []map[string]string{{text: text}, {text: "other"}}},
			Others:  []drafting.Beside{{Table: databases.Table{Name: "other" + text}, Column: text, Rows: 1}},
		},
		Children: []drafting.Child{
			{Table: databases.Table{Name: "lines" + text}, By: databases.Reference{Column: text, Table: text, Theirs: text}, Rows: 1, Again: 2},
			{Table: databases.Table{Name: "log" + text}, By: databases.Reference{Column: text, Table: text, Theirs: text}, Rows: 1},
		},
		Draft: drafting.Draft{
			Name: text, Summary: text, Method: "POST", Path: "/things/" + drafting.Escape(text), Header: map[string]string{"X-" + text: drafting.Escape(text)},
			Body: map[string]any{text: text, "note": text, "list": []any{text}}, Texts: []string{"/note"}, Others: []drafting.Other{{Pointer: "/list/0", Value: text}},
			Key: targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: text}}, Identity: "/" + text, Doubts: []string{text},
		},
	}
}

// strangers are texts that would like to be more than a text in a YAML file.
func strangers() []string {
	const process = "process: {command: [touch, pwned]}"
	return []string{
		"it's", "x\n" + process, "x\r" + process, "}\u2028" + process + " #", "}\u0085" + process + " #", "x\u2029" + process, "\n---\n" + process, "\x1b[2J", "${HOME}", "${", "$$", "{{.Port}}", ": #", "- a", "*a", "&a", "!!binary x", "|",
		`"`, "`", "%YAML", "a:marker", ":reference", "\xff", "\ufeff", "\u202e", "...\n", "  ", "\t",
	}
}

func TestNoTextOfAStrangerIsObeyedByATargetFile(t *testing.T) {
	t.Parallel()
	for i, text := range strangers() {
		file, err := written(text, dialects()[i%3]).Text()
		require.NoError(t, err)
		harmless(t, file)
	}
}

func dialects() []databases.Dialect {
	return []databases.Dialect{databases.SQLite, databases.PostgreSQL, databases.MariaDB}
}

// TestACatalogueIsWrittenAsItIs has tables and columns of odd names, which the row query must find.
func TestACatalogueIsWrittenAsItIs(t *testing.T) {
	t.Parallel()
	for i, text := range []string{"it's", "a b", "x\nprocess: {}", "${HOME}", "$$", "{{.Port}}", `a"b`, "a`b", "\u2028", "#", "a:b", "\t"} {
		dialect := dialects()[i%3]
		f := written(text, dialect)
		f.BaseURL = "http://127.0.0.1:8080"
		f.Draft = drafting.Draft{Name: "create", Method: "POST", Path: "/things", Body: map[string]any{"note": "x"}, Texts: []string{"/note"}}
		file, err := f.Text()
		require.NoError(t, err)
		var asked []string
		target, err := targets.Load("x.yaml", []byte(file), func(name string) (string, bool) {
			asked = append(asked, name)
			return "sqlite:x.db", name == "DATABASE_URL"
		})
		require.NoError(t, err, file)
		require.Equal(t, []string{"DATABASE_URL"}, slices.Compact(slices.Sorted(slices.Values(slices.DeleteFunc(asked, func(name string) bool { return strings.HasSuffix(name, "_URL") && name != "DATABASE_URL" })))), file)
		o := target.Operations["create"]
		require.Contains(t, o.Rows.Query, "order by "+dialect.Name(text)+") as doubletap_nth from "+dialect.TableName(f.Proof.Table)+" where ", file)
		require.Equal(t, text, o.Rows.Identity)
		require.Contains(t, o.Effects[1].Query, dialect.TableName(f.Children[0].Table)+" join ")
	}
}

func FuzzFile(f *testing.F) {
	for i, text := range strangers() {
		f.Add(text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, dialect uint8) {
		if file, err := written(text, dialects()[dialect%3]).Text(); err == nil {
			harmless(t, file)
		}
	})
}
