package databases_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/servers"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

const (
	postgresVariable = "TEST_POSTGRES"
	mariadbVariable  = "TEST_MARIADB"
)

// TestMain starts the servers around the tests: a missing one fails them.
func TestMain(m *testing.M) {
	os.Exit(servers.Serving(func(postgres, mariadb string) int {
		os.Setenv(postgresVariable, postgres)
		os.Setenv(mariadbVariable, mariadb)
		return m.Run()
	}))
}

// shopTables are tables as a shop has them, with names that take quotes, in a dialect's spelling.
func shopTables(d databases.Dialect) []string {
	quote := d.Name
	document := map[databases.Dialect]string{databases.SQLite: "text", databases.PostgreSQL: "jsonb", databases.MariaDB: "json"}[d]
	return []string{
		"create table customers (id integer primary key, email varchar(80) not null unique)",
		fmt.Sprintf("create table %s (%s varchar(40) primary key, customer integer not null references customers (id), note varchar(255), amount bigint, extra %s, unique (customer, note))", quote("order"), quote("Key"), document),
		fmt.Sprintf("create table %s (order_key varchar(40) not null references %s (%s), line integer not null, text varchar(80), primary key (order_key, line))", quote("Order lines"), quote("order"), quote("Key")),
		"insert into customers (id, email) values (1, 'ada@example.com')",
		fmt.Sprintf(`insert into %s values ('o-1', 1, 'marker7 and more', 12, '{"a": "marker7"}')`, quote("order")),
		fmt.Sprintf("insert into %s values ('o-1', 1, 'marker7'), ('o-1', 2, 'another')", quote("Order lines")),
	}
}

// shop makes the tables in a database of their own, and opens it as init does.
func shop(t *testing.T, dialect databases.Dialect) *databases.Database {
	t.Helper()
	address := place(t, dialect)
	db, err := databases.Open(t.Context(), address, databases.ReadWrite)
	require.NoError(t, err)
	for _, statement := range shopTables(dialect) {
		_, err := db.Exec(statement)
		require.NoError(t, err, statement)
	}
	require.NoError(t, db.Close())
	db, err = databases.Open(t.Context(), address, databases.ReadOnly)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// place is the URL of an empty database.
func place(t *testing.T, dialect databases.Dialect) string {
	t.Helper()
	if dialect == databases.SQLite {
		path := filepath.Join(t.TempDir(), "shop.db")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		return "sqlite://" + path
	}
	address := os.Getenv(map[databases.Dialect]string{databases.PostgreSQL: postgresVariable, databases.MariaDB: mariadbVariable}[dialect])
	db, err := databases.Open(t.Context(), address, databases.ReadWrite)
	require.NoError(t, err)
	name := "shop_" + strings.ToLower(strings.ReplaceAll(t.Name(), "/", "_"))
	_, err = db.Exec("create database " + name)
	require.NoError(t, err)
	t.Cleanup(func() {
		defer db.Close()
		_, err := db.ExecContext(context.WithoutCancel(t.Context()), "drop database "+name)
		require.NoError(t, err)
	})
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.Path = "/" + name
	return u.String()
}

func dialects() []databases.Dialect {
	return []databases.Dialect{databases.SQLite, databases.PostgreSQL, databases.MariaDB}
}

func TestTheCatalogueIsWhatWasCreated(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			tables, err := shop(t, dialect).Catalogue(t.Context())
			require.NoError(t, err)
			require.Len(t, tables, 3)
			lines, customers, orders := tables[0], tables[1], tables[2]
			require.Equal(t, "Order lines", lines.FullName())
			require.Equal(t, []string{"order_key", "line"}, lines.Primary)
			require.Empty(t, lines.Unique)
			require.Equal(t, []databases.Reference{{Column: "order_key", Table: "order", Theirs: "Key"}}, lines.Refers)
			require.Equal(t, [][]string{{"email"}}, customers.Unique)
			require.Equal(t, []string{"id"}, customers.Primary)
			require.Empty(t, customers.Refers)
			require.Equal(t, [][]string{{"customer", "note"}}, orders.Unique)
			require.Equal(t, []string{"Key"}, orders.Primary)
			require.Equal(t, []databases.Reference{{Column: "customer", Table: "customers", Theirs: "id"}}, orders.Refers)
			var names []string
			for _, c := range orders.Columns {
				names = append(names, c.Name)
			}
			require.Equal(t, []string{"Key", "customer", "note", "amount", "extra"}, names)
		})
	}
}

// TestATableThatKeepsItsHistoryIsListed holds that a table with system versioning is one, and that its keys are those of the rows of now.
func TestATableThatKeepsItsHistoryIsListed(t *testing.T) {
	t.Parallel()
	db, err := databases.Open(t.Context(), place(t, databases.MariaDB), databases.ReadWrite)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	for _, statement := range []string{
		"create table implied (id int auto_increment primary key, k varchar(20) unique, note varchar(80)) with system versioning",
		"create table named (id int auto_increment primary key, k varchar(20) unique, note varchar(80), since timestamp(6) generated always as row start, until timestamp(6) generated always as row end, period for system_time (since, until)) with system versioning",
		"insert into implied (k, note) values ('a', 'marker7')", "update implied set note = 'marker8'",
	} {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err, statement)
	}
	tables, err := db.Catalogue(t.Context())
	require.NoError(t, err)
	require.Len(t, tables, 2)
	for _, table := range tables {
		require.Equal(t, []string{"id"}, table.Primary, table.Name)
		require.Equal(t, [][]string{{"k"}}, table.Unique, table.Name)
	}
	found, _ := db.Search(t.Context(), tables, "marker")
	require.Len(t, found, 1, "the rows of now")
}

// TestTheCatalogueTellsWhatHoldsForSomeRows holds that indexes that do not hold for every row, or not for columns, are told apart from those that do.
func TestTheCatalogueTellsWhatHoldsForSomeRows(t *testing.T) {
	t.Parallel()
	for dialect, want := range map[databases.Dialect][]string{
		databases.SQLite:     {"(lower(email))", "(team, email) where revoked is null"},
		databases.PostgreSQL: {"(lower((email)::text))", "(team, email) WHERE (revoked IS NULL)"},
	} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			address := place(t, dialect)
			db, err := databases.Open(t.Context(), address, databases.ReadWrite)
			require.NoError(t, err)
			defer db.Close()
			for _, statement := range []string{
				`create table "all invitations" (id integer primary key, team integer, email varchar(80), revoked varchar(80), unique (email, revoked))`,
				`create unique index a_folded on "all invitations" (lower(email))`,
				`create unique index "b living" on "all invitations"
					(team, email) where revoked is null`,
				`create index c_plain on "all invitations" (team) where revoked is null`,
			} {
				_, err := db.Exec(statement)
				require.NoError(t, err)
			}
			tables, err := db.Catalogue(t.Context())
			require.NoError(t, err)
			require.Len(t, tables, 1)
			require.Equal(t, [][]string{{"email", "revoked"}}, tables[0].Unique)
			require.Equal(t, want, tables[0].Partly)
		})
	}
}

// TestAPartitionIsNoTableOfItsOwn holds that the rows of a table are not found a second time in its partitions.
func TestAPartitionIsNoTableOfItsOwn(t *testing.T) {
	t.Parallel()
	db, err := databases.Open(t.Context(), place(t, databases.PostgreSQL), databases.ReadWrite)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(`create table entries (id integer, booked date, purpose text, primary key (id, booked, purpose)) partition by range (booked);
		create table entries_new partition of entries for values from ('2026-07-01') to ('2027-01-01') partition by list (purpose);
		create table entries_new_rest partition of entries_new default; create table entries_other partition of entries default;
		create table entries_history (purpose text); insert into entries values (1, '2026-08-01', 'marker7'), (2, '2020-01-01', 'marker7')`)
	require.NoError(t, err)
	tables, err := db.Catalogue(t.Context())
	require.NoError(t, err)
	var names []string
	for _, table := range tables {
		names = append(names, table.FullName())
	}
	require.Equal(t, []string{"entries", "entries_history"}, names)
	require.Equal(t, []string{"id", "booked", "purpose"}, tables[0].Primary)
	found, unsearched := db.Search(t.Context(), tables, "marker7")
	require.Len(t, found, 2)
	require.Empty(t, unsearched)
}

// TestAReferenceLeadsToATableOfAnyName holds that a dot in the name of a table is no schema.
func TestAReferenceLeadsToATableOfAnyName(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			db, err := databases.Open(t.Context(), place(t, dialect), databases.ReadWrite)
			require.NoError(t, err)
			defer db.Close()
			statements := []string{
				"create table " + dialect.Name("shop.orders") + " (id integer primary key)",
				"create table entries (n integer primary key, order_id integer, foreign key (order_id) references " + dialect.Name("shop.orders") + " (id))",
			}
			want := databases.Table{Name: "shop.orders"}
			if dialect == databases.PostgreSQL {
				statements = []string{`create schema shop`, `create table shop."new.orders" (id integer primary key)`,
					`create table entries (n integer primary key, order_id integer references shop."new.orders" (id))`}
				want = databases.Table{Schema: "shop", Name: "new.orders"}
			}
			for _, statement := range statements {
				_, err := db.Exec(statement)
				require.NoError(t, err)
			}
			tables, err := db.Catalogue(t.Context())
			require.NoError(t, err)
			require.Equal(t, "entries", tables[0].FullName())
			require.Equal(t, want, tables[0].Refers[0].To())
		})
	}
}

func TestATextIsFoundWhereverItStands(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			db := shop(t, dialect)
			tables, err := db.Catalogue(t.Context())
			require.NoError(t, err)
			found, unsearched := db.Search(t.Context(), tables, "marker7")
			require.Empty(t, unsearched)
			require.Len(t, found, 2)
			require.Equal(t, "Order lines", found[0].Table.Name)
			require.Equal(t, []string{"text"}, found[0].Columns)
			require.Equal(t, map[string]string{"order_key": "o-1", "line": "1", "text": "marker7"}, found[0].Row)
			require.Equal(t, []string{"note", "extra"}, found[1].Columns)
			require.Equal(t, "12", found[1].Row["amount"])

			found, _ = db.Search(t.Context(), tables, "nowhere")
			require.Empty(t, found)
			n, err := db.Referring(t.Context(), tables[0], tables[0].Refers[0], "o-1")
			require.NoError(t, err)
			require.Equal(t, 2, n)
			n, err = db.Referring(t.Context(), tables[2], tables[2].Refers[0], "1")
			require.NoError(t, err)
			require.Equal(t, 1, n)
			_, err = db.Referring(t.Context(), tables[1], tables[2].Refers[0], "1")
			require.Error(t, err)
		})
	}
}

// A service may write a text in capitals, and a title as bytes.
func TestATextIsFoundInWhateverLetters(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			db, err := databases.Open(t.Context(), place(t, dialect), databases.ReadWrite)
			require.NoError(t, err)
			t.Cleanup(func() { db.Close() })
			title := map[databases.Dialect]string{databases.SQLite: "text", databases.PostgreSQL: "varchar(80)", databases.MariaDB: "varbinary(80)"}[dialect]
			for _, statement := range []string{"create table page (id integer primary key, title " + title + ")", "insert into page values (1, 'Marker7'), (2, 'marker7')"} {
				_, err := db.Exec(statement)
				require.NoError(t, err, statement)
			}
			tables, err := db.Catalogue(t.Context())
			require.NoError(t, err)
			found, unsearched := db.Search(t.Context(), tables, "marker7")
			require.Empty(t, unsearched)
			require.Len(t, found, 2)
			require.Empty(t, found[0].Columns)
			require.Equal(t, "Marker7", found[0].Row["title"])
			require.Equal(t, []string{"title"}, found[1].Columns)
		})
	}
}

func TestTablesThatCannotBeSearchedAreNamed(t *testing.T) {
	t.Parallel()
	db := shop(t, databases.SQLite)
	missing := databases.Table{Name: "missing", Columns: []databases.Column{{Name: "note", Type: "text"}}}
	many := []databases.Table{missing}
	for range 200 {
		many = append(many, databases.Table{Name: "customers", Columns: []databases.Column{{Name: "email", Type: "text"}}})
	}
	found, unsearched := db.Search(t.Context(), many, "ada")
	require.Len(t, found, 199)
	require.Equal(t, []string{"missing", "customers"}, unsearched)
}

// TestPartialIndexesPromiseNothing holds that an index over some of the rows is no unique constraint.
func TestPartialIndexesPromiseNothing(t *testing.T) {
	t.Parallel()
	for _, dialect := range []databases.Dialect{databases.SQLite, databases.PostgreSQL} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			db, err := databases.Open(t.Context(), place(t, dialect), databases.ReadWrite)
			require.NoError(t, err)
			defer db.Close()
			for _, statement := range []string{
				"create table things (id integer primary key, name varchar(80), state varchar(9))",
				"create unique index things_open on things (name) where state = 'open'",
				"create unique index things_lower on things (lower(name))",
				"create index things_name on things (name)",
			} {
				_, err := db.Exec(statement)
				require.NoError(t, err)
			}
			tables, err := db.Catalogue(t.Context())
			require.NoError(t, err)
			require.Empty(t, tables[0].Unique)
		})
	}
}

// TestTheCatalogueTellsWhereNullIsAValue holds that a constraint which takes two NULLs for one is told from the others.
func TestTheCatalogueTellsWhereNullIsAValue(t *testing.T) {
	t.Parallel()
	db, err := databases.Open(t.Context(), place(t, databases.PostgreSQL), databases.ReadWrite)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec("create table things (id integer primary key, name varchar(80), gone date, unique (name, gone), unique nulls not distinct (id, gone), unique nulls not distinct (gone))")
	require.NoError(t, err)
	tables, err := db.Catalogue(t.Context())
	require.NoError(t, err)
	require.Equal(t, [][]string{{"name", "gone"}, {"id", "gone"}, {"gone"}}, tables[0].Unique)
	require.Equal(t, [][]string{{"id", "gone"}, {"gone"}}, tables[0].Nulls)
}

func TestNamesAreQuotedWhereTheyTakeIt(t *testing.T) {
	t.Parallel()
	require.Equal(t, "orders", databases.PostgreSQL.Name("orders"))
	require.Equal(t, `"order"`, databases.PostgreSQL.Name("order"))
	require.Equal(t, "`Order``s`", databases.MariaDB.Name("Order`s"))
	require.Equal(t, `shop."Or""der"`, databases.SQLite.TableName(databases.Table{Schema: "shop", Name: `Or"der`}))
}

func TestRowsAreOneByTheirPrimaryKeyToTheLetter(t *testing.T) {
	t.Parallel()
	keyed := databases.Table{Columns: []databases.Column{{Name: "id"}, {Name: "state"}}, Primary: []string{"id"}, Unique: [][]string{{"number"}}}
	bare := databases.Table{Columns: keyed.Columns}
	row := map[string]string{"id": "aB", "state": "new"}
	later, other := map[string]string{"id": "aB", "state": "paid"}, map[string]string{"id": "Ab", "state": "new"}
	require.True(t, keyed.SameRow(row, later))
	require.False(t, keyed.SameRow(row, other))
	require.True(t, bare.SameRow(row, map[string]string{"id": "aB", "state": "new"}))
	require.False(t, bare.SameRow(row, later))
	require.False(t, bare.SameRow(row, other))
	unique := databases.Table{Columns: keyed.Columns, Unique: [][]string{{"id"}}}
	require.True(t, unique.SameRow(row, later))
	require.False(t, unique.SameRow(row, other))
	require.False(t, unique.SameRow(map[string]string{"state": "new"}, map[string]string{"state": "paid"}), "two may lack it")
	require.Equal(t, [][]string{{"id"}, {"number"}}, keyed.Keys())
	require.Empty(t, bare.Keys())
}

// TestTheOtherDatabasesOfAServer holds that a database names those beside it, and neither itself nor the server's own.
func TestTheOtherDatabasesOfAServer(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects() {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			own := "shop_" + strings.ToLower(strings.ReplaceAll(t.Name(), "/", "_"))
			beside := shop(t, dialect).Beside(t.Context())
			require.NotContains(t, beside, own)
			require.NotContains(t, beside, "information_schema")
			require.NotContains(t, beside, "template1")
			if dialect == databases.SQLite {
				require.Empty(t, beside)
				return
			}
			server := os.Getenv(map[databases.Dialect]string{databases.PostgreSQL: postgresVariable, databases.MariaDB: mariadbVariable}[dialect])
			elsewhere, err := databases.Open(t.Context(), server, databases.ReadOnly)
			require.NoError(t, err)
			t.Cleanup(func() { elsewhere.Close() })
			require.Contains(t, elsewhere.Beside(t.Context()), own, "it has tables")
		})
	}
}
