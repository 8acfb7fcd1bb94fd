package learn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// findKey looks for the header that the target takes for the key of a request, where a repetition without one made a second row. With
// all of the usual names at once, and then with each, it sends a create and repeats it. Where that makes no second row, and not with
// another create either, and a repetition without it makes one again, the header is the key. It returns what came of the repetition then, or what
// it was given.
func findKey(ctx context.Context, i *inquiry, r drafting.Repeated) (drafting.Repeated, error) {
	tried := i.file.Draft.UsualKeys()
	fmt.Fprintf(i.Said, "the same request again made %d rows; repeating a create with each header that may be the key: %s\n", r.Rows, strings.Join(tried, ", "))
	without := i.file.Draft
	i.file.Draft = without.WithAll(tried)
	all, err := i.questioner()
	if err != nil {
		i.file.Draft = without
		return r, err
	}
	plain := i.file
	plain.Draft = without
	names := tried
	if makesTwoRows(ctx, i, all, "headers", "[{send: {}}, {send: {}}]") {
		names = nil // with all of them at once: none of them is
	}
	for _, name := range names {
		i.file.Draft = without.WithKeyIn(drafting.InHeader(name))
		asking, err := i.questioner()
		if err != nil {
			i.file.Draft = without
			return r, err
		}
		if !makesOneRow(ctx, i, asking) {
			continue
		}
		with, is, _ := underKey(ctx, i)
		if !is {
			continue
		}
		if control, err := i.questionerFor(plain); err == nil && makesTwoRows(ctx, i, control, "no-header", "[{send: {}}, {send: {}}]") && isNoChance(ctx, i, asking, control) {
			fmt.Fprintf(i.Said, "with %s the same request again made no second row, twice: it is the key\n", name)
			i.file.KeySeen = "without this header the same request again made a second row, and with it none"
			return with, nil
		}
	}
	if with, is := findLateKey(ctx, i, without, tried); is {
		return with, nil
	}
	i.file.Draft, i.file.KeysTried = without, tried
	fmt.Fprintln(i.Said, "with none of them a repetition was seen to make no second row")
	return r, ctx.Err()
}

// againBehind is how often more a create is repeated with a header and without it where rows come behind the answers.
const againBehind = 3

// isNoChance reports that a repetition with a header makes no second row each time, and one without it does. Where rows come behind the answers, a
// queue may take no job while one like it waits, with whichever header: then it is chance.
func isNoChance(ctx context.Context, i *inquiry, with, without *questioner) bool {
	if i.looked < 2 {
		return true
	}
	for range againBehind {
		if !makesOneRow(ctx, i, with) || !makesTwoRows(ctx, i, without, "no-header", "[{send: {}}, {send: {}}]") {
			return false
		}
	}
	return true
}

// findLateKey looks for the key among the headers that the source has, where a repetition right behind the first made a second row under each: with
// its value of before, no create makes a row any more, and with another one, a repetition a second later makes no second row.
func findLateKey(ctx context.Context, i *inquiry, without drafting.Draft, tried []string) (drafting.Repeated, bool) {
	for _, name := range tried {
		if _, has := without.Header[name]; !has {
			continue
		}
		i.file.Draft = without
		control, err := i.questioner()
		if err != nil {
			break
		}
		if answers, markers := control.ask(ctx, "same-header", 1, "[{send: {}}]"); len(answers) != 1 || answers[0].Failed() || rowsOf(ctx, i, markers[0]) > 0 {
			break
		}
		i.file.Draft = without.WithKeyIn(drafting.InHeader(name))
		if with, is, _ := underKeyLater(ctx, i, drafting.InHeader(name)); is {
			i.file.KeySeen = "with the same value of this header no other create made a row, and with another one it did"
			return with, true
		}
	}
	return drafting.Repeated{}, false
}

// findIssued looks for the value of a page that is good for one creation, such as the token of a form, where the same request again made no
// second row: with another one, the same request makes one. It returns what came of the repetition then, or what it was given.
func findIssued(ctx context.Context, i *inquiry, r drafting.Repeated) (drafting.Repeated, error) {
	without := i.file.Draft
	if without.Keyed() || without.Changes() || drafting.Conditional(without) { // a version is for one change
		return r, nil
	}
	drafts, called := drafting.IssuedKeys(without)
	for n, draft := range drafts {
		fmt.Fprintf(i.Said, "the same request again made no second row; sending it again with %s of another page\n", called[n])
		if i.file.Draft = draft; givesAnother(ctx, i) {
			if with, is, err := underKey(ctx, i); is || err != nil {
				i.file.KeySeen = "with the same value of its page the same request again made no second row, and with another one it did"
				return with, err
			}
		}
		i.file.Draft = without
	}
	return r, ctx.Err()
}

// givesAnother reports that the same request with another key makes another row.
func givesAnother(ctx context.Context, i *inquiry) bool {
	asking, err := i.questioner()
	if err != nil {
		return false
	}
	return makesTwoRows(ctx, i, asking, "another-page", "[{send: {}}, {send: {key: fresh}}]")
}

// findPlace looks for the key among places of the request, where the second of two creates took the place of the first: with another value in
// it, both are there, and a repetition makes no second row.
func findPlace(ctx context.Context, i *inquiry, r *drafting.Repeated, places []targets.Key) (bool, error) {
	without := i.file.Draft
	for _, key := range places {
		fmt.Fprintf(i.Said, "a second create made no row beside the first; trying with %s as the key\n", drafting.Called(key))
		for _, with := range drafting.KeyedBy(without, key) {
			i.file.Draft = with
			again, is, err := isPlace(ctx, i, key)
			if is || err != nil {
				*r = again
				return is, err
			}
		}
	}
	i.file.Draft = without
	return false, ctx.Err()
}

// findTelling looks for the key among places that are called like it, where another body made a second row with the same value there, as where the
// target knows a request by its key and its body: with another value, the same body makes a second row, and a repetition none.
func findTelling(ctx context.Context, i *inquiry, r *drafting.Repeated) (bool, error) {
	without := i.file.Draft
	for _, key := range without.KeyPlaces() {
		for _, with := range drafting.KeyedBy(without, key) {
			if i.file.Draft = with; !givesAnother(ctx, i) {
				continue
			}
			if again, is, err := underKey(ctx, i); is || err != nil {
				*r = again
				return is, err
			}
		}
	}
	i.file.Draft = without
	return false, ctx.Err()
}

// isPlace reports that the place that the draft has its key in is that of the key, and returns what came of a repetition.
func isPlace(ctx context.Context, i *inquiry, key targets.Key) (r drafting.Repeated, is bool, err error) {
	asking, err := i.questioner()
	if err != nil {
		return r, false, nil // the draft cannot have it there
	}
	answers, markers := asking.ask(ctx, "place", 2, "[{send: {}}]")
	if len(answers) < 2 || !answers[0].Done() || !answers[1].Done() || i.made(ctx, markers[1]) != 1 || rowsOf(ctx, i, markers[0]) != 1 {
		return r, false, nil
	}
	r, is, err = underKey(ctx, i)
	if !is && err == nil && r.Rows > 1 {
		r, is, err = underKeyLater(ctx, i, key)
	}
	return r, is, err
}

// underKeyLater repeats a create under the key a second later, where one that was repeated at once made a second row: the target may know its keys
// only after a while, as from a copy of a table. That is its defect, and no other key.
func underKeyLater(ctx context.Context, i *inquiry, key targets.Key) (drafting.Repeated, bool, error) {
	defer func(timed bool) { i.timed = timed }(i.timed)
	i.timed = true
	with, is, err := underKey(ctx, i)
	if is {
		i.file.Doubt("Whether %s is the key: the same request again made a second row at once, and none a second later. If it is, that is a defect, and runs show it.", drafting.Called(key))
	}
	return with, is, err
}

// underKey repeats a create under the key that the draft has, and reports that this made one row.
func underKey(ctx context.Context, i *inquiry) (drafting.Repeated, bool, error) {
	asking, err := i.questioner()
	if err != nil {
		return drafting.Repeated{}, false, err
	}
	r, err := i.repeatedOnce(ctx, asking)
	return r, err == nil && r.First.Done() && !r.Again.Failed() && r.Rows == 1, err
}

// makesOneRow reports that a create and its repetition make one row.
func makesOneRow(ctx context.Context, i *inquiry, asking *questioner) bool {
	answers, markers := asking.done(ctx, "header", "[{send: {}}, {send: {}}]")
	return len(answers) > 1 && answers[0].Done() && !answers[1].Failed() && i.made(ctx, markers[0]) == 1
}

// makesTwoRows reports that two requests of one create are both done, and make two rows.
func makesTwoRows(ctx context.Context, i *inquiry, asking *questioner, name, steps string) bool {
	answers, markers := asking.done(ctx, name, steps)
	return len(answers) > 1 && answers[0].Done() && answers[1].Done() && i.made(ctx, markers[0]) > 1
}

// heed has the header tried first that a refusal names, where it is one that usually holds a key and the source names none.
func heed(i *inquiry, refusal string) {
	beginToVary(i)
	name := i.plain.KeyNamedIn(refusal)
	if name == "" || name == i.asked {
		return
	}
	i.asked = name
	key := drafting.InHeader(name)
	i.places = append(placeTries(*i.plain, []targets.Key{key}), slices.DeleteFunc(i.places, func(other placeTry) bool { return other.key.Key == key.Key })...)
}
