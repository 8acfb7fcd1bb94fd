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
