package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

var verdictNames = [...]string{
	Inconclusive: "inconclusive", Pass: "pass", Fail: "fail", NotApplicable: "not-applicable", Broken: "broken",
	Known: "known", Mended: "mended",
}

// String returns the verdict's name, as it stands in files.
func (v Verdict) String() string {
	if v < 0 || int(v) >= len(verdictNames) {
		return fmt.Sprintf("verdict(%d)", int(v))
	}
	return verdictNames[v]
}

// MarshalText writes the name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the name; an unknown one is an error and leaves the verdict inconclusive.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdictNames[:], string(text))
	if i < 0 {
		*v = Inconclusive
		return fmt.Errorf("unknown verdict %q", text)
	}
	*v = Verdict(i)
	return nil
}

// decide weighs findings, exercise and incidents. Without findings, anything missing makes the verdict inconclusive.
// Expected failures excuse only themselves and what they may have kept from being exercised: a run that was cut short
// might have found more. What the contract allows is no failure.
func decide(e *evaluation, exercise []Exercise) (Verdict, []string) {
	broken, doubts, idle := errorReasons(e), doubtReasons(e), slices.Concat(unexercised(exercise), notRefused(e, exercise), withoutEffect(e))
	if len(idle) > 0 {
		idle = append(idle, mayBeBusiness(e)...)
	}
	switch {
	case slices.ContainsFunc(e.found.findings, Finding.isNew):
		return Fail, slices.Concat(broken, doubts, idle)
	case len(broken) > 0:
		return Broken, broken
	case len(doubts) > 0:
		return Inconclusive, append(doubts, idle...)
	case slices.ContainsFunc(e.found.findings, Finding.isKnown):
		return Known, idle
	case len(idle) > 0:
		return Inconclusive, idle
	case len(e.known) > 0:
		return Mended, fixedReasons(e, Rounds(exercise))
	default:
		return Pass, nil
	}
}

// errorReasons says what failed in the harness or its environment.
func errorReasons(e *evaluation) []string {
	var reasons []string
	for _, k := range []history.IncidentKind{history.TargetGone, history.HarnessFault, history.StepFailed} {
		if i := e.incident(k); i != nil {
			reasons = append(reasons, i.Text)
		}
	}
	if e.unrecorded != "" {
		reasons = append(reasons, e.unrecorded)
	}
	return reasons
}

// doubtReasons says why a clean history is not a pass, besides a lack of exercise.
func doubtReasons(e *evaluation) []string {
	var doubts []string
	for _, k := range []history.IncidentKind{history.Interruption, history.DatabaseGone, history.StillBusy, history.NoAnswer, history.PlainDoubt, history.Flooded} {
		if i := e.incident(k); i != nil {
			doubts = append(doubts, i.Text)
		}
	}
	if !e.history.Complete && e.incident(history.Interruption) == nil {
		doubts = append(doubts, "the history ends in the middle: the run was killed")
	}
	if neverReached(e) {
		doubts = append(doubts, "every request was answered 401, 403 or 404, or redirected to sign in: the target file's address, path or credentials are wrong, or a session has expired")
	}
	return slices.Concat(doubts, unknownRows(e), withoutPromise(e), e.found.doubts)
}

// unexercised says which proofs of exercise did not hold for enough intents.
func unexercised(exercise []Exercise) []string {
	if len(exercise) == 0 {
		return []string{"the scenario names no proof of exercise"}
	}
	var idle []string
	for _, e := range exercise {
		if e.Held < e.Needed {
			idle = append(idle, fmt.Sprintf("not exercised: %s in %d of %d intents, %d needed", e.Text, e.Held, e.Of, e.Needed))
		}
	}
	return idle
}

// withoutPromise says that the contract makes nothing of a repetition: then nothing about it was tested, and what was seen
// is what clients get.
func withoutPromise(e *evaluation) []string {
	c := e.terms.Contract
	if e.terms.Operation.Key.In != contract.KeyNowhere || len(c.NaturalKey) > 0 || c.ContentWindow > 0 {
		return nil
	}
	repeated, several := 0, 0
	for tr := range e.traces() {
		if tr.twin || !anyPair(tr.attempts, func(a, b *classified) bool { return replayed(e, a, b) }) {
			continue
		}
		repeated++
		if rows, _ := e.rowCount(atT1, tr); rows > 1 {
			several++
		}
	}
	if repeated == 0 {
		return nil
	}
	seen := ""
	if several > 0 {
		seen = fmt.Sprintf(" A client that repeats a request makes a second row: so did %d of %d.", several, repeated)
	}
	return []string{"nothing is promised of repeated requests, so that nothing about them was tested." + seen +
		" If repetitions are to be safe, the target file lacks a line: key of the operation (where the API takes an idempotency key), or contract.natural_key (what makes two requests the same)"}
}

// withoutEffect says that too few intents came to anything: a target that only fails keeps every promise.
func withoutEffect(e *evaluation) []string {
	of, done, failed, keyless, required := 0, 0, 0, true, false
	for tr := range e.traces() {
		all := tr.whole().attempts
		if tr.intent.Behind || refusedByRight(e, tr, all) || onlyDeclined(tr.whole()) {
			continue
		}
		of++
		required = tr.operation.Key.Required
		keyless = keyless && tr.operation.Key.In != contract.KeyNowhere && !slices.ContainsFunc(all, func(a *classified) bool { return a.Key != "" || a.BlankKey })
		if has(all, Acknowledged, Accepted, Exists) {
			done++
		} else if has(all, Unknown) {
			failed++
		}
	}
	switch {
	case of > 0 && done == 0:
		return []string{"not exercised: " + nothingDone(of, keyless, required)}
	case 2*failed > of:
		return []string{fmt.Sprintf("not exercised: of %d intents %d got failures only, or no answer", of, failed)}
	default:
		return nil
	}
}

// nothingDone says that none of the intents was done, and which line may be the reason where all were sent without a key.
func nothingDone(of int, keyless, required bool) string {
	switch {
	case keyless && required:
		return fmt.Sprintf("%s without the required key, and no refusal: failures do not show that a client is told what is missing", count(of, "request"))
	case keyless:
		return fmt.Sprintf("none of %d requests without a key was done: if the target requires a key, key.required has to say so", of)
	default:
		return fmt.Sprintf("of %d intents the target said of none that it was done, accepted or there already", of)
	}
}

// mayBeBusiness says which line the contract lacks where some new requests were refused and others like them done.
func mayBeBusiness(e *evaluation) []string {
	refused, done, example := 0, 0, (*classified)(nil)
	for _, mg := range e.groups {
		for _, tr := range mg.traces {
			switch {
			case has(tr.attempts, Acknowledged, Accepted):
				done++
			case rejectedAlone(tr, mg.traces) && !refusedByRight(e, tr, tr.attempts):
				refused++
				example = cmp.Or(example, rejection(tr))
			}
		}
	}
	if refused == 0 || done == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s refused (attempt %s with %d), and others like them were done: where the target declines some by business, contract.errors.declined has to name the answer",
		were(refused, "new request"), example.ID, example.Status)}
}

// were counts things that something was done to.
func were(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return fmt.Sprintf("%d %ss were", n, noun)
}

// refusedByRight reports that a target refused all requests of an intent for their key, as it may: there was none, there
// were two, one of a form that scenarios choose to try a target with, or one whose invalid body was refused before.
func refusedByRight(e *evaluation, tr *trace, attempts []*classified) bool {
	alike := tr.intent.Kin != "" && len(e.sharing(tr)) == 0
	return has(attempts, Rejected) && !slices.ContainsFunc(attempts, func(a *classified) bool {
		keyless := a.Key == "" && (a.BlankKey || tr.operation.Key.Required)
		return !a.is(Rejected, NotSent, Throttled) || !alike && !keyless && a.Body != history.TwoHeaders && !e.terms.corrects(tr, a)
	})
}

// unknownRows says why rows could not be judged.
func unknownRows(e *evaluation) []string {
	if len(e.presentBefore) > 0 {
		marker := slices.Min(slices.Collect(maps.Keys(e.presentBefore)))
		return []string{fmt.Sprintf("the marker %s was in the database before the run", marker)}
	}
	for _, m := range []moment{atT1, atT2} {
		s := e.snapshot(m)
		if s == nil {
			return []string{fmt.Sprintf("rows are unknown: snapshot %s was not taken", m)}
		}
		if s.Error != "" {
			return []string{fmt.Sprintf("rows are unknown: %s", s.Error)}
		}
		for _, i := range e.history.Intents {
			if i.Fresh && m == atT1 {
				continue // it was sent later
			}
			for _, b := range i.Bodies {
				if _, asked := s.Rows[b.Marker]; !asked {
					return []string{fmt.Sprintf("rows are unknown: snapshot %s lacks intent %s", m, i.ID)}
				}
			}
		}
	}
	return nil
}

// neverReached reports that every request was rejected at the entry: then nothing was tested.
func neverReached(e *evaluation) bool {
	answered := 0
	for _, a := range e.history.Attempts {
		if p := a.Passage; !a.Complete && p != nil && p.Opened != 0 && p.Up < a.Sent {
			continue // the tap saw that it did not reach the target whole
		}
		if !a.Complete && a.Sent > 0 {
			return false // it may have got in
		}
		if !a.Complete {
			continue
		}
		if !slices.Contains([]int{401, 403, 404}, a.Status) && !e.terms.Unauthenticated(a) {
			return false
		}
		if missing := e.terms.Contract.MissingKey; missing.Narrowed() && answerOf(&a).bears(missing) {
			return false
		}
		answered++
	}
	return answered > 0
}

// unrecordedRequests compares the target's own count with the requests that reached it, and says how they differ;
// empty: they do not. A difference means that requests which are not on record reach the target, and then no verdict
// can be trusted.
func unrecordedRequests(e *evaluation) string {
	counted := e.history.Received
	if counted == nil || !e.history.Complete || len(e.history.Deaths) > 0 { // a new process counts from the start
		return ""
	}
	for _, l := range e.history.Run.Lanes {
		if !l.Doorstep {
			return ""
		}
	}
	whole := 0
	for _, a := range e.history.Attempts {
		if p := a.Passage; p != nil && a.Sent > 0 && p.Up >= a.Sent {
			whole++
		}
	}
	received := counted.After - counted.Before
	removals, late := stepsBetween(e.history)
	for _, own := range []int{0, removals, late, removals + late} { // the target counts them or does not
		if received == int64(whole+own) {
			return ""
		}
	}
	return fmt.Sprintf("the target received %d requests, the history has %d that reached it: some requests are not on record", received, whole)
}

// stepsBetween counts the steps that came between the two counts of the target: what removed something, and what was prepared
// for the fresh keys of the final retry.
func stepsBetween(h *history.History) (removals, late int) {
	fresh := map[string]bool{}
	for _, i := range h.Intents {
		fresh[i.ID] = i.Fresh
	}
	for _, s := range h.Steps {
		switch {
		case s.Status == 0:
		case s.For == history.Remove:
			removals++
		case fresh[s.Intent]:
			late++
		}
	}
	return removals, late
}
