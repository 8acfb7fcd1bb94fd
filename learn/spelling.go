package learn

import (
	"context"
	"slices"

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
		if len(answers) > 1 && inOneRow(ctx, i, other, *r, markers[0]) && i.made(ctx, markers[0]) == 1 && (drafting.SameThing(&i.file, answers[0], answers[1]) || drafting.SameRefusal(taken, answers[1]) ||
			drafting.SameAgain(&i.file, *r, answers[0], answers[1])) {
			r.Ignores = append(slices.Clone(r.Ignores), other.Ignored)
		}
	}
	return asking.err
}

// inOneRow reports that no second row has a marker in another spelling. Where one has, what both have in common may be a doubt.
func inOneRow(ctx context.Context, i *inquiry, s drafting.Spelling, r drafting.Repeated, marker string) bool {
	db, is := i.db.(*databases.Database)
	if !is {
		return true
	}
	condition := s.InAnySpelling(&i.file, r, db.Dialect.Parameter(1))
	if condition == "" {
		return true
	}
	rows, err := db.Where(ctx, i.file.Proof.Table, condition, marker)
	drafting.DoubtNames(&i.file, s, rows)
	return err == nil && len(rows) == 1
}
