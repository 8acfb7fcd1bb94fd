package learn

import (
	"context"
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// leavesOut finds that another body is refused, and not for one of its members alone: the comparison leaves that out. If another value of it
// is another order, bodies differ in that alone from then on, so that runs show it.
func leavesOut(ctx context.Context, i *inquiry) error {
	for _, other := range drafting.Compared(i.file) {
		asking, err := i.questionerFor(other)
		if err != nil {
			return err
		}
		if answers, _ := asking.done(ctx, "one-text", "[{send: {}}, {alter: {}}]"); len(answers) < 2 || !drafting.SameThing(&i.file, answers[0], answers[1]) {
			if asking.err != nil {
				return asking.err
			}
			continue
		}
		pointer := drafting.AlteredAt(other)
		doubt := fmt.Sprintf("Whether another %s under the same key may get the first one's answer: it did, and another body was refused, so bodies are compared. ", pointer)
		if drafting.Counts(other, i.file) {
			i.file.Proof, i.file.Draft.Others = other.Proof, other.Draft.Others
			i.file.Doubt("%sRuns will show it as a broken promise; if it may, say so in contract.fingerprint.", doubt)
			return nil
		}
		i.file.Doubt("%sRuns do not show it; if it must be refused, let alter change it.", doubt)
	}
	return nil
}

// otherBody sends another body under the same natural key. Where it makes a row of its own, the member that is altered is part of what makes
// two requests one, and another one is altered.
func otherBody(ctx context.Context, i *inquiry, asking *questioner, r *drafting.Repeated) error {
	for asking.alters() {
		before := *r
		rows, markers, err := askAltered(ctx, i, asking, r)
		if markers == nil {
			return err
		}
		if r.Altered.Done() && ofItsOwn(ctx, i, *r, rows, markers) {
			if err = rises(ctx, i, *r); err != nil {
				return err
			}
			byReference := i.file.Proof.ByReference
			r.First, r.Again, r.Row = before.First, before.Again, before.Row // the row that was found may be the other body's
			drafting.NamesToo(&i.file, r)
			tryWords(ctx, i)
			if byReference {
				drafting.FindByReference(&i.file, []string{i.file.Proof.Text})
			}
			if asking, err = i.questioner(); err != nil {
				return err
			}
			continue
		}
		gone := rows == 0 && r.First.Done() && r.Altered.Done() // the other body has a marker of its own
		if gone || r.Altered.Done() && changed(ctx, i, markers[0]) && !adds(ctx, i, asking) {
			r.Replacing = r.Altered
		}
		return fit(ctx, i, r)
	}
	return nil
}

// ofItsOwn reports that another body made a row beside that of the first one. Where both have a marker of their own, that says something only
// if the marker is not what makes two creates one.
func ofItsOwn(ctx context.Context, i *inquiry, r drafting.Repeated, rows int, markers []string) bool {
	if i.file.Proof.ByReference {
		return rows > 1
	}
	return rows > 0 && len(markers) > 1 && len(r.Natural) > 0 && !slices.Contains(slices.Concat(r.Natural, r.With), i.file.Proof.Text) && i.made(ctx, markers[1]) > 0
}

// adds reports that a repetition of a create changes its row, which is no matter of another body.
func adds(ctx context.Context, i *inquiry, asking *questioner) bool {
	answers, markers := asking.done(ctx, "twice", "[{send: {}}, {send: {}}]")
	return len(answers) > 1 && changed(ctx, i, markers[0])
}

// changed reports that the row of a marker does not hold what the body said that was not altered.
func changed(ctx context.Context, i *inquiry, marker string) bool {
	return holds(ctx, i, marker, func(stored, said string) bool { return !drafting.Same(stored, said) })
}

// holds reports that what the row of a marker holds is to what the body said that was not altered as a rule has it.
func holds(ctx context.Context, i *inquiry, marker string, rule func(stored, said string) bool) bool {
	column, value := drafting.Kept(i.file)
	if column == "" {
		return false
	}
	landings := search(ctx, i, marker)
	return slices.ContainsFunc(landings, func(l databases.Landing) bool {
		return l.Table.FullName() == i.file.Proof.Table.FullName() && rule(l.Row[column], value)
	})
}
