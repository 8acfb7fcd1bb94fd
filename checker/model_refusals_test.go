package checker_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// correcting sends a mistake, and then the corrected body under the same key, late copies of the mistake among them.
func correcting(w *world) {
	i := w.intent(1, "dtone", false)
	w.story.Intents[0].Bodies[history.Invalid] = history.Body{Marker: "dtonemistaken"}
	for range 1 + w.IntN(3) {
		w.wait(w.send(i, "k1", history.Invalid, false, 0))
	}
	for range 1 + w.IntN(3) {
		r := w.send(i, "k1", history.Original, false, 0)
		if w.chance(0.2) {
			w.send(i, "k1", history.Invalid, false, 0)
		}
		if w.chance(0.7) {
			w.wait(r)
		}
	}
}

// refusing looks at a body under the lock of its key.
type refusing struct {
	stored   bool // its refusals are
	executes bool // another body in place of a refusal
	leaves   bool // a row of what it refuses
}

func (d refusing) handle(w *world, r *request) {
	r.pause()
	w.underLock(r, func() {
		rec := w.records[r.key]
		invalid := r.body == history.Invalid
		switch {
		case rec != nil && rec.body != r.body && !(d.executes && rec.body == history.Invalid):
			w.respond(r, fault(422, "mismatch"))
			return
		case rec != nil && rec.body == r.body:
			w.respond(r, rec.answer)
			return
		case invalid && d.leaves:
			w.insert(r)
			w.respond(r, fault(400, "invalid"))
			return
		case invalid && !d.stored:
			w.respond(r, fault(400, "invalid"))
			return
		case w.fails(0.1):
			w.respond(r, fault(500, "rolled back"))
			return
		}
		r.pause()
		said := fault(400, "invalid")
		if !invalid {
			said = created(201, w.insert(r))
		}
		w.records[r.key] = &record{done: true, body: r.body, answer: said}
		r.pause()
		w.respond(r, said)
	})
}

// A row of an invalid body is never right, unless the target may have taken that body for a valid one.
func TestARowOfARefusedBodyIsNeverRight(t *testing.T) {
	t.Parallel()
	d := design{name: "refusal-forgotten", terms: modelTerms(forgets4xx), handle: refusing{}.handle, plans: []plan{correcting}}
	judged := 0
	for seed := range uint64(300) {
		w := play(d, seed)
		unclear := slices.ContainsFunc(w.story.Attempts, func(a history.Attempt) bool {
			return a.Body == history.Invalid && d.terms.Classify(a) == checker.Unknown
		})
		if unclear {
			continue
		}
		judged++
		w.story.T2.Rows[w.story.Intents[0].Bodies[history.Invalid].Marker] = []history.Row{{"id": "another"}}
		require.NotEqual(t, checker.Pass, check(w.story, d.terms).Verdict, "seed %d", seed)
	}
	require.Greater(t, judged, 50)
}
