// Package checker judges: it turns a history and the contract of its target into a verdict with
// findings. Check is a pure function; the readers that take snapshots are in snapshots.
//
// The rules are those of linearizability for an operation that may execute at most once: there must
// be a sequential history, consistent with real time, in which at most one attempt of a key group
// executes and every other answer is a legal answer of one that did not. Because at most one
// executes, counting rows and comparing answers suffices; nothing is searched.
//
// Decisions where the rules leave room:
//
//   - Rows are judged twice, before the final probe (T1) and after it (T2), and the findings of both
//     count: a probe heals a lost write, and it brings a second row to light.
//   - Intents with one marker (twins) are judged by the sum of their bounds, since their rows cannot
//     be told apart.
//   - An intent that is told "that exists already" although nothing of it exists is a false conflict
//     if nothing of it can have been executed, and a lost write if one attempt may have been.
//   - Of twins, a refusal is a false conflict only where the other twin got through.
//   - When the target went away in the middle, only findings that more waiting cannot undo are
//     reported: duplicates, leaks, altered bodies and unequal answers.
//   - "Exists already" speaks of an effect of the intent, in whichever group, and is no effect itself:
//     where nothing else can have made the row, whoever made it was told that it exists (phantom row).
//   - A row of an intent of which no request reached the target is nobody's proven fault: inconclusive.
//     A request that was throttled is one that the target answered, so its row is a phantom row.
//   - Status 429 is throttled even where the contract does not say so (RFC 6585).
//   - Attempts that were only told "in progress" are not wedged at T1, but if the final probe is told
//     so until its tries are used up.
//   - A final probe that was throttled to the end, or that ended before a target wanted to be asked again (Retry-After),
//     has learnt nothing: inconclusive.
//   - An answer that can be "in progress" or "exists already" with nothing to tell which forbids
//     nothing and resolves.
//   - A stored server error resolves only where nobody was acknowledged: what was stored is the
//     acknowledgement then.
//   - A replay repeats the answer to its own key. Answers to other keys of a natural key must name the
//     same thing and nothing more; requests without a key promise no replay.
//   - Where an intent has several effects, its answers differ for that reason: the duplicate is
//     reported, and no unequal replay besides.
//   - A marker that was in the database before the run is not judged, and the verdict is inconclusive.
//   - What was accepted (202) counts as what its status resource says became of it. One that never says
//     so by the contract's time is unavailable without a row, and a replay mismatch with one. One that lets
//     nobody ask says nothing.
//   - A key is a new key only when it must have been forgotten, whichever of its attempts made the record
//     and whenever the target looked. What may lie on either side is compared with nothing, and a target
//     that remembers for longer is worth a warning.
//   - Requests in different spellings of one JSON value are one body. That the target refuses one of them
//     as another request is a false conflict only where the contract compares values; a refusal for its
//     form is none.
//   - One key of two principals, or at two operations, is two keys only where the contract says so.
//     Elsewhere the second may be refused, but it is shown nothing of the first, and what it is told is
//     there.
//   - Two principals may be told of things with one name, such as 1, if there are two of them.
//   - A blank key is no key. Keys that differ, however little, are different keys; a target may refuse
//     such a key. Where a mismatch is a status and no more, a refusal is a false conflict only beside a
//     neighbour that got through with a key of the same form.
//   - A row is explained by attempts with its body only: another body's lost answer explains none.
//   - The name of another's thing is a leak anywhere in an answer if it has 16 characters or more, and the
//     request did not say it.
//   - Totals, such as a counter, are held against the rows of all intents, and the finding is theirs
//     together.
//   - Rows without a cause are not reported when the target counted more or fewer requests than are on
//     record, and "unavailable" is not when the probe was cut short.
//   - Whose session ends in the middle of a run is not told how repetitions are answered: inconclusive. That it ended
//     is known by requests of other intents, sent for the first time, that are turned away from then on as well, or
//     by a new login with which the same request is let in.
//   - An answer that ends where the connection ends has no framing that tells whether it is whole. It
//     counts as complete.
package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// moment is one of the two snapshots.
type moment int

const (
	atT1 moment = iota
	atT2
)

func (m moment) String() string {
	if m == atT1 {
		return history.T1Name
	}
	return history.T2Name
}

// Check judges one history. It changes nothing and needs nothing but its arguments. Bugs of its scenario
// that are known are found like others, and do not make it fail.
func Check(h *history.History, t Terms, known ...KnownBug) Result {
	e := &evaluation{
		terms: t, history: h, groups: t.markerGroups(h), known: known,
		sightings: map[string][]history.Sighting{}, neighbours: map[string][]*trace{}, reported: map[string]bool{}, presentBefore: markersBefore(h.Before),
	}
	e.unrecorded = unrecordedRequests(e)
	for _, mg := range e.groups {
		for _, tr := range mg.traces {
			if tr.intent.Kin != "" {
				e.neighbours[tr.intent.Kin] = append(e.neighbours[tr.intent.Kin], tr)
			}
		}
	}
	splitAtRemovals(e)
	findExpiredSessions(e)
	for _, s := range h.Sightings {
		e.sightings[s.Intent] = append(e.sightings[s.Intent], s)
	}
	for _, m := range []moment{atT1, atT2} {
		for _, mg := range e.groups {
			judgeGroup(e, mg, m)
		}
		checkTotals(e, m)
	}
	checkLeaks(e)
	addWarnings(e)
	if neverReached(e) {
		e.findings = slices.DeleteFunc(e.findings, func(f Finding) bool { return !f.Kind.Row().Lasting })
	}
	return resultOf(e)
}

// taken returns the markers that were there before the run; what is there later proves nothing.
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

// court collects what is found in one history.
type evaluation struct {
	terms         Terms
	history       *history.History
	groups        []*markerGroup
	sightings     map[string][]history.Sighting // by intent
	neighbours    map[string][]*trace           // intents with neighbours, by the first of them
	unrecorded    string                        // why there must be requests that are not on record; empty: nothing says so
	findings      []Finding
	known         []KnownBug
	warnings      []Warning
	doubts        []string        // what nobody can explain and the target is not to blame for
	presentBefore map[string]bool // markers that were in the database before the run
	reported      map[string]bool // findings by kind, detail and intent: one that shows at T1 is not repeated at T2
}

func (e *evaluation) snapshot(m moment) *history.Snapshot {
	if m == atT1 {
		return e.history.T1
	}
	return e.history.T2
}

// rows returns the rows of a marker at a moment, and whether they are known.
func (e *evaluation) rows(m moment, marker string) ([]history.Row, bool) {
	s := e.snapshot(m)
	if s == nil || s.Error != "" || e.presentBefore[marker] {
		return nil, false
	}
	rows, asked := s.Rows[marker]
	return rows, asked
}

// report adds a finding about a story, with its evidence.
func (e *evaluation) report(m moment, tr *trace, f Finding) {
	id := fmt.Sprintf("%s/%s/%s", f.Kind, f.Detail, tr.intent.ID)
	if e.reported[id] || e.unproven(f.Kind) || f.Kind == ReplayMismatch && e.reported[duplicated(tr)] {
		return
	}
	e.reported[id] = true
	if f.Kind == Duplicate {
		e.reported[duplicated(tr)] = true
	}
	f.Intent, f.Moment = tr.intent.ID, m.String()
	f.Who = e.principals(tr)
	for _, a := range e.evidence(m, tr) {
		f.Attempts = append(f.Attempts, *a.Attempt)
		f.Outcomes = append(f.Outcomes, a.outcome)
		if k, struck := e.crashBeside(a.ID); struck {
			f.Crashes = append(f.Crashes, k)
		}
	}
	for _, k := range e.history.Flushes { // for everybody, in whose story ever
		if n := len(f.Attempts); n > 0 && k.Begun > f.Attempts[0].Start && k.Begun < f.Attempts[n-1].End {
			f.Flushes = append(f.Flushes, k)
		}
	}
	for _, r := range e.history.Removals {
		if r.Intent == tr.intent.ID {
			f.Removals = append(f.Removals, r)
		}
	}
	for _, body := range []string{history.Original, history.Altered} {
		if b, sent := tr.intent.Bodies[body]; sent {
			rows, _ := e.rows(m, b.Marker)
			f.Rows = append(f.Rows, RowEvidence{Body: body, Marker: b.Marker, Rows: rows})
		}
	}
	e.addFinding(f)
}

// who names the principals of a story and its neighbours, where there are several.
func (e *evaluation) principals(tr *trace) map[string]string {
	names, several := map[string]string{}, false
	for _, other := range e.neighbours[tr.intent.Kin] {
		names[other.intent.ID] = other.intent.Principal
		several = several || other.intent.Principal != tr.intent.Principal
	}
	if !several {
		return nil
	}
	return names
}

// evidence lists the attempts that a finding about a story rests on: its own, and those of the
// neighbours that it may have been mistaken for, in the order of sending.
func (e *evaluation) evidence(m moment, tr *trace) []*classified {
	traces := []*trace{tr}
	if tr.intent.Kin != "" {
		traces = e.neighbours[tr.intent.Kin]
	}
	var all []*classified
	for _, one := range traces {
		all = append(all, one.until(m).whole().attempts...)
	}
	slices.SortStableFunc(all, func(a, b *classified) int { return cmp.Compare(a.Start, b.Start) })
	return all
}

// reportAll adds a finding that no single intent can be blamed for.
func (e *evaluation) reportAll(m moment, f Finding) {
	f.Intent, f.Moment = EveryIntent, m.String()
	if id := fmt.Sprintf("%s/%s/", f.Kind, f.Detail); !e.reported[id] && !e.unproven(f.Kind) {
		e.reported[id] = true
		e.addFinding(f)
	}
}

func (e *evaluation) addFinding(f Finding) {
	f.Promise = cmp.Or(f.Promise, f.Kind.Row().Promise)
	if f.Contract == "" {
		f.Contract = "holds for every contract"
	}
	e.findings = append(e.findings, f)
}

// duplicated marks a story with several effects: that their answers differ is the same defect again
// (decision table 2, second row).
func duplicated(tr *trace) string { return "duplicated/" + tr.intent.ID }

// wonder notes what keeps a clean history from being a pass, though no promise was broken.
func (e *evaluation) doubt(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(e.doubts, text) {
		e.doubts = append(e.doubts, text)
	}
}

// unproven reports that what went wrong around the run may be the cause of such a finding.
func (e *evaluation) unproven(k Kind) bool {
	switch k {
	case Unavailable: // needs all tries of the final probe, and that nothing runs any more
		return e.targetGone() || e.incident(history.StillBusy) != nil || e.incident(history.Interruption) != nil || e.incident(history.HarnessFault) != nil
	case PhantomRow: // a request that is not on record is a cause
		return e.targetGone() || e.unrecorded != ""
	default:
		return e.targetGone() && !k.Row().Lasting
	}
}

func (e *evaluation) targetGone() bool { return e.incident(history.TargetGone) != nil }

func (e *evaluation) incident(k history.IncidentKind) *history.Incident {
	for i := range e.history.Incidents {
		if e.history.Incidents[i].Kind == k {
			return &e.history.Incidents[i]
		}
	}
	return nil
}

// judge holds one family against the invariants at one moment.
func judgeGroup(e *evaluation, mg *markerGroup, m moment) {
	if e.snapshot(m) == nil {
		return
	}
	checkBeforeRemoval(e, m, mg.traces[0]) // who has a twin has none
	if mg.traces[0].removalUnconfirmed {
		return
	}
	traces := make([]*trace, len(mg.traces))
	for i, tr := range mg.traces {
		traces[i] = tr.until(m)
	}
	_, altered := traces[0].intent.Bodies[history.Altered]
	switch {
	case !altered:
		checkRowCounts(e, m, traces)
		checkScope(e, m, traces)
	case len(traces) == 1 && len(e.terms.groups(traces[0].attempts)) == 1:
		checkAlteredBody(e, m, traces[0])
	default:
		checkBodiesApart(e, m, traces)
	}
	checkEffects(e, m, traces[0])
	for _, tr := range traces {
		for _, g := range e.terms.groups(tr.attempts) {
			checkAnswers(e, m, tr, g)
		}
		if m == atT2 {
			checkAccepted(e, tr)
			checkResolution(e, tr)
		}
	}
}

// Compare orders findings for a reader: those that no register tells of first, the worst kind first, an
// unknown one last, and within a kind those with the fewest attempts, which are the easiest to understand.
func Compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(min(len(a.Known), 1), min(len(b.Known), 1)),
		cmp.Compare(a.Kind.rank(), b.Kind.rank()), cmp.Compare(len(a.Attempts), len(b.Attempts)),
	)
}

func resultOf(e *evaluation) Result {
	h := e.history
	markKnown(e)
	slices.SortStableFunc(e.findings, Compare)
	r := Result{
		Scenario: h.Run.Scenario, Summary: h.Run.Summary, Seed: h.Run.Seed,
		Intents: len(h.Intents), Attempts: len(h.Attempts), Outcomes: map[Outcome]int{},
		Findings: e.findings, Warnings: e.warnings, Exercise: measureExercise(e), Bursts: measureBursts(e), Writers: measureWriters(e), Phases: measurePhases(e),
		DatabaseGone: e.incident(history.DatabaseGone) != nil,
	}
	broken := map[string]bool{}
	for _, f := range e.findings {
		broken[f.Intent] = true
	}
	r.Failed = len(broken)
	if broken[EveryIntent] {
		r.Failed = len(h.Intents)
	}
	for _, mg := range e.groups {
		for _, tr := range mg.traces {
			for _, a := range tr.whole().attempts {
				r.Outcomes[a.outcome]++
				r.Elapsed = max(r.Elapsed, a.End)
			}
		}
	}
	r.Verdict, r.Reasons = decide(e, r.Exercise)
	r.Warnings = append(r.Warnings, notSeen(e, r)...)
	return r
}
