package learn

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// elsewhere has the next create name another thing in the middle of its path, and says so; empty: there is no other way to do that.
func elsewhere(i *inquiry) string {
	if len(i.paths) == 0 {
		return ""
	}
	next := i.paths[0]
	i.paths = i.paths[1:]
	i.file.Draft, i.file.Differing = *i.plain, slices.Clone(i.hidden)
	i.file.Draft.Path, i.file.Draft.Needed, i.file.Draft.Given = next.Draft.Path, next.Draft.Needed, next.Draft.Given
	return "another value for " + next.Segment + " in the path"
}

// invented reports that the path of the last create is not the one of the source.
func invented(i *inquiry) bool { return i.plain != nil && i.file.Draft.Path != i.plain.Path }

// lastPath has the next create name another thing in its path, where one was refused because of what is there and nothing else has helped, and
// reports whether it does.
func lastPath(i *inquiry, answer drafting.Answer, why string) bool {
	if answer.Status != http.StatusConflict && !invented(i) || i.carriers.settled {
		return false
	}
	beginToVary(i)
	said := elsewhere(i)
	if said != "" {
		i.declined = nil
		fmt.Fprintf(i.Said, "%s\ntrying with %s\n", why, said)
	}
	return said != ""
}

// findPath looks for a path that names another thing in each create, where the second of two creates took the place of the first.
func findPath(ctx context.Context, i *inquiry, r *drafting.Repeated) (bool, error) {
	without := i.file.Draft
	for _, other := range drafting.OtherPaths(without) {
		i.file.Draft = other.Draft
		is, err := eachItsOwn(ctx, i)
		if err != nil {
			break
		}
		if is {
			if with, one, err := underKey(ctx, i); one || err != nil {
				*r = with
				return one, err
			}
		}
	}
	i.file.Draft = without
	return false, ctx.Err()
}

// eachItsOwn reports that two creates have made a row each.
func eachItsOwn(ctx context.Context, i *inquiry) (bool, error) {
	asking, err := i.questioner()
	if err != nil {
		return false, err
	}
	answers, markers := asking.ask(ctx, "place", 2, "[{send: {}}]")
	return len(answers) > 1 && answers[0].Done() && answers[1].Done() && i.made(ctx, markers[1]) == 1 && rowsOf(ctx, i, markers[0]) == 1, asking.err
}

// namedByPath finds what makes two creates one where each names another thing in its path: another body at the same path makes no row then. Where
// it does, what of the body differs is a part of what makes two creates one, and the path is another if the same body makes a row at another
// path, too. Where nothing was seen that tells, all is as it was.
func namedByPath(ctx context.Context, i *inquiry, r *drafting.Repeated) error {
	text := i.file.Proof.Text
	own, answer, err := anotherBody(ctx, i, text)
	if err != nil || answer == nil {
		return err
	}
	var members []string
	switch {
	case own && i.file.Draft.Keyed():
		return nil
	case own:
		members = []string{text}
	case !i.file.Draft.Keyed():
		for _, pointer := range drafting.Suspected(i.file) {
			own, _, err := anotherBody(ctx, i, pointer)
			if err != nil {
				return err
			}
			if own {
				members = append(members, pointer)
			}
		}
	}
	natural := append([]string{contract.WholePath}, members...)
	if len(members) > 0 && drafting.Prepares(i.file.Draft) {
		apart, err := atTwoPaths(ctx, i)
		if err != nil {
			return err
		}
		if !apart {
			natural = members
		}
	}
	if i.file.Draft.Keyed() && r.Taken == nil {
		r.Taken = answer
	}
	r.Natural, r.With = natural[:1], natural[1:]
	return nil
}

// anotherBody sends another body to the path of a create, of which only one member differs, and under a key of its own where there is one. Own
// says that it made a row. Without an answer nothing is known.
func anotherBody(ctx context.Context, i *inquiry, pointer string) (own bool, answer *drafting.Answer, err error) {
	asking, err := i.questioner()
	if err != nil {
		return false, nil, err
	}
	other := asking.target.Operations[asking.operation]
	other.Alter, other.Invalid = drafting.AlterOnly(i.file, pointer), nil
	asking.target.Operations = maps.Clone(asking.target.Operations)
	asking.target.Operations[asking.operation] = other
	answers, markers := asking.done(ctx, "same-path", "[{send: {}}, {alter: {key: fresh}}]")
	if len(answers) < 2 || len(markers) < 2 || !answers[0].Done() || answers[1].Failed() || i.made(ctx, markers[0]) == 0 && !answers[1].Done() {
		return false, nil, asking.err
	}
	own = answers[1].Done() && i.made(ctx, markers[1]) > 0 && rowsOf(ctx, i, markers[0]) > 0 // it may have replaced that one
	return own, &answers[1], asking.err
}

// atTwoPaths reports that one body makes a row at each of two paths.
func atTwoPaths(ctx context.Context, i *inquiry) (bool, error) {
	asking, err := i.questioner()
	if err != nil {
		return false, err
	}
	asking.among = "twins: 2\nneighbours: {of: 2, across: parents}\n"
	answers, markers := asking.ask(ctx, "two-paths", 2, "[{send: {}}]")
	return len(answers) > 1 && answers[0].Done() && answers[1].Done() && i.made(ctx, markers[0]) == 2, asking.err
}
