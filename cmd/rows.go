package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/snapshots"
	"github.com/doubletap-harness/doubletap/targets"
)

// rowReader finds the rows of markers: in a database, or by asking the target itself.
type rowReader interface {
	Snapshot(ctx context.Context, questions []snapshots.Question) history.Snapshot
	Rows(ctx context.Context, q snapshots.Question, marker string) (int, error)
}

// tellsRows reports that whoever knows the rows still answers: the database, or the target itself.
func (s *stage) tellsRows(ctx context.Context) bool {
	if s.subject.reader != nil {
		return s.subject.reader.Alive()
	}
	return s.alive(ctx)
}

// lookAt prepares what the act asks for its rows. Where nobody can be asked, they are unknown.
func (a *act) lookAt() error {
	switch {
	case a.subject.reader != nil:
		a.rows = a.subject.reader
	case a.subject.target.AsksItself():
		a.rows = snapshots.NewListing(a.sender.Look)
	default:
		return nil
	}
	markers, views := a.sender.Workload().Markers(), a.sender.Views()
	a.questions = nil
	for _, o := range a.subject.operations {
		if len(markers[o.Name]) == 0 {
			continue
		}
		q := questionAbout(o, markers[o.Name])
		if o.Rows.HTTP != nil && !a.halted { // before anybody was logged in
			gets, err := a.gets(*o.Rows.HTTP, markers[o.Name], views)
			if err != nil {
				return mistakef("operations.%s.rows.http of %s: %w", o.Name, a.subject.name, err)
			}
			q.Gets = gets
		}
		a.questions = append(a.questions, q)
	}
	return nil
}

// countRows counts the rows of a marker, after lookAt; nil: nobody can be asked.
func (a *act) countRows() func(ctx context.Context, operation, marker string) (int, error) {
	if a.subject.reader == nil && !a.subject.target.AsksItself() {
		return nil
	}
	return func(ctx context.Context, operation, marker string) (int, error) {
		n := slices.IndexFunc(a.questions, func(q snapshots.Question) bool { return q.Operation == operation })
		return a.rows.Rows(ctx, a.questions[n], marker)
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
func (a *act) gets(l contract.Listing, markers []string, views map[string][]targets.Values) (map[string][]snapshots.Get, error) {
	all := map[string][]snapshots.Get{}
	for _, marker := range markers {
		for _, values := range views[marker] {
			path, header, err := targets.RenderListing(l, values)
			if err != nil {
				return nil, err
			}
			all[marker] = append(all[marker], snapshots.Get{URL: a.sender.Workload().URL(path), Header: header})
		}
	}
	return all, nil
}

// patience is how long two equal looks may take: the target's own listing is asked for one marker at a time,
// and no faster than its rate limit allows.
func (a *act) patience() time.Duration {
	limit, markers := a.subject.target.RateLimit, 0
	if limit == nil || !a.subject.target.AsksItself() {
		return quietLongest
	}
	for _, q := range a.questions {
		markers += len(q.Markers)
	}
	const looks = 4 // two views each, or two more that are not equal yet
	return quietLongest + looks*time.Duration(markers)*limit.Every()
}

// judged returns of a snapshot what is held against the target: a target may tell more of a thing, such as
// how old it is, and that need not stay the same.
func (a *act) judged(s history.Snapshot) map[string][]history.Row {
	if !a.subject.target.AsksItself() {
		return s.Rows
	}
	rows := map[string][]history.Row{}
	for _, q := range a.questions {
		of := a.subject.target.Operations[q.Operation].Rows
		for _, marker := range q.Markers {
			rows[marker] = []history.Row{}
			for _, row := range s.Rows[marker] {
				rows[marker] = append(rows[marker], compared(row, of))
			}
			slices.SortFunc(rows[marker], func(a, b history.Row) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
	return rows
}

// compared returns the columns that a target file names.
func compared(row history.Row, of contract.Rows) history.Row {
	kept := history.Row{}
	for name, value := range row {
		if _, named := of.Content[name]; named || name == of.Identity {
			kept[name] = value
		}
	}
	return kept
}
