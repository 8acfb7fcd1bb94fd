package drafting_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // opened by their names
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

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
		require.Len(t, p.Others, 1)
		require.Equal(t, "audit.note", p.Others[0].Name())
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
	for answer, where := range map[string]string{`{"id": 13, "result": [20]}`: "/result/0", `{"jsonrpc": "2.0", "result": 20}`: "/result", `{"result": 20}`: "", `{"id": 13, "result": [7, 20]}`: ""} {
		var told any
		require.NoError(t, json.Unmarshal([]byte(answer), &told))
		p = draft.Prove(drafting.Created{Marker: "m", Answer: told, Landings: []databases.Landing{called}})
		require.Equal(t, contract.Identity{JSON: where}, p.Named, answer)
	}
	twice := draft.Prove(drafting.Created{Marker: "m", Landings: []databases.Landing{audit, audit}})
	require.Len(t, twice.Several.Rows, 2)
}

// A slug is made anew for a second row of the same title, so that rows are found by the title.
func TestOfSeveralColumnsTheOneThatKeepsTheTextCounts(t *testing.T) {
	t.Parallel()
	row := func(columns ...string) databases.Landing {
		l := landing("articles", columns, map[string]string{"id": "7"})
		for _, column := range columns {
			l.Row[column] = "mx0"
		}
		l.Table.Unique = [][]string{{"slug"}, {"email"}, {"tenant", "heading"}}
		return l
	}
	for _, c := range []struct {
		text, want string
		columns    []string
	}{
		{"/title", "title", []string{"slug", "title"}},
		{"/article/Title", "title", []string{"slug", "heading", "title"}},
		{"/name", "heading", []string{"slug", "heading"}},
		{"/email", "email", []string{"login", "email"}},
		{"/name", "slug", []string{"slug"}},
	} {
		p := drafting.Draft{Path: "/articles", Texts: []string{c.text}}.Prove(drafting.Created{Marker: "m", Landings: []databases.Landing{row(c.columns...)}})
		require.Equal(t, c.want, p.Column, c)
	}
}

func TestAnotherColumnThatHasTheTextOnce(t *testing.T) {
	t.Parallel()
	row := map[string]string{"id": "7", "ref": "mx0", "description": "mx0", "tenant": "t1", "state": "new"}
	of := func(p drafting.Proof, unique ...[]string) string {
		p.Exact, p.Row, p.Table = true, row, databases.Table{Name: "orders", Primary: []string{"id"}, Unique: unique}
		return drafting.OnlyOnce(&drafting.File{Proof: &p})
	}
	description := drafting.Proof{Where: drafting.Where{Column: "description"}}
	require.Equal(t, "ref", of(description, []string{"ref"}))
	require.Equal(t, "ref", of(description, []string{"tenant", "ref"}))
	require.Empty(t, of(description, []string{"tenant", "state"}))
	require.Empty(t, of(drafting.Proof{Where: drafting.Where{Column: "ref"}}, []string{"ref"}))
	require.Empty(t, of(drafting.Proof{Where: drafting.Where{Column: "description", ByKey: true}}, []string{"ref"}))
}

// What a program keeps of a thing in a table of properties has the thing's id, too, and often no foreign key.
func TestAPropertyOfAThingIsNotTheThing(t *testing.T) {
	t.Parallel()
	row := func(table, primary, id string) databases.Landing {
		l := landing(table, []string{"note"}, map[string]string{primary: "31", "note": "mx0", id: "7"})
		l.Table.Primary, l.Table.Columns = []string{primary}, []databases.Column{{Name: primary}, {Name: id}, {Name: "note"}}
		return l
	}
	for _, c := range []struct {
		name, path, want   string
		property, possible databases.Landing
	}{
		{"tables with a prefix, both called as the path is", "/v2/users", "wp_users", row("wp_usermeta", "umeta_id", "user_id"), row("wp_users", "ID", "ID")},
		{"a path that is called as neither", "/register", "users", row("account_values", "value_id", "user_id"), row("users", "id", "id")},
		{"the path is called as the first one", "/user-values", "user_values", row("user_values", "value_id", "user_id"), row("users", "id", "id")},
		{"its column has another table's name", "/register", "account_values", row("account_values", "value_id", "user_id"), row("invoices", "id", "id")},
	} {
		draft := drafting.Draft{Path: c.path, Texts: []string{"/note"}}
		p := draft.Prove(drafting.Created{Marker: "m", Answer: map[string]any{"id": 7}, Landings: []databases.Landing{c.property, c.possible}})
		require.Equal(t, c.want, p.Table.Name, c.name)
		require.Equal(t, contract.Identity{JSON: "/id"}, p.Named, c.name)
	}
}

// A table by which things are found has their numbers and their texts, too.
func TestWhatThingsAreFoundByIsNotTheThing(t *testing.T) {
	t.Parallel()
	draft := drafting.Draft{Path: "/api.php", Texts: []string{"/title"}}
	answer := map[string]any{"edit": map[string]any{"pageid": 7}}
	row := func(table, key string, refers ...databases.Reference) databases.Landing {
		l := landing(table, []string{"note"}, map[string]string{key: "7", "note": "mx0"})
		l.Table.Primary, l.Table.Refers = []string{key}, refers
		return l
	}
	page := row("page", "page_id")
	for name, found := range map[string]databases.Landing{
		"by its name":                row("searchindex", "si_page"),
		"by what the answer names":   row("archive", "ar_page", databases.Reference{Column: "ar_page", Table: "page", Theirs: "page_id"}),
		"by its name, full text":     row("a_fts", "page_id"),
		"by both":                    row("page_lookup", "page_id", databases.Reference{Column: "page_id", Table: "page", Theirs: "page_id"}),
		"although it refers to that": row("an_index", "page_id", databases.Reference{Column: "page_id", Table: "page", Theirs: "page_id"}),
	} {
		for _, landings := range [][]databases.Landing{{found, page}, {page, found}} {
			p := draft.Prove(drafting.Created{Marker: "m", Answer: answer, Landings: landings})
			require.Equal(t, "page", p.Table.Name, name)
			require.Equal(t, contract.Identity{JSON: "/edit/pageid"}, p.Named, name)
		}
	}
	draft.Path = "/archives"
	p := draft.Prove(drafting.Created{Marker: "m", Answer: answer, Landings: []databases.Landing{page, row("archive", "ar_page", databases.Reference{Column: "ar_page", Table: "page", Theirs: "page_id"})}})
	require.Equal(t, "archive", p.Table.Name, "the path is called so")
}

// The number of a call is what the request has said, and the user's is that of each row in the log.
func TestWhatTheRequestHasSaidSpeaksForNoTable(t *testing.T) {
	t.Parallel()
	draft := drafting.Draft{Path: "/rpc", Texts: []string{"/params/name"}, Body: map[string]any{"id": 1, "params": map[string]any{"name": "x"}}}
	log := landing("auditlog", []string{"note"}, map[string]string{"id": "9", "public_id": "1", "note": "mx0"})
	group := landing("groups", []string{"note"}, map[string]string{"id": "72", "note": "mx0"})
	p := draft.Prove(drafting.Created{Marker: "m", Answer: map[string]any{"id": 1, "result": map[string]any{"ids": []any{"72"}}}, Landings: []databases.Landing{log, group}})
	require.Equal(t, "groups", p.Table.Name)
	require.Equal(t, contract.Identity{JSON: "/result/ids/0"}, p.Named, "an element is called as one of its list is")
	require.Equal(t, "id", p.Identity)
}

// Two numbers may run in step, and one thing may be its own root.
func TestOfTwoMembersTheOneCalledAsTheColumnIsTheName(t *testing.T) {
	t.Parallel()
	draft := drafting.Draft{Path: "/pages", Texts: []string{"/note"}}
	page := landing("pages", []string{"note"}, map[string]string{"id": "7", "note": "mx0"})
	page.Table.Primary, page.Row["si_page"] = []string{"si_page"}, "7"
	page.Table.Columns = append(page.Table.Columns, databases.Column{Name: "si_page"})
	for want, answer := range map[string]map[string]any{
		"/edit/pageid":  {"edit": map[string]any{"newrevid": 7, "pageid": 7}},
		"/si_page":      {"root_page_id": 7, "si_page": 7},
		"/root_page_id": {"root_page_id": 7, "deeper": map[string]any{"si_page": 7}},
	} {
		p := draft.Prove(drafting.Created{Marker: "m", Answer: answer, Landings: []databases.Landing{page}})
		require.Equal(t, contract.Identity{JSON: want}, p.Named)
	}
}

// What was accepted stands in a queue first, and in its table when it is done.
func TestTheQueueIsNotTheCreatedThing(t *testing.T) {
	t.Parallel()
	draft := drafting.Draft{Path: "/exports", Texts: []string{"/note"}}
	queue := landing("exports_jobs", []string{"note"}, map[string]string{"id": "17", "note": "mx0"})
	done := landing("documents", []string{"note"}, map[string]string{"id": "3", "note": "mx0"})
	c := drafting.Created{Marker: "m", Status: 202, Answer: map[string]any{"id": "17"}, Landings: []databases.Landing{queue, done}}
	require.Equal(t, "exports_jobs", draft.Prove(c).Table.Name)
	c.Later = []string{"documents"}
	p := draft.Prove(c)
	require.Equal(t, "documents", p.Table.Name)
	require.Equal(t, "exports_jobs.note", p.Others[0].Name())
	require.Equal(t, 1, p.Others[0].Rows)
	c.Answer = map[string]any{"id": "3"}
	require.Empty(t, draft.Prove(c).Identity, "the job's number is that of the document by chance")
	c.Answer, done.Row["id"] = map[string]any{"id": "d-7"}, "d-7"
	require.Equal(t, "id", draft.Prove(c).Identity)
}

// A thing of a set is named as OData does, and by a header of its own, but by none that others have as well.
func TestHeadersNameAThing(t *testing.T) {
	t.Parallel()
	draft := drafting.Draft{Path: "/Orders", Texts: []string{"/note"}}
	for name, c := range map[string]struct {
		status int
		header string
		value  string
		row    string
	}{
		"a number":            {201, "Location", "https://api.example/v4/Orders(69)", "69"},
		"a text":              {201, "Location", "/v4/Orders('a-69')", "a-69"},
		"a GUID of version 3": {201, "Location", "/v3/Orders(guid'0b9b1a0c-6f0e-4d52-9b1b-7a2f4c1d3e5f')", "0b9b1a0c-6f0e-4d52-9b1b-7a2f4c1d3e5f"},
		"its own header":      {204, "Odata-Entityid", "https://api.example/v4/Orders(69)", "69"},
		"called as the path":  {201, "X-Order-Number", "69", "69"},
		"-":                   {201, "X-Request-Id", "69", "69"},
		"- a tenant":          {201, "X-Tenant-Id", "69", "69"},
		"- what is accepted":  {202, "Content-Location", "/jobs/69", "69"},
		"- another":           {201, "Content-Location", "/Orders(70)", "69"},
	} {
		created := drafting.Created{
			Marker: "m", Status: c.status, Header: map[string]string{c.header: c.value},
			Landings: []databases.Landing{landing("orders", []string{"note"}, map[string]string{"id": c.row, "note": "mx0"})},
		}
		if c.header == "Location" {
			created.Location = c.value
		}
		named := draft.Prove(created).Named
		if strings.HasPrefix(name, "-") {
			require.False(t, named.Declared(), name)
			continue
		}
		require.Equal(t, c.header, named.Header, name)
		require.Equal(t, c.row, named.In(c.value), name)
	}
}

func TestTheNumberOfAJobIsNoName(t *testing.T) {
	t.Parallel()
	draft := drafting.Draft{Path: "/reports", Texts: []string{"/note"}}
	short := landing("reports", []string{"note"}, map[string]string{"id": "69", "note": "mx0"})
	long := landing("reports", []string{"note"}, map[string]string{"id": "01jd3k7q9v5w", "note": "mx0"})
	for name, c := range map[string]struct {
		status int
		at     string
		row    databases.Landing
		named  bool
	}{
		"done":                 {201, "/reports/69", short, true},
		"accepted":             {202, "/reports/status/69", short, false},
		"accepted, a long one": {202, "/reports/01jd3k7q9v5w", long, true},
	} {
		p := draft.Prove(drafting.Created{Marker: "m", Status: c.status, Location: c.at, Landings: []databases.Landing{c.row}})
		require.Equal(t, c.named, p.Named.Header == "Location", name)
	}
}

func TestTheFileSaysWhichHeaderMayBeTheKey(t *testing.T) {
	t.Parallel()
	c, err := drafting.ReadCurl(`curl localhost:8080/reports -H 'X-Request-Id: 0f3c2d52-8a12-4a35-9f2e-6b1f2a0e7c14' -d '{"note": "a b"}'`)
	require.NoError(t, err)
	text, err := drafting.File{Target: "shop", BaseURL: "http://localhost:8080", Draft: c.Draft("SHOP")}.Text()
	require.NoError(t, err)
	require.Contains(t, text, "X-Request-Id may be it")
}

func TestAnIdMayStandInAnotherColumnThanThePrimaryKey(t *testing.T) {
	t.Parallel()
	draft := drafting.Draft{Path: "/orders", Texts: []string{"/note"}}
	order := landing("orders", []string{"note"}, map[string]string{"id": "1", "public_id": "o-77", "note": "mx0"})
	p := draft.Prove(drafting.Created{Marker: "m", Answer: map[string]any{"id": "o-77"}, Landings: []databases.Landing{order}})
	require.Equal(t, "public_id", p.Identity)
	require.Equal(t, contract.Identity{JSON: "/id"}, p.Named)

	order.Row["public_id"] = "pay_0f6c92ab41"
	p = draft.Prove(drafting.Created{Marker: "m", Answer: map[string]any{"payment": "pay_0f6c92ab41"}, Landings: []databases.Landing{order}})
	require.Equal(t, contract.Identity{JSON: "/payment"}, p.Named, "nothing else has this value by chance")
	order.Row["public_id"] = "77"
	p = draft.Prove(drafting.Created{Marker: "m", Answer: map[string]any{"seats": 77}, Landings: []databases.Landing{order}})
	require.Empty(t, p.Identity)
}

// TestOtherTablesAreAskedForWhatCreatesSend holds that a table is suggested by what came there in the one create, as creates send it from then on: the
// marker, or the reference of an intent; what is the same in each create finds none of them.
func TestOtherTablesAreAskedForWhatCreatesSend(t *testing.T) {
	t.Parallel()
	at := func(table, value string) databases.Landing {
		return landing(table, []string{"note"}, map[string]string{"id": table, "note": value})
	}
	f := drafting.File{
		Target: "a", BaseURL: "http://localhost", Database: true, Dialect: databases.SQLite, Differing: []string{"/name", "/code"},
		Draft: drafting.Draft{
			Name: "create", Method: "POST", Path: "/orders", Texts: []string{"/note", "/name", "/code", "/slug"},
			Body: map[string]any{"note": "lamp", "name": "Ada", "code": "A-1", "slug": "ada"},
		},
	}
	f.Proof = f.Draft.Prove(drafting.Created{Marker: "m", Landings: []databases.Landing{
		at("orders", "mx0"), at("names", "mx1"), at("codes", "mx2"), at("slugs", "mx3"), at("notes", "mx0"), at("twice", "mx1"), at("twice", "mx0"), at("twice", "mx0"),
	}})
	text, err := f.Text()
	require.NoError(t, err)
	require.Contains(t, text, "query: \"select note from orders where orders.note = :marker\"\n")
	require.Contains(t, text, "#     query: \"select 1 from names where names.note = :reference\"\n")
	require.Contains(t, text, "#     query: \"select 1 from codes where codes.note like '%' || :reference || '%'\"\n")
	require.Contains(t, text, "#     query: \"select 1 from notes where notes.note = :marker\"\n")
	require.Contains(t, text, "#     query: \"select 1 from twice where twice.note = :marker\"\n    #     rows: 2\n")
	require.NotContains(t, text, "from slugs")
	f.Proof = f.Draft.Prove(drafting.Created{Marker: "m", Landings: []databases.Landing{at("orders", "mx0"), at("slugs", "mx3")}})
	text, err = f.Text()
	require.NoError(t, err)
	require.Contains(t, text, "the marker is in slugs.note as well.\n")
	require.NotContains(t, text, "effects:")
}

// TestNullKeepsNoSecondRowAway holds that a constraint is no promise where the created row has NULL in one of its columns, unless that is a value to it.
func TestNullKeepsNoSecondRowAway(t *testing.T) {
	t.Parallel()
	pair := []string{"email", "gone"}
	const none, refused = "The database prevents no second row: softs has no unique constraint that holds for every row", "The database itself refuses a second row in softs with the same "
	for name, c := range map[string]struct {
		row           map[string]string
		unique, nulls [][]string
		says          string
	}{
		"NULL":                 {map[string]string{"email": "a"}, [][]string{pair}, nil, none},
		"a value":              {map[string]string{"email": "a", "gone": "0"}, [][]string{pair}, nil, refused + "(email, gone)."},
		"NULL that is a value": {map[string]string{"email": "a"}, [][]string{pair}, [][]string{pair}, refused + "(email, gone)."},
		"another constraint":   {map[string]string{"email": "a"}, [][]string{pair, {"email"}}, nil, refused + "(email)."},
	} {
		c.row["id"], c.row["note"] = "7", "mx0"
		f := drafting.File{
			Target: "a", BaseURL: "http://localhost", Database: true, Dialect: databases.PostgreSQL,
			Draft: drafting.Draft{Name: "create", Method: "POST", Path: "/softs", Texts: []string{"/note"}, Body: map[string]any{"note": "lamp", "email": "a"}},
		}
		l := landing("softs", []string{"note"}, c.row)
		l.Table.Unique, l.Table.Nulls = c.unique, c.nulls
		f.Proof = f.Draft.Prove(drafting.Created{Marker: "m", Landings: []databases.Landing{l}})
		text, err := f.Text()
		require.NoError(t, err)
		require.Contains(t, text, c.says, name)
	}
}

// TestADrawnIdKeepsNoSecondRowAway holds that a constraint with what the service draws for each row is no promise, and one with what the client says is.
func TestADrawnIdKeepsNoSecondRowAway(t *testing.T) {
	t.Parallel()
	const none, refused = "The database prevents no second row: terms has no unique constraint that holds for every row", "The database itself refuses a second row in terms with the same "
	for name, c := range map[string]struct {
		unique [][]string
		body   map[string]any
		says   string
	}{
		"drawn":                       {[][]string{{"public_id"}, {"public_id", "amount"}}, map[string]any{"note": "lamp", "amount": 12}, none},
		"beside what the client says": {[][]string{{"public_id"}, {"amount"}}, map[string]any{"note": "lamp", "amount": 12}, refused + "(amount)."},
		"of the client, by its name":  {[][]string{{"public_id"}}, map[string]any{"note": "lamp", "thing": "t-4711-aaaa-bbbb"}, refused + "(public_id)."},
		"of the client, by its value": {[][]string{{"public_id"}}, map[string]any{"note": "lamp", "public_id": "t-4711-aaaa-bbbb"}, refused + "(public_id)."},
	} {
		f := drafting.File{
			Target: "a", BaseURL: "http://localhost", Database: true, Dialect: databases.PostgreSQL,
			Draft: drafting.Draft{Name: "create", Method: "POST", Path: "/terms", Texts: []string{"/note"}, Body: c.body},
		}
		l := landing("terms", []string{"note"}, map[string]string{"id": "7", "note": "mx0", "amount": "12", "public_id": "t-4711-aaaa-bbbb"})
		l.Table.Unique = c.unique
		f.Proof = f.Draft.Prove(drafting.Created{Marker: "m", Answer: map[string]any{"thing": "t-4711-aaaa-bbbb"}, Landings: []databases.Landing{l}})
		text, err := f.Text()
		require.NoError(t, err)
		require.Contains(t, strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " "), c.says, name)
	}
}
