package learn

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// mostAmounts is how many numbers of the body are varied, one at a time.
const mostAmounts = 3

// books finds the numbers that creates have in common, such as a balance or a stock: what a create refers to is read before and after
// creates, each of which says another amount. One that stands for how many creates there were must not change when one is repeated.
func books(ctx context.Context, i *inquiry, r drafting.Repeated) error {
	f := &i.file
	if r.Rows != 1 || r.Row == nil || f.Draft.Changes() || len(f.Draft.Prepare) > 0 || f.Proof.Removal != nil || f.Proof.Adds || r.Added || r.Replacing != nil {
		return nil
	}
	tried, err := posted(ctx, i, standings(ctx, i, r.Row), *f, "[{send: {}}]")
	if err != nil || len(tried) == 0 {
		return err
	}
	varied := 0
	for _, other := range f.Draft.Others {
		if varied == mostAmounts {
			break
		}
		var value any // that is not the altered body's either
		switch n := other.Value.(type) {
		case int64:
			value = n + 1
		case float64:
			value = n + 1
		default:
			continue
		}
		varied++
		with := *f
		with.Draft.Body, _ = drafting.Put(with.Draft.Body, other.Pointer, value).(map[string]any)
		if tried, err = posted(ctx, i, tried, with, "[{send: {}}]"); err != nil {
			return err
		}
	}
	repeated, err := posted(ctx, i, tried, *f, "[{send: {}}, {send: {}}]")
	if err != nil {
		return err
	}
	var names []string
	for _, one := range tried {
		found, unsure := drafting.BooksIn(one.postings)
		for _, b := range found {
			if b.Amount == "" && !stands(b, repeated) {
				unsure = append(unsure, b.Name())
				continue
			}
			if !slices.ContainsFunc(f.Proof.Books, b.SameNumber) {
				f.Proof.Books = append(f.Proof.Books, b)
			}
			if !slices.Contains(names, b.Name()) {
				names = append(names, b.Name())
			}
		}
		for _, name := range unsure {
			f.Doubts = append(f.Doubts, fmt.Sprintf("Whether each create changes %s by a fixed number: it did, and it is not known whether it also does what creates nothing. If it must not, add an effect with its query and a delta.", name))
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(i.Said, "each create changes %s by what it writes down\n", english.List(names, "and"))
	}
	return nil
}

// stands reports that a number is as it was found where the last create was repeated, too.
func stands(b drafting.Book, repeated []account) bool {
	return slices.ContainsFunc(repeated, func(a account) bool {
		found, _ := drafting.BooksIn(a.postings)
		return slices.ContainsFunc(found, b.SameNumber)
	})
}

// account is a row that creates refer to, and what they did to it.
type account struct {
	now      drafting.Standing
	postings []drafting.Posting
}

// standings are the rows that a created row, and the rows that refer to it, refer to.
func standings(ctx context.Context, i *inquiry, row map[string]string) (all []account) {
	for _, source := range written(ctx, i, row) {
		for _, one := range source.rows {
			for _, b := range drafting.Parents(&i.file, i.tables, source.table, one) {
				if now, known := standing(ctx, i, b); known && len(now.Numbers) > 0 && !slices.ContainsFunc(all, func(a account) bool { return same(a.now.Book, b) }) {
					all = append(all, account{now: now})
				}
			}
		}
	}
	return all
}

// same reports that entries refer to the same row in the same way.
func same(a, b drafting.Book) bool {
	return a.Of.FullName() == b.Of.FullName() && a.Key == b.Key && a.Value == b.Value && a.Entries.FullName() == b.Entries.FullName() && a.By == b.By
}

// standing reads a row that entries refer to.
func standing(ctx context.Context, i *inquiry, b drafting.Book) (drafting.Standing, bool) {
	rows, err := i.db.With(ctx, b.Of, b.Key, b.Value)
	if err != nil || len(rows) != 1 {
		return drafting.Standing{}, false
	}
	return drafting.StandingIn(b, rows[0]), true
}

// source is a table in which a create has written rows.
type source struct {
	table databases.Table
	rows  []map[string]string
}

// written are the rows of one create: its own, and those that refer to it.
func written(ctx context.Context, i *inquiry, row map[string]string) []source {
	all := []source{{i.file.Proof.Table, []map[string]string{row}}}
	for _, c := range i.file.Children {
		if value := row[c.By.Theirs]; c.Rows > 0 && value != "" {
			if rows, err := i.db.With(ctx, c.Table, c.By.Column, value); err == nil && len(rows) > 0 {
				all = append(all, source{c.Table, rows})
			}
		}
	}
	return all
}

// posted sends a create, and notes what it has changed in each row that it refers to. A create that was not done, or refers to others,
// says nothing. Those rows are left of which all creates until now say something.
func posted(ctx context.Context, i *inquiry, accounts []account, with drafting.File, steps string) ([]account, error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	asking, err := i.questionerFor(with)
	if err != nil {
		return nil, err
	}
	answers, markers := asking.done(ctx, "books", steps)
	if len(answers) == 0 || !answers[0].Done() || i.made(ctx, markers[0]) != 1 {
		return accounts, asking.err
	}
	sources := written(ctx, i, i.row)
	var left []account
	for _, a := range accounts {
		entries := entriesFor(a.now.Book, sources)
		after, known := standing(ctx, i, a.now.Book)
		if known && a.now.Unchanged(after) { // it may be changed behind the answer
			time.Sleep(betweenLook)
			after, known = standing(ctx, i, a.now.Book)
		}
		if !known || len(entries) == 0 {
			continue
		}
		p := drafting.Posting{Before: a.now, After: after, Entry: drafting.EntryOf(a.now.Entries, entries)}
		left = append(left, account{now: after, postings: append(slices.Clone(a.postings), p)})
	}
	return left, asking.err
}

// entriesFor are the rows that refer to a row.
func entriesFor(b drafting.Book, sources []source) (rows []map[string]string) {
	for _, s := range sources {
		if s.table.FullName() == b.Entries.FullName() {
			for _, row := range s.rows {
				if row[b.By] == b.Value {
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}
