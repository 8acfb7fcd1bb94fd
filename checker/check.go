// Package checker judges a run: it turns a history and the contract of its target into a verdict with findings. Check is
// a pure function. The package links the standard library and leaves of doubletap only; the room snapshots takes the
// snapshots.
//
// The rules are those of linearizability for an operation that may execute at most once: there must be a sequential
// history, consistent with real time, in which at most one attempt of a key group executes and every other answer is a
// legal answer of an attempt that did not. At most one executes, so counting rows and comparing answers suffices, and
// no search is needed.
//
// An evaluation holds the facts, [Check] runs its passes in one order, and each rule is a function over the facts. To find
// one's way:
//
//   - The facts: trace.go has an intent with its attempts, outcome.go and answer.go what an attempt was told, evaluation.go
//     what holds between them, reach.go what reached the target, and json.go how values are compared.
//   - The rules stand in check.go in their order, and each subject in a file of its own: row_counts.go and what it finds
//     (duplicates.go, lost_writes.go, phantom_rows.go), altered.go, answers.go, replays.go, refusals.go, seen.go, leaks.go
//     and so on. A rule reports with report.go.
//   - What else is told beside findings: warnings.go, and causes.go and circumstances.go, which say what a finding may come from.
//   - What a run exercised: proof_rules.go has when a proof holds, and proof_counts.go for how many intents it did.
//   - A verdict: verdict.go weighs what was found, tally.go adds it up, and result.go is what readers get.
//   - Large histories: parts.go judges part by part, whole.go keeps what rules have to know of all parts, and shards.go
//     joins runs that shared the intents.
//
// Decisions where the rules leave room:
//
//   - Rows are judged before the final retry (T1) and after it (T2), and the findings of both count: a retry restores a
//     lost write, and it shows a second row.
//   - Intents with one marker (twins) are judged by the sum of their bounds, since their rows cannot be told apart.
//   - "Exists already" for an intent without a row is a false conflict if nothing of the intent can have been executed,
//     and a lost write if one attempt may have been.
//   - The rejection of a twin is a false conflict only if the other twin got through.
//   - If the target died during the run, only findings that more waiting cannot undo are reported: duplicates, leaks,
//     altered bodies and unequal answers.
//   - A process that ended by itself is a finding of the intent with the most requests inside it at that moment. What
//     the target then does not keep counts as ever: a client does not know why it got no answer.
//   - "Exists already" speaks of an effect of the intent, in whichever group, and is no effect itself. If nothing else
//     can have made the row, its creator was told that it exists (phantom row).
//   - A row of an intent whose requests never reached the target is inconclusive. The target answered a request that it
//     throttled, so that the row of such an intent is a phantom row.
//   - Status 429 is throttled even if the contract does not say so (RFC 6585). Status 402 declines where no line names declines.
//   - Attempts that were only told "in progress" are not unavailable at T1. They are if the final retry is told so until
//     it has no tries left.
//   - A final retry that was throttled to the end, or that ended before the time of a Retry-After, says nothing:
//     inconclusive.
//   - An answer that may mean "in progress" or "exists already" forbids nothing and resolves.
//   - A stored server error resolves only if no attempt was acknowledged: the target stored the acknowledgement then.
//   - A replay repeats the answer to its own key. Answers to other keys of a natural key must name the same row and
//     nothing more. Requests without a key promise no replay.
//   - Where an intent has several effects, its answers differ for that reason: only the duplicate is reported.
//   - A marker that was in the database before the run is not judged, and the verdict is inconclusive.
//   - An accepted request (202) counts as what its status resource says became of it. If that says nothing final in the
//     contract's time, the request is unavailable without a row, and a replay mismatch with one. If the status resource
//     does not answer, nothing is known.
//   - A key is a new key only if the target must have forgotten it, whichever attempt made the record and whenever the
//     target looked. What may lie on either side is compared with nothing. A target that remembers for longer gets a
//     warning.
//   - Requests in different spellings of one JSON value are one body. If the target rejects one of them as another
//     request, that is a false conflict only if the contract compares values. A rejection for its form is none.
//   - One key of two principals, or at two operations, is two keys only if the contract says so. Elsewhere the target may
//     reject the second, but must show it nothing of the first, and an identity in its answer must exist.
//   - Two principals may be told of the same short identity, such as 1, if there are two rows with it.
//   - A blank key is no key. Keys that differ, however little, are different keys; a target may reject an unusual key. If
//     it does so with server errors, for a whole group of neighbours, and makes nothing, that is a warning.
//     If a mismatch is only a status, a rejection is a false conflict only beside a neighbour that got through with a
//     key of the same form.
//   - Only attempts with its own body explain a row: another body's lost answer does not.
//   - Another principal's identity is a leak anywhere in an answer if it has 16 characters or more and the request did
//     not say it.
//   - Totals, such as a counter, are compared with the rows of all intents, and the finding is about all of them.
//   - Phantom rows are not reported if the target counted more or fewer requests than are on record, and "unavailable" is
//     not if the final retry was cut short.
//   - If a session expires during a run, its requests say nothing of how repetitions are answered: inconclusive. The
//     evidence is that new requests of other intents are unauthenticated from then on as well, or that the same request
//     is answered after a new login.
//   - An answer below 400 that the contract does not name leaves the verdict open. It is a finding where the contract
//     promises a replay and the request was acknowledged, unless the body is that of the first answer.
//   - A request is never answered if it got no answer until a generous deadline, on a lane without faults, and the target
//     worked on nothing that had come before it. Where something inside the target was broken or slowed, that is a warning.
//   - A body that the target is to refuse, and refuses each time, is no request of its intent: only its row and its refusals
//     are judged. If the target does not refuse it, it is another body under the key.
//   - Where the contract says at-least-once after a crash, a flush or an unknown commit, each such event between the
//     attempts of an intent excuses one more row, and one more of each effect. A crash excuses nothing of what was
//     acknowledged before it. Two rows that the target named on one side of an event are not excused, nor is anything missing.
//   - An answer that ends where the connection ends has no framing that says whether it is whole. It counts as complete.
package checker

import (
	"github.com/doubletap-harness/doubletap/history"
)

// Check judges one history. It changes nothing and needs nothing but its arguments: no
// clock, no database, no network. So the same files give the same verdict for ever, and it
// is safe for concurrent use. Known bugs of its scenario are found like others, and do not
// make it fail.
func Check(h *history.History, t Terms, known ...KnownBug) Result {
	r, _ := CheckParts(one{h}, t, known...) // one part is there already
	return r
}

// pass is one walk over the intents of a part. A later pass may use what an earlier one
// found.
type pass func(e *evaluation)

// passOfRules is the number of the pass that checks the first snapshot.
const passOfRules = 1

// passes lists the passes in the order in which they run. The one that completes the facts comes before the rules. The
// rules run for both snapshots, the earlier first, so that a finding has the moment at which it showed.
func passes() []pass {
	return []pass{
		applyExpiredSessions, // what an ended session was answered says nothing of repetitions
		func(e *evaluation) { checkMoment(e, atT1) },
		func(e *evaluation) { checkMoment(e, atT2) },
		checkLeaks, // needs the identities of all intents
		checkSharedNames,
		checkUnanswered,
		checkDeaths,
		addWarnings,
		markKnown,
		markExcused,
	}
}

// rule checks one thing of the traces that share a marker, at one moment.
type rule func(e *evaluation, m moment, traces []*trace)

// rules lists what is checked of the traces that share a marker, in this order: rows first, since what is missing or
// overwritten explains answers that name nothing.
func rules() []rule {
	return []rule{
		checkRows,
		checkDiverged,
		checkRefusals,
		func(e *evaluation, m moment, traces []*trace) { checkEffects(e, m, traces[0]) },
		checkSeen,
		checkGroups,
		checkStrangers,
		checkTurnedAway,
	}
}

// checkMoment checks everything at one snapshot; a snapshot that was not taken shows
// nothing. At T1 a trace ends before the final retry: what came later cannot explain what
// was there.
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
}

// checkRows checks the rows by what was sent: one body, two bodies under one key, or two bodies that did not meet
// under one key.
func checkRows(e *evaluation, m moment, traces []*trace) {
	_, altered := traces[0].intent.Bodies[history.Altered]
	switch {
	case !altered:
		checkRowCounts(e, m, traces, history.Original)
		checkScope(e, m, traces)
	// Two bodies under two keys are two requests: each has its own bounds.
	case len(traces) == 1 && e.terms.bodiesApart(traces[0]):
		for _, body := range []string{history.Original, history.Altered} {
			alone := *traces[0]
			alone.attempts = withBody(alone.attempts, body)
			checkRowCounts(e, m, []*trace{&alone}, body)
		}
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
			checkUndeclared(e, m, tr, g)
		}
		if m == atT2 {
			checkAccepted(e, tr)
			checkResolution(e, tr)
		}
	}
}
