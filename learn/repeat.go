package learn

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// learn repeats a create in the ways that contracts speak of, and reads the contract off the answers. What stands in the way
// of that leaves the contract open.
func (i *inquiry) learn(ctx context.Context) {
	if err := i.repeat(ctx); err != nil {
		fmt.Fprintf(i.Said, "a create could not be repeated: %s\n", err)
		i.file.Doubt("What is promised: a create could not be repeated.")
	}
	doubtParentless(i, !gone(ctx, i))
}

// repeat sends creates and repeats them, and writes down what the answers show, one question after the other: how a repetition is answered, what
// makes two creates one, and what is promised of other bodies. What is not asked, or shows nothing, stays a doubt.
func (i *inquiry) repeat(ctx context.Context) error {
	if err := needsItsForm(ctx, i); err != nil {
		return err
	}
	if err := endOfPath(ctx, i); err != nil {
		return err
	}
	spread(ctx, i)
	if err := shared(ctx, i); err != nil {
		return err
	}
	before := summed(ctx, i)
	if i.file.Draft.Keyed() {
		tryWords(ctx, i)
	}
	asking, err := i.questioner()
	if err != nil {
		return err
	}
	announce(i, asking)
	r, err := i.repeated(ctx, asking)
	if err != nil || !r.First.Done() || i.rowless {
		return err
	}
	if r, err = goesOn(ctx, i, r); err != nil {
		return err
	}
	equal, err := equals(ctx, i, &r)
	if err != nil {
		return err
	}
	if err := makesOne(ctx, i, &r); err != nil {
		return err
	}
	if err := requestIDs(ctx, i, r); err != nil {
		return err
	}
	if asking, err = settleAlter(ctx, i, &r, equal); err != nil {
		return err
	}
	keyed := i.file.Draft.Keyed()
	race := !keyed && r.Rows == 1 && r.Again.Refused() && i.file.NaturalKey(r) != nil
	if race {
		fmt.Fprintln(i.Said, "sending eight creates of one thing at once, three times, to learn how those are refused that lose the race")
		if asking, err = i.questioner(); err != nil {
			return err
		}
	}
	if (keyed || race) && together(ctx, i, asking, &r) {
		if err := usedUp(ctx, i, r); err != nil {
			return err
		}
		r.Declined = i.declined
		i.file.Learn(r)
		twins(i, r, equal)
		return asking.err
	}
	if keyed {
		if i.file.Draft.CanLackKey() {
			r.Keyless, _ = asking.ask(ctx, "keyless", 2, "[{send: {key: none}}]")
		}
		if err := mismatches(ctx, i, asking, &r); err != nil {
			return err
		}
	}
	r.Declined = i.declined
	if err := besides(ctx, i, &r, before); err != nil {
		return err
	}
	if err := usedUp(ctx, i, r); err != nil {
		return err
	}
	i.file.Learn(r)
	twins(i, r, equal)
	learnLimit(ctx, i, asking)
	return asking.err
}

// announce says how a create is going to be repeated.
func announce(i *inquiry, asking *questioner) {
	keyed := i.file.Draft.Keyed()
	ways := []string{"again"}
	if (keyed || drafting.Conditional(i.file.Draft)) && asking.alters() {
		ways = append(ways, "with another body under its key")
	}
	if keyed {
		ways = append(ways, "eight at once, three times")
	}
	if keyed && !i.file.Proof.ByKey {
		ways = append(ways, "twice without a key")
	}
	fmt.Fprintf(i.Said, "repeating a create to learn what is promised: %s\n", strings.Join(ways, ", "))
}

// makesOne finds what makes two creates one: a key where the source names none, one that the target issues, members of the body, or the path. Then
// it finds what runs may alter in a body, and what becomes of a create that comes again under another key.
func makesOne(ctx context.Context, i *inquiry, r *drafting.Repeated) (err error) {
	if !i.file.Draft.Keyed() && r.Rows > 1 && !i.file.Draft.Changes() {
		if *r, err = findKey(ctx, i, *r); err != nil {
			return err
		}
	}
	if i.file.Draft.Keyed() && r.Rows > 1 {
		if *r, err = heldInItsForm(ctx, i, *r); err != nil {
			return err
		}
	}
	if r.Rows == 1 {
		if *r, err = findIssued(ctx, i, *r); err != nil {
			return err
		}
	}
	if err := onlyOnce(ctx, i, *r); err != nil {
		return err
	}
	keyed := i.file.Draft.Keyed()
	if r.Rows == 1 || r.Rows > 1 && keyed {
		if err := i.natural(ctx, r); err != nil {
			return err
		}
	}
	if r.Rows == 1 && keyed && r.Natural == nil && drafting.PathVaries(i.file.Draft) {
		if err := namedByPath(ctx, i, r); err != nil {
			return err
		}
	}
	if r.Rows == 1 && !keyed && i.file.NaturalKey(*r) == nil {
		if err := unconstrained(ctx, i, r); err != nil {
			return err
		}
	}
	if err := stores(ctx, i, r); err != nil {
		return err
	}
	if !i.file.Draft.Keyed() {
		natural := i.file.NaturalKey(*r)
		if natural != nil {
			tryWords(ctx, i)
		}
		drafting.FindByReference(&i.file, natural)
		return nil
	}
	if r.Rows == 1 && drafting.Single(i.file) {
		return underAnotherKey(ctx, i, r)
	}
	return nil
}

// settleAlter finds the member that runs alter: one whose other value fits, is compared, and does not say how many rows a create makes; and how
// another body is answered where no key makes two creates one. It returns the questioner of the file as it is then.
func settleAlter(ctx context.Context, i *inquiry, r *drafting.Repeated, equal alike) (*questioner, error) {
	if err := fit(ctx, i, r); err != nil {
		return nil, err
	}
	keyed := i.file.Draft.Keyed()
	if keyed && r.Rows == 1 && r.Altered != nil && r.Altered.Refused() {
		if err := leavesOut(ctx, i); err != nil {
			return nil, err
		}
	}
	if err := apart(ctx, i, r); err != nil {
		return nil, err
	}
	measures(ctx, i, equal)
	asking, err := i.questioner() // members may differ now that did not
	if err != nil {
		return nil, err
	}
	if !keyed && (len(r.Natural) > 0 || i.file.Proof.ByReference) {
		err = otherBody(ctx, i, asking, r)
	}
	return asking, err
}

// besides asks what stands for itself: other spellings of a key, removals, balances and numbers that creates change, rows that nothing links to
// the created one, bodies and senders that are refused, and later states of a row.
func besides(ctx context.Context, i *inquiry, r *drafting.Repeated, before []sums) error {
	if err := spelled(ctx, i, r); err != nil {
		return err
	}
	removes(ctx, i, *r)
	if err := books(ctx, i, *r, before); err != nil {
		return err
	}
	if err := unlinked(ctx, i, *r); err != nil {
		return err
	}
	if err := parentless(ctx, i, *r); err != nil {
		return err
	}
	if err := numbered(ctx, i, *r); err != nil {
		return err
	}
	if err := refuses(ctx, i, r); err != nil {
		return err
	}
	if err := turnsAway(ctx, i, r); err != nil {
		return err
	}
	states(ctx, i, *r)
	return anotherParent(ctx, i, r)
}

// endOfPath takes the end of the path of a PUT for the key, where the database knows the row by it, and another one makes another row.
func endOfPath(ctx context.Context, i *inquiry) error {
	key, may := drafting.EndOfPath(i.file)
	if !may {
		return nil
	}
	for _, draft := range drafting.KeyedBy(i.file.Draft, key) {
		other := i.file
		other.Draft = draft
		asking, err := i.questionerFor(other)
		if err != nil {
			return err
		}
		answers, markers := asking.done(ctx, "end-of-path", "[{send: {}}]")
		if len(answers) == 1 && answers[0].Done() && i.made(ctx, markers[0]) > 0 {
			i.file.Draft, i.file.KeySeen = draft, "the path ends with what the database knows the row by, and with another end another row was made"
			return asking.err
		}
		if asking.err != nil {
			return asking.err
		}
	}
	return nil
}

// repeated sends a create, sends it again, and with another body under its key. Where not even the first does anything, what the create
// before has sent may be taken: then something of it is the key, or all members differ that may have to.
func (i *inquiry) repeated(ctx context.Context, asking *questioner) (drafting.Repeated, error) {
	var first *unvaried
	unanswered, given := 0, false
	for {
		r, err := i.repeatedOnce(ctx, asking)
		if err != nil || r.First.Done() && r.Rows > 0 {
			return r, err
		}
		if r.First.Status == 0 { // which says nothing of what it holds
			if unanswered++; unanswered < createTries {
				fmt.Fprintln(i.Said, "a second create got no answer; sending another")
				continue
			}
			i.file.Doubt("What is promised: %d creates after the first got no answer in time.", unanswered)
			return r, nil
		}
		if asksForVersion(i.file.Draft, r.First, "") {
			doubtVersion(i, r.First.Status)
			return r, nil
		}
		if r.First.Done() && accumulates(ctx, i) {
			i.rowless = true
			return r, nil
		}
		if first == nil {
			first = &unvaried{r.First.Status, r.Rows, r.First.Done()}
		}
		with := asGivenOnce(i, r.First, &given)
		if with == "" {
			with = inItsForm(i, r.First)
		}
		if with == "" {
			with = asLong(i, r.First)
		}
		if with == "" {
			with = vary(i)
		}
		if with == "" {
			i.file.Doubt("What is promised: a second create, with another marker, was answered %d and made %s in %s.",
				first.status, english.Plural(first.rows, "row"), i.file.Proof.Table.FullName())
			i.rowless = first.rows == 0 && first.done
			drafting.Stepping(&i.file, first.status)
			return r, nil
		}
		fmt.Fprintf(i.Said, "a second create was answered %d and made no row; trying with %s\n", r.First.Status, with)
		if asking, err = i.questioner(); err != nil {
			return r, err
		}
	}
}

// repeatedOnce sends a create, the same once more, and where it has a key another body under it.
// Where no row is left of the first body, the other one may have taken its place, and all is asked
// again without it. A create that was only accepted is repeated until its answer changes: it is
// done by then.
func (i *inquiry) repeatedOnce(ctx context.Context, asking *questioner) (drafting.Repeated, error) {
	alters := (i.file.Draft.Keyed() || drafting.Conditional(i.file.Draft)) && asking.alters()
	answers, markers := asking.done(ctx, "again", repeating(i.timed, "", alters))
	if len(answers) < 2 {
		return drafting.Repeated{}, asking.err
	}
	r := repeatedOf(answers, false, alters)
	r.Rows = i.made(ctx, markers[0])
	r.Row = i.row
	if r.Rows > 1 {
		r.Once = once(ctx, i, markers[0])
	}
	if r.Rows == 0 && alters && r.First.Done() { // another body may have replaced the first one
		replacing := r.Altered
		if answers, markers = asking.done(ctx, "again", repeating(i.timed, "", false)); len(answers) < 2 {
			return r, asking.err
		}
		if rows := i.made(ctx, markers[0]); rows > 0 {
			r = repeatedOf(answers, false, false)
			r.Rows, r.Row, r.Replacing, alters = rows, i.row, replacing, false
		}
	}
	accepted := r.First.Status == http.StatusAccepted
	wait := 2*i.waited + betweenLook
	if r.First.Underway() {
		wait = max(wait, forState)
	}
	for n := 0; n < laterTries && (accepted || r.First.Underway()) && r.Rows > 0; n++ {
		done := fmt.Sprintf(", {wait: %s}, {send: {}}", wait.Round(time.Millisecond)) // of another one, when that is done
		if answers, markers := asking.done(ctx, "later", repeating(i.timed, done, alters)); len(answers) > 2 {
			rows := r.Rows
			if r = repeatedOf(answers, true, alters); i.made(ctx, markers[0]) > 0 {
				r.Row = i.row
			}
			r.Rows = rows // as of the one before
		}
		if r.Later != nil && (r.Later.Status != r.Again.Status || r.Again.MovedOn(*r.Later)) {
			break
		}
		wait *= 2
	}
	return r, asking.err
}

// laterTries is how often it is tried to repeat a create when it is done, or has come on: how long that takes is not known for certain.
const laterTries = 2

// forState is how long a thing has to come on that its answer calls unfinished, until it is asked for again: a worker may look for work every
// second.
const forState = 1500 * time.Millisecond

// aSecond is longer than the unit in which most answers tell the time.
const aSecond = 1100 * time.Millisecond

// repeating are the steps that send a create and repeat it: in another second, where answers may hold the time.
func repeating(timed bool, later string, alters bool) string {
	steps := "[{send: {}}, "
	if timed {
		steps += fmt.Sprintf("{wait: %s}, ", aSecond)
	}
	steps += "{send: {}}" + later
	if alters {
		steps += ", {alter: {}}"
	}
	return steps + "]"
}

// repeatedOf reads the answers to such steps.
func repeatedOf(answers []drafting.Answer, later, alters bool) drafting.Repeated {
	r := drafting.Repeated{First: answers[0], Again: answers[1]}
	if answers = answers[2:]; later {
		r.Later, answers = &answers[0], answers[1:]
	}
	if alters && len(answers) > 0 {
		r.Altered = &answers[0]
	}
	return r
}
