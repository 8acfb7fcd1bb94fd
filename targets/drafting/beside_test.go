package drafting

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// TestALocationBesideABodyLeadsToTheSameThing holds that a Location which names what the body names is compared in repetitions, also where one has
// led elsewhere, and that no other Location is.
func TestALocationBesideABodyLeadsToTheSameThing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, again, later string // Locations; later: of a repetition after another create
		status              int    // of repetitions
		compared, doubted   bool
		raced               string // of a copy that was sent at once
	}{
		"the same":                     {"/orders/7", "/orders/7", "/orders/8", 200, true, false, "/orders/6"},
		"none for who lost a race":     {"/orders/7", "/orders/7", "/orders/8", 200, false, false, ""},
		"the last one's":               {"/orders/7", "/orders/7", "/orders/9", 201, true, true, "/orders/6"},
		"another one's":                {"/orders/7", "/orders/9", "/orders/9", 201, true, true, "/orders/6"},
		"a parameter":                  {"/order?id=7", "/order?id=7", "/order?id=8", 201, true, false, "/order?id=6"},
		"none in a repetition":         {"/orders/7", "", "", 200, false, false, "/orders/6"},
		"one for each attempt":         {"/attempts/70", "/attempts/71", "/attempts/73", 201, false, false, "/attempts/60"},
		"a token in it":                {"/orders/7?t=a", "/orders/7?t=b", "/orders/8?t=c", 201, false, false, "/orders/6?t=a"},
		"a thing made of it each time": {"/orders/7/receipts/1", "/orders/7/receipts/2", "/orders/8/receipts/3", 201, false, false, "/orders/6/receipts/1"},
	} {
		f := File{
			Dialect: databases.SQLite, Proof: &Proof{Text: "/note", Where: Where{Column: "note", Exact: true}, Table: databases.Table{Name: "orders"}, Identity: "id", Named: contract.Identity{JSON: "/id"}},
			Draft: Draft{Name: "create", Method: "POST", Path: "/orders", Body: map[string]any{"note": "x"}, Texts: []string{"/note"}, Key: InHeader("Idempotency-Key")},
		}
		told := func(id int, status int, location string) Answer {
			return Answer{Status: status, Body: map[string]any{"id": id}, Location: location}
		}
		before := strings.Replace(c.first, "7", "8", 1)
		f.Learn(Repeated{First: told(7, 201, c.first), Again: told(7, c.status, c.again), Apart: []Answer{told(8, 201, before), told(8, c.status, c.later)}, Rows: 1,
			Bursts: []Burst{{Copies: []Answer{told(6, c.status, c.raced)}, After: told(6, c.status, strings.Replace(c.first, "7", "6", 1))}}})
		text, err := f.Text()
		require.NoError(t, err)
		require.Equal(t, c.compared, strings.Contains(text, "headers: [Location]"), "%s\n%s", name, text)
		require.Equal(t, c.doubted, strings.Contains(text, "Whether the Location of a repetition may lead elsewhere"), "%s\n%s", name, text)
	}
}

// TestARepetitionInOtherTypesIsDoubted holds that the file says so where a repetition has the first answer's numbers as texts.
func TestARepetitionInOtherTypesIsDoubted(t *testing.T) {
	t.Parallel()
	for again, doubted := range map[any]bool{"7": true, json.Number("7"): false} {
		f := File{
			Dialect: databases.SQLite, Proof: &Proof{Text: "/note", Where: Where{Column: "note", Exact: true}, Table: databases.Table{Name: "orders"}, Identity: "id", Named: contract.Identity{JSON: "/id"}},
			Draft: Draft{Name: "create", Method: "POST", Path: "/orders", Body: map[string]any{"note": "x"}, Texts: []string{"/note"}, Key: InHeader("Idempotency-Key")},
		}
		told := func(id any, at string) Answer {
			return Answer{Status: 201, Body: map[string]any{"id": id, "at": at}}
		}
		f.Learn(Repeated{First: told(json.Number("7"), "10:00"), Again: told(again, "10:01"), Rows: 1})
		text, err := f.Text()
		require.NoError(t, err)
		require.Equal(t, doubted, strings.Contains(text, "Whether a repetition may write /id in another type"), "%v\n%s", again, text)
	}
}

// TestARepetitionThatMakesAnotherSecretIsDoubted holds that init says so where the row keeps what a repetition said, and not what the first answer
// did; a time, and what is signed anew for each answer and kept nowhere, may differ.
func TestARepetitionThatMakesAnotherSecretIsDoubted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, again, kept, column string
		doubted                    bool
	}{
		"another secret":     {"tok_71c2aa90", "tok_5d08ee31", "tok_5d08ee31", "text", true},
		"the same secret":    {"tok_71c2aa90", "tok_71c2aa90", "tok_71c2aa90", "text", false},
		"signed each time":   {"tok_71c2aa90", "tok_5d08ee31", "tok_00000000", "text", false},
		"when it was seen":   {"2027-03-01T10:00:00Z", "2027-03-01T10:00:01Z", "2027-03-01T10:00:01Z", "text", false},
		"how far it is done": {"accepted", "finished", "finished", "text", false},
	} {
		f := File{
			Dialect: databases.SQLite, Proof: &Proof{
				Text: "/note", Where: Where{Column: "note", Exact: true}, Identity: "id", Named: contract.Identity{JSON: "/id"},
				Table: databases.Table{Name: "tokens", Columns: []databases.Column{{Name: "id", Type: "integer"}, {Name: "note", Type: "text"}, {Name: "secret", Type: c.column}}},
			},
			Draft: Draft{Name: "create", Method: "POST", Path: "/tokens", Body: map[string]any{"note": "x"}, Texts: []string{"/note"}, Key: InHeader("Idempotency-Key")},
		}
		told := func(secret, at string) Answer {
			return Answer{Status: 201, Body: map[string]any{"id": json.Number("7"), "secret": secret, "at": at}}
		}
		f.Learn(Repeated{First: told(c.first, "10:00"), Again: told(c.again, "10:01"), Rows: 1, Row: map[string]string{"id": "7", "note": "x", "secret": c.kept}})
		text, err := f.Text()
		require.NoError(t, err)
		require.Equal(t, c.doubted, strings.Contains(text, "Whether a repetition may make another /secret"), "%s\n%s", name, text)
	}
}

// TestAUUIDBehindAWord holds that a UUID behind a scheme is drawn as one, and takes no marker, whatever it is called.
func TestAUUIDBehindAWord(t *testing.T) {
	t.Parallel()
	const id = "2f6f3a60-8d3d-4a6b-9d57-8c0d5e4e3a11"
	for value, template := range map[string]string{
		"urn:uuid:" + id: `urn:uuid:{{unique "uuid"}}`, "msg_" + id: `msg_{{unique "uuid"}}`, id: `{{unique "uuid"}}`, "urn:isbn:9780306406157": "urn:isbn:" + referenceTemplate,
	} {
		require.Equal(t, template, differing(value))
	}
	d := Draft{Body: map[string]any{"MessageID": "urn:uuid:" + id, "Buyer": "Ada"}, Templates: map[string]string{}}
	d.members("")
	require.Equal(t, []string{"/Buyer"}, d.Texts)
}

// TestOnceTogetherIsWhatRefuses holds that members which make two creates one are those of the constraint that the body can break: (id, note) stands
// there for others to refer to, and one with the key or the time of each create refuses nothing either.
func TestOnceTogetherIsWhatRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unique [][]string
		with   []string
		found  bool
	}{
		"what is sent":         {[][]string{{"id", "note"}, {"request_key", "note"}, {"made_at", "note"}, {"customer", "note"}}, []string{"/customer"}, true},
		"what is not sent":     {[][]string{{"tenant", "note"}}, []string{}, true},
		"most of it":           {[][]string{{"tenant", "note"}, {"customer", "tenant", "note"}}, []string{"/customer"}, true},
		"nothing that refuses": {[][]string{{"id", "note"}, {"request_key", "note"}, {"note", "made_at"}}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := File{
				Dialect: databases.SQLite, Proof: &Proof{
					Text: "/note", Where: Where{Column: "note", Exact: true}, Identity: "id", Row: map[string]string{"id": "7", "customer": "ada", "tenant": "north", "note": "x", "request_key": "k", "made_at": "2027-03-01 10:00:00"},
					Table: databases.Table{Name: "memos", Primary: []string{"id"}, Unique: c.unique, Columns: []databases.Column{
						{Name: "id", Type: "integer"}, {Name: "note", Type: "text"}, {Name: "customer", Type: "text"}, {Name: "tenant", Type: "text"}, {Name: "request_key", Type: "text"}, {Name: "made_at", Type: "timestamp"},
					}},
				},
				Draft: Draft{Name: "create", Method: "POST", Path: "/memos", Body: map[string]any{"note": "x", "customer": "ada"}, Texts: []string{"/note"}, Key: InHeader("Idempotency-Key")},
			}
			r := Repeated{}
			OnceTogether(&f, &r, Answer{Status: 409})
			require.Equal(t, c.found, r.Constrained)
			if c.found {
				require.ElementsMatch(t, c.with, r.With)
			}
		})
	}
}

// TestWhatThePathNamesIsWhatCreatesMake holds that rows which share another one are what creates make where their table is called as the path is, also
// if its name is that of notes in other places; a log of what is shared stays one.
func TestWhatThePathNamesIsWhatCreatesMake(t *testing.T) {
	t.Parallel()
	for table, shares := range map[string]bool{"visits": true, "visit_log": false, "place_views": false, "messages": false, "stays": true} {
		places := databases.Table{Name: "places", Primary: []string{"id"}, Unique: [][]string{{"name"}}, Columns: []databases.Column{{Name: "id", Type: "integer"}, {Name: "name", Type: "text"}}}
		refers := databases.Reference{Column: "place_id", Table: "places", Theirs: "id"}
		child := databases.Table{Name: table, Primary: []string{"id"}, Columns: []databases.Column{{Name: "id", Type: "integer"}, {Name: "place_id", Type: "integer"}}, Refers: []databases.Reference{refers}}
		f := File{
			Dialect: databases.SQLite, Proof: &Proof{Text: "/place", Where: Where{Column: "name", Exact: true}, Table: places, Row: map[string]string{"id": "1", "name": "x"}},
			Draft:    Draft{Name: "create", Method: "POST", Path: "/visits", Body: map[string]any{"place": "x"}, Texts: []string{"/place"}, Key: InHeader("Idempotency-Key")},
			Children: []Child{{Table: child, By: refers, Rows: 1}},
		}
		require.Equal(t, shares, len(Sharing(f)) == 1, table)
	}
}

// TestWhatIsFoundOrMadeMayBeMissing holds that init says what it cannot tell of rows that two creates made once: each may have to make its own.
func TestWhatIsFoundOrMadeMayBeMissing(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"", "email"} {
		f := File{Proof: &Proof{}}
		FoundOrMade(&f, databases.Table{Name: "payments"}, column)
		require.Len(t, f.Doubts, 1)
		require.Contains(t, f.Doubts[0], "f each create is to make one, such as of a payment")
	}
}

// TestWhatIsFoundByJSONIsCompared holds that two rows which are found by a member of a JSON document are told apart where the database has no equality
// of such documents.
func TestWhatIsFoundByJSONIsCompared(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct {
		dialect databases.Dialect
		query   string
	}{
		"json":  {databases.PostgreSQL, "select count(profile) - count(distinct cast(profile as text)) from customers"},
		"jsonb": {databases.PostgreSQL, "select count(profile) - count(distinct profile) from customers"},
		"JSON":  {databases.SQLite, "select count(profile) - count(distinct profile) from customers"},
	} {
		f := File{Dialect: c.dialect, Proof: &Proof{}}
		totalled(&f, []Beside{{Table: databases.Table{Name: "customers", Columns: []databases.Column{{Name: "profile", Type: kind}}}, Rows: 1, Found: "profile"}})
		require.Contains(t, f.out.String(), c.query, kind)
	}
}
