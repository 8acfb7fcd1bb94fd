package drafting

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// TestARepetitionThatSaysWhatNoRowHasIsDoubted holds that init says so where the first answer has the row's value, and the same request again another
// one; what moves on with the row may differ.
func TestARepetitionThatSaysWhatNoRowHasIsDoubted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, again any
		kept         string
		doubted      bool
	}{
		"the rate of now":          {0.8123, 0.8456, "0.812300", true},
		"the row's":                {0.8123, 0.8123, "0.812300", false},
		"what the row has by now":  {0.8123, 0.8456, "0.845600", false},
		"a text that no row has":   {"gold", "silver", "gold", true},
		"what the row never had":   {0.8123, 0.8456, "0.700000", false},
		"how it was written alone": {0.5, "0.50", "0.500000", false},
	} {
		f := &File{Dialect: databases.SQLite, Proof: &Proof{Table: databases.Table{Name: "exchanges", Columns: []databases.Column{{Name: "id", Type: "integer"}, {Name: "rate", Type: "numeric"}}}}}
		misstated(f, Repeated{Rows: 1, Row: map[string]string{"id": "7", "rate": c.kept}, First: Answer{Status: 201, Body: map[string]any{"rate": c.first}}, Again: Answer{Status: 201, Body: map[string]any{"rate": c.again}}})
		require.Equal(t, c.doubted, len(f.Doubts) > 0, "%s: %v", name, f.Doubts)
	}
}

// TestACopyThatIsUnderWayIsNoReplay holds that 202 to a copy of a request that runs, which is answered 200 or 201 in the end, says that it is in progress.
func TestACopyThatIsUnderWayIsNoReplay(t *testing.T) {
	t.Parallel()
	answer := func(status int) Answer { return Answer{Status: status, Body: map[string]any{"id": "7"}} }
	var l learnt
	l.bursts(answer(201), []Burst{{Copies: []Answer{answer(201), answer(202)}, After: answer(200)}})
	require.Equal(t, []int{202}, l.inProgress.Statuses)
	l = learnt{}
	l.bursts(answer(202), []Burst{{Copies: []Answer{answer(202), answer(202)}, After: answer(202)}})
	require.Empty(t, l.inProgress.Statuses)
	l.bursts(answer(202), []Burst{{Copies: []Answer{answer(202), answer(202)}, After: answer(200)}})
	require.Empty(t, l.inProgress.Statuses, "a create is accepted with 202, and is done by the end")
}

// TestARepetitionThatSaysLessIsDoubted holds that the file says so where a repetition leaves out or empties what the first answer says; what the first
// answer does not say either, and what changes, may differ.
func TestARepetitionThatSaysLessIsDoubted(t *testing.T) {
	t.Parallel()
	line := func(sku string) any { return map[string]any{"sku": sku, "quantity": json.Number("2")} }
	for name, c := range map[string]struct {
		first, again any
		at           string
	}{
		"all of it":              {[]any{line("MUG")}, []any{line("MUG")}, ""},
		"no lines":               {[]any{line("MUG")}, []any{}, "/lines"},
		"null":                   {[]any{line("MUG")}, nil, "/lines"},
		"one line of two":        {[]any{line("MUG"), line("TEE")}, []any{line("MUG")}, "/lines"},
		"a line without a count": {[]any{line("MUG")}, []any{map[string]any{"sku": "MUG"}}, "/lines/0/quantity"},
		"none at first, either":  {[]any{}, nil, ""},
		"more by now":            {[]any{line("MUG")}, []any{line("MUG"), line("TEE")}, ""},
		"an empty text":          {"by post", "", "/lines"},
		"another text":           {"by post", "by courier", ""},
		"zero is a number":       {json.Number("7"), json.Number("0"), ""},
		"a switch":               {true, false, ""},
	} {
		f := File{
			Dialect: databases.SQLite, Proof: &Proof{Text: "/note", Where: Where{Column: "note", Exact: true}, Table: databases.Table{Name: "orders"}, Identity: "id", Named: contract.Identity{JSON: "/id"}},
			Draft: Draft{Name: "create", Method: "POST", Path: "/orders", Body: map[string]any{"note": "x"}, Texts: []string{"/note"}, Key: InHeader("Idempotency-Key")},
		}
		told := func(at string, lines any) Answer {
			return Answer{Status: 201, Body: map[string]any{"id": json.Number("7"), "at": at, "lines": lines}}
		}
		f.Learn(Repeated{First: told("10:00", c.first), Again: told("10:01", c.again), Rows: 1})
		text, err := f.Text()
		require.NoError(t, err)
		text = strings.ReplaceAll(text, "\n# ", " ")
		require.Equal(t, c.at != "", strings.Contains(text, "Whether a repetition may say less than the first answer"), "%s\n%s", name, text)
		require.Equal(t, c.at == "", strings.Contains(text, "Whether a repetition may say otherwise what the first answer says: it did in /at"), "%s\n%s", name, text)
		require.Contains(t, text, c.at, name)
	}
}
