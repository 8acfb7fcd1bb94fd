package learn

import (
	"context"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// spelled finds out what of the spelling of the natural key makes no difference: a create that names the same thing in capitals, or with a
// blank behind it, makes no second row and is answered like a repetition. All else differs in it that might keep it from making one. Where a new
// name in that spelling is refused as well, it is refused for its form.
func spelled(ctx context.Context, i *inquiry, r *drafting.Repeated) error {
	natural := i.file
	file, members := drafting.Anew(i.file, natural.NaturalKey(*r))
	asking, err := i.questionerFor(file)
	if err != nil {
		return err
	}
	taken := r.Retold()
	for _, other := range drafting.Spellings(i.file, drafting.DrawingAnew(asking.target, i.file.Draft.Name, members), *r) {
		asking.target = other.Target
		alone, _ := asking.done(ctx, "spelling-alone", "[{respell: {spelling: natural-key, key: fresh}}]")
		if len(alone) == 0 || !alone[0].Done() {
			r.Unlike = append(r.Unlike, alone...)
			continue
		}
		answers, markers := asking.done(ctx, "spelling", "[{send: {}}, {respell: {spelling: natural-key, key: fresh}}]")
		if len(answers) < 2 {
			continue
		}
		one, large := inOneRow(ctx, i, other, markers[0])
		if i.made(ctx, markers[0]) != 1 || !(drafting.SameThing(&i.file, answers[0], answers[1]) || drafting.SameRefusal(taken, answers[1]) ||
			drafting.SameAgain(&i.file, *r, answers[0], answers[1])) {
			continue
		}
		switch {
		case large:
			i.file.Doubt("Whether another spelling of %s is the same: in one it was answered as the same, but a row query that ignores the spelling would read all of %s each time, which is large. "+
				"Let the row query find what is made by another member, and add natural_key_ignores: [%s].", natural.NaturalKey(*r)[0], i.file.Proof.Table.FullName(), other.Ignored)
			return asking.err
		case one:
			r.Ignores = append(slices.Clone(r.Ignores), other.Ignored)
		}
	}
	return asking.err
}

// largeTable is how many rows a table has at most of which each row query may read all: there are thousands of queries.
const largeTable = 100_000

// inOneRow reports that no second row has a marker in another spelling, or that the table is too large for it to be looked for. Where a second row has, what
// both have in common may be a doubt.
func inOneRow(ctx context.Context, i *inquiry, s drafting.Spelling, marker string) (one, large bool) {
	db, is := i.db.(*databases.Database)
	if !is {
		return true, false
	}
	condition := s.InAnySpelling(&i.file, db.Dialect.Parameter(1))
	if condition == "" {
		return true, false
	}
	table := i.file.Proof.Table
	indexed := slices.ContainsFunc(table.Partly, func(constraint string) bool {
		return strings.Contains(constraint, "lower(") || strings.Contains(constraint, "trim(")
	})
	if rows, err := db.Count(ctx, table); err != nil || rows > largeTable && !indexed {
		return false, true
	}
	rows, err := db.Where(ctx, table, condition, marker)
	drafting.DoubtNames(&i.file, s, rows)
	return err == nil && len(rows) == 1, false
}
