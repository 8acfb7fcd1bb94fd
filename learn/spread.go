package learn

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

var someDigits = regexp.MustCompile(`[0-9]+`)

// spread finds the tables over which rows are spread by a number, as by a hash of the key or by the month: of the same columns, and with names
// that differ in a number alone. One that has the first create's row, too, holds copies.
func spread(ctx context.Context, i *inquiry) {
	if !foundByOwn(i) || !someDigits.MatchString(i.file.Proof.Table.Name) {
		return
	}
	p := i.file.Proof
	kind := func(t databases.Table) string { return someDigits.ReplaceAllString(t.FullName(), "0") }
	var shards []databases.Table
	var names []string
	for _, t := range near(i) {
		if t.FullName() == p.Table.FullName() || !someDigits.MatchString(t.Name) || kind(t) != kind(p.Table) || !drafting.SameColumns(t, p.Table) || !drafting.SameColumns(p.Table, t) {
			continue
		}
		if rows, err := i.db.With(ctx, t, p.Column, p.Row[p.Column]); err != nil || len(rows) > 0 {
			return
		}
		shards, names = append(shards, t), append(names, t.FullName())
	}
	if len(shards) == 0 {
		return
	}
	p.Shards = shards
	i.file.Doubt("Whether what is created may be in %s as well as in %s: they have the same columns, and names that differ in a number alone. Rows are counted in all of them.", strings.Join(names, ", "), p.Table.FullName())
}

// inOneTable are the rows that hold a marker, where those of tables over which they are spread stand as if all were in the first create's.
func inOneTable(i *inquiry, found []databases.Landing) []databases.Landing {
	if i.file.Proof == nil || len(i.file.Proof.Shards) == 0 {
		return found
	}
	all := slices.Clone(found)
	for n, l := range all {
		if slices.ContainsFunc(i.file.Proof.Shards, func(t databases.Table) bool { return t.FullName() == l.Table.FullName() }) {
			all[n].Table = i.file.Proof.Table
		}
	}
	return all
}
