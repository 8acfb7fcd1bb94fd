package drafting_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // opened by their names
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	body := map[string]any{
		"note": "sample", "dollar": "${HOME} $$ $", "braces": "{{.Intent.Marker}} }}", "yes": "yes", "number": "12", "date": "2030-01-01",
		"lines": "a\nb", "quote": `"'#: `, "null": nil, "list": []any{map[string]any{"text": "x", "n": int64(1)}}, "a/b~c": map[string]any{"deep": 2.5},
	}
	f := drafting.File{Target: "shop", Source: "a test", BaseURL: "http://localhost/", Draft: drafting.Draft{
		Name: "create", Method: "POST", Path: "/t", Body: body, Texts: []string{"/list/0/text"},
		Header: map[string]string{"X-Odd": `a: "b" #c`}, Others: []drafting.Other{{Pointer: "/list/0/n", Value: int64(2)}, {Pointer: "/a~1b~0c/deep", Value: 3.5}},
		Summary: "Creates\na thing: # really",
	}}
	text, err := f.Text()
	require.NoError(t, err)
	target, err := targets.Load("shop.yaml", []byte(text), func(string) (string, bool) { return "", false })
	require.NoError(t, err, text)
	rendered, err := target.Operations["create"].Render(targets.Values{Intent: targets.IntentValues{Marker: "m"}}, targets.Altered)
	require.NoError(t, err)
	require.JSONEq(t, `{"note": "sample", "dollar": "${HOME} $$ $", "braces": "{{.Intent.Marker}} }}", "yes": "yes", "number": "12", "date": "2030-01-01",
		"lines": "a\nb", "quote": "\"'#: ", "null": null, "list": [{"text": "m", "n": 1}], "a/b~c": {"deep": 3.5}}`, string(rendered.Body))
	require.Equal(t, `a: "b" #c`, rendered.Header["X-Odd"])
	require.Equal(t, "http://localhost", target.BaseURL)
	require.Equal(t, "sample", body["note"], "the draft stays what it is")
}

// TestAWriteGateNamesWhatCreatesWrite holds that the hint names each table that a create writes once, the row's own first.
func TestAWriteGateNamesWhatCreatesWrite(t *testing.T) {
	t.Parallel()
	table := func(name string) databases.Table { return databases.Table{Name: name} }
	f := drafting.File{
		Database: true, Dialect: databases.SQLite,
		Draft: drafting.Draft{Name: "create", Method: "POST", Path: "/orders", Body: map[string]any{"note": "x"}, Texts: []string{"/note"}, Key: drafting.InHeader("Idempotency-Key")},
		Proof: &drafting.Proof{Text: "/note", Where: drafting.Where{Column: "note", Exact: true}, Table: table("orders"), Identity: "id"},
	}
	alone, err := f.Text()
	require.NoError(t, err)
	require.Contains(t, alone, "lock the table, short windows are hit every time: database.write_gate: {tables: [orders]}")
	f.Children = []drafting.Child{{Table: table("lines"), Rows: 2}, {Table: table("notes")}}
	f.Proof.Books = []drafting.Book{{Of: table("products"), Number: "stock"}, {Of: table("products"), Number: "sold"}}
	text, err := f.Text()
	require.NoError(t, err)
	require.Contains(t, strings.ReplaceAll(text, "\n#", ""), `lock tables, short windows are hit every time: database.write_gate: {tables: [orders, "\"lines\"", products]}`)
}
