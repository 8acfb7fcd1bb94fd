package checker

import (
	"cmp"
	"net/http"
	"slices"
	"sync"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// whole is what is known of all intents of a history, and what was found in its parts.
// While parts are judged for the first time it is not complete: a rule that asks for more
// than is known (see asking) has its part judged again. note and add are called by one
// goroutine, part after part; parts that are being judged read it, and so it is changed
// only in between.
type whole struct {
	parts Parts
	head  *history.History
	terms Terms
	known []KnownBug
	kept  *evaluation // of the only part; nil: there are several
	leaky bool        // principals could be shown what is another's
	waits bool        // no part can be judged before all were seen

	ready   bool   // all parts were seen
	unknown *whole // what a rule is told before
	facts

	sum    tally
	every  bool     // a finding is about all intents
	shards []*whole // the runs that share the intents, each judged; nil: this is the only one
}

// facts is what parts say of all intents: sums and first occurrences, so that they need no
// memory for each intent.
type facts struct {
	sessions    map[string]*session
	attempts    int
	entry       entry
	received    int64 // requests that reached the target whole
	fresh       []freshCreate
	freshIDs    map[string]bool // of their intents
	through     [2]through
	twoKeysDone bool           // a request with two keys may have made something
	alone       map[int]string // first intent that was rejected alone, by status
	hanging     []*hanging
	sent        int // requests,
	silent      int // and of them those that were never answered
	deaths      []deathNote
	cuts        []setback
	leaks       introductions
	nobodys     []history.Message // that reached the sinks and belong to no intent
	removals    unclearRemovals
	priors      string // least marker that was in the database before the run
	withIDs     map[string]bool
	idsLock     sync.RWMutex // of withIDs
	names       map[sharedName]toldName
}

// freshCreate is a plain create that was sent beside keys without a final answer.
type freshCreate struct {
	start, end history.Offset
	through    bool
}

// through is the latest first acknowledgement of an intent with a key.
type through struct {
	key   string
	start history.Offset
}

// entry counts the answers of a target that may let no request in.
type entry struct {
	answered int
	inside   bool // a request may have got in
	stranger bool // one without the credential was answered
}

// newWhole knows what stands in the head of a history. Three things make all parts wait
// until each was seen, and so be read twice: leaks take the names of all principals, a
// process that died takes all requests, and a single part is kept anyway.
func newWhole(p Parts, t Terms, known []KnownBug) *whole {
	h := p.Head()
	w := &whole{
		parts: p, head: h, terms: t, known: known, sum: newTally(known),
		facts: facts{
			sessions: map[string]*session{}, alone: map[int]string{}, freshIDs: map[string]bool{}, withIDs: map[string]bool{},
			names: map[sharedName]toldName{}, deaths: make([]deathNote, len(h.Deaths)),
			leaks: introductions{markers: introducedBy{}, identities: introducedBy{}, longIdentities: introducedBy{}, acknowledged: introducedBy{}},
		},
	}
	w.unknown = &whole{parts: p, head: h, terms: t, known: known, facts: facts{deaths: w.deaths}}
	w.leaky = t.Contract.Scope.Principal != contract.ScopeShared && p.Several()
	w.waits = w.leaky || len(h.Deaths) > 0 || p.Len() == 1 // one part stays in memory, so that it waits for nothing
	return w
}

// asking returns the whole for a rule that needs all of it. Where it is not complete, the rule gets an empty one, and the part is
// judged again.
func (e *evaluation) asking() *whole {
	if !e.whole.ready {
		e.asked = true
		return e.whole.unknown
	}
	return e.whole
}

// note takes in what a part says of all intents. Parts come in their order, each once:
// "first" then means the same as if all had been judged at once.
func (w *whole) note(e *evaluation) {
	if w.parts.Len() == 1 {
		w.kept = e
	}
	w.attempts += len(e.history.Attempts)
	for i := range e.history.Attempts {
		a := &e.history.Attempts[i]
		w.noteEntry(a)
		// Only a whole request is counted by a target.
		if p := a.Passage; p != nil && a.Sent > 0 && p.Up >= a.Sent {
			w.received++
		}
		if k := a.Cut; k != nil && k.Connections > 0 && k.Answer && w.terms.Contract.AfterUnknownCommit == contract.AtLeastOnce {
			w.cuts = append(w.cuts, setback{line: "after_unknown_commit", at: k.At, link: true})
		}
	}
	w.cuts = slices.Compact(w.cuts)
	for marker := range e.presentBefore {
		if w.priors == "" || marker < w.priors {
			w.priors = marker
		}
	}
	w.removals.add(e.removals)
	w.nobodys = append(w.nobodys, e.messages.unclaimed...)
	for tr := range e.traces() {
		w.noteVisits(tr)
		w.noteFresh(tr)
		w.noteThrough(tr)
		w.twoKeysDone = w.twoKeysDone || hasTwoKeys(tr) && !failedForNothing(e, tr)
		w.noteHanging(e, tr)
		w.noteDeaths(e, tr)
		w.noteNames(e, tr)
		if w.leaky {
			collectIntroductions(e, tr, w.leaks)
		}
	}
	for _, mg := range e.groups {
		for _, tr := range mg.traces {
			if rejectedAlone(tr, mg.traces) {
				if status := rejection(tr).Status; w.alone[status] == "" {
					w.alone[status] = tr.intent.ID
				}
			}
		}
	}
}

// complete draws the conclusions, once all parts were noted.
func (w *whole) complete() {
	w.ready = true
	for who, s := range w.sessions {
		s.conclude(w.head.Steps, who)
	}
}

// noteFresh notes plain creates with a fresh key.
func (w *whole) noteFresh(tr *trace) {
	if !tr.intent.Fresh {
		return
	}
	w.freshIDs[tr.intent.ID] = true
	for _, a := range tr.attempts {
		w.fresh = append(w.fresh, freshCreate{start: a.Start, end: a.End, through: a.is(Acknowledged, Accepted)})
	}
}

// noteThrough notes when a key got through: of the latest, and of the latest with another key.
func (w *whole) noteThrough(tr *trace) {
	got := slices.IndexFunc(tr.attempts, func(a *classified) bool { return a.outcome == Acknowledged })
	if got < 0 {
		return
	}
	one := through{tr.attempts[got].Key, tr.attempts[got].Start}
	first, second := &w.through[0], &w.through[1]
	switch {
	case one.start > first.start && one.key == first.key:
		*first = one
	case one.start > first.start:
		*first, *second = one, *first
	case one.key != first.key && one.start > second.start:
		*second = one
	}
}

// throughSince reports that another key got through after a moment.
func (w *whole) throughSince(key string, since history.Offset) bool {
	return slices.ContainsFunc(w.through[:], func(t through) bool { return t.key != key && t.start > since })
}

// noteEntry notes an answer that rejected a request at the entry (401, 403, 404), or that
// a request may have got in. If none ever does, the target file is wrong, and nothing was
// tested.
func (w *whole) noteEntry(a *history.Attempt) {
	if p := a.Passage; w.entry.inside || !a.Complete && p != nil && p.Opened != 0 && p.Up < a.Sent {
		return // the tap saw that it did not reach the target whole
	}
	if !a.Complete {
		w.entry.inside = a.Sent > 0 // it may have got in
		return
	}
	w.entry.inside = !slices.Contains([]int{401, 403, 404}, a.Status) && !w.terms.Unauthenticated(*a) || missesKey(w, a)
	w.entry.answered++
	w.entry.stranger = w.entry.stranger || a.Body == history.NoCredential
}

// missesKey reports that an answer says that the key is missing, and not that the credentials are wrong: a member tells, or the same credentials
// had let a plain create in just before, and this request had no key.
func missesKey(w *whole, a *history.Attempt) bool {
	missing := w.terms.Contract.MissingKey
	let := a.Key == "" && a.Status != http.StatusUnauthorized && w.head.Run.Normal > 0
	said := answerOf(a)
	return (missing.Narrowed() || let) && said.bears(missing) || let && lacksKey(&w.terms, a) && said.bears(w.terms.Contract.Existing.Signature)
}

// neverReached reports that every request was rejected at the entry: then nothing was tested.
func (w *whole) neverReached() bool { return !w.entry.inside && w.entry.answered > 0 }

// namesRows reports that a row of an operation has an identity. Where none has, the target file names no column that is one.
func (w *whole) namesRows(e *evaluation, operation string) bool {
	if e.named == nil {
		e.named = map[string]bool{}
		for tr := range e.traces() {
			if !e.named[tr.intent.Operation] && namedRow(e, tr) {
				e.named[tr.intent.Operation] = true
			}
		}
	}
	if e.named[operation] || w.knowsIDs(operation) {
		return true
	}
	return e.asking().knowsIDs(operation)
}

// knowsIDs reports that a row of an operation had an identity so far.
func (w *whole) knowsIDs(operation string) bool {
	w.idsLock.RLock()
	defer w.idsLock.RUnlock()
	return w.withIDs[operation]
}

// sharedName is a name that an answer has for a row, where rows have none to compare with.
type sharedName struct{ operation, principal, path, identity string }

// toldName is the first attempt that was told a name.
type toldName struct{ attempt, intent string }

// noteNames notes what rows are called and, as long as no row of an operation has a name, what answers call them.
func (w *whole) noteNames(e *evaluation, tr *trace) {
	operation := tr.intent.Operation
	if w.knowsIDs(operation) {
		return
	}
	if namedRow(e, tr) {
		w.idsLock.Lock()
		w.withIDs[operation] = true
		w.idsLock.Unlock()
		for of := range w.names {
			if of.operation == operation {
				delete(w.names, of)
			}
		}
		return
	}
	if !oneRow(e, tr) {
		return
	}
	for _, a := range withOutcome(tr.attempts, Acknowledged) {
		of := nameOf(tr, a)
		if _, told := w.names[of]; !told && a.identity != "" {
			w.names[of] = toldName{attempt: a.ID, intent: a.Intent}
		}
	}
}

// setbacks lists those that the contract names, in the order of time.
func (w *whole) setbacks() []setback {
	c, all := w.terms.Contract, []setback(nil)
	if w.ready { // before, a rule that needs them has its part judged again
		all = slices.Clone(w.cuts)
	}
	if c.AfterCrash == contract.AtLeastOnce {
		for _, k := range w.head.Crashes {
			all = append(all, setback{line: "after_crash", at: k.Struck, ends: true})
		}
		for _, d := range w.head.Deaths {
			all = append(all, setback{line: "after_crash", at: d.At, ends: true})
		}
	}
	if c.AfterFlush == contract.AtLeastOnce {
		for _, f := range w.head.Flushes {
			if f.Done != 0 && f.Deleted > 0 {
				all = append(all, setback{line: "after_flush", at: f.Begun})
			}
		}
	}
	slices.SortFunc(all, func(a, b setback) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.line, b.line)) })
	all = slices.Compact(all) // one cut is on the record of each request beside it
	return slices.DeleteFunc(all, func(s setback) bool { return s.at == 0 })
}
