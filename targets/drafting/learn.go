package drafting

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// Answer is one answer of the target to a create, or to a repetition of one.
type Answer struct {
	Status   int
	Body     any    // JSON; nil: none
	Text     string // a body that is no JSON
	Written  string // the body as it is, or as far as it is on record
	Header   map[string]string
	Location string         // of these, where it has one
	Key      string         // that the request had
	Limit    Limit          // that its headers tell
	Wait     time.Duration  // that it asks for before the next request, with 429; 0: it has another meaning
	Denied   map[string]any // the member by which it says that it is not done, though its status says so; nil: it does not
	Shown    bool           // it is the page with the form again, which others lead away from
	DeniedAt string         // JSON pointer to that member, where it is one that answers lack which are done
	Within   string         // JSON pointer to the part of an answer to a batch that has that member; empty: it is no list
}

// Created is what the answer to a create tells, without the marker.
func (a Answer) Created(d databases.Dialect) Created {
	return Created{Status: a.Status, Header: a.Header, Location: a.Location, Answer: a.Body, Text: a.Text, Written: a.Written, Dialect: d}
}

// Done reports that it says that the create is done, or leads to what was created.
func (a Answer) Done() bool { return a.Status >= 200 && a.Status < 400 && !a.errs() }

// Refused reports that it says something about the request: neither a failure nor a rate limit.
func (a Answer) Refused() bool {
	return a.errs() && a.Status < 500 || a.Status >= 400 && a.Status < 500 && !a.throttled()
}

// throttled reports that there were too many requests. A 429 that does not ask for a wait says that the first one is under way.
func (a Answer) throttled() bool { return a.Status == http.StatusTooManyRequests && a.Wait > 0 }

// Failed reports that it says nothing about the request.
func (a Answer) Failed() bool {
	return !a.Done() && !a.Refused() || a.Status == http.StatusPaymentRequired
}

// Repeated is what the target answered when a create was repeated, and how many rows there were then.
type Repeated struct {
	First, Again Answer
	Later        *Answer           // the same request once more, when what was accepted had been done; nil: not sent
	Apart        []Answer          // to a create and its repetition, with another create between them; nil: not sent
	ApartRow     map[string]string // of that create; nil: not known
	Altered      *Answer           // with another body under the same key; nil: not sent
	Keyless      []Answer          // two creates without a key; nil: not sent
	Bursts       []Burst
	Rows         int                // that the first create and its repetition made
	Once         string             // another table with its marker, in which the two made no more rows than one does; empty: none
	Row          map[string]string  // one of them; nil: not known
	Natural      []string           // members of which each makes two creates one, as JSON pointers
	With         []string           // members that do so with the first of them, and not without: another value in one is another thing
	Constrained  bool               // all of them are those of a constraint: creates with their values failed
	Taken        *Answer            // to a create with a taken value of the first of them
	Ignores      []contract.Ignored // of the spelling of the natural key
	Declined     []Answer           // to creates that were refused where others like them were done
	Added        bool               // the same body under another key made no second row, and added to the row what it says
	Changed      bool               // likewise, but what it changed the row's content to is no sum
	Replacing    *Answer            // to another body that replaced what the row holds; nil: none did
	Parents      TwoParents         // of which the path can name each
	OtherBodies
}

// OtherBodies are answers to requests that are refused. The zero value: none was sent.
type OtherBodies struct {
	Mismatches []Answer // more refusals of another body under the key of a create, each of another create
	Unlike     []Answer // answers to requests that are no such bodies, of which some may be refused, too: without a member, or with a key of another form
	Invalid    Refusal  // of a body for what it says
	Credential Credential
}

// ApartFromLater keeps what a create was answered when time had passed as the answer to a repetition of it, since another create takes the place of
// the first one: their answers name two things. Where nothing had changed by then, the answer says no more than the one before it.
func (r *Repeated) ApartFromLater() {
	later := r.Later
	if later == nil || !later.Done() || r.Again.Refused() {
		return
	}
	r.Later = nil
	if !r.First.says(*later) {
		r.Apart, r.ApartRow = []Answer{r.First, *later}, nil
	}
}

// Retold is how a create is answered that names what is there already.
func (r Repeated) Retold() Answer {
	if r.Taken != nil {
		return *r.Taken
	}
	return r.Again
}

// Burst is what copies of one create were answered that were sent at once, and what another one was answered when all of
// them were.
type Burst struct {
	Copies []Answer
	After  Answer
}

// learnt is what answers say about the contract. The zero value: nothing was asked.
type learnt struct {
	from        bool     // answers
	ack         []int    // statuses of answers that say "it is done"; nil: the usual ones
	leads       string   // regular expression for the Location of each of them; empty: not all have one
	accepted    bool     // the first answer is 202: the row may come later
	natural     []string // JSON pointers; nil: none is known
	constrained bool     // the database says so
	ignores     []contract.Ignored
	replay      string // the lines of replay; empty: the same status and JSON
	existing    contract.Signature
	existingAt  string            // JSON pointer to the id of what is there, in such an answer; empty: it names none
	cut         map[string]string // columns that hold the beginning of a natural key alone, with its member
	mismatch    contract.Signature
	original    bool // another body gets the first one's answer
	inProgress  contract.Signature
	missing     contract.Signature // a key is required
	declined    contract.Signature // business
	invalid     Refusal            // of a body for what it says
	credential  Credential
	parents     TwoParents

	success Success // by which every acknowledgement is known, beside its status

	replacing *Answer // to another body that replaces what was acknowledged; nil: none does
}

// Learn reads off the answers what the target does about repeated requests, and what they leave
// open. It promises only what was seen: what the file promises too much is a false finding in each
// run, and what it promises too little is a doubt that its reader sees.
func (f *File) Learn(r Repeated) {
	l := learnt{from: true, invalid: r.Invalid, credential: r.Credential, parents: r.Parents}
	keyed := f.Draft.Keyed()
	nameAgain(f, r)
	if len(r.Declined) > 0 {
		l.declined = signature(r.Declined[0])
	}
	if r.Rows < 2 || keyed {
		l.natural, l.constrained = f.NaturalKey(r), r.Constrained
	}
	if l.natural != nil {
		l.ignores = r.Ignores
	}
	f.Proof.Adds, f.Proof.Varies = r.Added && l.natural == nil, r.Changed
	if column, said := Kept(*f); keyed && r.Rows == 1 && column != "" && Twice(r.Row[column], said) {
		f.Proof.Adds, f.Proof.AddsAgain = true, true
	}
	if l.natural != nil || keyed {
		l.replacing = r.Replacing
	}
	switch {
	case r.Rows > 1 && keyed:
		f.Doubt("Whether keys are honoured: the same request under the same key made %d rows in %s.", r.Rows, f.Proof.Table.FullName())
	case r.Rows > 1 && r.Once != "":
		f.Doubt("Which table is the effect: the same request again made another row in %s, and none in %s. If %s is a log of requests, write the row query for %s, and say by natural_key of the contract, or key of the operation, what makes a repetition one.", f.Proof.Table.FullName(), r.Once, f.Proof.Table.FullName(), r.Once)
	case r.Rows > 1:
	case !keyed && l.natural == nil:
		f.Doubt("What makes a repetition one: the same request again made no second row in %s; say by natural_key which members it goes by.", f.Proof.Table.FullName())
	default:
		f.repetition(&l, r)
		f.otherBody(&l, r)
		if _, altered, _ := Altered(*f); l.original && !keyed && len(r.With) > 0 {
			f.Doubt("Whether another %s with the same %s is no new create: it got the first one's answer and made no row, so what it said is dropped. If it is one, put it into natural_key: runs show then that it is lost.", altered, strings.Join(l.natural, " and "))
		}
		l.bursts(r.First, r.Bursts)
	}
	if l.natural != nil && keyed && r.Taken != nil && r.Taken.Refused() {
		l.existing = signature(*r.Taken)
	}
	if keyed {
		f.keyless(&l, r)
	}
	l.acknowledged(r)
	l.succeeded(f, r)
	mismatch := l.mismatch
	if l.tellApart(); Conditional(f.Draft) && same(mismatch, l.existing) {
		l.mismatch = mismatch // both say that the version is another one by now
	}
	l.existingAt, l.cut = existingAt(f, l, r), cutKeys(f, l, r.Row)
	f.learnt = l
	doubtRefusal(f)
}

// repetition is what the same request again is answered.
func (f *File) repetition(l *learnt, r Repeated) {
	again := []Answer{r.Again}
	if later := r.Later; later != nil && later.Done() {
		if again = append(again, *later); r.Again.Refused() {
			l.inProgress, again = signature(r.Again), again[1:] // it was not done yet
		}
	}
	switch {
	case again[0].Refused():
		if again[0].Shown {
			f.Doubt("What a page answered %d means: it is the form again, because the value is taken. If other mistakes are answered with it, too, it says no more than that nothing was done.", again[0].Status)
		}
		if l.existing = signature(again[0]); !f.Draft.Keyed() {
			l.existing = narrowed(f, lost(l.existing, l.declined, r.Bursts), l.declined, r)
		}
	case !again[0].Done():
		f.Doubt("What a repetition is answered: it was %d.%s", again[0].Status, toldByAnError(f, again[0], l.natural))
	default:
		if name := f.name(r.First); f.Proof != nil && redirects(again[0].Status) && !redirects(r.First.Status) {
			at := contract.Identity{Header: "Location", Pattern: leading(again[0].Location, name)}
			if at.Pattern != "" && at.In(r.First.Location) == name { // beside a body
				f.Proof.Named, l.leads = at, at.Pattern
			}
		}
		l.replay = sameness(f, r.First, again, r.Apart, r.Bursts)
		if strings.Contains(l.replay, "body: identity") {
			renewed(f, r)
			misstated(f, r)
		}
		if leadsBeside(f, r.First, again, r.Apart, r.Bursts) {
			l.replay = strings.TrimPrefix(l.replay+", headers: [Location]", ", ")
		}
	}
}

// toldByAnError says what runs make of a server error where the value is taken, and how a file declares that one with a code of its own says just
// that; empty: it is not the value. Only who reads it knows whether it says that: a breakdown may have a code, too.
func toldByAnError(f *File, again Answer, natural []string) string {
	s := signature(again)
	switch {
	case len(natural) == 0 || f.Draft.Keyed() || again.Status < http.StatusInternalServerError:
		return ""
	case len(s.Where) == 0:
		return " Runs take that for no answer, so each create fails as refused-though-done: catch what the database refuses, and answer 409, or with what is there."
	default:
		return fmt.Sprintf(" Runs take that for no answer, so each create fails as refused-though-done. If it says that the value is taken, and nothing else has its code, declare existing: {%s}, and level: dedup-only.", signed(s))
	}
}

// lost is how a create is refused that is there already, also while another one makes it: those that lost a race may be refused with a code
// of their own. Only what all such refusals with one status have in common tells then.
func lost(existing, declined contract.Signature, bursts []Burst) contract.Signature {
	for _, b := range bursts {
		for _, a := range b.Copies {
			other := signature(a)
			if !a.Refused() || !b.After.Refused() || !slices.Equal(other.Statuses, existing.Statuses) || same(other, declined) {
				continue
			}
			existing.Where = maps.Clone(existing.Where)
			maps.DeleteFunc(existing.Where, func(at string, value any) bool { return other.Where[at] != value })
		}
	}
	return existing
}

// sameness says in what the answers to repetitions are the first one's, also when something else was created between them, and those to
// copies that were sent at once are each other's.
func sameness(f *File, first Answer, again, apart []Answer, bursts []Burst) string {
	var statuses []int
	status := func(a Answer) {
		if a.Status != first.Status && !slices.Contains(statuses, a.Status) {
			statuses = append(statuses, a.Status)
		}
	}
	equal, named := true, f.name(first) != ""
	for _, a := range again {
		status(a)
		equal = equal && first.says(a)
		named = named && f.name(a) == f.name(first)
	}
	if len(apart) == 2 {
		status(apart[1])
		equal = equal && apart[0].says(apart[1])
		named = named && f.name(apart[0]) == f.name(apart[1])
	}
	for _, c := range bursts {
		for _, a := range c.Copies {
			if a.Done() && !underWay(first, c.After, a) && f.name(a) != "" && f.name(a) == f.name(c.After) { // about one thing
				status(a)
				equal = equal && c.After.says(a)
			}
		}
	}
	slices.Sort(statuses)
	var lines []string
	if statuses != nil {
		lines = append(lines, fmt.Sprintf("status: {%d: %s}", first.Status, flow(statuses)))
	}
	switch {
	case equal:
	case named:
		lines = append(lines, "body: identity")
		retyped(f, first, again)
		lessened(f, first, again)
	case f.name(first) != "" && slices.ContainsFunc(again, func(a Answer) bool { return namesNothing(f, a) }):
		lines = append(lines, "body: identity")
		f.Doubt("Whether a repetition may be answered without %s of what was created: one was, where the first answer has it. Runs will show it as a broken promise; if it may, say replay: {body: none}.", f.named().Where())
	case f.Proof != nil && f.Proof.Identity != "" && slices.ContainsFunc(again, func(a Answer) bool { return tellsAnother(f, first, a) }):
		lines = append(lines, "body: identity")
		f.Doubt("Whether a repetition may name another: the first answer has the key of the row, and that of the same request again has another at %s, though there is one row. Runs will show it as a broken promise; if it may, leave identity out.", f.named().Where())
	default:
		lines = append(lines, "body: none")
		switch {
		case f.name(first) != "" && slices.ContainsFunc(again, func(a Answer) bool { return f.name(a) == "" }):
			f.Doubt("Whether a repetition may be answered without %s of what was created: one was, in an answer that has no such place, where the first answer has it. Its client never learns what it has made. No more than the status is compared; if that must not be, say replay: {body: identity}.", f.named().Where())
		case f.name(first) == "":
			f.Doubt("Whether a repetition is told of the same thing: its answer is not the first one's, and nothing in them is known to name what was created. So no more than their status is compared.")
		}
	}
	return strings.Join(lines, ", ")
}

// namesNothing reports that an answer has the member that names the created thing, and nothing in it.
func namesNothing(f *File, a Answer) bool {
	at := f.named()
	value, there := jsonpointer.Resolve(a.Body, at.JSON)
	return at.JSON != "" && there && (value == nil || value == "")
}

// tellsAnother reports that both answers name something, and not the same.
func tellsAnother(f *File, first, again Answer) bool {
	return f.name(first) != "" && f.name(again) != "" && f.name(again) != f.name(first)
}

// says reports that two answers have one body.
func (a Answer) says(other Answer) bool {
	return reflect.DeepEqual(a.Body, other.Body) && a.Text == other.Text
}

// name is what an answer calls the created thing.
func (f *File) name(a Answer) string {
	at := f.named()
	switch {
	case at.Header == "Location":
		return at.In(a.Location)
	case at.Header != "":
		return at.In(a.Header[at.Header])
	case at.InText():
		return at.In(cmp.Or(a.Text, a.Written))
	}
	value, there := jsonpointer.Resolve(a.Body, at.JSON)
	if at.JSON == "" || !there {
		return ""
	}
	return fmt.Sprint(value)
}

// sameKey is what two bodies have in common that are of one intent.
func sameKey(f *File, natural []string) string {
	if f.Draft.Keyed() || len(natural) == 0 || slices.Equal(natural, []string{contract.WholePath}) {
		return "under the same key"
	}
	return "with the same " + strings.Join(natural, " and ")
}

// otherBody is what another body under the same key is answered.
func (f *File) otherBody(l *learnt, r Repeated) {
	switch {
	case r.Altered == nil || r.Replacing != nil:
	case r.Altered.Refused():
		l.mismatch = mismatched(f, r)
		if f.Draft.Key.In == contract.KeyInHeader && l.natural == nil && len(l.existing.Statuses) > 0 && r.Again.Status != http.StatusConflict && SameRefusal(r.Again, *r.Altered) {
			f.Doubt("Whether a repetition may be refused as another body is: the same request again under its key was answered %d, in the same words. So a client whose answer is lost never gets it. The file takes that for the answer to what is there (existing), so runs do not judge it; if a repetition must get the first one's answer, take existing out.", r.Again.Status)
		}
	case r.First.Status == http.StatusAccepted && r.Altered.Done() && f.Proof != nil && reflect.DeepEqual(f.Proof.Told, r.First.Body):
		f.Doubt("What becomes of another body %s: it was accepted (%d), as every request is, so the answer says of neither whether it is done. Nothing is promised about it; if the first one counts, say so in contract.fingerprint.", sameKey(f, l.natural), r.Altered.Status)
	case r.Altered.Done() && reflect.DeepEqual(r.Altered.Body, r.First.Body) && r.First.Body != nil:
		l.original = true
	case SameThing(f, *r.Altered, r.First):
		byName := strings.Contains(l.replay, "body: ")
		at := differs(f, r.Altered.Body, r.First.Body)
		if l.original = byName || r.Altered.says(r.First) || r.Altered.says(r.Again) || f.Draft.echoed(contract.Identity{JSON: at}); !l.original {
			f.Doubt("What another body %s is answered: it was what names the first one, and not all of its answer (%s differs); nothing is promised about it.", sameKey(f, l.natural), cmp.Or(at, "the body"))
		}
	case r.Altered.Done() && f.name(r.First) != "" && f.name(*r.Altered) == "":
		f.Doubt("What another body %s means: it was acknowledged (%d) by an answer that names nothing, where the first one's has %s: who has sent it is told that it is done, though it may have been thrown away. Nothing is promised about it, so runs do not judge it; if it must be refused, say how in contract.fingerprint.", sameKey(f, l.natural), r.Altered.Status, f.named().Where())
	default:
		f.Doubt("What another body %s means: it was answered %d, and not by the first one's answer; nothing is promised about it.", sameKey(f, l.natural), r.Altered.Status)
	}
}

// differs is a member in which two answers differ, one that the request has, too, before others; empty: they differ in none.
func differs(f *File, a, b any) (at string) {
	for _, pair := range [][2]any{{a, b}, {b, a}} {
		Scalars("", pair[0], func(pointer string, value any) {
			other, there := jsonpointer.Resolve(pair[1], pointer)
			if there && reflect.DeepEqual(value, other) {
				return
			}
			if at == "" || f.Draft.echoed(contract.Identity{JSON: pointer}) {
				at = pointer
			}
		})
	}
	return at
}

// bursts is what a request is answered that meets a running one, if one of the bursts has met one. After them all, the same
// request was answered otherwise: what is answered for good says nothing of what runs. Neither does an answer that there is no such thing,
// which is the mistake of a look-up that does not see the first one.
func (l *learnt) bursts(first Answer, bursts []Burst) {
	for _, c := range bursts {
		for _, a := range c.Copies {
			if a.Refused() && c.After.Done() && !contract.SaysAbsent(a.Status) {
				l.inProgress = signature(a)
				return
			}
			if underWay(first, c.After, a) {
				l.inProgress = contract.Signature{Statuses: []int{a.Status}}
				return
			}
		}
	}
}

// underWay reports that an answer says 202, where what the same request is answered in the end says otherwise: what it asks for is being done. Where the
// first request is answered 202, too, that is how a create is accepted, and not that another one runs.
func underWay(first, end, a Answer) bool {
	return a.Status == http.StatusAccepted && first.Status != http.StatusAccepted && end.Done() && end.Status != http.StatusAccepted
}

// keyless is what a create without a key is answered.
func (f *File) keyless(l *learnt, r Repeated) {
	if len(r.Keyless) > 0 && !slices.ContainsFunc(r.Keyless, func(a Answer) bool { return !a.Refused() || same(signature(a), l.declined) }) {
		f.Draft.Key.Required, l.missing = true, signature(r.Keyless[0])
	}
}

// acknowledged adds the statuses of success that are none of the usual ones.
func (l *learnt) acknowledged(r Repeated) {
	usual, answers := []int{200, 201, 204}, []Answer{r.First, r.Again}
	if redirects(r.First.Status) {
		usual = []int{r.First.Status}
	}
	if r.Later != nil {
		answers = append(answers, *r.Later)
	}
	l.accepted = r.First.Status == http.StatusAccepted
	for _, a := range answers {
		if a.Done() && !slices.Contains(usual, a.Status) && !(l.accepted && a.Status == http.StatusAccepted) {
			l.ack = append(usual, a.Status)
			usual = slices.Sorted(slices.Values(l.ack))
		}
	}
	slices.Sort(l.ack)
}

// succeeded takes the member that says that it is done, if every answer has it that says so.
func (l *learnt) succeeded(f *File, r Repeated) {
	s := f.Success
	answers := []Answer{r.First, r.Again}
	for _, c := range r.Bursts {
		answers = append(append(answers, c.Copies...), c.After)
	}
	if s.At != "" && s.Value == nil {
		if s.At = failedAt(f, r); s.At == "" {
			return
		}
	}
	if s.At != "" && !l.accepted && !redirects(r.First.Status) && !slices.ContainsFunc(answers, func(a Answer) bool { return a.Done() && !s.saidBy(a) }) {
		l.success = s
	}
}

// failedAt is the member by which answers with the status of a success were known to be none; empty: no such answer was seen. All of
// JSON-RPC are known so, and those to a batch of which one part may be done and another not (RFC 4918, section 11.1).
func failedAt(f *File, r Repeated) string {
	if _, is := f.Draft.Body["jsonrpc"]; is {
		return "/error"
	}
	if f.Success.Within != "" && (r.First.Status == http.StatusMultiStatus || r.Again.Status == http.StatusMultiStatus) {
		return f.Success.At
	}
	for _, a := range slices.Concat(r.Keyless, r.Declined, []Answer{r.Again, orNone(r.Altered), orNone(r.Taken)}) {
		if a.DeniedAt != "" {
			return a.DeniedAt
		}
	}
	return ""
}

// orNone is an answer, or one that says nothing.
func orNone(a *Answer) Answer {
	if a == nil {
		return Answer{}
	}
	return *a
}

// tellApart leaves out what cannot be told from something else: an answer that says "come back later" and another body's
// would each be taken for the other.
func (l *learnt) tellApart() {
	for _, other := range []contract.Signature{l.existing, l.mismatch, l.inProgress, l.missing} {
		if same(l.declined, other) {
			l.declined = contract.Signature{}
		}
	}
	if same(l.missing, l.existing) { // as to a token that is used, or none
		l.missing = contract.Signature{}
	}
	if same(l.inProgress, l.existing) {
		l.inProgress = contract.Signature{}
	}
	if same(l.mismatch, l.existing) {
		l.mismatch = contract.Signature{}
	}
	if same(l.mismatch, l.inProgress) {
		l.mismatch, l.inProgress = contract.Signature{}, contract.Signature{}
	}
}

// same reports that an answer may be known by both: their statuses are equal, and no member tells
// them apart.
func same(a, b contract.Signature) bool {
	if len(a.Statuses) == 0 || !slices.Equal(a.Statuses, b.Statuses) {
		return false
	}
	for at, value := range a.Where {
		if other, there := b.Where[at]; there && other != value {
			return false
		}
	}
	return true
}

// codeLike matches a text that programs read; codes are the members that hold one.
var codeLike = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.:/-]*$`)

// codes are the places in which answers name what went wrong, those of GraphQL and of problem
// details (RFC 9457) among them; the first that is there counts.
func codes() []string {
	return []string{"/errors/0/extensions/code", "/errors/0/code", "/code", "/error/code", "/error/type", "/type", "/reason", "/error"}
}

// signature is what an answer is known by: its status, and the code that it names.
func signature(a Answer) contract.Signature {
	s := contract.Signature{Statuses: []int{a.Status}}
	if a.Denied != nil {
		if s.Where = why(a); len(s.Where) == 0 { // its status alone says that it is done
			return contract.Signature{}
		}
		return s
	}
	if message, there := jsonpointer.Resolve(a.Body, "/errors/0/message"); there && a.errs() && a.Status < 400 {
		s.Where = map[string]any{"/errors/0/message": message}
	}
	for _, at := range codes() {
		value, _ := jsonpointer.Resolve(a.Body, at)
		if text, is := value.(string); is && codeLike.MatchString(text) && text != "about:blank" {
			s.Where = map[string]any{at: text}
			break
		}
	}
	return s
}

// NaturalKey is the member of the body that makes two creates one: the one that was seen to, or the marker's, whose value the
// database allows once, or which is part of the primary key; nil: there is none, or there are several.
func (f *File) NaturalKey(r Repeated) []string {
	if f.Proof.ByKey {
		return nil
	}
	if f.Draft.Changes() && !f.Draft.Keyed() {
		return []string{contract.WholePath}
	}
	natural := r.Natural
	once := slices.ContainsFunc(f.Proof.Table.Unique, func(unique []string) bool { return len(unique) == 1 && unique[0] == f.Proof.Column })
	switch {
	case !once && !slices.Contains(f.Proof.Table.Primary, f.Proof.Column):
	case r.Added: // each key is an intent
	case r.Changed:
		f.Doubt("What the row of %s counts: the same body under another key made no second row, and changed the one that is there, and not by adding what the body says. So the file does not say what the row holds (rows.content), and a repetition that changes it again is not seen; an effect with value can say what it is to be.", f.Proof.Text)
		natural = append(natural, f.Proof.Text)
	default:
		natural = append(natural, f.Proof.Text)
	}
	if len(natural) > 1 {
		f.Doubt("What makes a repetition one: each of %s alone does, and natural_key can say only one.", strings.Join(natural, ", "))
		natural = natural[:1]
	}
	if len(natural) > 0 && len(r.With) > 0 && !r.Constrained {
		f.Doubt("Whether another body with the same %s may make a row of its own: it did, with another value in %s, so the file has that in natural_key. If it must not, take it out, and let runs send such a body: alter of the operation.", natural[0], strings.Join(r.With, " or "))
	}
	return slices.Concat(natural, r.With, beside(f, natural, r.With))
}

// NamesToo takes the member that an altered body changes for one that makes two creates one together with the text that all bodies of an
// intent have in common, so that it is altered no more.
func NamesToo(f *File, r *Repeated) {
	_, pointer, _ := Altered(*f)
	r.With, r.Altered = append(r.With, pointer), nil
	f.Proof.Unfit, f.Proof.ByReference = append(f.Proof.Unfit, pointer), false
}

// signed writes a signature for a mapping on one line, without its braces.
func signed(s contract.Signature) string {
	text := "statuses: " + flow(s.Statuses)
	if len(s.Where) > 0 {
		text += ", where: " + literal(s.Where)
	}
	return text
}

// promises writes what was seen.
func (l learnt) promises(f *File) {
	level := contract.Idempotent
	if len(l.existing.Statuses) > 0 && !f.Draft.Keyed() {
		level = contract.DedupOnly
	}
	f.line("  level: %s # what follows was seen when the create was repeated; nothing else is promised", level)
	if l.natural != nil {
		why := "another create with the same value made no second row"
		if len(l.natural) > 1 {
			why = "another create with the same values made no second row"
		}
		switch path := slices.Equal(l.natural, []string{contract.WholePath}); {
		case path && f.Draft.Changes():
			why = "a change of one thing, however often it is sent"
		case path:
			why = "another create at the same path made no second row"
		case l.constrained:
			why = "the database refuses a second row with the same, and another create made none"
		}
		f.line("  natural_key: %s # %s", literal(l.natural), why)
		if len(l.ignores) > 0 {
			f.line("  natural_key_ignores: %s # in another spelling it was the same", literal(l.ignores))
		}
	}
	if l.replay != "" {
		f.line("  replay: {%s} # the same request again", l.replay)
	}
	if len(l.existing.Statuses) > 0 {
		at := ""
		if l.existingAt != "" {
			at = ", identity: " + literal(l.existingAt)
		}
		f.line("  existing: {%s%s} # the value is taken", signed(l.existing), at)
	}
	switch {
	case len(l.mismatch.Statuses) > 0:
		f.line("  fingerprint: {on_mismatch: reject, %s} # another body under the same key", signed(l.mismatch))
	case l.original:
		f.line("  fingerprint: {on_mismatch: replay-original} # another body under the same key gets the first one's answer")
	}
	if len(l.inProgress.Statuses) > 0 {
		f.line("  in_progress: {mode: reject, %s} # while the first request runs", signed(l.inProgress))
		if f.Start != nil {
			f.line("  # lease: 5m # how long a request that died may block its key, as its lock or claim lives; left out, it is a minute, and crashes show keys that are blocked for longer")
		}
	}
	if len(l.missing.Statuses) > 0 {
		f.line("  missing_key: {%s}", signed(l.missing))
	}
}

// Naming reports that two creates with the same marker would be one, by the database's own constraint.
func Naming(f File) bool {
	text := f.NaturalKey(Repeated{})
	return len(text) == 1 && text[0] == f.Proof.Text
}

// Single reports that the database lets a marker in once, alone or together with what two equal bodies have in common.
func Single(f File) bool {
	return slices.ContainsFunc(f.Proof.Table.Keys(), func(columns []string) bool {
		return slices.Contains(columns, f.Proof.Column)
	})
}

// Kept is the column of a member that an altered body changes, and the text of its value in a body that is not altered; no column:
// none is known.
func Kept(f File) (column, value string) {
	if f.settle() != nil || f.alter == nil || f.alter.column == "" {
		return "", ""
	}
	own, _ := jsonpointer.Resolve(f.Draft.Body, f.alter.Pointer)
	return f.alter.column, fmt.Sprint(own)
}

// Same reports that a text of a row is what a request said: 12.50 is 12.5.
func Same(stored, said string) bool {
	const longest = 64
	if stored == said || max(len(stored), len(said)) > longest || !decimal.MatchString(stored) || !decimal.MatchString(said) {
		return stored == said
	}
	a, _ := new(big.Rat).SetString(stored)
	b, _ := new(big.Rat).SetString(said)
	return a.Cmp(b) == 0
}

// decimal matches a number as databases and JSON write an amount.
var decimal = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?$`)

// Twice reports that a number, as a database writes it, is two times another.
func Twice(stored, said string) bool {
	sum, is := new(big.Rat).SetString(stored)
	one, too := new(big.Rat).SetString(said)
	return is && too && one.Sign() != 0 && sum.Cmp(one.Add(one, one)) == 0
}

// FindByReference lets all bodies of an intent carry one text, where that makes them one and another column says which body it was.
func FindByReference(f *File, natural []string) {
	column, _ := Kept(*f)
	if column != "" && f.Draft.Number == "" && f.Proof.Exact && slices.Contains(natural, f.Proof.Text) {
		f.Proof.ByReference = true
	}
}

// SameThing reports that two answers are about one thing.
func SameThing(f *File, a, b Answer) bool {
	return a.Done() && b.Done() && f.name(a) != "" && f.name(a) == f.name(b)
}

// SameAgain reports that the second answer is that to a repetition of the first, where nothing in answers names what was created: they have one
// body, and the status says that it is there. What is only accepted may become a row later, and a row that is found by the natural key is not
// found by another spelling of it.
func SameAgain(f *File, r Repeated, a, b Answer) bool {
	natural := f.NaturalKey(r)
	return f.name(a) == "" && a.Done() && b.Done() && b.Status == r.Again.Status && b.Status != http.StatusAccepted && a.says(b) && !slices.Contains(natural, f.Proof.Text)
}
