package databases

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// What a search looks at.
const (
	searchedTables = 200             // the others are left out
	searchedRows   = 5               // of each table
	searchedFor    = 3 * time.Second // in each table
)

// Landing is a row in which a text was found.
type Landing struct {
	Table   Table
	Columns []string          // that hold the text; none: some hold it in other letters
	Row     map[string]string // its values; those that are NULL are missing
}

// digits matches what columns of numbers are looked through for, too.
var digits = regexp.MustCompile(`^[0-9]+$`)

// Search looks for a text, capitals or not, or a number in digits, in the columns of these tables that can hold one, and lists the rows
// that have it in one of them, a few of each table. Unsearched are the tables that it did not get through.
func (d *Database) Search(ctx context.Context, tables []Table, text string) (found []Landing, unsearched []string) {
	for i, t := range tables {
		if i >= searchedTables {
			unsearched = append(unsearched, t.FullName())
			continue
		}
		landings, err := d.searchTable(ctx, t, text)
		if err != nil {
			unsearched = append(unsearched, t.FullName())
		}
		found = append(found, landings...)
	}
	return found, unsearched
}

// searchTable looks through one table for a few seconds at most: one without an index is read as a whole.
func (d *Database) searchTable(ctx context.Context, t Table, text string) ([]Landing, error) {
	number := digits.MatchString(text)
	var conditions []string
	var args []any
	for _, c := range t.Columns {
		if c.holdsText() || number && c.HoldsNumber() {
			args = append(args, "%"+text+"%")
			conditions = append(conditions, d.Dialect.holding(c.Name, d.Dialect.Parameter(len(args))))
		}
	}
	if len(args) == 0 {
		return nil, nil
	}
	return d.rowsOf(ctx, t, strings.Join(conditions, " or "), text, args...)
}

// With lists a few rows of a table that have the value in a column.
func (d *Database) With(ctx context.Context, t Table, column, value string) ([]map[string]string, error) {
	return d.Where(ctx, t, d.Dialect.asText(column)+" = "+d.Dialect.Parameter(1), value)
}

// Without returns a few rows of a table whose column has another value.
func (d *Database) Without(ctx context.Context, t Table, column, value string) ([]map[string]string, error) {
	return d.Where(ctx, t, d.Dialect.asText(column)+" <> "+d.Dialect.Parameter(1), value)
}

// Where returns a few rows of a table for which a condition is true, which has one parameter.
func (d *Database) Where(ctx context.Context, t Table, condition, parameter string) (rows []map[string]string, err error) {
	found, err := d.rowsOf(ctx, t, condition, "", parameter)
	for _, l := range found {
		rows = append(rows, l.Row)
	}
	return rows, err
}

// rowsOf reads a few rows of a table in a transaction that only reads, and finds in which of their columns the text is.
func (d *Database) rowsOf(ctx context.Context, t Table, condition, text string, args ...any) ([]Landing, error) {
	ctx, cancel := context.WithTimeout(ctx, searchedFor)
	defer cancel()
	read := d.Dialect.Snapshot()
	tx, err := d.BeginTx(ctx, &read)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	rows, err := tx.QueryContext(ctx, fmt.Sprintf("select * from %s where %s limit %d", d.Dialect.TableName(t), condition, searchedRows), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return landings(rows, t, text)
}

// landings reads the rows, each with the columns that hold the text.
func landings(rows *sql.Rows, t Table, text string) ([]Landing, error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var found []Landing
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return found, err
		}
		l := Landing{Table: t, Row: map[string]string{}}
		for i, value := range values {
			if value == nil {
				continue
			}
			l.Row[names[i]] = written(value)
			if strings.Contains(l.Row[names[i]], text) {
				l.Columns = append(l.Columns, names[i])
			}
		}
		found = append(found, l)
	}
	return found, rows.Err()
}

// written is a value as texts are compared with it: moments in UTC, bytes as they are.
func written(value any) string {
	switch value := value.(type) {
	case []byte:
		return string(value)
	case time.Time:
		return value.UTC().Format(time.RFC3339Nano)
	case fmt.Stringer:
		return value.String()
	default:
		return fmt.Sprint(value)
	}
}

// Referring counts the rows that a foreign key of a table leads from to the value.
func (d *Database) Referring(ctx context.Context, from Table, by Reference, value string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, searchedFor)
	defer cancel()
	if !slices.ContainsFunc(from.Refers, func(r Reference) bool { return r == by }) {
		return 0, errors.New("the table has no such foreign key")
	}
	n := 0
	err := d.QueryRowContext(ctx, fmt.Sprintf("select count(*) from %s where %s = %s", d.Dialect.TableName(from), d.Dialect.asText(by.Column), d.Dialect.Parameter(1)), value).Scan(&n)
	return n, err
}

// Parentless counts the rows of a table whose column refers to a row that is not there. Where a column is named, it has a value in them, as one that
// says to what kind of thing a row refers.
func (d *Database) Parentless(ctx context.Context, from Table, by Reference, named, value string) (rows int, err error) {
	ctx, cancel := context.WithTimeout(ctx, searchedFor)
	defer cancel()
	child, parent := d.Dialect.TableName(from), d.Dialect.TableName(by.To())
	column, theirs := child+"."+d.Dialect.Name(by.Column), parent+"."+d.Dialect.Name(by.Theirs)
	if d.Dialect == PostgreSQL { // their types may differ
		column, theirs = "cast("+column+" as text)", "cast("+theirs+" as text)"
	}
	where, args := column+" is not null", []any(nil)
	if named != "" {
		where, args = where+" and "+d.Dialect.asText(child+"."+d.Dialect.Name(named))+" = "+d.Dialect.Parameter(1), []any{value}
	}
	err = d.QueryRowContext(ctx, fmt.Sprintf("select count(*) from %s where %s and not exists (select 1 from %s where %s = %s)", child, where, parent, theirs, column), args...).Scan(&rows)
	return rows, err
}

// Shadows are the names of tables in which SQLite itself keeps what a virtual table has, such as the index of a full text: how many rows they have is its
// own matter.
func (d *Database) Shadows(ctx context.Context) (names []string) {
	if d.Dialect != SQLite {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, searchedFor)
	defer cancel()
	rows, err := d.QueryContext(ctx, "select name from pragma_table_list where type = 'shadow'")
	if err != nil { // an old one does not tell
		return nil
	}
	defer rows.Close()
	for name := ""; rows.Next() && rows.Scan(&name) == nil; {
		names = append(names, name)
	}
	if rows.Err() != nil {
		return nil
	}
	return names
}

// Count counts the rows of a table.
func (d *Database) Count(ctx context.Context, t Table) (rows int, err error) {
	ctx, cancel := context.WithTimeout(ctx, searchedFor)
	defer cancel()
	err = d.QueryRowContext(ctx, "select count(*) from "+d.Dialect.TableName(t)).Scan(&rows)
	return rows, err
}

// asText is a column as something that a text can be compared with.
func (d Dialect) asText(column string) string {
	name := d.Name(column)
	if d == PostgreSQL {
		return "cast(" + name + " as text)"
	}
	return name
}

// holding is a condition that a column holds what a pattern says, in whatever letters: what a service has written in capitals is told
// from what is not there. MariaDB compares bytes, and texts of some collations, only as they are.
func (d Dialect) holding(column, pattern string) string {
	switch d {
	case PostgreSQL:
		return d.asText(column) + " ilike " + pattern
	case MariaDB:
		return "convert(" + d.Name(column) + " using utf8mb4) like " + pattern
	default:
		return d.Name(column) + " like " + pattern
	}
}

// TableName writes the name of a table, with quotes where it takes them.
func (d Dialect) TableName(t Table) string {
	if t.Schema == "" {
		return d.Name(t.Name)
	}
	return d.Name(t.Schema) + "." + d.Name(t.Name)
}

// plain is an identifier that every database takes without quotes, unless it is reserved.
var plain = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// Name writes an identifier, with quotes where it takes them.
func (d Dialect) Name(name string) string {
	if plain.MatchString(name) && !reserved()[name] {
		return name
	}
	quote := `"`
	if d == MariaDB {
		quote = "`"
	}
	return quote + strings.ReplaceAll(name, quote, quote+quote) + quote
}
