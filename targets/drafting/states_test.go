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
