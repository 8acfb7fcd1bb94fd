package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
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
		ways = append(ways, "eight at once, three times", "twice without a key")
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
// the created one, bodies that are refused, and later states of a row.
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
	states(ctx, i, *r)
	return nil
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

// tryWords finds a word of the body for which the target takes another, where nothing else in it can be altered: one that is one of a few
// is refused.
func tryWords(ctx context.Context, i *inquiry) {
	for _, word := range drafting.Words(i.file) {
		other := withValue(i.file, word)
		asking, err := i.questionerFor(other)
		if err != nil {
			return
		}
		if answers, markers := asking.ask(ctx, "word", 1, "[{send: {}}]"); len(answers) == 1 && answers[0].Done() && i.made(ctx, markers[0]) == 1 {
			i.file.Draft.Others = append(slices.Clone(i.file.Draft.Others), word)
			return
		}
	}
}

// questioner asks with the file as it is.
func (i *inquiry) questioner() (*questioner, error) { return i.questionerFor(i.file) }

// questionerFor asks with a file that differs from the inquiry's, to try something out.
func (i *inquiry) questionerFor(file drafting.File) (*questioner, error) {
	text, err := file.Text()
	if err != nil {
		return nil, err
	}
	return i.questionerOf(text)
}

// questionerWith asks with another body, to which nothing is altered.
func (i *inquiry) questionerWith(body map[string]any) (*questioner, error) {
	return i.questionerFor(withBody(i.file, body))
}

// withBody is a file whose creates have this body, and nothing of the source's besides.
func withBody(f drafting.File, body map[string]any) drafting.File {
	f.Draft.Body, f.Draft.Others = body, nil
	return f
}

// withValue is such a file whose creates have another value in a member, which may be the very one that an altered body would have.
func withValue(f drafting.File, other drafting.Other) drafting.File {
	body, _ := drafting.Put(f.Draft.Body, other.Pointer, other.Value).(map[string]any)
	return withBody(f, body)
}

// questionerOf asks with the text of a target file. No row is asked for through it, so that
// any URL does for a database that the file leaves to a variable.
func (i *inquiry) questionerOf(text string) (*questioner, error) {
	target, err := i.load(text, func(name string) (string, bool) {
		if name == "DATABASE_URL" {
			return "sqlite:///variable", true
		}
		return i.secret(name)
	})
	return &questioner{target: target, operation: i.file.Draft.Name, success: i.file.Success, declined: &i.declined, throttled: &i.throttled, took: i.took, login: &i.login, send: driver.Directly}, err
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

// asGivenOnce lets a member have the source's value again, once, of which a refusal quotes another. It says which; empty: none.
func asGivenOnce(i *inquiry, refused drafting.Answer, given *bool) string {
	pointer := drafting.Quoted(i.file, refused)
	if pointer == "" || *given {
		return ""
	}
	beginToVary(i)
	*given = true
	drafting.AsGiven(&i.file.Draft, pointer)
	return "the value of the source in " + pointer
}

// asLong lets members have values as long as the source's, where a refusal may be about that. It says which; empty: none.
func asLong(i *inquiry, refused drafting.Answer) string {
	beginToVary(i)
	members := drafting.AsLong(&i.file, refused)
	if len(members) == 0 {
		return ""
	}
	return "values as long as the source's in " + strings.Join(members, ", ")
}

// unvaried is what a create was answered, and has made, in which nothing was varied.
type unvaried struct {
	status, rows int
	done         bool
}

// vary lets the next thing differ in each create by which a target may know one that it has seen: what may be the key, and
// then members of the body. It says which; empty: there is none left.
func vary(i *inquiry) string {
	beginToVary(i)
	i.file.Draft = *i.plain
	if len(i.places) > 0 {
		try := i.places[0]
		i.file.Draft, i.places = try.draft, i.places[1:]
		return drafting.Called(try.key) + " as the key"
	}
	if drafting.PutsAt(*i.plain) {
		if said := elsewhere(i); said != "" {
			return said
		}
	}
	if said := differ(i); said != "" {
		return said
	}
	if len(i.rest) > 0 {
		try := i.rest[0]
		i.file.Draft, i.rest = try.draft, i.rest[1:]
		said := drafting.Called(try.key) + " as the key"
		if try.members {
			i.file.Differing = i.file.MayName()
			said += ", and other values in " + strings.Join(i.file.Differing, ", ")
		}
		return said
	}
	if said := elsewhere(i); said != "" {
		return said
	}
	if numbers := append(i.plain.Numbers(), drafting.Short(*i.plain)...); i.file.Proof == nil {
		if next := slices.Index(numbers, i.plain.Number) + 1; next < len(numbers) {
			i.plain.Number = numbers[next]
			i.file.Draft, i.file.Differing, i.naming = *i.plain, nil, naming{taken: i.naming.taken}
			return "a number for a marker, in " + i.plain.Number
		}
	}
	return ""
}

// beginToVary keeps the draft as its source has it.
func beginToVary(i *inquiry) {
	if i.plain != nil {
		return
	}
	plain := i.file.Draft
	i.plain, i.paths = &plain, drafting.OtherPaths(plain)
	i.carriers.first, i.carriers.number = plain.Texts, plain.Number
	likely, others := plain.KeyPlaces(), plain.OtherPlaces()
	i.places, i.rest = placeTries(plain, likely), placeTries(plain, others)
	for _, key := range slices.Concat(likely, others) {
		with := i.file
		with.Draft = plain.WithKeyIn(key)
		if len(with.MayName()) > 0 {
			i.rest = append(i.rest, placeTry{key: key, draft: with.Draft, members: true})
		}
	}
}

// placeTries are the ways in which these places may hold the key.
func placeTries(plain drafting.Draft, places []targets.Key) (all []placeTry) {
	for _, key := range places {
		for _, with := range drafting.KeyedBy(plain, key) {
			all = append(all, placeTry{key: key, draft: with})
		}
	}
	return all
}

// placeTry is a place that may hold the key.
type placeTry struct {
	key     targets.Key
	draft   drafting.Draft // with its key there
	members bool           // together with members that may name one thing: a target may know both
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

// made counts the rows of the created thing's table that hold a marker. It looks once more often for the first than it took to find
// that of the first create. Where rows come behind the answers, a second one may come later than the first, by as long as one takes.
func (i *inquiry) made(ctx context.Context, marker string) int {
	i.row = nil
	rows := 0
	for n := 0; n < i.looked+1 && rows == 0 && ctx.Err() == nil; n++ {
		if n > 0 {
			letBe(ctx, betweenLook)
		}
		rows = rowsOf(ctx, i, marker)
	}
	if i.looked < 2 {
		return rows
	}
	for until := time.Now().Add(2*i.waited + betweenLook); rows == 1 && ctx.Err() == nil && time.Now().Before(until); {
		letBe(ctx, betweenLook)
		rows = rowsOf(ctx, i, marker)
	}
	return rows
}

// rowsOf counts the rows of the created thing's table that hold a marker now.
func rowsOf(ctx context.Context, i *inquiry, marker string) int {
	landings := search(ctx, i, marker)
	rows := rowsIn(landings, i.file.Proof.Table)
	for _, row := range rows {
		i.row = row
		recount(ctx, i, row)
	}
	made := i.file.Proof.Count(rows)
	for n := range i.file.Proof.Others {
		if o := &i.file.Proof.Others[n]; made == 1 { // two have two of each
			o.Again = max(o.Again, o.CountIn(landings))
		}
	}
	return made
}

// rowsIn are the rows of one table among those that hold a marker.
func rowsIn(landings []databases.Landing, table databases.Table) []map[string]string {
	var rows []map[string]string
	for _, l := range landings {
		if l.Table.FullName() == table.FullName() {
			rows = append(rows, l.Row)
		}
	}
	return rows
}

// once is another table in which a create and its repetition have made as many rows as a create does; empty: there is none.
func once(ctx context.Context, i *inquiry, marker string) string {
	landings := search(ctx, i, marker)
	for _, o := range i.file.Proof.Others {
		if len(rowsIn(landings, o.Table)) == o.Rows {
			return o.Table.FullName()
		}
	}
	return ""
}

// recount counts again what refers to a created row.
func recount(ctx context.Context, i *inquiry, row map[string]string) {
	eachChild(ctx, i, row, func(c *drafting.Child, rows int) { c.Again = max(c.Again, rows) })
}

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

// late reports that a create has made a row after all, though it was not there when others would have been. Where rows come behind the answers, a
// worker may have had others to make first. So one more create is sent, and when its row is there, those before it have had their turn.
func late(ctx context.Context, i *inquiry, markers []string) bool {
	if i.looked < 2 {
		return false
	}
	asking, err := i.questioner()
	if err != nil {
		return false
	}
	answers, last := asking.done(ctx, "turn", "[{send: {}}]")
	if len(answers) == 0 || !answers[0].Done() {
		return false
	}
	for until := time.Now().Add(forTurns*i.waited + aSecond); rowsOf(ctx, i, last[0]) == 0 && ctx.Err() == nil && time.Now().Before(until); {
		letBe(ctx, betweenLook)
	}
	letBe(ctx, i.waited) // several workers may overtake each other
	return slices.ContainsFunc(markers, func(marker string) bool { return rowsOf(ctx, i, marker) > 0 })
}

// forTurns is how many rows a worker may have to make before that of a create: as many as were asked for at once, and some more.
const forTurns = 6

// noted counts what a repetition that made no row has left in other tables: it is there for each request, such as a queue of all of them, and is
// no effect of the thing.
func noted(ctx context.Context, i *inquiry, marker string) {
	landings := search(ctx, i, marker)
	if len(rowsIn(landings, i.file.Proof.Table)) > 0 {
		return
	}
	for n := range i.file.Proof.Others {
		o := &i.file.Proof.Others[n]
		if rows := o.CountIn(landings); rows > 0 {
			o.Again = max(o.Again, o.Rows+rows)
		}
	}
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

// questioner sends requests to a target as a new client would.
type questioner struct {
	target    targets.Target
	operation string
	success   drafting.Success
	declined  *[]drafting.Answer                               // to creates where others like them were done
	names     func(operation string, a history.Attempt) string // what an answer calls the created thing; nil: nothing is removed
	throttled *time.Duration                                   // how long the target wanted to be left alone that answered 429
	took      time.Duration                                    // what a create takes, after which the patience of clients goes
	login     *login
	send      sending
	reference string // of the first intent that was sent last
	among     string // lines of a scenario that say what its intents have in common; empty: nothing
	err       error  // the first one
}

// alters reports that there is another body.
func (q *questioner) alters() bool { return len(q.target.Operations[q.operation].Alter) > 0 }

// done asks until the first answer of an intent is that it is done: a target may decline some creates.
func (q *questioner) done(ctx context.Context, name, steps string) ([]drafting.Answer, []string) {
	var refused []drafting.Answer
	for n := 0; ; n++ {
		answers, markers := q.ask(ctx, name, 1, steps)
		if len(answers) == 0 || !answers[0].Refused() || n == createTries {
			if len(answers) > 0 && answers[0].Done() {
				*q.declined = append(*q.declined, refused...)
			}
			return answers, markers
		}
		refused = append(refused, answers[0])
	}
}

// ask sends the steps of so many intents, and returns their answers and the markers. Where the target's rate limit turned one of them
// away, it waits and asks once more.
func (q *questioner) ask(ctx context.Context, name string, intents int, steps string) (answers []drafting.Answer, markers []string) {
	for range throttledTries {
		answers, markers = q.askOnce(ctx, name, intents, steps)
		if ctx.Err() != nil || !q.holdsBack(ctx, answers) {
			break
		}
	}
	return answers, markers
}

// holdsBack leaves the target alone for as long as its answers want, and reports whether they do.
func (q *questioner) holdsBack(ctx context.Context, answers []drafting.Answer) bool {
	wait := throttled(answers)
	if wait > 0 {
		*q.throttled = max(*q.throttled, wait)
		letBe(ctx, wait)
	}
	return wait > 0
}

// askOnce sends one scenario that was made for a question, and returns what the target answered,
// and the markers that were sent. Nothing is recorded.
func (q *questioner) askOnce(ctx context.Context, name string, intents int, steps string) ([]drafting.Answer, []string) {
	s, err := scenarios.Load(name, fmt.Appendf(nil, "name: %s\nsummary: init\nintents: %d\n%ssteps: %s\nexercised: [acknowledged]\n", name, intents, q.among, steps))
	if err != nil {
		q.err = errors.Join(q.err, err)
		return nil, nil
	}
	now := time.Now()
	d := driver.Config{
		Workload: driver.Workload{
			Target: q.target, Plan: scenarios.NewPlan(s, 1), Names: driver.Names{Run: rundir.NewID(now), Scenario: name}, Base: now,
			Operations: []driver.Operation{{Name: q.operation, Operation: q.target.Operations[q.operation]}},
		},
		Record: history.NewWriter(io.Discard), Normal: q.took,
	}
	d.Principals, d.Hooks.Identity = principals(q.target), q.names
	sent, err := q.login.send(ctx, &d, q.send)
	q.err = errors.Join(q.err, err)
	q.reference = d.Words()[0]
	answers := make([]drafting.Answer, 0, len(sent))
	for _, a := range sent {
		answers = append(answers, q.success.Read(answerOf(a)))
	}
	return answers, d.Markers()[q.operation]
}
