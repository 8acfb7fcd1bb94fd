package checker

import (
	"iter"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// sinceFinalRetry says that something appeared only with the final retry; empty before it.
func (e *evaluation) sinceFinalRetry(m moment) string {
	if t1 := e.history.T1; m == atT2 && t1 != nil && t1.Error == "" {
		return ", one of them made by the final retry"
	}
	return ""
}

// sharing returns the intents that used a key of this one as another principal, at another operation or under another
// parent.
func (e *evaluation) sharing(tr *trace) []*trace {
	var all []*trace
	for _, other := range e.neighbours[tr.intent.Kin] {
		apart := other.intent.Principal != tr.intent.Principal || other.intent.Operation != tr.intent.Operation || otherPath(tr, other)
		if apart && meet(tr, other, func(a, b *classified) bool { return equalKeys(a, b) && b.outcome != NotSent }) {
			all = append(all, other)
		}
	}
	return all
}

// otherPath reports that two intents of one principal were sent to one operation at different paths.
func otherPath(tr, other *trace) bool {
	a, b := tr.intent, other.intent
	return a.Principal == b.Principal && a.Operation == b.Operation && a.Bodies[history.Original].Path != b.Bodies[history.Original].Path
}

// link returns a link of the run by its name; the zero value: there is none.
func (e *evaluation) link(name string) history.Link {
	for _, l := range e.history.Run.Links {
		if l.Name == name {
			return l
		}
	}
	return history.Link{}
}

// crashBeside returns the crash that was planned beside an attempt.
func (e *evaluation) crashBeside(attempt string) (history.Crash, bool) {
	n := slices.IndexFunc(e.history.Crashes, func(k history.Crash) bool { return k.Attempt == attempt })
	if n < 0 {
		return history.Crash{}, false
	}
	return e.history.Crashes[n], true
}

// comparesBodies reports that the contract promises anything about the bodies of replays.
func (e *evaluation) comparesBodies() bool {
	body := e.terms.Contract.Replay.Body
	return e.terms.Contract.Level != contract.DedupOnly && body != contract.AnyBody && body != contract.SameIdentity
}

// overlapped reports that two requests were inside the target at once: each arrived before the other was answered.
// Without an upstream tap it uses the client's times, unless the lane adds latency to them.
func (e *evaluation) overlapped(a, b *classified) bool {
	beginA, endA, knownA := e.inside(a)
	beginB, endB, knownB := e.inside(b)
	return knownA && knownB && !notTried(a) && !notTried(b) && beginA < endB && beginB < endA
}

// inside returns when a request was inside the target, and whether that is known. The
// upstream tap's times are the best. The client's are taken only where the lane adds no
// latency: else two requests would seem to overlap that met on the way and not in the
// target.
func (e *evaluation) inside(a *classified) (begin, end history.Offset, known bool) {
	if p := observed(a); p != nil {
		end = p.Answered
		for _, o := range []history.Offset{p.Closed, p.Left} {
			if end == 0 {
				end = o
			}
		}
		return p.Arrived, end, arrived(a) && end != 0
	}
	if e.lane(a.Lane).Delay > 0 || a.Wrote == 0 || a.Replied == 0 {
		return 0, 0, false
	}
	return a.Wrote, a.Replied, true
}

// lane returns a lane of the run by its name; the zero value: there is none.
func (e *evaluation) lane(name string) history.Lane {
	for _, l := range e.history.Run.Lanes {
		if l.Name == name {
			return l
		}
	}
	return history.Lane{}
}

// committed reports that a row of the trace was there before the final retry.
func (e *evaluation) committed(tr *trace) bool {
	for _, b := range tr.intent.Bodies {
		if rows, known := e.rows(atT1, b.Marker); known && len(rows) > 0 {
			return true
		}
	}
	return false
}

// rowCount counts the rows of all bodies of a trace, and reports whether they are known.
func (e *evaluation) rowCount(m moment, tr *trace) (int, bool) {
	total := 0
	for _, body := range []string{history.Original, history.Altered} {
		if b, sent := tr.intent.Bodies[body]; sent {
			rows, known := e.rows(m, b.Marker)
			if !known {
				return 0, false
			}
			if body == history.Original || b.Marker != tr.intent.Bodies[history.Original].Marker {
				total += len(rows)
			}
		}
	}
	return total, true
}

// rowsOf returns the rows of one body of an intent at a moment, and whether they are known. Where both bodies have one
// marker, a row is that of the altered or invalid body only if it holds what no other says; where nothing says what a row holds, only if that
// body alone was acknowledged.
func (e *evaluation) rowsOf(m moment, tr *trace, body string) ([]history.Row, bool) {
	rows, known := e.rows(m, tr.intent.Bodies[body].Marker)
	name := history.Altered
	if _, sent := tr.intent.Bodies[history.Invalid]; sent { // no intent is sent with both
		name = history.Invalid
	}
	other, both := tr.intent.Bodies[name]
	if !both || other.Marker != tr.intent.Bodies[history.Original].Marker {
		return rows, known
	}
	var own []history.Row
	for _, row := range rows {
		changed := holds(tr, row, name) && !holds(tr, row, history.Original)
		if len(tr.operation.Rows.Content) == 0 {
			changed = has(withBody(tr.attempts, name), Acknowledged, Accepted) && !has(withBody(tr.attempts, history.Original), Acknowledged, Accepted)
		}
		if changed == (body == name) {
			own = append(own, row)
		}
	}
	return own, known
}

// moment is one of the two snapshots after the first attempt: T1 before the final retry,
// T2 after it.
type moment int

const (
	atT1 moment = iota
	atT2
)

// String returns the name that files have for the snapshot.
func (m moment) String() string {
	if m == atT1 {
		return history.T1Name
	}
	return history.T2Name
}

// markersBefore returns the markers that were in the database before the run. Their rows prove nothing.
func markersBefore(before *history.Snapshot) map[string]bool {
	markers := map[string]bool{}
	if before == nil {
		return markers
	}
	for marker, rows := range before.Rows {
		if len(rows) > 0 {
			markers[marker] = true
		}
	}
	return markers
}

// evaluation is one part of a history under judgement: the facts, arranged and classified,
// and what was found in them. Rules read the facts and report; they change no fact, so the
// order of rules matters only where a comment says so. Used by one goroutine; parts are
// judged beside each other, and share only whole.
type evaluation struct {
	whole         *whole // history that it is a part of
	part          int    // which
	asked         bool   // a rule asked for more of the whole than was known
	pass          int    // that runs
	terms         Terms
	history       *history.History
	groups        []*markerGroup
	sightings     map[string][]history.Sighting // by intent
	neighbours    map[string][]*trace           // by the first of them
	presentBefore map[string]bool               // markers that were in the database before the run
	messages      messages                      // that reached the sinks
	removals      unclearRemovals
	intents       map[string]history.Intent // as they are on record, by id; nil: not asked for yet
	named         map[string]bool           // operations of which a row has an identity; nil: not asked for yet
	additions     map[string]addition       // by marker, of operations that add to a row

	found verdicts
	tally tally
}

// newEvaluation arranges a history: by marker, by neighbours and by intent.
func newEvaluation(h *history.History, w *whole) *evaluation {
	e := &evaluation{
		whole: w, terms: w.terms, history: h, groups: w.terms.markerGroups(h), presentBefore: markersBefore(h.Before), messages: messagesOf(w.terms, h),
		sightings: map[string][]history.Sighting{}, neighbours: map[string][]*trace{}, found: newVerdicts(),
	}
	e.additions = additionsOf(w.terms, h)
	for tr := range e.traces() {
		if tr.intent.Kin != "" {
			e.neighbours[tr.intent.Kin] = append(e.neighbours[tr.intent.Kin], tr)
		}
	}
	for _, s := range h.Sightings {
		e.sightings[s.Intent] = append(e.sightings[s.Intent], s)
	}
	return e
}

// traces goes through all traces, in the order of the markers.
func (e *evaluation) traces() iter.Seq[*trace] {
	return func(yield func(*trace) bool) {
		for _, mg := range e.groups {
			for _, tr := range mg.traces {
				if !yield(tr) {
					return
				}
			}
		}
	}
}

// snapshot returns what the database held at a moment; nil: it was not asked.
func (e *evaluation) snapshot(m moment) *history.Snapshot {
	if m == atT1 {
		return e.history.T1
	}
	return e.history.T2
}

// rows returns the rows of a marker at a moment, and whether they are known. Unknown is
// not none: rules must ask, or an unread database would look like lost writes. A row to
// which several executions have added stands there once for each.
func (e *evaluation) rows(m moment, marker string) ([]history.Row, bool) {
	s := e.snapshot(m)
	if s == nil || s.Error != "" || e.presentBefore[marker] {
		return nil, false
	}
	rows, asked := s.Rows[marker]
	return e.additions[marker].apart(rows), asked
}

// targetGone reports that the target stopped taking connections.
func (e *evaluation) targetGone() bool { return e.incident(history.TargetGone) != nil }

// incident returns the first incident of a kind; nil: there was none.
func (e *evaluation) incident(k history.IncidentKind) *history.Incident {
	return incident(e.history, k)
}
