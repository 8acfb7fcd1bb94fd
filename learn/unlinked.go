package learn

import (
	"context"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// What is sent to see how many rows creates add to tables that nothing links to them.
const (
	countedTables = 60                     // are counted at most
	sentOnce      = 3                      // creates
	sentThrice    = 2                      // creates
	behindAnswer  = 300 * time.Millisecond // for a first look
	undisturbed   = time.Second            // in which nothing is sent
)

// growth is how many rows a table had, in one count after the other.
type growth struct {
	table  databases.Table
	counts []int
}

// by is how many rows the last count found more than the one before it.
func (g growth) by() int { return g.counts[len(g.counts)-1] - g.counts[len(g.counts)-2] }

// unlinked finds the tables to which each create adds rows that neither refer to the created one nor hold its marker: of those, nothing but
// their number can be watched. What others write there would count as well, so a table is taken only if each create adds as many rows, and
// none come when nothing is sent.
func unlinked(ctx context.Context, i *inquiry, r drafting.Repeated) error {
	f := &i.file
	db, is := i.db.(*databases.Database)
	if !is || r.Rows != 1 || f.Draft.Changes() || len(f.Draft.Prepare) > 0 || f.Proof.Removal != nil || f.Proof.Adds || r.Added || r.Replacing != nil {
		return nil
	}
	var all []growth
	for _, t := range i.tables {
		if drafting.MayBeUnlinked(f, t) && len(all) < countedTables {
			all = append(all, growth{table: t})
		}
	}
	if all = counted(ctx, db, all); len(all) == 0 {
		return nil
	}
	asking, err := i.questioner()
	if err != nil {
		return err
	}
	creates := func(n int, steps string) bool {
		_, markers := asking.ask(ctx, "unlinked", n, steps)
		return asking.err == nil && len(markers) == n && !slices.ContainsFunc(markers, func(m string) bool { return i.made(ctx, m) != 1 })
	}
	if !creates(sentOnce, "[{send: {}}]") {
		return asking.err
	}
	letBe(ctx, behindAnswer)
	if all = slices.DeleteFunc(counted(ctx, db, all), func(g growth) bool { return g.by() == 0 }); len(all) == 0 {
		return nil
	}
	letBe(ctx, forChildren)
	for n := range all { // what came since is of the same creates
		all[n].counts = all[n].counts[:1]
	}
	all = slices.DeleteFunc(counted(ctx, db, all), func(g growth) bool { return g.by() < sentOnce || g.by()%sentOnce != 0 })
	each := map[string]int{}
	for _, g := range all {
		each[g.table.FullName()] = g.by() / sentOnce
	}
	if all = still(ctx, db, all); len(all) == 0 || !creates(sentThrice, "[{send: {}}, {send: {}}, {send: {}}]") {
		return asking.err
	}
	letBe(ctx, forChildren)
	again := map[string]int{}
	all = counted(ctx, db, all)
	for _, g := range all {
		again[g.table.FullName()] = (g.by() + sentThrice - 1) / sentThrice
	}
	for _, g := range still(ctx, db, all) {
		if name := g.table.FullName(); again[name] >= each[name] {
			drafting.Unlinked(f, g.table, each[name], again[name])
		}
	}
	return asking.err
}

// counted counts the rows of tables once more. One that cannot be counted is left out.
func counted(ctx context.Context, db *databases.Database, all []growth) (left []growth) {
	for _, g := range all {
		if n, err := db.Count(ctx, g.table); err == nil {
			left = append(left, growth{g.table, append(slices.Clone(g.counts), n)})
		}
	}
	return left
}

// still leaves out the tables that get rows when nothing is sent.
func still(ctx context.Context, db *databases.Database, all []growth) []growth {
	if len(all) == 0 {
		return nil
	}
	letBe(ctx, undisturbed)
	return slices.DeleteFunc(counted(ctx, db, all), func(g growth) bool { return g.by() != 0 })
}
