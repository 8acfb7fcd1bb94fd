package learn

import (
	"context"
	"slices"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// parentless finds child tables without a foreign key to which creates that are sent one after the other bring no row that refers to nothing. Then none
// may come in runs either: a create that loses a race may have made its rows for a thing that another one has made.
func parentless(ctx context.Context, i *inquiry, r drafting.Repeated) error {
	db, is := i.db.(*databases.Database)
	if !is || !oneRowEach(i, r) || notAlone(i) {
		return nil
	}
	before := map[int]int{}
	for n, c := range i.file.Children {
		if drafting.MayBeParentless(&i.file, c) {
			if rows, err := db.Parentless(ctx, c.Table, c.By); err == nil {
				before[n] = rows
			}
		}
	}
	if len(before) == 0 {
		return nil
	}
	asking, err := i.questioner()
	if err != nil {
		return err
	}
	_, markers := asking.ask(ctx, "parentless", sentOnce, "[{send: {}}, {send: {}}]")
	if asking.err != nil || len(markers) != sentOnce || slices.ContainsFunc(markers, func(m string) bool { return i.made(ctx, m) != 1 }) {
		return asking.err
	}
	letBe(ctx, max(forChildren, 2*i.waited))
	for n, rows := range before {
		c := &i.file.Children[n]
		if now, err := db.Parentless(ctx, c.Table, c.By); err != nil || now != rows {
			continue
		}
		if c.Whole = true; rows > 0 {
			i.file.Doubt("Whether rows of %s may refer to no row of %s: %d did, after creates that were sent at once, and none came when they were sent one after the other, so runs look for more. If they may stay, leave that effect out.", c.Table.FullName(), i.file.Proof.Table.FullName(), rows)
		}
	}
	return nil
}
