package databases

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Table is what a database says about one of its tables.
type Table struct {
	Schema  string // in front of its name; empty: it is found without
	Name    string
	Columns []Column
	Primary []string    // columns of the primary key
	Unique  [][]string  // columns of the other unique constraints that hold for every row
	Nulls   [][]string  // those of Unique that take NULL for a value like others: in the rest, two rows with NULL in a column are two
	Partly  []string    // the others, such as (lower(email)) or (team) WHERE (revoked_at IS NULL): as the database writes them
	Refers  []Reference // foreign keys
}

// Column is a column of a table.
type Column struct {
	Name string
	Type string
}

// Reference is a foreign key of one column.
type Reference struct {
	Column string
	Schema string // of the table, where its name has that in front
	Table  string // qualified as Table.FullName is
	Theirs string // column there
}

// To is the table, of which nothing but the name is known.
func (r Reference) To() Table {
	return Table{Schema: r.Schema, Name: strings.TrimPrefix(r.Table, r.Schema+".")}
}

// FullName is the name by which the table is found.
func (t Table) FullName() string {
	if t.Schema == "" {
		return t.Name
	}
	return t.Schema + "." + t.Name
}

// Keys are the columns, alone or together, whose values two rows cannot share: the primary key first, if there is one, and the other unique
// constraints.
func (t Table) Keys() [][]string {
	if len(t.Primary) == 0 {
		return t.Unique
	}
	return append([][]string{t.Primary}, t.Unique...)
}

// IsKey reports that two rows cannot share a value of a column, whatever the others hold.
func (t Table) IsKey(column string) bool {
	return slices.ContainsFunc(t.Keys(), func(key []string) bool { return slices.Equal(key, []string{column}) })
}

// SameRow reports that two rows of the table, as Search and With list them, are one: they have one primary key, to the letter. In a table without
// one, they have the values in common that no two rows share, or are equal in all columns.
func (t Table) SameRow(a, b map[string]string) bool {
	differs := func(column string) bool { return a[column] != b[column] }
	if len(t.Primary) > 0 {
		return !slices.ContainsFunc(t.Primary, differs)
	}
	for _, key := range t.Unique {
		if !slices.ContainsFunc(key, func(column string) bool { return differs(column) || a[column] == "" }) { // two rows may lack one
			return true
		}
	}
	return !slices.ContainsFunc(t.Columns, func(c Column) bool { return differs(c.Name) })
}

// texts are the types of columns in which texts can be looked for.
var texts = regexp.MustCompile(`(?i)char|text|clob|json|string|xml|varbinary`)

// TypeOf is the type of a column; empty: it has no such column, or none.
func (t Table) TypeOf(column string) string {
	for _, c := range t.Columns {
		if c.Name == column {
			return c.Type
		}
	}
	return ""
}

// holdsText reports whether texts can be looked for in the column.
func (c Column) holdsText() bool { return c.Type == "" || texts.MatchString(c.Type) }

// numbers are the types of columns that hold numbers.
var numbers = regexp.MustCompile(`(?i)int|num|dec|serial|money|real|double|float`)

// HoldsNumber reports whether the column is for numbers.
func (c Column) HoldsNumber() bool { return numbers.MatchString(c.Type) }

// Catalogue lists the tables that the connection sees, without those of the database itself, by name.
func (d *Database) Catalogue(ctx context.Context) ([]Table, error) {
	asked := map[Dialect]dictionary{SQLite: sqliteDictionary(), PostgreSQL: postgresDictionary(), MariaDB: mariadbDictionary()}[d.Dialect]
	c := catalogue{tables: map[string]*Table{}}
	for _, part := range []struct {
		query string
		note  func(fields []string)
	}{
		{asked.columns, c.column}, {asked.unique, c.unique}, {asked.partly, c.partly}, {asked.references, c.reference},
	} {
		if part.query == "" {
			continue
		}
		if err := d.each(ctx, part.query, part.note); err != nil {
			return nil, fmt.Errorf("read the catalogue of the database at %s: %s", d.Host, OneLine(err))
		}
	}
	return c.list(), nil
}

// Beside lists the other databases of the same server that the user may see, without the server's own; empty, too, where it does not say.
// Of those of MariaDB, it lists what has tables: to it a database is what a schema is to PostgreSQL, and one query may ask several.
func (d *Database) Beside(ctx context.Context) (names []string) {
	query := map[Dialect]string{
		PostgreSQL: "select datname from pg_database where datallowconn and not datistemplate and datname <> current_database() order by datname",
		MariaDB: `select distinct table_schema from information_schema.tables where table_schema <> coalesce(database(), '')
			and table_schema not in ('information_schema', 'mysql', 'performance_schema', 'sys') order by table_schema`,
	}[d.Dialect]
	if query == "" || d.each(ctx, query, func(fields []string) { names = append(names, fields[0]) }) != nil {
		return nil
	}
	return names
}

// each calls note with every row of a query, as texts.
func (d *Database) each(ctx context.Context, query string, note func([]string)) error {
	rows, err := d.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		fields, into := make([]string, len(names)), make([]any, len(names))
		for i := range fields {
			into[i] = &fields[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		note(fields)
	}
	return rows.Err()
}

// catalogue collects what the queries of a dictionary give.
type catalogue struct {
	tables map[string]*Table
	index  string // the unique index of the last row
}

// table returns the table of a name, and begins it the first time.
func (c *catalogue) table(schema, name string) *Table {
	t := Table{Schema: schema, Name: name}
	if c.tables[t.FullName()] == nil {
		c.tables[t.FullName()] = &t
	}
	return c.tables[t.FullName()]
}

// column takes schema, table, column, type.
func (c *catalogue) column(f []string) {
	t := c.table(f[0], f[1])
	t.Columns = append(t.Columns, Column{Name: f[2], Type: f[3]})
}

// unique takes schema, table, index, "1" for the primary key or "2" for one that takes NULL for a value, column; the rows of an index follow each other.
func (c *catalogue) unique(f []string) {
	t, index := c.table(f[0], f[1]), strings.Join(f[:3], "\x00")
	begins := index != c.index
	c.index = index
	switch f[3] {
	case "1":
		t.Primary = append(t.Primary, f[4])
		return
	case "2":
		t.Nulls = constrained(t.Nulls, f[4], begins)
	}
	t.Unique = constrained(t.Unique, f[4], begins)
}

// constrained adds a column to the last of some constraints, or to one that begins with it.
func constrained(all [][]string, column string, begins bool) [][]string {
	if begins {
		return append(all, []string{column})
	}
	last := len(all) - 1
	all[last] = append(all[last], column)
	return all
}

// indexed is the statement that makes an index: its table, and then what is unique.
var indexed = regexp.MustCompile(`(?is)^create\s+unique\s+index\b.*?\son\s+(?:"(?:[^"]|"")*"|[^\s"(]+)[^(]*(\(.*)$`)

// partly takes schema, table, and the statement that makes an index.
func (c *catalogue) partly(f []string) {
	t := c.table(f[0], f[1])
	if found := indexed.FindStringSubmatch(f[2]); found != nil {
		t.Partly = append(t.Partly, strings.Join(strings.Fields(found[1]), " "))
	}
}

// reference takes schema, table, column, and the schema, table and column that it refers to.
func (c *catalogue) reference(f []string) {
	t := c.table(f[0], f[1])
	t.Refers = append(t.Refers, Reference{Column: f[2], Schema: f[3], Table: Table{Schema: f[3], Name: f[4]}.FullName(), Theirs: f[5]})
}

// list returns the tables by name, so that a file that is made of them comes out the same each
// time.
func (c *catalogue) list() []Table {
	var all []Table
	for _, t := range c.tables {
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b Table) int { return strings.Compare(a.FullName(), b.FullName()) })
	return all
}
