package databases_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// sqliteWords are the key words of SQLite, which it lists nowhere but in its manual.
const sqliteWords = `abort action add after all alter always analyze and as asc attach autoincrement before begin between by cascade case cast check
collate column commit conflict constraint create cross current current_date current_time current_timestamp database default deferrable deferred
delete desc detach distinct do drop each else end escape except exclude exclusive exists explain fail filter first following for foreign from full
generated glob group groups having if ignore immediate in index indexed initially inner insert instead intersect into is isnull join key last left
like limit match materialized natural no not nothing notnull null nulls of offset on or order others outer over partition plan pragma preceding
primary query raise range recursive references regexp reindex release rename replace restrict returning right rollback row rows savepoint select
set table temp temporary then ties to transaction trigger unbounded union unique update using vacuum values view virtual when where window with
without`

// TestEveryKeyWordCanBeAName holds that a table and a column may be called by any word that their database knows, such as lines or transaction.
func TestEveryKeyWordCanBeAName(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			db, err := databases.Open(t.Context(), place(t, dialect), databases.ReadWrite)
			require.NoError(t, err)
			t.Cleanup(func() { db.Close() })
			words := strings.Fields(sqliteWords)
			if dialect != databases.SQLite {
				rows, err := db.QueryContext(t.Context(), map[databases.Dialect]string{
					databases.PostgreSQL: "select lower(word) from pg_get_keywords()",
					databases.MariaDB:    "select lower(word) from information_schema.keywords where word is not null",
				}[dialect])
				require.NoError(t, err)
				for words = nil; rows.Next(); {
					word := ""
					require.NoError(t, rows.Scan(&word))
					words = append(words, word)
				}
				require.NoError(t, rows.Err())
				require.Greater(t, len(words), 400)
			}
			for _, word := range words {
				if !regexp.MustCompile(`^[a-z_]+$`).MatchString(word) {
					continue // an operator
				}
				name := dialect.Name(word)
				for _, statement := range []string{
					"create table " + name + " (" + name + " int)", "select " + name + "." + name + " from " + name + " where " + name + " = 1", "drop table " + name,
				} {
					_, err := db.ExecContext(t.Context(), statement)
					require.NoError(t, err, statement)
				}
			}
		})
	}
}
