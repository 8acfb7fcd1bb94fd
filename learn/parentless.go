package learn

import (
	"context"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// orphans counts the rows of child tables without a foreign key that refer to nothing, by their place among the children.
func orphans(ctx context.Context, i *inquiry) map[int]int {
	db, is := i.db.(*databases.Database)
	if !is || i.file.Proof == nil {
		return nil
	}
	counts := map[int]int{}
	for n := range i.file.Children {
		c := &i.file.Children[n]
		if !c.Implied {
			continue
		}
		var row map[string]string
		if rows, err := db.With(ctx, c.Table, c.By.Column, i.file.Proof.Row[c.By.Theirs]); err == nil && len(rows) > 0 {
			row = rows[0]
		}
		kind, may := drafting.MayBeParentless(&i.file, *c, row)
		if !may {
			continue
		}
		if rows, err := db.Parentless(ctx, c.Table, c.By, kind.Column, kind.Value); err == nil {
			c.Kind, counts[n] = kind, rows
		}
	}
	return counts
}

// parentless finds child tables without a foreign key to which creates that are sent one after the other bring no row that refers to nothing. Then none
// may come in runs either: a create that loses a race, or is repeated, may have made its rows for a thing that another one has made.
func parentless(ctx context.Context, i *inquiry, r drafting.Repeated) error {
	if !oneRowEach(i, r) || notAlone(i) {
		return nil
	}
	before := orphans(ctx, i)
	if len(before) == 0 {
		return nil
	}
	asking, err := i.questioner()
	if err != nil {
		return err
	}
	if _, each := makeOneEach(ctx, i, asking, "parentless", sentOnce, "[{send: {}}]"); !each {
		return asking.err
	}
	letBe(ctx, max(forChildren, 2*i.waited))
	for n, rows := range orphans(ctx, i) {
		if was, known := before[n]; known && was == rows {
			c := &i.file.Children[n]
			c.Whole, c.Since = true, rows-c.Orphans
		}
	}
	return nil
}

// doubtParentless tells of rows that refer to nothing where runs look for more. Where rows go away, or may be moved, they rightly do, and runs do not
// look.
func doubtParentless(i *inquiry, stays bool) {
	for n := range i.file.Children {
		c := &i.file.Children[n]
		if c.Whole = c.Whole && stays; !c.Whole {
			continue
		}
		parent := i.file.Proof.Table.FullName()
		switch {
		case c.Since > 0:
			i.file.Doubt("Whether rows of %s may refer to no row of %s: %d came to, after creates that were repeated or sent at once, and none came when other creates were sent one after the other, so runs look for more. If they may stay, leave that effect out.", c.Table.FullName(), parent, c.Since)
		case c.Orphans > 0:
			i.file.Doubt("Whether rows of %s may refer to no row of %s: %d did before anything was sent twice, and no create has left another, so runs look for more. If they may come, leave that effect out.", c.Table.FullName(), parent, c.Orphans)
		}
	}
}
