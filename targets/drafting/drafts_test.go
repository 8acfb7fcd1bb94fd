package drafting_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // opened by their names
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

func TestCurlCommandsAreReadAsShellsReadThem(t *testing.T) {
	t.Parallel()
	const want = "POST http://localhost:8080/orders a b"
	for name, command := range map[string]string{
		"single quotes":         `curl -X POST http://localhost:8080/orders -H 'Note: x' -d '{"note": "a b"}'`,
		"double quotes":         `curl --request=POST "http://localhost:8080/orders" -H "Note: x" --data "{\"note\": \"a b\"}"`,
		"no blanks":             `curl -XPOST -d'{"note":"a b"}' -H'Note:x' http://localhost:8080/orders`,
		"lines that go on":      "curl \\\n  http://localhost:8080/orders \\\r\n -H 'Note: x' --data-raw '{\"note\": \"a b\"}'",
		"dollar quotes":         `curl http://localhost:8080/orders -H $'Note: x' --json $'{"note": "a\u0020b"}'`,
		"flags that are passed": `curl -sS -o /dev/null --max-time 3 -w '%{http_code}' --url localhost:8080/orders -H 'Note: x' -d '{"note": "a b"}'`,
		"escaped blanks":        `curl localhost:8080/orders -H Note:\ x -d {\"note\":\"a\ b\"}`,
	} {
		c, err := drafting.ReadCurl(strings.ReplaceAll(command, `\u0020`, " "))
		require.NoError(t, err, name)
		require.Equal(t, want, c.Method+" "+c.URL.String()+" "+c.Body["note"].(string), name)
		require.Equal(t, [][2]string{{"Note", "x"}}, c.Header, name)
	}
}

func TestCurlCommandsThatAreNoCreate(t *testing.T) {
	t.Parallel()
	for command, says := range map[string]string{
		"":                              "does not begin with curl",
		"curl -d '{}' ftp://localhost":  "names no URL",
		"curl -d '{}'":                  "names no URL",
		"curl -d '{}' a b":              "more than one URL",
		"curl a -d":                     "-d has no value",
		"curl a -d 'x":                  "a quotation mark is not closed",
		"curl a -d '[1]'":               "neither a JSON object nor a form",
		"curl a -d '{} {}'":             "neither a JSON object nor a form",
		"curl a -d null":                "neither a JSON object nor a form",
		"curl a -d a=1 -d a=2":          "its form has a more than once",
		"curl http://u:p@a -d '{}'":     "give it with -u",
		"curl a --data-binary @x.json ": "its body is in a file",
	} {
		_, err := drafting.ReadCurl(command)
		require.ErrorContains(t, err, says, command)
		require.NotContains(t, err.Error(), "u:p")
	}
}

func TestNumbersOfACurlCommandStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	c, err := drafting.ReadCurl(`curl a -d '{"big": 9007199254740993, "part": 1.5, "list": [1]}'`)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"big": int64(9007199254740993), "part": 1.5, "list": []any{int64(1)}}, c.Body)
}

func TestAKeyInTheBodyIsLeftToTheKey(t *testing.T) {
	t.Parallel()
	c, err := drafting.ReadCurl(`curl a/orders -d '{"idempotency_key": "7", "item": "lamp", "at": "2030-01-01"}'`)
	require.NoError(t, err)
	d := c.Draft("API")
	require.Equal(t, targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "idempotency_key"}}, d.Key)
	require.NotContains(t, d.Body, "idempotency_key")
	require.Equal(t, []string{"/item"}, d.Texts, "a plain word, where no name speaks for a text")
	require.Equal(t, "create_orders", d.Name)
}

// landing is a row of a table in which markers have landed.
func landing(table string, columns []string, row map[string]string) databases.Landing {
	return databases.Landing{
		Table: databases.Table{Name: table, Primary: []string{"id"}, Columns: []databases.Column{{Name: "id"}, {Name: "note"}, {Name: "amount"}, {Name: "public_id"}}},
		Row:   row, Columns: columns,
	}
}

func TestTheCreatedThingIsToldFromOtherPlaces(t *testing.T) {
	t.Parallel()
	draft := drafting.Draft{Path: "/v1/orders?x=1", Texts: []string{"/note", "/reference"}}
	answer := map[string]any{"order": map[string]any{"id": "o1"}, "count": "17"}
	outbox := landing("outbox", []string{"note"}, map[string]string{"id": "17", "note": `{"note":"mx0"}`})
	audit := landing("audit", []string{"note"}, map[string]string{"id": "18", "note": "mx0"})
	order := landing("Order", []string{"note"}, map[string]string{"id": "o1", "note": "mx1"})
	for name, landings := range map[string][]databases.Landing{
		"one order": {outbox, audit, order}, "another order": {order, outbox, audit},
	} {
		p := draft.Prove(drafting.Created{Marker: "m", Answer: answer, Landings: landings})
		require.Equal(t, "Order", p.Table.Name, name)
		require.Equal(t, "/reference", p.Text, "the mark tells which member it was")
		require.Equal(t, contract.Identity{JSON: "/order/id"}, p.Named)
		require.Equal(t, "id", p.Identity)
		require.True(t, p.Exact)
		require.Equal(t, 1, p.Rows)
		require.Equal(t, []string{"audit.note"}, p.Others)
	}
	p := draft.Prove(drafting.Created{Marker: "m", Answer: answer, Landings: []databases.Landing{outbox}})
	require.False(t, p.Exact)
	require.Empty(t, p.Identity, "a member that is called count is no id")
	require.Nil(t, draft.Prove(drafting.Created{Marker: "m"}))
	require.Nil(t, draft.Prove(drafting.Created{Marker: "other", Landings: []databases.Landing{order}}))
	inside := landing("orders", []string{"note"}, map[string]string{"id": "19", "note": "mx0 and more"})
	p = draft.Prove(drafting.Created{Marker: "m", Landings: []databases.Landing{inside, audit}})
	require.Equal(t, "audit", p.Table.Name, "the marker stands there alone")
	named := landing("deals", []string{"note"}, map[string]string{"id": "o1", "note": "mx0"})
	called := landing("orders", []string{"note"}, map[string]string{"id": "20", "note": "mx0"})
	p = draft.Prove(drafting.Created{Marker: "m", Answer: answer, Landings: []databases.Landing{called, named}})
	require.Equal(t, "deals", p.Table.Name, "the answer names that row")
	twice := draft.Prove(drafting.Created{Marker: "m", Landings: []databases.Landing{audit, audit}})
	require.Equal(t, 2, twice.Rows)
}

func TestAnIdMayStandInAnotherColumnThanThePrimaryKey(t *testing.T) {
	t.Parallel()
	draft := drafting.Draft{Path: "/orders", Texts: []string{"/note"}}
	order := landing("orders", []string{"note"}, map[string]string{"id": "1", "public_id": "o-77", "note": "mx0"})
	p := draft.Prove(drafting.Created{Marker: "m", Answer: map[string]any{"id": "o-77"}, Landings: []databases.Landing{order}})
	require.Equal(t, "public_id", p.Identity)
	require.Equal(t, contract.Identity{JSON: "/id"}, p.Named)
}

// TestWhatIsWrittenIsRead writes values that YAML, variables and templates could misread, and reads them back.
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
	rendered, err := target.Operations["create"].Render(targets.Values{Intent: targets.IntentValues{Marker: "m"}}, true)
	require.NoError(t, err)
	require.JSONEq(t, `{"note": "sample", "dollar": "${HOME} $$ $", "braces": "{{.Intent.Marker}} }}", "yes": "yes", "number": "12", "date": "2030-01-01",
		"lines": "a\nb", "quote": "\"'#: ", "null": null, "list": [{"text": "m", "n": 1}], "a/b~c": {"deep": 3.5}}`, string(rendered.Body))
	require.Equal(t, `a: "b" #c`, rendered.Header["X-Odd"])
	require.Equal(t, "http://localhost", target.BaseURL)
	require.Equal(t, "sample", body["note"], "the draft stays what it is")
}

func TestIdsOfOtherThingsAreNotAltered(t *testing.T) {
	t.Parallel()
	text := func(members ...string) string {
		f := drafting.File{Target: "a", BaseURL: "http://localhost", Draft: drafting.Draft{Name: "create", Method: "POST", Path: "/t", Body: map[string]any{"note": "x"}, Texts: []string{"/note"}}}
		for _, name := range members {
			f.Draft.Body[name] = int64(1)
			f.Draft.Others = append(f.Draft.Others, drafting.Other{Pointer: "/" + name, Value: int64(2)})
		}
		written, err := f.Text()
		require.NoError(t, err)
		return written
	}
	require.Contains(t, text("customer_id", "productId", "paid", "ref-uuid"), "alter: {paid: 2}")
	require.NotContains(t, text("customer_id", "id"), "alter:")
}

func TestNamesAreMadeFitForFiles(t *testing.T) {
	t.Parallel()
	for title, slug := range map[string]string{
		"My Shop (v2)": "my-shop-v2", "": "api", "2 people": "api-2-people", "Ünïcode": "n-code", "!!": "api",
		strings.Repeat("long ", 20): strings.TrimSuffix(strings.Repeat("long-", 8), "-"),
	} {
		require.Equal(t, slug, drafting.Slug(title), title)
	}
	require.Equal(t, "SHOP_API_KEY", drafting.Variable(drafting.Prefix("shop"), "X-Api-Key"))
	require.Equal(t, "MY_SHOP_CUSTOMER_ID", drafting.Variable(drafting.Prefix("my-shop"), "customerId"))
}
