package learn

import (
	"context"
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// lookedUp is how many values of created rows are looked up, at most, to see whether they name a row of another table.
const lookedUp = 200

// met are the rows that a created row, and the rows that refer to it, name by a value, besides those that they refer to.
func met(ctx context.Context, i *inquiry, row map[string]string, referred []account) (all []account) {
	n, tables := 0, near(i)
	for _, source := range written(ctx, i, row) {
		for _, one := range source.rows {
			for _, b := range drafting.Met(&i.file, tables, source.table, one) {
				known := func(a account) bool { return same(a.now.Book, b) }
				if n++; n > lookedUp || slices.ContainsFunc(slices.Concat(referred, all), known) {
					continue
				}
				rows, err := i.db.With(ctx, b.Of, b.Key, b.Value)
				if err != nil || len(rows) != 1 || slices.ContainsFunc(referred, func(a account) bool {
					return a.now.Of.FullName() == b.Of.FullName() && rows[0][a.now.Key] == a.now.Value
				}) {
					continue
				}
				if now := drafting.StandingIn(b, rows[0]); len(now.Numbers) > 0 {
					all = append(all, account{now: now, met: true})
				}
			}
		}
	}
	return all
}

// has reports that a total is the numbers of the row, or of its table where what was created refers to it.
func (a account) has(s drafting.Standing) bool {
	if a.now.Of.FullName() != s.Of.FullName() {
		return false
	}
	if len(s.Where) == 1 && s.Where[0].Column == a.now.Key { // rows above the one that creates refer to may count them as well
		return s.Where[0].Value == a.now.Value
	}
	return !a.met
}

// unexplained are the numbers that each create changed, and not by what it has written down.
func (a account) unexplained() []string {
	found, _ := drafting.BooksIn(a.postings)
	return slices.DeleteFunc(drafting.Changing(a.postings), func(number string) bool {
		return drafting.AtATime(number) || slices.ContainsFunc(found, func(b drafting.Book) bool { return b.Number == number })
	})
}

// halfway are other amounts by which it shows whether what is left over from one create counts for the next.
func halfway(i *inquiry, tried []account) (others []drafting.Other) {
	for _, a := range tried {
		for _, number := range a.unexplained() {
			others = append(others, drafting.Halfway(&i.file, a.postings[0], number)...)
		}
	}
	return others[:min(len(others), mostAmounts)]
}

// worths finds the numbers that equal creates change by as much, where no column of what they write down says by how much.
func worths(i *inquiry, tried, repeated []account, alters bool, t *told) {
	f := &i.file
	column, _ := drafting.Kept(*f)
	for _, one := range tried {
		if one.now.Entries.FullName() != f.Proof.Table.FullName() {
			continue
		}
		if f.Proof.ByKey {
			column = drafting.TellingColumn(one.postings)
		}
		for _, number := range drafting.Changing(one.postings) {
			b, known := drafting.WorthIn(one.postings, number, column, one.another || !alters)
			if !known && f.Proof.ByKey {
				if b, known = drafting.WorthIn(drafting.OwnOnly(one.postings), number, column, true); known {
					drafting.Unaltered(f, b.Name())
				}
			}
			name := b.Name()
			if !known || one.restless(number) || watches(*f, b) ||
				slices.Contains(slices.Concat(t.unsure, t.drawn, t.said), name) {
				continue
			}
			b.Counted = countedIn(f, b, one)
			switch {
			case b.Total && b.Drawn(one.postings, one.made, f.Proof.Table, ""):
				t.drawn = append(t.drawn, name)
			case !drafting.IsDate(number) && !drafting.BodySays(one.postings, number) && !repeatedAlike(b, number, column, repeated) || !b.Sure() || b.Coarse(f.Dialect):
				t.unsure = append(t.unsure, name)
			case drafting.Gathers(number):
				f.Doubt("Whether %s has %s for each create: those that were sent put as many there. No effect watches it, as what is older may be dropped some time; if all is kept, add one with its query and a delta.", name, b.Worths())
				t.said = append(t.said, name)
			default:
				f.Proof.Books = append(f.Proof.Books, b)
				fmt.Fprintf(i.Said, "each create changes %s by %s\n", name, b.Worths())
				f.Doubt("Whether each create changes %s by %s: those that were sent did, and no column of %s says by how much. If it hangs on more than the body, such as a customer's level, or on what is left over from others, leave the effect out.", name, b.Worths(), f.Proof.Table.FullName())
			}
		}
	}
}

// watches reports that an effect of the file holds a number already: the very one, or, but for a total, one of that name.
func watches(f drafting.File, b drafting.Book) bool {
	return slices.ContainsFunc(f.Proof.Books, func(o drafting.Book) bool { return b.SameNumber(o) || !b.Total && b.Name() == o.Name() })
}

// repeatedAlike reports that a create which was repeated has changed a number as others did.
func repeatedAlike(b drafting.Book, number, column string, repeated []account) bool {
	return slices.ContainsFunc(repeated, func(a account) bool {
		found, known := drafting.WorthIn(a.postings, number, column, true)
		return known && found.SameNumber(b) && found.Entries.FullName() == b.Entries.FullName()
	})
}
