package learn

import (
	"context"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// What is read to find totals: tables of few rows, and not all of those that there may be. What moves in many rows of a table is no total.
const (
	summedTables = 100
	summedRows   = 1000
	mostTotals   = 8  // of a table
	moreTotals   = 12 // of all tables
)

// moreTotalled is how many creates more are sent to see that each raises a total alike.
const moreTotalled = 2

// idle is for how long nothing is sent to see that a total stays as it is.
const idle = 500 * time.Millisecond

// sums are the totals of a small table.
type sums struct {
	table  databases.Table
	rows   int
	totals []drafting.Standing
}

// summed reads the totals of all small tables but that of the created thing and those whose rows are made with it.
func summed(ctx context.Context, i *inquiry) (all []sums) {
	p := i.file.Proof
	for _, t := range near(i) {
		made := t.FullName() == p.Table.FullName() ||
			slices.ContainsFunc(i.file.Children, func(c drafting.Child) bool { return c.Rows > 0 && c.Table.FullName() == t.FullName() }) ||
			slices.ContainsFunc(p.Others, func(o drafting.Beside) bool { return o.Table.FullName() == t.FullName() })
		if one, small := sumsOf(ctx, i, t); !made && small && len(all) < summedTables {
			all = append(all, one)
		}
	}
	return all
}

// sumsOf reads the totals of a table, if it has few rows, and numbers in them.
func sumsOf(ctx context.Context, i *inquiry, t databases.Table) (sums, bool) {
	db, isDatabase := i.db.(*databases.Database)
	columns := drafting.SummedColumns(t)
	if !isDatabase || len(columns) == 0 {
		return sums{}, false
	}
	rows, few, err := db.Few(ctx, t, columns, summedRows)
	if err != nil || !few {
		return sums{}, false
	}
	return sums{t, len(rows), drafting.TotalsIn(t, rows)}, true
}

// movedSince are the totals that are not as they were, of tables that got no rows with each create.
func movedSince(ctx context.Context, i *inquiry, before []sums) (moved []drafting.Standing) {
	for _, was := range before {
		is, small := sumsOf(ctx, i, was.table)
		if found := drafting.Moved(was.totals, is.totals); small && is.rows <= was.rows+1 && len(found) <= mostTotals {
			moved = append(moved, found...)
		}
	}
	return moved[:min(len(moved), moreTotals)]
}

// sumNow reads one total.
func sumNow(ctx context.Context, i *inquiry, b drafting.Book) (now drafting.Standing, known bool) {
	is, small := sumsOf(ctx, i, b.Of)
	at := slices.IndexFunc(is.totals, func(s drafting.Standing) bool { return slices.Equal(s.Where, b.Where) })
	if !small || at < 0 {
		return drafting.Standing{}, false
	}
	now = is.totals[at]
	now.Book = b
	return now, true
}

// sumsNow reads totals. Those that cannot be read any more are left out.
func sumsNow(ctx context.Context, i *inquiry, totals []drafting.Standing) (now []drafting.Standing) {
	for _, s := range totals {
		if one, known := sumNow(ctx, i, s.Book); known {
			now = append(now, one)
		}
	}
	return now
}

// totals finds the numbers in rows to which nothing refers, and that creates change all the same: of those that are not as they were before
// init repeated creates, the ones that change with another one, and stay when nothing is sent.
func totals(ctx context.Context, i *inquiry, before []sums, row map[string]string, referred []account) (all []account, err error) {
	moved := slices.DeleteFunc(movedSince(ctx, i, before), func(s drafting.Standing) bool {
		return slices.ContainsFunc(referred, func(a account) bool { return a.has(s) })
	})
	if len(moved) == 0 {
		return nil, nil
	}
	if moved = atRestNow(ctx, i, moved); len(moved) == 0 {
		return nil, ctx.Err()
	}
	if moved, err = movedByOne(ctx, i, moved); err != nil {
		return nil, err
	}
	for _, s := range moved {
		for _, source := range written(ctx, i, row) {
			s.Book = s.Over(source.table, source.rows[0])
			all = append(all, account{now: s})
		}
	}
	return all, nil
}

// atRestNow leaves out the totals that change when nothing is sent, for longer than what is done behind answers may take, and says so.
func atRestNow(ctx context.Context, i *inquiry, totals []drafting.Standing) (still []drafting.Standing) {
	now := sumsNow(ctx, i, totals)
	letBe(ctx, idle)
	if len(drafting.Moved(now, sumsNow(ctx, i, now))) > 0 {
		letBe(ctx, forChildren)
		now = sumsNow(ctx, i, now)
		letBe(ctx, 2*idle)
	}
	for _, later := range sumsNow(ctx, i, now) {
		at := slices.IndexFunc(now, func(s drafting.Standing) bool { return s.SameRows(later.Book) })
		if at >= 0 && now[at].Unchanged(later) {
			still = append(still, later)
			continue
		}
		doubtRestless(i, account{now: now[at], later: later})
	}
	return still
}

// doubtRestless notes the numbers of a total that changed when nothing was sent.
func doubtRestless(i *inquiry, a account) {
	for _, c := range a.now.Of.Columns {
		if a.restless(c.Name) && !drafting.CountsRequests(c.Name) {
			i.file.Doubt("Whether creates change %s.%s: it changes when nothing is sent, so no effect watches it. If creates change it, add an effect whose query nothing else changes.", a.now.Of.FullName(), c.Name)
		}
	}
}

// movedByOne sends a create, and leaves out the totals that it does not change until work behind its answer has had its time.
func movedByOne(ctx context.Context, i *inquiry, totals []drafting.Standing) ([]drafting.Standing, error) {
	asking, err := i.questioner()
	if err != nil {
		return nil, err
	}
	answers, markers := asking.done(ctx, "totals", "[{send: {}}]")
	if len(answers) == 0 || !answers[0].Done() || i.made(ctx, markers[0]) != 1 {
		return nil, asking.err
	}
	until := time.Now().Add(forChildren)
	moved := drafting.Moved(totals, sumsNow(ctx, i, totals))
	for len(moved) < len(totals) && ctx.Err() == nil && time.Now().Before(until) {
		letBe(ctx, betweenLook)
		moved = drafting.Moved(totals, sumsNow(ctx, i, totals))
	}
	return moved, asking.err
}

// told are numbers of which something is known, so that they are no effects, or have a doubt already.
type told struct{ unsure, drawn, said []string }

// doubtNumbers notes what changed with each create and became no effect, and says why.
func doubtNumbers(i *inquiry, tried []account, t told) {
	for _, a := range tried {
		for _, number := range drafting.Changing(a.postings) {
			b := a.now.Book
			b.Number = number
			switch {
			case a.restless(number) || watches(i.file, b) || slices.Contains(t.said, b.Name()):
			case slices.Contains(t.drawn, b.Name()):
				i.file.Doubt("Whether %s counts what creates make: it rises by one with each, and may be what gives each its number, which one that loses a race has drawn, too. No effect watches it; if no number may be left out, add one with its query and a delta.", b.Name())
			case slices.Contains(t.unsure, b.Name()):
				i.file.Doubt("Whether only creates change %s, and each by what it writes down: it changed with each, but it may count what else is answered as well, such as a repetition. No effect watches it; if it is so, add one with its query and a delta.", b.Name())
			case b.Total || !drafting.AtATime(number):
				i.file.Doubt("Whether each create changes %s once: it changed with each, and not by what was written down in %s. No effect watches it; add one with its query and a delta.", b.Name(), i.file.Proof.Table.FullName())
			}
		}
	}
}

// unwatched notes which totals creates change where they cannot be held against what creates write down: what stands before a create, or takes
// it back, may change them as well.
func unwatched(ctx context.Context, i *inquiry, before []sums) {
	var names []string
	for _, s := range atRestNow(ctx, i, movedSince(ctx, i, before)) {
		for _, c := range s.Of.Columns {
			s.Number = c.Name
			if _, holds := s.Numbers[c.Name]; holds && !drafting.CountsRequests(c.Name) && !slices.Contains(names, s.Name()) && changedIn(before, s, c.Name) {
				names = append(names, s.Name())
			}
		}
	}
	if len(names) > 0 {
		i.file.Doubt("Whether each create changes %s once: what else is sent with it may change it as well. No effect watches it; add one with its query and a delta.", english.List(names, "and"))
	}
}

// changedIn reports that a number of a total is not as it was.
func changedIn(before []sums, now drafting.Standing, number string) bool {
	return slices.ContainsFunc(before, func(was sums) bool {
		return slices.ContainsFunc(was.totals, func(s drafting.Standing) bool {
			return s.SameRows(now.Book) && s.Numbers[number] != now.Numbers[number]
		})
	})
}

// likewise sends creates more where there are totals, or numbers that nothing which was written down explains, to see that each changes them
// alike: also such with another body where runs send one, which may be in another total.
func likewise(ctx context.Context, i *inquiry, tried []account, other map[string]any, patience time.Duration) (left []account, err error) {
	if !slices.ContainsFunc(tried, func(a account) bool { return a.now.Total || len(a.unexplained()) > 0 }) {
		return tried, nil
	}
	left = tried
	for range moreTotalled {
		if left, err = posted(ctx, i, left, i.file, drafting.OwnBody, "[{send: {}}]", patience); err != nil {
			return nil, err
		}
	}
	for n := 0; other != nil && n < moreTotalled; n++ {
		if left, err = posted(ctx, i, left, withBody(i.file, other), drafting.OtherBody, "[{send: {}}]", patience); err != nil {
			return nil, err
		}
	}
	for _, other := range halfway(i, left) {
		with := withValue(i.file, other)
		for range 2 {
			if left, err = posted(ctx, i, left, with, drafting.OtherAmount, "[{send: {}}]", patience); err != nil {
				return nil, err
			}
		}
	}
	return left, err
}

// numberedBy is the column in which the database itself numbers what is created; empty: it does not.
func numberedBy(ctx context.Context, i *inquiry) string {
	table := i.file.Proof.Table
	db, isDatabase := i.db.(*databases.Database)
	if !isDatabase || len(table.Primary) != 1 {
		return ""
	}
	if gives, err := db.GivesNumber(ctx, table, table.Primary[0]); err != nil || !gives {
		return ""
	}
	return table.Primary[0]
}
