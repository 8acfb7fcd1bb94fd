package snapshots

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/sqltext"
)

// batch is how many markers one statement asks for that has the query once for each: enough that 100,000 need 1,000 statements, few
// enough that planning one stays cheap. SQLite takes no more than 500 terms in a compound select.
const batch = 100

// A snapshot may take as long as its statements do, each of which has its time. What breaks, such as the connection of a
// server that starts again or ends idle sessions, is asked for anew.
const (
	longestBatch = time.Minute
	tries        = 3
	betweenTries = 500 * time.Millisecond
)

// errSlow is matched by the error of a statement that took too long.
var errSlow = errors.New("no answer")

// queryer is a database or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Question is what a snapshot asks for one operation: the rows, and the effects beyond them, of some
// markers. A [Reader] takes Rows and Effects of it, a [Listing] what is below Markers.
type Question struct {
	Operation string // its name, for errors
	Rows      string // the row query, with the parameter :marker, :reference or :key
	Effects   []Effect
	Markers   []string

	// Answered is called with the number of markers whose rows are read by now, never twice at once; nil: it is not told.
	Answered func(markers int)

	Gets     map[string][]Get // by marker: one for each who may see something of it
	Items    string           // JSON pointer to the list; empty: the answer is the list
	Next     string           // JSON pointer to the link to the next page; empty: there is but one
	Cursor   string           // parameter of the query that takes what Next points to; empty: that is a link
	Absent   []int            // statuses of answers that say that there is nothing, or NullList
	Identity string           // column by which a thing is known; empty: by all of them
}

// Effect is a query about something beyond the rows.
type Effect struct {
	Name  string // unique in a snapshot
	Query string
	Gives Gives
}

// Gives says what an effect's query gives.
type Gives int

// What a query can give: so many rows for each marker, a number for each marker, or one number for all
// of them, without a parameter.
const (
	Rows Gives = iota
	Value
	Total
)

// Snapshot returns the rows and effects of every marker, all read in one transaction that
// sees one moment: two statements at two moments could count a row that moves between them
// twice, or not at all. It tries again where a connection broke, but not where a statement
// was slow: that would take as long again. A failure is part of the snapshot: rows are
// then unknown, not absent.
func (r *Reader) Snapshot(ctx context.Context, questions []Question) history.Snapshot {
	for left := tries - 1; ; left-- {
		s := history.Snapshot{Rows: map[string][]history.Row{}}
		err := r.snapshot(ctx, questions, &s)
		switch {
		case err == nil:
			return s
		case left == 0 || ctx.Err() != nil || errors.Is(err, errSlow):
			return history.Snapshot{Error: fmt.Sprintf("ask database at %s: %v", r.db.Host, err)}
		}
		select {
		case <-ctx.Done():
		case <-time.After(betweenTries):
		}
	}
}

// snapshot is one try. What it has read when it fails is dropped.
func (r *Reader) snapshot(ctx context.Context, questions []Question, s *history.Snapshot) error {
	read := r.db.Dialect.Snapshot()
	tx, err := r.db.BeginTx(ctx, &read)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, q := range questions {
		rows, err := r.rows(ctx, tx, q.Rows, q.Markers, q.Answered)
		if err != nil {
			return fmt.Errorf("operations.%s.rows.query: %w", q.Operation, err)
		}
		maps.Copy(s.Rows, rows)
		for _, e := range q.Effects {
			if err := r.effect(ctx, tx, e, q.Markers, s); err != nil {
				return fmt.Errorf("operations.%s.effects, query of %q: %w", q.Operation, e.Name, err)
			}
		}
	}
	return nil
}

// mostRows is how many rows one marker may have. No intent makes as many, so the query is wrong, and memory has an end.
const mostRows = 10_000

// How many bytes of rows there may be, with what each row takes by itself.
const (
	rowBytes     = 64
	mostOfMarker = 4 << 20
	mostOfAll    = 1 << 30
)

var errMuch = fmt.Errorf("the rows of one marker have more than %d MiB, or all of them more than %d: what an intent has created is less", mostOfMarker>>20, mostOfAll>>20)

// room is how many bytes may still be kept.
type room int

// takes uses some of it, and reports that they were there.
func (left *room) takes(bytes int) bool {
	*left -= room(bytes)
	return *left >= 0
}

// sizeOf is how many bytes the text of a value has; a number is little.
func sizeOf(value any) int {
	text, _ := value.(string)
	return len(text)
}

// rows returns the rows of every marker, and tells how far it is. One without rows has an empty entry.
func (r *Reader) rows(ctx context.Context, from queryer, query string, markers []string, answered func(int)) (map[string][]history.Row, error) {
	found := make(map[string][]history.Row, len(markers))
	for _, m := range markers {
		found[m] = []history.Row{}
	}
	all, of := room(mostOfAll), make(map[string]room, len(markers))
	err := r.each(ctx, from, query, markers, answered, func(marker string, columns []string, values []any) error {
		row, size := make(history.Row, len(columns)), rowBytes
		for i, column := range columns {
			row[column] = storable(values[i])
			size += sizeOf(row[column])
		}
		if of[marker] += room(size); of[marker] > mostOfMarker || !all.takes(size) {
			return errMuch
		}
		if len(found[marker]) == mostRows {
			return fmt.Errorf("the query returned more than %d rows for the marker %s: it should find what one intent has created", mostRows, marker)
		}
		found[marker] = append(found[marker], row)
		return nil
	})
	return found, err
}

// effect reads one effect: the number of its rows or its value for every marker, or its total.
func (r *Reader) effect(ctx context.Context, from queryer, e Effect, markers []string, s *history.Snapshot) error {
	if s.Effects == nil {
		s.Effects = map[string]map[string]float64{}
	}
	numbers := make(map[string]float64, len(markers))
	s.Effects[e.Name] = numbers
	if e.Gives == Total {
		markers = []string{everyMarker}
	}
	for _, m := range markers {
		numbers[m] = 0
	}
	return r.each(ctx, from, e.Query, markers, nil, func(marker string, _ []string, values []any) error {
		if e.Gives == Rows {
			numbers[marker]++
			return nil
		}
		n, err := number(values)
		numbers[marker] += n
		return err
	})
}

// everyMarker is the marker of a total.
const everyMarker = ""

// number reads the one value of a row as a number; none is 0.
func number(values []any) (float64, error) {
	if len(values) != 1 {
		return 0, fmt.Errorf("expected one column, got %d", len(values))
	}
	switch v := storable(values[0]).(type) {
	case nil:
		return 0, nil
	case float64:
		return v, nil
	case string:
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return 0, fmt.Errorf("expected a number, got %q", head(v))
		}
		return n, nil
	default:
		return 0, fmt.Errorf("expected a number, got %v", v)
	}
}

// each asks a query for every marker and calls take for each row, and answered, which may be nil, after each statement.
func (r *Reader) each(ctx context.Context, from queryer, query string, markers []string, answered func(int), take func(marker string, columns []string, values []any) error) error {
	ask, size, grows := r.unions(query), batch, false
	if len(markers) > manyMarkers {
		if joined := r.joined(ctx, from, query); joined != nil {
			ask, size, grows = joined, manyMarkers, true
		}
	}
	for first := 0; first < len(markers); {
		some, begun := markers[first:min(first+size, len(markers))], time.Now()
		if err := r.readInTime(ctx, from, query, ask, some, take); err != nil {
			return err
		}
		first += len(some)
		if answered != nil {
			answered(first)
		}
		switch took := time.Since(begun); {
		case grows && took < soon:
			size = min(2*size, mostJoined)
		case grows && took > 2*soon:
			size = max(size/2, batch)
		}
	}
	return nil
}

// readInTime is read, for as long as a statement may take. The usual reason for a slow one
// is a missing index on the marker's column, so the error asks for that.
func (r *Reader) readInTime(ctx context.Context, from queryer, query string, ask asking, markers []string, take func(string, []string, []any) error) error {
	patience := cmp.Or(r.Patience, longestBatch)
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := r.read(bounded, from, query, ask, markers, take)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w for %d markers in %s: is there an index on the column that is compared with :marker? (%w)", errSlow, len(markers), patience, err)
	}
	return err
}

// read asks for some markers in one statement: the user's query once per marker, with the marker's index in front. That keeps
// whatever the query does, grouping and limits included, per marker.
func (r *Reader) read(ctx context.Context, from queryer, query string, ask asking, markers []string, take func(string, []string, []any) error) error {
	// Looked at again right before it is sent, although the loader did: this is a user's
	// text on a connection to what may be a real database.
	if err := sqltext.Query(query, sqltext.Dialect(r.db.Dialect)); err != nil {
		return err
	}
	statement, args := ask(markers)
	rows, err := from.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		index, values, err := scan(rows, len(columns)-1)
		if err != nil {
			return err
		}
		if err := take(markers[index], columns[1:], values); err != nil {
			return err
		}
	}
	return rows.Err()
}

// parameters finds :marker and :reference, but not PostgreSQL's cast "::marker" nor ":markers"; in a query with none of them, it finds :key.
func parameters(query string) *regexp.Regexp {
	named := regexp.MustCompile(`(?:^|[^:]):(?:marker|reference)\b`)
	if named.MatchString(query) {
		return named
	}
	return regexp.MustCompile(`(?:^|[^:\w]):key\b`)
}

// scan reads a row: the index of its marker, and the columns of the user's query.
func scan(rows *sql.Rows, columns int) (int, []any, error) {
	index := 0
	values := make([]any, columns)
	into := []any{&index}
	for i := range values {
		into = append(into, &values[i])
	}
	err := rows.Scan(into...)
	return index, values, err
}

// longestValue is how many bytes of a text are kept as they are.
const longestValue = 64 << 10

// head is a text, or the beginning of a long one with a digest of it all, by which two are told apart.
func head(text string) string {
	if len(text) <= longestValue {
		return text
	}
	return fmt.Sprintf("%s... (%d bytes, sha256 %x)", strings.ToValidUTF8(text[:1<<10], ""), len(text), sha256.Sum256([]byte(text)))
}

// storable brings a driver's value into a form that JSON keeps, so that a row that was
// read from a history equals the row that was written. Integers beyond 2^53 become text:
// JSON readers would lose their last digits, and two IDs would be equal. So do infinity
// and what is no number, which JSON does not have.
func storable(value any) any {
	switch v := value.(type) {
	case nil, bool:
		return v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
		return v
	case string:
		return head(v)
	case []byte:
		if utf8.Valid(v) {
			return head(string(v))
		}
		return head(fmt.Sprintf("\\x%x", v))
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
