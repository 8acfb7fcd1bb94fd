package learn

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// sentInTurn is how many creates are sent to see that each gets the next number.
const sentInTurn = 3

// anotherMoment is how long is waited between them: what is made of the time in hundredths of a second is another name then.
const anotherMoment = 50 * time.Millisecond

// numbered finds the columns that number the created things one after the other, as invoices are, although the database would take two of one
// number: a service that looks for the greatest one gives it twice when creates come at the same time. One that was greater before, or is there
// twice already, counts within something else, and is left out; so is what the database itself counts up. A balance that each
// row has after it is seen by the same creates: whoever reads the last one without a lock gives it to two rows.
func numbered(ctx context.Context, i *inquiry, r drafting.Repeated) error {
	db, is := i.db.(*databases.Database)
	if !is || !oneRowEach(i, r) {
		return nil
	}
	columns := drafting.MayBeNumbered(&i.file)
	if len(columns)+len(drafting.MayRunOn(&i.file))+len(drafting.MayBeLinked(&i.file)) == 0 && drafting.MayNameTwo(&i.file).Name == "" {
		return nil
	}
	asking, err := i.questioner()
	if err != nil {
		return err
	}
	var rows []map[string]string
	for range sentInTurn {
		letBe(ctx, anotherMoment)
		if _, markers := asking.ask(ctx, "numbered", 1, "[{send: {}}]"); len(markers) != 1 || i.made(ctx, markers[0]) != 1 {
			return asking.err
		}
		rows = append(rows, i.row)
	}
	created := len(rows)
	if body, _, alters := drafting.Altered(i.file); alters { // runs send it, too, and it may be what the numbers count within
		if asking, err = i.questionerWith(body); err != nil {
			return err
		}
		if _, markers := asking.ask(ctx, "numbered-other", 1, "[{send: {}}]"); len(markers) == 1 && i.made(ctx, markers[0]) == 1 && refersAlike(i.file.Proof.Table, rows[0], i.row) {
			rows = append(rows, i.row)
		}
	}
	for _, c := range columns {
		var values []string
		for _, row := range rows {
			values = append(values, row[c.Name])
		}
		if drafting.InTurn(values) && theLast(ctx, db, i.file.Proof.Table, c, values) {
			fmt.Fprintf(i.Said, "each create has the next number in %s.%s, and nothing in the database forbids two of one\n", i.file.Proof.Table.FullName(), c.Name)
			drafting.Numbers(&i.file, c.Name, rows[:created])
		}
	}
	unshared(ctx, i, db, rows, created)
	return asking.err
}

// unshared finds what else no two of the created rows share: the balance after each, the sum of the row before, and what answers name a thing by.
func unshared(ctx context.Context, i *inquiry, db *databases.Database, rows []map[string]string, created int) {
	alone := func(c databases.Column) bool { return aloneInIts(ctx, db, i.file.Proof.Table, c, rows) }
	for _, c := range drafting.MayRunOn(&i.file) {
		if drafting.RunsOn(i.file.Proof.Table, c.Name, rows) && alone(c) {
			fmt.Fprintf(i.Said, "each create has in %s.%s what the one before had, and its own amount\n", i.file.Proof.Table.FullName(), c.Name)
			drafting.Sums(&i.file, c.Name, rows[:created])
		}
	}
	for _, c := range drafting.MayBeLinked(&i.file) {
		if drafting.Linked(i.file.Proof.Table, c.Name, rows) && alone(c) {
			drafting.Links(&i.file, c.Name, rows[:created])
		}
	}
	c := drafting.MayNameTwo(&i.file)
	switch {
	case c.Name == "":
	case drafting.InOrder(c.Name, rows) && alone(c):
		drafting.Names(&i.file, c.Name, rows[:created])
	default:
		drafting.NamedAlike(&i.file, c.Name, rows[:created])
	}
}

// aloneInIts reports that each of the rows has a value that no other has of those that refer to the same things.
func aloneInIts(ctx context.Context, db *databases.Database, t databases.Table, c databases.Column, rows []map[string]string) bool {
	return !slices.ContainsFunc(rows, func(row map[string]string) bool {
		found, err := db.With(ctx, t, c.Name, row[c.Name])
		found = slices.DeleteFunc(found, func(other map[string]string) bool { return !refersAlike(t, row, other) })
		return err != nil || len(found) != 1
	})
}

// refersAlike reports that two rows refer to the same rows of other tables: among those of others, the effect of a number does not count.
func refersAlike(t databases.Table, a, b map[string]string) bool {
	return !slices.ContainsFunc(t.Refers, func(r databases.Reference) bool { return a[r.Column] != b[r.Column] })
}

// theLast reports that a column has each of the values once, and none that is greater, and that the database does not count it up by itself.
func theLast(ctx context.Context, db *databases.Database, t databases.Table, c databases.Column, values []string) bool {
	if given, err := db.GivesNumber(ctx, t, c.Name); err != nil || given {
		return false
	}
	shared := slices.ContainsFunc(values, func(value string) bool {
		rows, err := db.With(ctx, t, c.Name, value)
		return err != nil || len(rows) != 1
	})
	last := values[len(values)-1]
	prefix, _ := drafting.Numbering(last)
	greater, err := db.Greater(ctx, t, c, prefix, last[len(prefix):])
	return !shared && err == nil && greater == 0
}
