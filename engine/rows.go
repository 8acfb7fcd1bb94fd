package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/snapshots"
	"github.com/doubletap-harness/doubletap/targets"
)

// rowReader finds the rows of markers: in a database, or by asking the target itself.
type rowReader interface {
	Snapshot(ctx context.Context, questions []snapshots.Question) history.Snapshot
	Rows(ctx context.Context, q snapshots.Question, marker string) (int, error)
}

// tellsRows reports that the rows can still be read: the database, or the target itself.
func (s *Session) tellsRows(ctx context.Context) bool {
	if s.System.Rows != nil {
		return s.System.Rows.Alive()
	}
	return s.alive(ctx)
}

// prepareQuestions prepares what a snapshot asks. Where rows are read nowhere, they are unknown.
func (r *scenarioRun) prepareQuestions(context.Context) error {
	system := r.session.System
	switch {
	case system.Rows != nil:
		r.rows = system.Rows
	case r.session.System.Target.AsksItself():
		r.rows = snapshots.NewListing(r.sender.Look)
	default:
		return nil
	}
	markers, views := r.sender.Workload().Markers(), r.sender.Views()
	r.questions = nil
	for _, o := range system.Operations {
		if len(markers[o.Name]) == 0 {
			continue
		}
		q := questionAbout(o, markers[o.Name])
		if o.Rows.HTTP != nil && r.prepared != nil { // before a login the target would list nothing
			gets, err := r.gets(*o.Rows.HTTP, markers[o.Name], views)
			if err != nil {
				return runerror.Configf("operations.%s.rows.http of %s: %w", o.Name, system.Name, err)
			}
			q.Gets = gets
		}
		r.questions = append(r.questions, q)
	}
	return nil
}

// countRows counts the rows of a marker, once the questions are prepared; nil: rows are read nowhere.
func (r *scenarioRun) countRows() func(ctx context.Context, operation, marker string) (int, error) {
	if r.session.System.Rows == nil && !r.session.System.Target.AsksItself() {
		return nil
	}
	return func(ctx context.Context, operation, marker string) (int, error) {
		n := slices.IndexFunc(r.questions, func(q snapshots.Question) bool { return q.Operation == operation })
		return r.rows.Rows(ctx, r.questions[n], marker)
	}
}

// questionAbout is what a snapshot asks for one operation.
func questionAbout(o driver.Operation, markers []string) snapshots.Question {
	q := snapshots.Question{
		Operation: o.Name, Rows: o.Rows.Query, Markers: markers,
		Items: o.Rows.Items, Next: o.Rows.Next, Cursor: o.Rows.Cursor, Absent: o.Rows.Absent, Identity: o.Rows.Identity,
	}
	for _, e := range o.Effects {
		gives := snapshots.Rows
		switch {
		case e.Value != nil:
			gives = snapshots.Value
		case e.Delta != nil:
			gives = snapshots.Total
		}
		q.Effects = append(q.Effects, snapshots.Effect{Name: e.Name, Query: e.Query, Gives: gives})
	}
	return q
}

// gets are the questions to the target itself, by marker.
func (r *scenarioRun) gets(l contract.Listing, markers []string, views map[string][]targets.Values) (map[string][]snapshots.Get, error) {
	all := map[string][]snapshots.Get{}
	for _, marker := range markers {
		for _, values := range views[marker] {
			path, header, err := targets.RenderListing(l, values)
			if err != nil {
				return nil, err
			}
			all[marker] = append(all[marker], snapshots.Get{URL: r.sender.Workload().URL(path), Header: header})
		}
	}
	return all, nil
}

// patience is how long two equal looks may take: the target's own listing is asked for one marker at a time,
// and no faster than its rate limit allows.
func (r *scenarioRun) patience() time.Duration {
	limit, markers := r.session.System.Target.RateLimit, 0
	if limit == nil || !r.session.System.Target.AsksItself() {
		return quietLongest
	}
	for _, q := range r.questions {
		markers += len(q.Markers)
	}
	const looks = 4 // two views each, or two more that are not equal yet
	return quietLongest + looks*time.Duration(markers)*limit.Every()
}

// compared returns of a snapshot what the target is checked against: it may tell more of a thing, such as
// how old it is, and that need not stay the same.
func (r *scenarioRun) compared(s history.Snapshot) map[string][]history.Row {
	if !r.session.System.Target.AsksItself() {
		return s.Rows
	}
	rows := map[string][]history.Row{}
	for _, q := range r.questions {
		of := r.session.System.Target.Operations[q.Operation].Rows
		for _, marker := range q.Markers {
			rows[marker] = []history.Row{}
			for _, row := range s.Rows[marker] {
				rows[marker] = append(rows[marker], namedColumns(row, of))
			}
			slices.SortFunc(rows[marker], func(a, b history.Row) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
	return rows
}

// namedColumns returns the columns that a target file names.
func namedColumns(row history.Row, of contract.Rows) history.Row {
	kept := history.Row{}
	for name, value := range row {
		if _, named := of.Content[name]; named || name == of.Identity {
			kept[name] = value
		}
	}
	return kept
}
