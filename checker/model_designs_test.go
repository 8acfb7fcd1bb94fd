package checker_test

import (
	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
)

func modelTerms(changes ...func(*checker.Terms)) checker.Terms {
	return terms(append([]func(*checker.Terms){func(t *checker.Terms) { t.Operation.Rows.Content = nil }}, changes...)...)
}

// leaseOver says that an execution that died blocks its key for less than a final retry takes.
func leaseOver(t *checker.Terms) { t.Contract.Lease = 1 }

// correctDesigns are servers that keep every promise of their contract.
func correctDesigns() []design {
	alter := []plan{retries, burst, twins, alteredAfter, alteredRace}
	natural := []plan{retries, burst, tabs}
	return []design{
		{name: "in-progress-409", terms: modelTerms(), handle: claiming{}.handle, plans: alter},
		{name: "in-progress-409-marked", terms: modelTerms(replayMarked), handle: claiming{marked: true}.handle, plans: alter},
		{name: "in-progress-409-no-fingerprint", terms: modelTerms(replayFirst, replayMarked), handle: claiming{marked: true, anyBody: true}.handle, plans: alter},
		{name: "wait-and-replay", terms: modelTerms(), handle: waiting, plans: alter},
		{name: "first-201-then-200", terms: modelTerms(replayStatus(201, 200)), handle: claiming{replayStatus: 200}.handle, plans: alter},
		{name: "natural-key-told-exists", terms: modelTerms(naturalKey), handle: uniqueReference, plans: natural},
		{name: "natural-key-told-exists-without-keys", terms: modelTerms(naturalKey, dedupOnly), handle: uniqueReference, plans: natural, keyless: true},
		{name: "upsert", terms: modelTerms(naturalKey, replayStatus(201, 200)), handle: upsert, plans: natural},
		{name: "stored-5xx", terms: modelTerms(store5xx), handle: storingErrors},
		{name: "unstored-5xx", terms: modelTerms(), handle: claiming{fails: 0.4}.handle, plans: alter},
		{name: "resume", terms: modelTerms(), handle: resuming},
		{name: "key-expires", terms: modelTerms(expiringAfter(contract.ExpiryExecute)), handle: forgetful{}.handle, plans: []plan{returning, burst}, repeats: true},
		{name: "key-expires-undeclared", terms: modelTerms(expiringAfter("")), handle: forgetful{}.handle, plans: []plan{returning, burst}, repeats: true},
		{name: "key-expires-rejected", terms: modelTerms(expiringAfter(contract.ExpiryReject)), handle: forgetful{reject: true}.handle, plans: []plan{returning, burst}},
		{name: "own-keys-of-principals", terms: modelTerms(scoped(contract.ScopeSeparate, "")), handle: scoping{}.handle, plans: []plan{twoPrincipals}},
		{name: "foreign-keys-rejected", terms: modelTerms(scoped(contract.ScopeReject, "")), handle: scoping{reject: true}.handle, plans: []plan{twoPrincipals}},
		{name: "accepted-202", terms: modelTerms(accepting), handle: promising, plans: []plan{retries, burst, twins}},
		{name: "at-least-once-after-crash", terms: modelTerms(againAfterCrash), handle: recordAfterCommit, plans: []plan{retries, burst, twins}, repeats: true, excused: true},
		{name: "declines-some", terms: modelTerms(declines), handle: declining{recorded: true}.handle, plans: []plan{retries, burst, twins}},
		{name: "refusal-forgotten", terms: modelTerms(forgets4xx), handle: refusing{}.handle, plans: []plan{correcting, retries}},
		{name: "refusal-stored-undeclared", terms: modelTerms(), handle: refusing{stored: true}.handle, plans: []plan{correcting, retries}},
		{name: "refusal-kept", terms: modelTerms(store4xx), handle: refusing{stored: true}.handle, plans: []plan{correcting, retries}},
		{name: "no-key-no-promise", terms: modelTerms(), handle: always, keyless: true, plans: []plan{retries, burst}},
	}
}

// claiming claims the key, works, and commits the row together with the record. A request that meets a
// claimed key is told to come back.
type claiming struct {
	marked, anyBody bool
	replayStatus    int
	fails           float64 // before the commit, which releases the key, and after it, which does not
}

func (d claiming) handle(w *world, r *request) {
	r.pause()
	if rec := w.records[r.key]; rec != nil && (rec.done || rec.owner != nil) {
		w.respond(r, d.repeat(w, r, rec))
		return
	}
	rec := &record{owner: r, body: r.body}
	w.records[r.key] = rec
	r.pause()
	if w.fails(d.fails + 0.05) {
		delete(w.records, r.key)
		w.respond(r, fault(500, "rolled back"))
		return
	}
	rec.row, rec.done = w.insert(r), true
	r.pause()
	if w.fails(d.fails) {
		w.respond(r, fault(500, "after the commit"))
		return
	}
	w.respond(r, created(201, rec.row))
}

func (d claiming) repeat(w *world, r *request, rec *record) reply {
	mismatch := rec.body != r.body && !d.anyBody
	switch {
	case mismatch && (rec.done || w.Uint64()%2 == 0):
		return fault(422, "mismatch")
	case !rec.done:
		return fault(409, "in_progress")
	}
	status := 201
	if d.replayStatus != 0 {
		status = d.replayStatus
	}
	a := created(status, rec.row)
	a.replay = d.marked
	return a
}

// waiting waits for the lock of the key and looks again under it.
func waiting(w *world, r *request) {
	for !w.lock(r.key, r) {
		r.pause()
	}
	r.pause()
	switch rec := w.records[r.key]; {
	case rec != nil && rec.body != r.body:
		w.respond(r, fault(422, "mismatch"))
	case rec != nil:
		w.respond(r, created(201, rec.row))
	case w.fails(0.1):
		w.respond(r, fault(500, "rolled back"))
	default:
		r.pause()
		f := w.insert(r)
		w.records[r.key] = &record{done: true, body: r.body, row: f}
		r.pause()
		w.respond(r, created(201, f))
	}
	w.unlock(r.key, r)
}

// uniqueReference leaves it to a unique index, and says so.
func uniqueReference(w *world, r *request) {
	r.pause()
	if f, there := w.byRef(r.ref); there {
		a := fault(409, "exists")
		if w.chance(0.5) {
			a.content = `{"error":"exists","id":"` + f.id + `"}`
		}
		w.respond(r, a)
		return
	}
	f := w.insert(r)
	r.pause()
	w.respond(r, created(201, f))
}

// upsert answers with the row that is there, of whichever request.
func upsert(w *world, r *request) {
	r.pause()
	f, there := w.byRef(r.ref)
	status := 200
	if !there {
		f, status = w.insert(r), 201
	}
	r.pause()
	w.respond(r, created(status, f))
}

// storingErrors stores whatever came of the first execution, errors included.
func storingErrors(w *world, r *request) {
	r.pause()
	rec := w.records[r.key]
	switch {
	case rec != nil && rec.done:
		w.respond(r, rec.answer)
		return
	case rec != nil && rec.owner != nil:
		w.respond(r, fault(409, "in_progress"))
		return
	}
	rec = &record{owner: r}
	w.records[r.key] = rec
	r.pause()
	rec.done = true
	switch w.IntN(3) {
	case 0:
		rec.answer = fault(500, "before the effect")
	case 1:
		w.insert(r)
		rec.answer = fault(500, "after the effect")
	default:
		rec.answer = created(201, w.insert(r))
	}
	r.pause()
	w.respond(r, rec.answer)
}

// declining declines some requests for good, with a row of the attempt or without one.
type declining struct {
	recorded bool // its declines are
}

func (d declining) handle(w *world, r *request) {
	r.pause()
	w.underLock(r, func() {
		if rec := w.records[r.key]; rec != nil {
			w.respond(r, rec.answer)
			return
		}
		r.pause()
		var f fact
		if w.chance(0.7) {
			f = w.insert(r)
		}
		said := created(201, f)
		if f.id == "" || w.chance(0.5) {
			said = fault(402, "declined")
		}
		if d.recorded || said.status == 201 {
			w.records[r.key] = &record{done: true, answer: said}
		}
		w.respond(r, said)
	})
}

// resuming goes on where the last execution of the key stopped.
func resuming(w *world, r *request) {
	r.pause()
	if !w.lock(r.key, r) {
		w.respond(r, fault(409, "in_progress"))
		return
	}
	rec := w.records[r.key]
	if rec == nil {
		rec = &record{row: w.insert(r)} // the row and the recovery point in one transaction
		w.records[r.key] = rec
	}
	r.pause()
	if !rec.done && w.fails(0.3) {
		w.unlock(r.key, r)
		w.respond(r, fault(502, "half done"))
		return
	}
	rec.done = true
	w.unlock(r.key, r)
	r.pause()
	w.respond(r, created(201, rec.row))
}

// always executes: without a key every request is an intent.
func always(w *world, r *request) {
	r.pause()
	if w.fails(0.1) {
		w.respond(r, fault(500, "rolled back"))
		return
	}
	f := w.insert(r)
	r.pause()
	w.respond(r, created(201, f))
}
