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
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// Check judges one history. It changes nothing and needs nothing but its arguments, so that it is safe for
// concurrent use. Known bugs of its scenario are found like others, and do not make it fail.
func Check(h *history.History, t Terms, known ...KnownBug) Result {
	e := newEvaluation(h, t, known)
	for _, p := range passes() {
		p(e)
	}
	return resultOf(e)
}

// pass is one walk over an evaluation.
type pass func(e *evaluation)

// passes lists the passes in the order in which they run. Those that complete the facts come before the rules. The
// rules run for both snapshots, the earlier first, so that a finding has the moment at which it showed.
func passes() []pass {
	return []pass{
		splitAtRemovals,     // what came before a removal is a trace of its own
		findExpiredSessions, // what an ended session was answered says nothing of repetitions
		func(e *evaluation) { checkMoment(e, atT1) },
		func(e *evaluation) { checkMoment(e, atT2) },
		checkLeaks, // needs the identities of all intents
		addWarnings,
		keepWhatLasts, // needs all findings
		markKnown,
	}
}

// rule checks one thing of the traces that share a marker, at one moment.
type rule func(e *evaluation, m moment, traces []*trace)

// rules lists what is checked of the traces that share a marker, in this order: rows first, since what is missing or
// overwritten explains answers that name nothing.
func rules() []rule {
	return []rule{
		checkRows,
		func(e *evaluation, m moment, traces []*trace) { checkEffects(e, m, traces[0]) },
		checkGroups,
	}
}

// checkMoment checks everything at one snapshot; a snapshot that was not taken shows nothing.
func checkMoment(e *evaluation, m moment) {
	for _, mg := range e.groups {
		if e.snapshot(m) == nil {
			break
		}
		checkBeforeRemoval(e, m, mg.traces[0]) // a trace with a removal has no twin
		if mg.traces[0].removalUnconfirmed {
			continue
		}
		traces := make([]*trace, len(mg.traces))
		for i, tr := range mg.traces {
			traces[i] = tr.until(m)
		}
		for _, check := range rules() {
			check(e, m, traces)
		}
	}
	checkTotals(e, m)
}

// checkRows checks the rows by what was sent: one body, two bodies under one key, or two bodies that did not meet
// under one key.
func checkRows(e *evaluation, m moment, traces []*trace) {
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
}

// checkGroups checks the answers of each trace: those of each key, and after the final retry whether they came to an
// end.
func checkGroups(e *evaluation, m moment, traces []*trace) {
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

// keepWhatLasts drops findings that may be owed to a misconfigured target file, where every request was rejected at
// the entry.
func keepWhatLasts(e *evaluation) {
	if neverReached(e) {
		e.found.findings = slices.DeleteFunc(e.found.findings, func(f Finding) bool { return !f.Kind.Row().Lasting })
	}
}
