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
// Before are totals as they were when init had sent one create.
func books(ctx context.Context, i *inquiry, r drafting.Repeated, before []sums) error {
	f := &i.file
	switch {
	case !oneRowEach(i, r) || r.Row == nil:
		return nil
	case notAlone(i):
		unwatched(ctx, i, before)
		return nil
	}
	amounts := drafting.Amounts(f)
	accounts := standings(ctx, i, r.Row)
	more, err := totals(ctx, i, before, r.Row, accounts)
	if err != nil {
		return err
	}
	other, alters := drafting.AlteredAfter(*f, r)
	tried, repeated, err := tally(ctx, i, append(accounts, more...), amounts, other)
	if err != nil {
		return err
	}
	var names []string
	var t told
	numbered := ""
	if len(more) > 0 {
		numbered = numberedBy(ctx, i)
	}
	for _, one := range tried {
		found, unsure := drafting.BooksIn(one.postings)
		again := map[string]bool{}
		for _, b := range found {
			b.Counted = countedIn(f, b, one)
			switch {
			case one.restless(b.Number):
			case b.Total && b.Drawn(one.postings, one.made, f.Proof.Table, numbered):
				t.drawn = append(t.drawn, b.Name())
			case !explained(b, one, amounts, repeated) || !b.Sure() || b.Coarse(f.Dialect):
				unsure = append(unsure, b.Name())
				again[b.Name()] = !stands(b, repeated)
			case drafting.Gathers(b.Number):
				f.Doubt("Whether %s has one for each create: those that were sent put one there, and a repetition put none. No effect watches it, as what is older may be dropped some time; if all is kept, add an effect that holds it against %s, with a delta of 0: a second one is a defect of which runs say nothing.", b.Name(), b.Entries.FullName())
				t.said = append(t.said, b.Name())
			default:
				t.said = append(t.said, b.Name()) // as it was met
				b = b.OverLots(one.postings)
				if !slices.ContainsFunc(f.Proof.Books, b.SameNumber) {
					f.Proof.Books = append(f.Proof.Books, b)
				}
				if !slices.Contains(names, b.Name()) {
					names = append(names, b.Name())
				}
			}
		}
		doubtBooks(i, one, unsure, again, &t)
	}
	worths(i, tried, repeated, alters, &t)
	doubtNumbers(i, tried, t)
	if len(names) > 0 {
		fmt.Fprintf(i.Said, "each create changes %s by what it writes down\n", english.List(names, "and"))
	}
	return nil
}

// explained reports that a number changes by what creates say: by an amount of which they said several, or by one, and by nothing more where one
// is repeated.
func explained(b drafting.Book, one account, amounts []drafting.Other, repeated []account) bool {
	if b.Amount == "" {
		return drafting.IsDate(b.Number) || stands(b, repeated)
	}
	return len(amounts) == 0 || b.Varied(one.postings)
}

// doubtBooks notes the numbers of a row that creates changed, and of which it is not known that only they do. Again are those that changed when a
// create was repeated.
func doubtBooks(i *inquiry, one account, unsure []string, again map[string]bool, t *told) {
	if one.now.Total {
		doubtRestless(i, one)
		t.unsure = append(t.unsure, unsure...)
		return
	}
	for _, c := range one.now.Of.Columns {
		if one.restless(c.Name) {
			i.file.Doubt("Whether creates change %s.%s: it changed when nothing was sent, longer after a create than runs wait. If they do, add an effect with its query and a delta, and let runs wait with settle.", one.now.Of.FullName(), c.Name)
		}
	}
	for _, name := range unsure {
		t.said = append(t.said, name)
		others := "what others do is not known"
		if again[name] {
			others = "it did not stay as it was when one was repeated: a defect, if it counts what creates make, of which runs say nothing"
		}
		i.file.Doubt("Whether only creates change %s, and each by what it writes down: those that were sent did, and %s. If it is so, add an effect with its query and a delta.", name, others)
	}
}

// oneRowEach reports that each create makes a row of its own, which no other one changes.
func oneRowEach(i *inquiry, r drafting.Repeated) bool {
	return r.Rows == 1 && !i.file.Draft.Changes() && !i.file.Proof.Adds && !r.Added && r.Replacing == nil
}

// notAlone reports that other requests are sent with a create, before it or to take it back, and may change what creates have in common.
func notAlone(i *inquiry) bool { return len(i.file.Draft.Prepare) > 0 || i.file.Proof.Removal != nil }

// tally sends creates that say other amounts, some with another body where runs send one, and one that is repeated, and notes what they changed. Where numbers went on changing when nothing
// was sent, or changed by what creates say and at other times, they may be changed behind the answers: all is sent once more then, and what is
// done behind each answer has its time. So has what creates before them have left.
func tally(ctx context.Context, i *inquiry, accounts []account, amounts []drafting.Other, other map[string]any) (tried, repeated []account, err error) {
	if len(accounts) == 0 {
		return nil, nil, nil
	}
	letBe(ctx, forChildren)
	accounts = afresh(ctx, i, accounts)
	for _, patience := range []time.Duration{0, forChildren} {
		if tried, err = posted(ctx, i, accounts, i.file, drafting.OwnBody, "[{send: {}}]", patience); err != nil {
			return nil, nil, err
		}
		for _, other := range amounts[:min(len(amounts), mostAmounts)] {
			with := withValue(i.file, other)
			if tried, err = posted(ctx, i, tried, with, drafting.OtherAmount, "[{send: {}}]", patience); err != nil {
				return nil, nil, err
			}
		}
		if tried, err = likewise(ctx, i, tried, other, patience); err != nil {
			return nil, nil, err
		}
		before := afresh(ctx, i, accounts)
		if tried, err = atRest(ctx, i, tried); err != nil {
			return nil, nil, err
		}
		accounts = afresh(ctx, i, accounts)
		still := slices.EqualFunc(before, accounts, func(a, b account) bool { return a.now.Unchanged(b.now) })
		if patience > 0 || still && !slices.ContainsFunc(tried, account.lags) {
			repeated, err = posted(ctx, i, tried, i.file, drafting.OwnBody, "[{send: {}}, {send: {}}]", patience)
			break
		}
	}
	return tried, repeated, err
}

// afresh are rows as they are now, of which nothing else is known.
func afresh(ctx context.Context, i *inquiry, accounts []account) (all []account) {
	for _, a := range accounts {
		if now, known := standing(ctx, i, a.now.Book); known {
			all = append(all, account{now: now})
		}
	}
	return all
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
	later    drafting.Standing // when nothing was sent for a while
	postings []drafting.Posting
	entries  []drafting.Seen // rows that refer to it
	made     []drafting.Seen // created rows
	met      bool            // by a value, and not by a reference
	another  bool            // a create with the body that runs alter was done
}

// restless reports that a number changed when nothing was sent, such as one of what is reserved until it is taken.
func (a account) restless(number string) bool {
	return a.now.Numbers[number] != a.later.Numbers[number]
}

// lags reports that a number may be changed behind the answers.
func (a account) lags() bool {
	return !a.now.Unchanged(a.later) || drafting.Lags(a.postings, a.later)
}

// atRest looks at rows and what refers to them again, when nothing was sent for as long as work behind the answers may take.
func atRest(ctx context.Context, i *inquiry, tried []account) (left []account, err error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(forChildren):
	}
	for _, a := range tried {
		var known bool
		if a.later, known = standing(ctx, i, a.now.Book); !known {
			continue
		}
		a.entries, a.made = again(ctx, i, a.now.Entries, a.entries), again(ctx, i, i.file.Proof.Table, a.made)
		left = append(left, a)
	}
	return left, nil
}

// again reads rows again. Those that cannot be found stay as they were.
func again(ctx context.Context, i *inquiry, t databases.Table, rows []drafting.Seen) (all []drafting.Seen) {
	for _, row := range rows {
		if len(t.Primary) == 1 {
			if found, err := i.db.With(ctx, t, t.Primary[0], row.Then[t.Primary[0]]); err == nil && len(found) == 1 {
				row.Later = found[0]
			}
		}
		all = append(all, row)
	}
	return all
}

// countedIn is which rows say something: it depends on the created row too, where they are rows of that.
func countedIn(f *drafting.File, b drafting.Book, a account) drafting.Counting {
	entries := drafting.Counted(f, b.Entries, a.entries)
	if b.Entries.FullName() == f.Proof.Table.FullName() {
		return entries
	}
	created := drafting.Counted(f, f.Proof.Table, a.made)
	entries.Moves, entries.Told = entries.Moves || created.Moves, entries.Told && created.Told
	which := slices.IndexFunc(f.Children, func(c drafting.Child) bool { return c.Table.FullName() == b.Entries.FullName() })
	if which < 0 || created.Condition == "" {
		return entries
	}
	if entries.Condition != "" {
		entries.Condition += " and "
	}
	by, of := f.Children[which].By, f.Dialect.TableName(f.Proof.Table)
	entries.Condition += fmt.Sprintf("%s.%s in (select %s.%s from %s where %s)",
		f.Dialect.TableName(b.Entries), f.Dialect.Name(by.Column), of, f.Dialect.Name(by.Theirs), of, created.Condition)
	return entries
}

// standings are the rows that a created row, and the rows that refer to it, refer to.
func standings(ctx context.Context, i *inquiry, row map[string]string) (all []account) {
	tables := near(i)
	for _, source := range written(ctx, i, row) {
		for _, one := range source.rows {
			for _, b := range drafting.Parents(&i.file, tables, source.table, one) {
				if now, known := standing(ctx, i, b); known && len(now.Numbers) > 0 && !slices.ContainsFunc(all, func(a account) bool { return same(a.now.Book, b) }) {
					all = append(all, account{now: now})
				}
			}
		}
	}
	return append(all, met(ctx, i, row, all)...)
}

// same reports that entries refer to the same row in the same way.
func same(a, b drafting.Book) bool {
	return a.Total == b.Total && a.Of.FullName() == b.Of.FullName() && a.Key == b.Key && a.Value == b.Value && a.Entries.FullName() == b.Entries.FullName() && a.By == b.By
}

// standing reads a row that entries refer to.
func standing(ctx context.Context, i *inquiry, b drafting.Book) (drafting.Standing, bool) {
	if b.Total {
		return sumNow(ctx, i, b)
	}
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

// posted sends a create, and notes what it has changed in each row that it refers to. A create that was not done says nothing, and one that
// refers to others says nothing of a row that it left as it was. A row that it changed all the same, or that is gone, is left out. What is done
// behind the answer has some patience.
func posted(ctx context.Context, i *inquiry, accounts []account, with drafting.File, body drafting.Body, steps string, patience time.Duration) ([]account, error) {
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
	letBe(ctx, patience)
	var left []account
	for _, a := range accounts {
		a.another = a.another || body == drafting.OtherBody
		entries := entriesFor(a.now.Book, sources)
		after, known := standing(ctx, i, a.now.Book)
		if known && a.now.Unchanged(after) { // it may be changed behind the answer
			letBe(ctx, betweenLook)
			after, known = standing(ctx, i, a.now.Book)
		}
		if len(entries) == 0 && known && a.now.Unchanged(after) { // it was another's
			left = append(left, a)
			continue
		}
		if !known || len(entries) == 0 {
			continue
		}
		p := drafting.Posting{Before: a.now, After: after, Entry: drafting.EntryOf(a.now.Entries, entries), Body: body, Said: fmt.Sprint(with.Draft.Body), Row: sources[0].rows[0]}
		a.now, a.postings = after, append(slices.Clone(a.postings), p)
		a.entries, a.made = append(slices.Clone(a.entries), seen(entries)...), append(slices.Clone(a.made), seen(sources[0].rows)...)
		left = append(left, a)
	}
	return left, asking.err
}

// seen are rows of which nothing later is known.
func seen(rows []map[string]string) (all []drafting.Seen) {
	for _, row := range rows {
		all = append(all, drafting.Seen{Then: row, Later: row})
	}
	return all
}

// entriesFor are the rows that refer to a row.
func entriesFor(b drafting.Book, sources []source) (rows []map[string]string) {
	for _, s := range sources {
		if s.table.FullName() == b.Entries.FullName() {
			for _, row := range s.rows {
				if b.By == "" || row[b.By] == b.Value {
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}
