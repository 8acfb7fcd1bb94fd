package checker_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// remembered is for how many ticks of the world a key is remembered.
const remembered = 30

func expiringAfter(then contract.AfterExpiry) func(*checker.Terms) {
	return func(t *checker.Terms) { t.Contract.Expiry = contract.Expiry{After: remembered, Then: then} }
}

// returning are requests with pauses between them in which a key may be forgotten.
func returning(w *world) {
	i := w.intent(1, "dtone", false)
	for range 2 + w.IntN(5) {
		r := w.send(i, "k1", history.Original, false, 0)
		if w.chance(0.7) {
			w.wait(r)
		}
		for range w.IntN(2 * remembered) {
			w.tick()
		}
	}
}

// forgetful remembers a key for so long since it was claimed, and then executes again or refuses.
type forgetful struct{ reject bool }

func (d forgetful) handle(w *world, r *request) {
	r.pause()
	rec := w.records[r.key]
	expired := rec != nil && rec.done && w.clock-rec.at >= remembered
	switch {
	case expired && d.reject:
		w.respond(r, fault(412, "expired"))
		return
	case expired:
	case rec != nil && rec.done:
		w.respond(r, created(201, rec.row))
		return
	case rec != nil && rec.owner != nil:
		w.respond(r, fault(409, "in_progress"))
		return
	}
	rec = &record{owner: r, at: w.clock}
	w.records[r.key] = rec
	r.pause()
	if w.fails(0.1) {
		delete(w.records, r.key)
		w.respond(r, fault(500, "rolled back"))
		return
	}
	rec.row, rec.done = w.insert(r), true
	r.pause()
	w.respond(r, created(201, rec.row))
}

// twoPrincipals send intents of their own with one key.
func twoPrincipals(w *world) {
	intents := []intent{w.intent(1, "dtone", false), w.intent(2, "dttwo", false)}
	for n, who := range []string{"p", "q"} {
		intents[n].who = who
		w.story.Intents[n].Principal, w.story.Intents[n].Kin = who, intents[0].id
	}
	for range 2 + w.IntN(4) {
		r := w.send(intents[w.IntN(2)], "k1", history.Original, false, 0)
		if w.chance(0.5) {
			w.wait(r)
		}
	}
}

// scoping keeps the keys of principals apart, or refuses what another one has used.
type scoping struct{ reject bool }

func (d scoping) handle(w *world, r *request) {
	r.pause()
	key := r.who + "/" + r.key
	if d.reject {
		key = r.key
	}
	rec := w.records[key]
	switch {
	case rec != nil && rec.who != r.who:
		w.respond(r, fault(409, "unavailable"))
		return
	case rec != nil && rec.done:
		w.respond(r, created(201, rec.row))
		return
	case rec != nil && rec.owner != nil:
		w.respond(r, fault(409, "in_progress"))
		return
	}
	rec = &record{owner: r, who: r.who}
	w.records[key] = rec
	r.pause()
	rec.row, rec.done = w.insert(r), true
	r.pause()
	w.respond(r, created(201, rec.row))
}

// promising takes a request and does it later; the operation outlives the process.
func promising(w *world, r *request) {
	r.pause()
	if w.records[r.key] == nil {
		w.records[r.key] = &record{state: "running", row: fact{marker: r.marker, ref: r.ref}}
	}
	r.pause()
	w.respond(r, reply{status: 202, content: fmt.Sprintf(`{"operation":%q}`, r.key)})
}

// follow lets everything that was accepted come to its end, and asks what became of it.
func (w *world) follow() {
	for _, key := range slices.Sorted(maps.Keys(w.records)) {
		rec := w.records[key]
		if rec.state != "running" {
			continue
		}
		rec.state = "failed"
		if w.chance(0.8) {
			f := w.insert(&request{marker: rec.row.marker, ref: rec.row.ref})
			rec.state, rec.row.id = "done", f.id
		}
	}
	followed := map[string]bool{}
	for _, f := range w.story.Followups {
		followed[f.Attempt] = true
	}
	for _, a := range w.story.Attempts {
		if a.Status != 202 || !a.Complete || followed[a.ID] {
			continue
		}
		rec := w.records[a.Key]
		w.story.Followups = append(w.story.Followups, history.Followup{
			Attempt: a.ID, At: w.tick(), Tries: 1, Status: 200, Complete: true,
			Content: fmt.Sprintf(`{"state":%q,"thing":%q}`, rec.state, rec.row.id),
		})
	}
}
