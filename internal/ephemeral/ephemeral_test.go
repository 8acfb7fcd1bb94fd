package ephemeral_test

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/doubletap-harness/doubletap/internal/ephemeral"
	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // opened by their names
	"github.com/doubletap-harness/doubletap/targets/databases"
)

func kinds() []string {
	return []string{ephemeral.Postgres, ephemeral.MariaDB, ephemeral.SQLite}
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "schema.sql")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestADatabaseHasItsSchemaAndLeavesNothing(t *testing.T) {
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			tables := file(t, "create table orders (id int primary key);\n-- a comment; with a semicolon\ncreate table\nparts (id int);\n")
			rows := file(t, "insert into orders values (1);insert into orders values (2)")
			d, err := ephemeral.Start(t.Context(), kind, []string{tables, rows})
			require.NoError(t, err)
			defer d.Close()

			db, err := databases.Open(t.Context(), d.URL(), databases.ReadWrite)
			require.NoError(t, err)
			n := 0
			require.NoError(t, db.QueryRow("select count(*) from orders").Scan(&n))
			require.Equal(t, 2, n)
			_, err = db.Exec("insert into parts values (1)")
			require.NoError(t, err)
			require.NoError(t, db.Close())

			require.NoError(t, d.Close())
			require.NoError(t, d.Close(), "closing again does nothing")
			_, err = databases.Open(t.Context(), d.URL(), databases.ReadWrite)
			require.Error(t, err)
			if u, err := url.Parse(d.URL()); kind == ephemeral.SQLite {
				require.NoError(t, err)
				require.NoDirExists(t, filepath.Dir(u.Path))
			}
		})
	}
}

func TestASchemaThatDoesNotRunIsNamed(t *testing.T) {
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			good, bad := file(t, "create table orders (id int);"), file(t, "create table parts (id int);\ncreate tabel more (id int);")
			_, err := ephemeral.Start(t.Context(), kind, []string{good, bad})
			require.ErrorContains(t, err, "the schema does not run: "+bad)
			require.ErrorContains(t, err, "tabel")
		})
	}
	_, err := ephemeral.Start(t.Context(), ephemeral.SQLite, []string{"no-such.sql"})
	require.ErrorContains(t, err, "the schema does not run: open no-such.sql")
}

func TestAKindThatNobodyKnows(t *testing.T) {
	_, err := ephemeral.Start(t.Context(), "oracle", nil)
	require.ErrorContains(t, err, `no kind of database "oracle"`)
}
