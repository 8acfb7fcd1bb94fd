package learn

import (
	"cmp"
	"context"
	"slices"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// natural finds the members of which each makes two creates one: with the same value in it, and another in all others, the second create
// makes no row, twice.
func (i *inquiry) natural(ctx context.Context, r *drafting.Repeated) error {
	var failed []string
	for _, pointer := range i.file.Suspects() {
		text, err := i.file.WithSame(pointer)
		if err != nil {
			return err
		}
		asking, err := i.questionerOf(text)
		if err != nil {
			return err
		}
		answers, markers := asking.ask(ctx, "same", 3, "[{send: {}}]")
		if len(answers) < 3 {
			continue
		}
		if (answers[0].Done() || answers[0].Status >= 500) && answers[1].Status >= 500 && answers[2].Status >= 500 { // the create before has sent the value, too
			failed = append(failed, pointer)
			continue
		}
		replaces := answers[0].Done() && answers[2].Done() && rowsOf(ctx, i, markers[0]) == 0 && rowsOf(ctx, i, markers[1]) == 0
		if !replaces && slices.ContainsFunc([]int{1, 2}, func(n int) bool {
			return answers[n].Failed() || answers[n].Done() && i.made(ctx, markers[n]) > 0
		}) {
			continue
		}
		if answers[1].Done() && late(ctx, i, markers[1:]) {
			continue
		}
		if replaces && i.made(ctx, markers[2]) > 0 {
			r.Replacing = &answers[2]
		}
		if r.Natural = append(r.Natural, pointer); r.Taken == nil {
			r.Taken = &answers[2]
		}
		noted(ctx, i, markers[1])
	}
	if r.Natural == nil && !i.file.Draft.Keyed() && r.Again.Status >= 500 {
		if members := drafting.ByConstraint(i.file, failed); members != nil {
			r.Natural, r.With, r.Constrained = members[:1], members[1:], true
			i.file.Proof.Unfit = append(i.file.Proof.Unfit, members...) // with another value it is another thing
		}
	}
	return nil
}

// underAnotherKey sends a create again under another key, where the database lets it in once: it may add to the row. Where it is by the marker
// alone, the second may also be refused, be the first one again, or change the row otherwise.
func underAnotherKey(ctx context.Context, i *inquiry, r *drafting.Repeated) error {
	asking, err := i.questioner()
	if err != nil {
		return err
	}
	answers, markers := asking.done(ctx, "another-key", "[{send: {}}, {send: {key: fresh}}]")
	if len(answers) < 2 {
		return asking.err
	}
	naming := drafting.Naming(i.file)
	if naming && answers[1].Refused() && r.Taken == nil {
		r.Taken = &answers[1]
	}
	if !naming && r.Natural == nil && (answers[1].Refused() || answers[1].Done() && i.looked < 2) && i.made(ctx, markers[0]) == 1 && !changed(ctx, i, markers[0]) {
		drafting.OnceTogether(&i.file, r, answers[1])
	}
	if answers[1].Done() && (naming || i.made(ctx, markers[0]) == 1) && changed(ctx, i, markers[0]) {
		r.Added = holds(ctx, i, markers[0], drafting.Twice)
		r.Changed = naming && !r.Added
	}
	return asking.err
}

// unconstrained finds the member that makes two creates one where the same request made no second row, and neither a key nor a
// constraint of the database says why. If two more creates with other markers make two rows, it is a member that a page gives to each, or
// the one that has the marker, alone or with what differs besides; if not, the one that lets them do so when it differs, too.
func unconstrained(ctx context.Context, i *inquiry, r *drafting.Repeated) error {
	for _, pointer := range slices.Concat([]string{""}, i.file.MayName(), drafting.Unlikely(&i.file)) {
		other := i.file
		if pointer != "" {
			other.Differing = append(slices.Clone(other.Differing), pointer)
		}
		asking, err := i.questionerFor(other)
		if err != nil {
			return err
		}
		answers, markers := asking.ask(ctx, "other", 2, "[{send: {}}]")
		if len(answers) < 2 || answers[1].Failed() {
			return asking.err
		}
		made := answers[1].Done() && i.made(ctx, markers[1]) > 0
		replaced := made && answers[0].Done() && rowsOf(ctx, i, markers[0]) == 0 // by the second: it is the same thing to the target
		switch {
		case !made || replaced:
			if pointer == "" {
				if is, err := findPlace(ctx, i, r, i.file.Draft.KeyPlaces()); is || err != nil {
					return err
				}
				if is, err := findPath(ctx, i, r); is || err != nil {
					if is {
						return namedByPath(ctx, i, r)
					}
					return err
				}
			}
			if r.Taken == nil {
				r.Taken = &answers[1]
			}
		case pointer == "":
			for _, find := range []func(context.Context, *inquiry, *drafting.Repeated) (bool, error){findTelling, headerInstead} {
				if is, err := find(ctx, i, r); is || err != nil {
					return err
				}
			}
			r.Natural = []string{cmp.Or(i.file.Draft.PageMember(), i.file.Proof.Text)}
			switch {
			case drafting.PathVaries(i.file.Draft):
				return namedByPath(ctx, i, r)
			case r.Natural[0] == i.file.Proof.Text:
				return namedWith(ctx, i, r)
			}
			return nil
		default:
			r.Natural = []string{pointer}
			i.file.Differing = other.Differing
			return nil
		}
	}
	r.Taken = nil
	_, err := findPlace(ctx, i, r, i.file.Draft.OtherPlaces())
	return err
}
