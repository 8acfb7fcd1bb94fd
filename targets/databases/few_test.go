package databases_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

func TestOfASmallTableAllRowsAreRead(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			db, err := databases.Open(t.Context(), place(t, dialect), databases.ReadWrite)
			require.NoError(t, err)
			t.Cleanup(func() { db.Close() })
			for _, statement := range append(shopTables(dialect), map[databases.Dialect]string{
				databases.SQLite:     "create table numbered (id integer primary key, n integer)",
				databases.PostgreSQL: "create table numbered (id serial primary key, n integer)",
				databases.MariaDB:    "create table numbered (id integer auto_increment primary key, n integer)",
			}[dialect]) {
				_, err := db.ExecContext(t.Context(), statement)
				require.NoError(t, err, statement)
			}
			tables, err := db.Catalogue(t.Context())
			require.NoError(t, err)
			rows, few, err := db.Few(t.Context(), tables[0], []string{"line", "text"}, 2)
			require.NoError(t, err)
			require.True(t, few)
			require.ElementsMatch(t, []map[string]string{{"line": "1", "text": "marker7"}, {"line": "2", "text": "another"}}, rows)
			rows, few, err = db.Few(t.Context(), tables[0], []string{"line"}, 1)
			require.NoError(t, err)
			require.False(t, few)
			require.Empty(t, rows)

			table := databases.Table{Name: "numbered", Columns: []databases.Column{{Name: "id", Type: "integer"}, {Name: "n", Type: "integer"}}, Primary: []string{"id"}}
			for column, want := range map[string]bool{"id": true, "n": false} {
				gives, err := db.GivesNumber(t.Context(), table, column)
				require.NoError(t, err)
				require.Equal(t, want, gives, column)
			}
			notes := databases.Table{Name: "notes", Columns: []databases.Column{{Name: "n", Type: "integer"}, {Name: "no", Type: "text"}}}
			for _, statement := range []string{"create table notes (n integer, no varchar(20))", "insert into notes values (9, 'N-9'), (10, 'N-10'), (11, 'M-11')"} {
				_, err := db.ExecContext(t.Context(), statement)
				require.NoError(t, err, statement)
			}
			for number, want := range map[string][2]int{"8": {3, 2}, "9": {2, 1}, "10": {1, 0}, "11": {0, 0}} {
				for n, prefix := range []string{"", "N-"} {
					greater, err := db.Greater(t.Context(), notes, notes.Columns[n], prefix, number)
					require.NoError(t, err)
					require.Equal(t, want[n], greater, prefix+number)
				}
			}
		})
	}
}
