package drafting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

func TestLaterStatesOfOneThingAreToldFromTheFirst(t *testing.T) {
	t.Parallel()
	row := func(id, version, part string) map[string]string {
		return map[string]string{"id": id, "version": version, "part": part}
	}
	for _, c := range []struct {
		name    string
		primary []string
		unique  [][]string
		rows    []map[string]string
		want    string
		doubts  int
	}{
		{"one row", []string{"id", "version"}, nil, []map[string]string{row("a", "1", "7")}, "", 0},
		{"a later one", []string{"id", "version"}, nil, []map[string]string{row("a", "1", "7"), row("a", "2", "7")}, "version", 1},
		{"by its name", []string{"part"}, nil, []map[string]string{row("a", "1", "7"), row("a", "2", "8")}, "version", 1},
		{"what counts all rows", []string{"version"}, nil, []map[string]string{row("a", "1", "7"), row("a", "2", "7")}, "", 1},
		{"what counts all rows, by another key", []string{"part"}, [][]string{{"version"}}, []map[string]string{row("a", "1", "7"), row("a", "2", "8")}, "", 1},
		{"as great", []string{"part"}, nil, []map[string]string{row("a", "1", "7"), row("a", "1", "8")}, "", 1},
	} {
		table := databases.Table{Name: "products", Primary: c.primary, Unique: c.unique, Columns: []databases.Column{{Name: "id", Type: "text"}, {Name: "version", Type: "int"}, {Name: "part", Type: "int"}}}
		f := drafting.File{Proof: &drafting.Proof{Table: table, Identity: "id", Row: row("a", "1", "7")}}
		drafting.Versioned(&f, c.rows)
		require.Equal(t, c.want, f.Proof.Version, c.name)
		require.Len(t, f.Doubts, c.doubts, c.name)
	}
}

// TestWhatLaterCreatesChangeInARowIsADoubt holds that init says so where a create changes the rows of others, such as their places in a list; a state,
// a version, and what counts requests change by themselves.
func TestWhatLaterCreatesChangeInARowIsADoubt(t *testing.T) {
	t.Parallel()
	row := func(position string) map[string]string {
		return map[string]string{"id": "a", "position": position, "version": position, "state": position, "hits": position, "points": "3"}
	}
	table := databases.Table{Name: "cards", Primary: []string{"id"}, Columns: []databases.Column{
		{Name: "id", Type: "text"}, {Name: "points", Type: "int"}, {Name: "version", Type: "int"}, {Name: "state", Type: "int"}, {Name: "hits", Type: "int"}, {Name: "position", Type: "int"},
	}}
	for name, c := range map[string]struct {
		columns int
		later   []map[string]string
		doubts  int
	}{
		"moved down": {6, []map[string]string{row("7")}, 1},
		"stays":      {6, []map[string]string{row("0")}, 0},
		"of itself":  {5, []map[string]string{row("7")}, 0},
		"gone":       {6, nil, 0},
	} {
		table.Columns = table.Columns[:c.columns:6]
		f := drafting.File{Proof: &drafting.Proof{Table: table, Identity: "id", Row: row("0")}}
		table.Columns = table.Columns[:6]
		drafting.Pushed(&f, c.later)
		require.Len(t, f.Doubts, c.doubts, name)
		if c.doubts > 0 {
			require.Contains(t, f.Doubts[0], "Whether creates change position of other rows of cards, or work behind their answers does: it was 0 in the row of the first create, and is 7 after others.")
		}
	}
}
