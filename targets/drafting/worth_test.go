package drafting

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// TestWorthIn holds by how much creates change a number that no column explains, and when that is not known.
func TestWorthIn(t *testing.T) {
	t.Parallel()
	purchases := databases.Table{Name: "purchases", Columns: []databases.Column{{Name: "id", Type: "integer"}, {Name: "cents", Type: "integer"}}, Primary: []string{"id"}}
	book := Book{Of: databases.Table{Name: "customers", Columns: []databases.Column{{Name: "points", Type: "integer"}}}, Key: "id", Value: "1", Entries: purchases, By: "customer_id"}
	change := func(body Body, cents string, by float64) Posting {
		before, after := Standing{book, map[string]float64{"points": 7}}, Standing{book, map[string]float64{"points": 7 + by}}
		return Posting{Before: before, After: after, Entry: Entry{Rows: 1}, Body: body, Said: cents, Row: map[string]string{"cents": cents}}
	}
	own := []Posting{change(OwnBody, "4299", 42), change(OwnBody, "4299", 42), change(OwnBody, "4299", 42)}
	with := func(more ...Posting) []Posting { return append(append([]Posting{}, own...), more...) }
	for name, c := range map[string]struct {
		postings []Posting
		column   string
		another  bool
		said     string
	}{
		"all alike":               {with(change(OtherBody, "4298", 42)), "cents", true, "42"},
		"no other body":           {own, "", true, "42"},
		"another body otherwise":  {with(change(OtherBody, "4300", 43)), "cents", true, "42 (cents 4299) or 43 (cents 4300)"},
		"another amount":          {with(change(OtherAmount, "9900", 99)), "cents", true, "42"},
		"it falls":                {[]Posting{change(OwnBody, "1", -2.5), change(OwnBody, "1", -2.5), change(OwnBody, "1", -2.5)}, "cents", true, "-2.5"},
		"no column tells":         {with(change(OtherBody, "4300", 43)), "", true, ""},
		"the column has the same": {with(change(OtherBody, "4299", 43)), "cents", true, ""},
		"not known of another":    {own, "cents", false, ""},
		"too few":                 {own[:2], "cents", true, ""},
		"not alike":               {with(change(OwnBody, "4299", 43)), "cents", true, ""},
		"what is left over":       {with(change(OtherAmount, "4349", 43), change(OtherAmount, "4349", 44)), "cents", true, ""},
		"too many digits":         {[]Posting{change(OwnBody, "1", 1./3), change(OwnBody, "1", 1./3), change(OwnBody, "1", 1./3)}, "cents", true, ""},
	} {
		b, known := WorthIn(c.postings, "points", c.column, c.another)
		require.Equal(t, c.said != "", known, name)
		if known {
			require.Equal(t, c.said, b.Worths(), name)
		}
	}
	require.True(t, BodySays(with(change(OtherAmount, "9900", 99)), "points"))
	require.False(t, BodySays(with(change(OtherAmount, "9900", 42)), "points"))
	f := &File{Draft: Draft{Body: map[string]any{"cents": int64(4200), "count": int64(2), "note": "x"}}}
	require.Equal(t, []Other{{"/cents", int64(4250)}}, Halfway(f, own[0], "points"), "half a hundred makes none")
}

// TestInWords holds which word of a text names a value.
func TestInWords(t *testing.T) {
	t.Parallel()
	for text, next := range map[string][2]string{
		"OK job 17\n":                  {"OK job 18\n", "18"},
		"17":                           {"18\n", "18"},
		`"job #17."`:                   {`"job #18."`, "18"},
		"Job 17, of 3 for 12.17 euros": {"Job 5, of 3 for 12.17 euros", "5"},
	} {
		named := inWords(text, "17")
		require.Equal(t, "17", named.In(text))
		require.Equal(t, next[1], named.In(next[0]), text)
	}
	for _, text := range []string{"OK", "paid 17.50", "paid 1.17", "A17", "17b", "<p>Job 17</p>", "", "12 17", "job 5 job 17"} {
		require.Empty(t, inWords(text, "17").Pattern, text)
	}
	require.Equal(t, "JOB-0018", inWords("Queued as JOB-0017.", "JOB-0017").In("Queued as JOB-0018."))
}

// TestRowsThatDifferInNothing holds how many rows of one create differ, and whether the request says how many there are to be.
func TestRowsThatDifferInNothing(t *testing.T) {
	t.Parallel()
	legs := databases.Table{Name: "legs", Primary: []string{"id"}, Columns: []databases.Column{{Name: "id"}, {Name: "note"}, {Name: "cents"}, {Name: "booked", Type: "timestamp"}, {Name: "created_at"}}}
	row := func(id, note, cents string) map[string]string {
		return map[string]string{"id": id, "note": note, "cents": cents, "booked": id, "created_at": id}
	}
	require.Equal(t, 2, DifferentRows(legs, []map[string]string{row("1", "m", "5"), row("2", "m", "-5")}), "the legs of a booking")
	require.Equal(t, 1, DifferentRows(legs, []map[string]string{row("1", "m", "5"), row("2", "m", "5")}))
	require.Equal(t, 0, DifferentRows(legs, []map[string]string{{"id": "1"}, {"id": "2"}}))
	of := func(path string, body map[string]any) File { return File{Draft: Draft{Path: path, Body: body}} }
	require.True(t, SaysSoMany(of("/a", map[string]any{"order": map[string]any{"seats": int64(2)}}), 2))
	require.True(t, SaysSoMany(of("/a", map[string]any{"count": "2"}), 2))
	require.True(t, SaysSoMany(of("/a", map[string]any{"names": []any{"ada", "bob"}}), 2))
	require.True(t, SaysSoMany(of("/a?count=2", nil), 2))
	require.False(t, SaysSoMany(of("/a?count=3", map[string]any{"count": int64(22), "note": "2 lamps", "names": []any{"ada"}}), 2))
}
