package snapshots

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

const (
	askAtOnce = 8   // questions to the target under way
	mostPages = 100 // of one answer
)

// NullList stands among the statuses of [Question.Absent] for a list that is written as null.
const NullList = 0

// Get is a question to the target itself. It may hold secrets.
type Get struct {
	URL    string
	Header map[string]string
}

// Ask sends a question once and returns the status and the whole text of its answer.
type Ask func(ctx context.Context, where string, header map[string]string) (status int, text string, err error)

// Listing reads rows off the target's own answers, where no database may be asked. An
// answer that is not understood to its end is an error: rows are then unknown, and never
// absent. Safe for concurrent use.
type Listing struct {
	ask  Ask
	room chan struct{}
}

// NewListing returns a reader that asks the target itself.
func NewListing(ask Ask) *Listing {
	return &Listing{ask: ask, room: make(chan struct{}, askAtOnce)}
}

// Snapshot returns the rows of every marker. They are not of one moment, as each is a
// request of its own: take another snapshot and compare the two.
func (l *Listing) Snapshot(ctx context.Context, questions []Question) history.Snapshot {
	s := history.Snapshot{Rows: map[string][]history.Row{}}
	for _, q := range questions {
		if err := l.each(ctx, q, s.Rows); err != nil {
			return history.Snapshot{Error: fmt.Sprintf("ask the target for its rows: operations.%s.rows.http: %v", q.Operation, err)}
		}
	}
	return s
}

// each asks for all markers of a question, some at once, and stops at the first that is not answered.
func (l *Listing) each(ctx context.Context, q Question, into map[string][]history.Row) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var asking sync.WaitGroup
	var mu sync.Mutex
	all := room(mostOfAll)
	for _, marker := range q.Markers {
		if !l.enter(ctx) {
			break
		}
		asking.Go(func() {
			defer l.leave()
			rows, size, err := l.rows(ctx, q, marker)
			if err != nil {
				stop(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if !all.takes(size) {
				stop(errMuch)
			}
			into[marker] = rows
		})
	}
	asking.Wait()
	return context.Cause(ctx)
}

// enter waits for room among the questions under way.
func (l *Listing) enter(ctx context.Context) bool {
	select {
	case l.room <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave makes room for the next question.
func (l *Listing) leave() { <-l.room }

// Rows returns the number of rows that the target lists for one marker.
func (l *Listing) Rows(ctx context.Context, q Question, marker string) (int, error) {
	if !l.enter(ctx) {
		return 0, context.Cause(ctx)
	}
	defer l.leave()
	rows, _, err := l.rows(ctx, q, marker)
	return len(rows), err
}

// rows asks as every principal that may see rows of a marker. A row that two of them see is one row. It returns the bytes of the rows' texts, too.
func (l *Listing) rows(ctx context.Context, q Question, marker string) ([]history.Row, int, error) {
	gets := q.Gets[marker]
	if len(gets) == 0 {
		return nil, 0, fmt.Errorf("no principal is known that could list the marker %s", marker)
	}
	all, left := []history.Row{}, room(mostOfMarker)
	for _, get := range gets {
		seen, err := l.pages(ctx, q, get, &left)
		if err != nil {
			return nil, 0, err
		}
		all = q.united(all, seen)
	}
	slices.SortStableFunc(all, func(a, b history.Row) int { return strings.Compare(text(a), text(b)) })
	return all, mostOfMarker - int(left), nil
}

// united adds the rows of one view to those of others: each as often as it is in the view that has it most
// often. A row is known by its identity, if it has one.
func (q Question) united(all, view []history.Row) []history.Row {
	name := func(row history.Row) string {
		if value := row[q.Identity]; q.Identity != "" && value != nil {
			return fmt.Sprint(value)
		}
		return text(row)
	}
	there := map[string]int{}
	for _, row := range all {
		there[name(row)]++
	}
	for _, row := range view {
		if there[name(row)]--; there[name(row)] < 0 {
			all = append(all, row)
		}
	}
	return all
}

// text writes a row as JSON, whose members have one order.
func text(row history.Row) string {
	written, _ := json.Marshal(row) // texts, numbers and truth values
	return string(written)
}

// pages asks once, and goes on where the answer says that there is more.
func (l *Listing) pages(ctx context.Context, q Question, get Get, left *room) ([]history.Row, error) {
	rows := []history.Row{}
	for page := 1; page <= mostPages; page++ {
		status, text, err := l.ask(ctx, get.URL, get.Header)
		switch {
		case err != nil:
			return nil, err
		case page == 1 && slices.Contains(q.Absent, status):
			return rows, nil
		case status < 200 || status > 299:
			return nil, fmt.Errorf("the target answered %d", status)
		}
		found, next, err := q.read(text, left)
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
		if next == "" {
			return rows, nil
		}
		if get.URL, err = q.following(get.URL, next); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the answer has more than %d pages", mostPages)
}

// read takes the rows of one answer, and the link or the cursor to the next page; empty: there is none.
func (q Question) read(text string, left *room) (rows []history.Row, next string, err error) {
	answer, err := parse(text)
	if err != nil {
		return nil, "", err
	}
	list, there := jsonpointer.Resolve(answer, q.Items)
	items, isList := list.([]any)
	switch {
	case !there:
		return nil, "", fmt.Errorf("the answer has nothing at %s, where rows.items says that the list is", q.Items)
	case list == nil && slices.Contains(q.Absent, NullList):
	case !isList:
		return nil, "", fmt.Errorf("the answer has %s at %q (rows.items), expected a list: one thing alone could not show that there are two", kind(list), q.Items)
	}
	for i, item := range items {
		object, isObject := item.(map[string]any)
		if !isObject {
			return nil, "", fmt.Errorf("entry %d of the list is %s, expected an object", i, kind(item))
		}
		row := history.Row{}
		if !left.takes(rowBytes) || !left.flatten(row, "", object) {
			return nil, "", errMuch
		}
		rows = append(rows, row)
	}
	next, err = q.more(answer)
	return rows, next, err
}

// more returns the link or the cursor to the next page.
func (q Question) more(answer any) (string, error) {
	if q.Next == "" {
		return "", nil
	}
	value, _ := jsonpointer.Resolve(answer, q.Next)
	switch value := value.(type) {
	case nil:
		return "", nil
	case string:
		return value, nil
	case json.Number:
		if q.Cursor != "" {
			return value.String(), nil
		}
	case bool:
		if !value {
			return "", nil
		}
	}
	return "", fmt.Errorf("the answer says at %s (rows.next) that there is more, and not where", q.Next)
}

// flatten makes columns of the scalar members of an object: those of objects in it have dotted names. It reports that there was room for them: names
// within names grow by the square of what was answered.
func (left *room) flatten(row history.Row, prefix string, object map[string]any) bool {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !left.takes(len(prefix) + len(name)) {
			return false
		}
		switch value := object[name].(type) {
		case map[string]any:
			if !left.flatten(row, prefix+name+".", value) {
				return false
			}
		case []any:
		case json.Number:
			row[prefix+name] = scalar(value)
		default:
			row[prefix+name] = value
		}
		if !left.takes(sizeOf(row[prefix+name])) {
			return false
		}
	}
	return true
}

// exactDigits is how many characters of a number a float64 keeps for certain: any decimal
// of 15 digits comes back as it was (IEEE 754, DBL_DIG).
const exactDigits = 15

// scalar keeps a number that a float64 would not as text.
func scalar(n json.Number) any {
	if f, err := n.Float64(); err == nil && len(n.String()) <= exactDigits {
		return f
	}
	return n.String()
}

// parse reads an answer as one JSON value, with numbers as they were written.
func parse(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	if err == nil {
		if _, rest := decoder.Token(); rest == io.EOF {
			return value, nil
		}
	}
	return nil, fmt.Errorf("the answer is no JSON")
}

// kind names a JSON value in an error.
func kind(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a text"
	default:
		return "a number or truth value"
	}
}
