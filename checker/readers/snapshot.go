package readers

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/doubletap-harness/doubletap/history"
)

// batch is how many markers one statement asks for: enough that 100,000 need 1,000 statements, few
// enough that planning one stays cheap. SQLite takes no more than 500 terms in a compound select.
const batch = 100

// queryer is a database or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Snapshot returns the rows of every marker, all read in one transaction that sees one moment. A
// failure is part of the snapshot: rows are then unknown, not absent.
func (r *Reader) Snapshot(ctx context.Context, markers []string) history.Snapshot {
	s := history.Snapshot{Rows: make(map[string][]history.Row, len(markers))}
	if err := r.snapshot(ctx, markers, s.Rows); err != nil {
		return history.Snapshot{Error: fmt.Sprintf("ask database at %s: %v", r.host, err)}
	}
	return s
}

func (r *Reader) snapshot(ctx context.Context, markers []string, into map[string][]history.Row) error {
	read := r.dialect.read
	tx, err := r.db.BeginTx(ctx, &read)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for from := 0; from < len(markers); from += batch {
		if err := r.read(ctx, tx, markers[from:min(from+batch, len(markers))], into); err != nil {
			return err
		}
	}
	return nil
}

// read asks for the rows of some markers in one statement: the user's query once per marker, joined
// by UNION ALL, with the marker's index in front. That keeps whatever the query does, grouping and
// limits included, per marker.
func (r *Reader) read(ctx context.Context, from queryer, markers []string, into map[string][]history.Row) error {
	statement, args := r.statement(markers)
	rows, err := from.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for _, m := range markers {
		into[m] = []history.Row{}
	}
	for rows.Next() {
		index, row, err := scan(rows, columns)
		if err != nil {
			return err
		}
		into[markers[index]] = append(into[markers[index]], row)
	}
	return rows.Err()
}

func (r *Reader) statement(markers []string) (string, []any) {
	var text strings.Builder
	args := []any{}
	for i, m := range markers {
		if i > 0 {
			text.WriteString(" union all ")
		}
		query := parameter().ReplaceAllStringFunc(r.query, func(match string) string {
			args = append(args, m)
			return match[:len(match)-len(":marker")] + r.dialect.parameter(len(args))
		})
		// The line break ends a comment that the query may end with.
		fmt.Fprintf(&text, "select %d as doubletap_index, doubletap_rows.* from (%s\n) doubletap_rows", i, query)
	}
	return text.String(), args
}

// parameter finds :marker, but not PostgreSQL's cast "::marker" nor ":markers".
func parameter() *regexp.Regexp { return regexp.MustCompile(`(?:^|[^:]):marker\b`) }

func scan(rows *sql.Rows, columns []string) (int, history.Row, error) {
	index := 0
	values := make([]any, len(columns)-1)
	into := []any{&index}
	for i := range values {
		into = append(into, &values[i])
	}
	if err := rows.Scan(into...); err != nil {
		return 0, nil, err
	}
	row := history.Row{}
	for i, column := range columns[1:] {
		row[column] = storable(values[i])
	}
	return index, row, nil
}

// storable brings a driver's value into a form that JSON keeps. Very large numbers become text: JSON
// readers would lose digits of large ones.
func storable(value any) any {
	switch v := value.(type) {
	case nil, bool, float64, string:
		return v
	case []byte:
		if utf8.Valid(v) {
			return string(v)
		}
		return fmt.Sprintf("\\x%x", v)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case int64:
		if v < 1<<53 && v > -1<<53 {
			return float64(v)
		}
		return fmt.Sprint(v)
	default:
		return fmt.Sprint(v)
	}
}
