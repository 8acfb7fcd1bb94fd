package checker_test

import (
	"github.com/doubletap-harness/doubletap/checker"
)

// brokenDesigns are the model's mutants, each with the findings of which it must show one.
func brokenDesigns() []design {
	sequel := []plan{retries, burst}
	alter := []plan{alteredAfter}
	return []design{
		{name: "key-check-then-act", handle: checkThenAct, plans: sequel, kinds: []checker.Kind{checker.Duplicate}},
		{name: "record-saved-after-commit", handle: recordAfterCommit, plans: sequel, kinds: []checker.Kind{checker.Duplicate}},
		{name: "lock-without-recheck", handle: lockWithoutRecheck, plans: sequel, kinds: []checker.Kind{checker.Duplicate}},
		{name: "key-released-on-ambiguous-error", handle: releasedOnError, plans: sequel, kinds: []checker.Kind{checker.Duplicate}},
		{name: "response-recorded-before-commit", handle: recordedBeforeCommit, plans: sequel, kinds: []checker.Kind{checker.LostWrite}},
		{name: "dedup-in-other-transaction", handle: dedupElsewhere, plans: sequel, kinds: []checker.Kind{checker.LostWrite}},
		{name: "dedup-in-other-transaction-told-exists", handle: dedupElsewhereToldExists, plans: sequel, kinds: []checker.Kind{checker.LostWrite, checker.FalseConflict}},
		{name: "in-progress-stuck", terms: modelTerms(leaseOver), handle: inProgressStuck, plans: sequel, kinds: []checker.Kind{checker.StuckKey, checker.RefusedThoughDone}},
		{name: "lock-fail-returns-success", handle: lockFailSucceeds, plans: []plan{burst}, kinds: []checker.Kind{checker.LostWrite}},
		{name: "ack-before-commit", handle: ackBeforeCommit, plans: sequel, kinds: []checker.Kind{checker.LostWrite}},
		{name: "internal-retry-after-unknown-commit", handle: internalRetry, plans: sequel, kinds: []checker.Kind{checker.Duplicate}},
		{name: "internal-retry-told-exists", handle: internalRetryToldExists, plans: []plan{retries}, kinds: []checker.Kind{checker.PhantomRow}},
		{name: "mismatch-overwrites", handle: mismatchOverwrites, plans: alter, kinds: []checker.Kind{checker.AlteredBody}},
		{name: "mismatch-creates-row", handle: mismatchCreates, plans: alter, kinds: []checker.Kind{checker.Duplicate}},
		{name: "mismatch-not-detected", handle: claiming{anyBody: true}.handle, plans: alter, kinds: []checker.Kind{checker.AlteredBody}},
		{name: "replay-echoes-request", handle: replayEchoes, plans: alter, kinds: []checker.Kind{checker.ReplayMismatch}},
		{name: "replay-status-changed", handle: claiming{replayStatus: 200}.handle, plans: sequel, kinds: []checker.Kind{checker.ReplayMismatch}},
		{name: "replay-path-crashes", handle: replayCrashes, plans: sequel, kinds: []checker.Kind{checker.RefusedThoughDone}},
		{name: "duplicates-without-a-crash", terms: modelTerms(againAfterCrash), handle: checkThenAct, plans: sequel, kinds: []checker.Kind{checker.Duplicate}, repeats: true},
		{name: "loses-after-a-crash", terms: modelTerms(againAfterCrash), handle: ackBeforeCommit, plans: sequel, kinds: []checker.Kind{checker.LostWrite}, repeats: true},
		{name: "decline-executed-again", terms: modelTerms(declines), handle: declining{}.handle, plans: sequel, kinds: []checker.Kind{checker.Duplicate}},
		{name: "refusal-stored", terms: modelTerms(forgets4xx), handle: refusing{stored: true}.handle, plans: []plan{correcting}, kinds: []checker.Kind{checker.StoredError}},
		{name: "refusal-corrected-executes", terms: modelTerms(store4xx), handle: refusing{stored: true, executes: true}.handle, plans: []plan{correcting}, kinds: []checker.Kind{checker.AlteredBody}},
		{name: "refusal-leaves-row", handle: refusing{leaves: true}.handle, plans: []plan{correcting}, kinds: []checker.Kind{checker.PhantomRow}},
		{name: "content-dedup", handle: contentDedup, plans: []plan{twins}, kinds: []checker.Kind{checker.LostWrite}},
	}
}

// replayed answers from the record, if there is one.
func (w *world) replayed(r *request) bool {
	rec := w.records[r.key]
	if rec == nil || !rec.done {
		return false
	}
	w.respond(r, created(201, rec.row))
	return true
}

func (w *world) save(r *request, f fact) {
	w.records[r.key] = &record{done: true, row: f, body: r.body}
}

func checkThenAct(w *world, r *request) {
	if r.pause(); w.replayed(r) {
		return
	}
	r.pause()
	f := w.insert(r)
	w.save(r, f)
	w.respond(r, created(201, f))
}

func (w *world) underLock(r *request, work func()) {
	for !w.lock(r.key, r) {
		r.pause()
	}
	work()
	w.unlock(r.key, r)
}

func recordAfterCommit(w *world, r *request) {
	r.pause()
	w.underLock(r, func() {
		if w.replayed(r) {
			return
		}
		f := w.insert(r)
		r.pause()
		w.save(r, f)
		w.respond(r, created(201, f))
	})
}

func lockWithoutRecheck(w *world, r *request) {
	if r.pause(); w.replayed(r) {
		return
	}
	w.underLock(r, func() {
		r.pause()
		f := w.insert(r)
		w.save(r, f)
		w.respond(r, created(201, f))
	})
}

func releasedOnError(w *world, r *request) {
	r.pause()
	w.underLock(r, func() {
		if w.replayed(r) {
			return
		}
		f := w.insert(r)
		if w.fails(0.3) {
			w.respond(r, fault(500, "the answer to the commit was lost"))
			return
		}
		w.save(r, f)
		w.respond(r, created(201, f))
	})
}

func recordedBeforeCommit(w *world, r *request) {
	r.pause()
	w.underLock(r, func() {
		if w.replayed(r) {
			return
		}
		w.save(r, fact{id: "o1", marker: r.marker})
		r.pause()
		if w.fails(0.3) {
			w.respond(r, fault(500, "the commit failed"))
			return
		}
		w.respond(r, created(201, w.insert(r)))
	})
}

// dedupElsewhere commits the key first; a repetition is told "done" without a look at the row.
func dedupElsewhere(w *world, r *request) {
	w.dedup(r, reply{status: 200})
}

func dedupElsewhereToldExists(w *world, r *request) {
	w.dedup(r, fault(409, "exists"))
}

func (w *world) dedup(r *request, repetition reply) {
	r.pause()
	if w.records[r.key] != nil {
		w.respond(r, repetition)
		return
	}
	w.records[r.key] = &record{}
	if w.fails(0.3) {
		w.respond(r, fault(500, "the row was rolled back"))
		return
	}
	w.respond(r, created(200, w.insert(r)))
}

func inProgressStuck(w *world, r *request) {
	if r.pause(); w.replayed(r) {
		return
	}
	if w.records[r.key] != nil {
		w.respond(r, fault(409, "in_progress"))
		return
	}
	w.records[r.key] = &record{}
	r.pause()
	f := w.insert(r)
	w.save(r, f)
	w.respond(r, created(201, f))
}

func lockFailSucceeds(w *world, r *request) {
	r.pause()
	if !w.lock(r.key, r) {
		w.respond(r, reply{status: 201})
		return
	}
	defer w.unlock(r.key, r)
	if w.replayed(r) {
		return
	}
	r.pause()
	if w.fails(0.4) {
		w.respond(r, fault(500, "rolled back"))
		return
	}
	f := w.insert(r)
	w.save(r, f)
	w.respond(r, created(201, f))
}

func ackBeforeCommit(w *world, r *request) {
	r.pause()
	w.underLock(r, func() {
		if w.replayed(r) {
			return
		}
		f := fact{id: "o1", marker: r.marker}
		w.respond(r, created(201, f))
		r.pause()
		if !w.fails(0.3) {
			w.save(r, w.insert(r))
		}
	})
}

func internalRetry(w *world, r *request) {
	r.pause()
	w.underLock(r, func() {
		if w.replayed(r) {
			return
		}
		f := w.insert(r)
		if w.chance(0.2) {
			f = w.insert(r)
		}
		w.save(r, f)
		w.respond(r, created(201, f))
	})
}

func internalRetryToldExists(w *world, r *request) {
	r.pause()
	if _, there := w.byRef(r.ref); there {
		w.respond(r, fault(409, "exists"))
		return
	}
	f := w.insert(r)
	if w.chance(0.3) {
		w.respond(r, fault(409, "exists"))
		return
	}
	w.respond(r, created(201, f))
}

func mismatchOverwrites(w *world, r *request) {
	r.pause()
	for i, f := range w.rows {
		if f.ref == r.ref {
			w.rows[i].marker = r.marker
			w.respond(r, created(201, w.rows[i]))
			return
		}
	}
	w.respond(r, created(201, w.insert(r)))
}

func mismatchCreates(w *world, r *request) {
	r.pause()
	r.key += r.body
	if w.replayed(r) {
		return
	}
	f := w.insert(r)
	w.save(r, f)
	w.respond(r, created(201, f))
}

func replayEchoes(w *world, r *request) {
	r.pause()
	if rec := w.records[r.key]; rec != nil {
		w.respond(r, created(201, fact{id: rec.row.id, marker: r.marker}))
		return
	}
	f := w.insert(r)
	w.save(r, f)
	w.respond(r, created(201, f))
}

func replayCrashes(w *world, r *request) {
	r.pause()
	if w.records[r.key] != nil {
		w.respond(r, fault(500, "cannot read the record"))
		return
	}
	f := w.insert(r)
	w.save(r, f)
	w.respond(r, created(201, f))
}

// contentDedup takes equal bodies for the same intent, whatever their keys.
func contentDedup(w *world, r *request) {
	r.pause()
	for _, f := range w.rows {
		if f.marker == r.marker {
			w.respond(r, created(201, f))
			return
		}
	}
	w.respond(r, created(201, w.insert(r)))
}

// statuses lists the statuses of acknowledgements, seen without the checker's comparison.
func (w *world) statuses() map[int]bool {
	statuses := map[int]bool{}
	for _, a := range w.story.Attempts {
		if w.design.terms.Classify(a) == checker.Acknowledged {
			statuses[a.Status] = true
		}
	}
	return statuses
}
