package checker

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// verdictNames has the names as they stand in files, which other programs read: they do not
// change.
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

// decide weighs findings, exercise and incidents. The order is that of what is proven:
//
//  1. a new finding is a fail, whatever else went wrong: more running cannot undo it;
//  2. a harness or target that broke is "broken", since nothing was tested after that;
//  3. what leaves the facts open is inconclusive;
//  4. known bugs alone are "known", and what they kept from being exercised is excused;
//  5. what was not exercised is inconclusive, never a pass;
//  6. a listed bug that a run with enough exercise does not show is "fixed".
//
// What the contract allows is no failure. The reasons are sentences for the report.
func (w *whole) decide(s standing, exercise []Exercise) (Verdict, []string) {
	broken, doubts, little := w.errorReasons(), w.doubtReasons(), unexercised(exercise)
	idle := slices.Concat(little, w.notRefused(exercise), w.sum.done.reasons(w.head.Run.Normal > 0))
	if len(idle) > 0 && len(idle) == len(little) {
		idle = append(idle, w.sum.done.failures()...)
	}
	if len(idle) > 0 {
		idle = append(idle, w.sum.business.reasons()...)
	}
	switch {
	case s.isNew:
		return Fail, slices.Concat(broken, doubts, idle)
	case len(broken) > 0:
		return Broken, broken
	case len(doubts) > 0:
		return Inconclusive, append(doubts, idle...)
	case s.isKnown:
		return Known, idle
	case len(idle) > 0:
		return Inconclusive, idle
	case slices.ContainsFunc(w.known, func(k KnownBug) bool { return !k.Elsewhere }):
		return Mended, w.fixedReasons(Rounds(exercise))
	default:
		return Pass, nil
	}
}

// errorReasons says what failed in the harness or its environment; empty: nothing.
func (w *whole) errorReasons() []string {
	var reasons []string
	for _, run := range w.runs() {
		for _, k := range []history.IncidentKind{history.TargetGone, history.HarnessFault, history.StepFailed} {
			if i := incident(run.head, k); i != nil {
				reasons = append(reasons, ofShard(run, i.Text))
			}
		}
		if text := run.unrecorded(); text != "" {
			reasons = append(reasons, ofShard(run, text))
		}
	}
	return reasons
}

// doubtReasons says why a clean history is not a pass, besides a lack of exercise.
func (w *whole) doubtReasons() []string {
	var doubts []string
	for _, run := range w.runs() {
		for _, text := range ownDoubts(run) {
			doubts = append(doubts, ofShard(run, text))
		}
	}
	return slices.Concat(doubts, w.withoutPromise(), w.sum.doubtTexts())
}

// ownDoubts are those about a run and not about its intents.
func ownDoubts(w *whole) []string {
	var doubts []string
	for _, k := range []history.IncidentKind{history.Interruption, history.DatabaseGone, history.StillBusy, history.NoAnswer, history.PlainDoubt, history.Flooded, history.SinkBehind} {
		if i := incident(w.head, k); i != nil {
			doubts = append(doubts, i.Text)
		}
	}
	if !w.head.Complete && !cutShort(w.head) {
		doubts = append(doubts, "the history ends in the middle: the run was killed")
	}
	if w.neverReached() {
		doubts = append(doubts, outside(w))
	}
	return slices.Concat(doubts, orphans(w), w.unknownRows())
}

// outside says why no request may have got in. One without the credential is refused rightly, and where those with it are, that may be why.
func outside(w *whole) string {
	if w.entry.stranger && w.head.Run.Normal > 0 {
		return "every request was answered 401, 403 or 404, or redirected to sign in, also with the credential, which had let plain creates in just before: under each key a request without it came first, and the target may store its refusal under the key, or shut its sender out"
	}
	return "every request was answered 401, 403 or 404, or redirected to sign in: the target file's address, path or credentials are wrong, or a session has expired"
}

// cutShort reports that the run itself ended a history in the middle, and said why. Then that reason is the one to
// give, and not that the file ends early.
func cutShort(h *history.History) bool {
	return slices.ContainsFunc([]history.IncidentKind{history.Interruption, history.NoAnswer, history.TargetGone}, func(k history.IncidentKind) bool {
		return incident(h, k) != nil
	})
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

// promisesNothing reports that the contract makes nothing of a repetition that a run can hold it to: for how long an equal body is one
// is tried with keys only.
func promisesNothing(t Terms) bool {
	return t.Operation.Key.In == contract.KeyNowhere && len(t.Contract.NaturalKey) == 0
}

// repeated counts intents whose request came again after its answer, and of these the ones
// with several rows.
type repeated struct{ intents, several int }

// add adds the counts of another part.
func (r *repeated) add(other repeated) {
	r.intents, r.several = r.intents+other.intents, r.several+other.several
}

// measurePromise counts what repetitions come to where the contract promises nothing of
// them.
func measurePromise(e *evaluation, t *tally) {
	if !promisesNothing(e.terms) {
		return
	}
	for tr := range e.traces() {
		if tr.twin || !anyPair(tr.attempts, func(a, b *classified) bool { return replayed(e, a, b) }) {
			continue
		}
		t.promise.intents++
		if rows, _ := e.rowCount(atT1, tr); rows > 1 {
			t.promise.several++
		}
	}
}

// withoutPromise says that the contract makes nothing of a repetition: then nothing about it was tested, and what was seen
// is what clients get.
func (w *whole) withoutPromise() []string {
	r := w.sum.promise
	if r.intents == 0 {
		return nil
	}
	seen := ""
	if r.several > 0 {
		seen = fmt.Sprintf(" A client that repeats a request makes a second row: so did %d of %d.", r.several, r.intents)
	}
	promised := "nothing is promised of repeated requests, so that nothing about them was tested."
	if w.terms.Contract.ContentWindow > 0 {
		promised = "contract.content_window is tried with keys only, so that nothing about repeated requests was tested."
	}
	return []string{promised + seen +
		" If repetitions are to be safe, the target file lacks a line: key of the operation (where the API takes an idempotency key), or contract.natural_key (what makes two requests the same)"}
}

// effectOf counts what intents came to.
type effectOf struct {
	place             // of the last intent
	of, done, failed  int
	keyless, required bool
	statuses          map[int]int        // of the answers to intents of which nothing was done; nil: there were none
	said              map[int]placedText // what the first of them said, by status
	asked, errors     int                // answers before the final retry, and those of them that were failures of the target
	error             placedText         // the first of these
}

// add adds the counts of another part. Whether a key is required is that of the last intent, in
// the order of the whole and not of the adding: the sum has to be the same whichever part was
// judged first.
func (x *effectOf) add(other effectOf) {
	x.of, x.done, x.failed, x.keyless = x.of+other.of, x.done+other.done, x.failed+other.failed, x.keyless && other.keyless
	x.asked, x.errors = x.asked+other.asked, x.errors+other.errors
	x.error.add(other.error)
	for status, n := range other.statuses {
		x.answered(status, n, other.said[status])
	}
	if other.of > 0 && other.compare(x.place) >= 0 {
		x.place, x.required = other.place, other.required
	}
}

// noteFailures counts answers before the final retry, and those of them that were failures of the target.
func (x *effectOf) noteFailures(e *evaluation, all []*classified) {
	for _, a := range all {
		if !a.Complete || a.Probe {
			continue
		}
		x.asked++
		if a.Status >= http.StatusInternalServerError {
			x.errors++
			x.error.add(placedText{place{part: e.part, number: x.errors}, strings.TrimSpace(fmt.Sprintf("%d %s", a.Status, saidBy(a)))})
		}
	}
}

// answered counts answers.
func (x *effectOf) answered(status, n int, said placedText) {
	if x.statuses == nil {
		x.statuses, x.said = map[int]int{}, map[int]placedText{}
	}
	x.statuses[status] += n
	first := x.said[status]
	first.add(said)
	x.said[status] = first
}

// mostly names the status that most answers had; empty: there was no answer.
func (x effectOf) mostly() string {
	all, best := 0, 0
	for status, n := range x.statuses {
		all += n
		if m := x.statuses[best]; n > m || n == m && status < best {
			best = status
		}
	}
	if all == 0 {
		return ""
	}
	said := ""
	if text := x.said[best].text; text != "" {
		said = ", such as " + text
	}
	return fmt.Sprintf("; %d of %s had status %d%s", x.statuses[best], count(all, "answer"), best, said)
}

// usedUp says what it may mean that all creates are refused now, and were not when the run began.
func (x effectOf) usedUp() string {
	all := 0
	for status, n := range x.statuses {
		if status < 400 || status > 499 {
			return ""
		}
		all += n
	}
	if all == 0 {
		return ""
	}
	return "; plain creates were done when the run began, and of these none: something that they take may be used up"
}

// measureEffect counts what the intents of a part came to. It leaves out those that a
// correct target refuses, such as a request without its required key.
func measureEffect(e *evaluation, t *tally) {
	x := &t.done
	x.part = e.part
	for tr := range e.traces() {
		all := tr.whole().attempts
		if tr.intent.Behind || refusedByRight(e, tr, all) || failsForItsKey(e, tr) || onlyDeclined(tr.whole()) {
			continue
		}
		x.of++
		x.noteFailures(e, all)
		x.required = tr.operation.Key.Required
		x.keyless = x.keyless && tr.operation.Key.In != contract.KeyNowhere && !slices.ContainsFunc(all, func(a *classified) bool { return a.Key != "" || a.BlankKey })
		if has(all, Acknowledged, Accepted, Exists) {
			x.done++
			continue
		}
		if has(all, Unknown) {
			x.failed++
		}
		for _, a := range all {
			if a.Complete {
				x.answered(a.Status, 1, placedText{place{part: e.part, number: len(x.said)}, saidBy(a)})
			}
		}
	}
}

// reasons says that too few intents came to anything: a target that only fails keeps every promise. Plain: creates were done when the run began.
func (x effectOf) reasons(plain bool) []string {
	switch {
	case x.of > 0 && x.done == 0:
		used := ""
		if plain && !x.keyless {
			used = x.usedUp()
		}
		return []string{"not exercised: " + nothingDone(x.of, x.keyless, x.required) + x.mostly() + used}
	case 2*x.failed > x.of:
		return []string{fmt.Sprintf("not exercised: of %d intents %d got failures only, or no answer", x.of, x.failed) + x.mostly()}
	default:
		return nil
	}
}

// failures says that many requests failed before the final retry, which need not be seen in what became of their intents.
func (x effectOf) failures() []string {
	if 4*x.errors < x.asked || x.errors == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %s before the final retry failed with a status of 500 or more, the first with %s", x.errors, count(x.asked, "answer"), x.error.text)}
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

// business counts new requests that were refused, and others like them that were done.
type business struct {
	refused, done int
	example       placedText
}

// add adds the counts of another part, and keeps the earlier example.
func (b *business) add(other business) {
	b.refused, b.done = b.refused+other.refused, b.done+other.done
	b.example.add(other.example)
}

// measureBusiness counts new requests that were refused without a reason that the contract
// has.
func measureBusiness(e *evaluation, t *tally) {
	for _, mg := range e.groups {
		for _, tr := range mg.traces {
			switch {
			case has(tr.attempts, Acknowledged, Accepted):
				t.business.done++
			case rejectedAlone(tr, mg.traces) && !refusedByRight(e, tr, tr.attempts):
				t.business.refused++
				a := rejection(tr)
				t.business.example.add(placedText{place{part: e.part, number: t.business.refused}, fmt.Sprintf("attempt %s with %d", a.ID, a.Status)})
			}
		}
	}
}

// reasons says which line the contract lacks where some new requests were refused and others like them done.
func (b business) reasons() []string {
	if b.refused == 0 || b.done == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s refused (%s), and others like them were done: where the target declines some by business, contract.errors.declined has to name the answer",
		were(b.refused, "new request"), b.example.text)}
}

// were counts things that something was done to.
func were(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return fmt.Sprintf("%d %ss were", n, noun)
}

// refusedByRight reports that a target refused all requests of an intent for their key, as it may: there was none, there
// were two, one of a form that scenarios choose to try a target with, or one whose invalid body was refused before. That it
// was for the form of the key is known if plain creates are taken, or from the answer.
func refusedByRight(e *evaluation, tr *trace, attempts []*classified) bool {
	alike := tr.intent.Kin != "" && len(e.sharing(tr)) == 0
	return has(attempts, Rejected) && !slices.ContainsFunc(attempts, func(a *classified) bool {
		keyless := a.Key == "" && (a.BlankKey || tr.operation.Key.Required)
		formed := alike || a.Body == history.TwoHeaders
		return !a.is(Rejected, NotSent, Throttled) || !keyless && !e.terms.corrects(tr, a) && !(formed && (a.outcome != Rejected || forForm(e, a)))
	})
}

// forForm reports that a request was refused for the form of its key: plain creates with fresh keys get through, if some were sent, or others of
// the scenario do, or the answer says that something is wrong with the request itself, and not with what it meets.
func forForm(e *evaluation, a *classified) bool {
	w := e.asking()
	if len(w.fresh) > 0 {
		return slices.ContainsFunc(w.fresh, func(f freshCreate) bool { return f.through })
	}
	malformed := []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusUnprocessableEntity, http.StatusRequestHeaderFieldsTooLarge}
	return w.through[0].start > 0 || slices.Contains(malformed, a.Status) || answerOf(a.Attempt).bears(e.terms.Contract.MissingKey)
}

// measureUnasked notes the first intent whose rows a snapshot lacks.
func measureUnasked(e *evaluation, t *tally) {
	for m := range t.unasked {
		s := e.snapshot(moment(m))
		if s == nil || s.Error != "" {
			continue
		}
		for n, i := range e.history.Intents {
			if i.Fresh && moment(m) == atT1 {
				continue // it was sent later
			}
			for _, b := range i.Bodies {
				if _, asked := s.Rows[b.Marker]; !asked {
					t.unasked[m].add(placedText{place{part: e.part, number: n}, fmt.Sprintf("rows are unknown: snapshot %s lacks intent %s", moment(m), i.ID)})
				}
			}
		}
	}
}

// unknownRows says why rows could not be judged.
func (w *whole) unknownRows() []string {
	if w.priors != "" {
		return []string{fmt.Sprintf("the marker %s was in the database before the run", w.priors)}
	}
	for m, s := range []*history.Snapshot{w.head.T1, w.head.T2} {
		switch {
		case s == nil:
			return []string{fmt.Sprintf("rows are unknown: snapshot %s was not taken", moment(m))}
		case s.Error != "":
			return []string{fmt.Sprintf("rows are unknown: %s", s.Error)}
		case w.sum.unasked[m].text != "":
			return []string{w.sum.unasked[m].text}
		}
	}
	return nil
}

// unrecorded compares the target's own count with the requests that reached it, and says
// how they differ; empty: they do not, or it is not known. A difference means that
// something sends requests which are not on record, such as a client library or a proxy
// that retries by itself. Then no verdict can be trusted.
func (w *whole) unrecorded() string {
	if !countsRequests(w.head) {
		return ""
	}
	received := w.head.Received.After - w.head.Received.Before
	removals, late := w.stepsBetween()
	for _, own := range []int{0, removals, late, removals + late} { // the target counts them or does not
		if received == w.received+int64(own) {
			return ""
		}
	}
	return fmt.Sprintf("the target received %d requests, the history has %d that reached it: some requests are not on record", received, w.received)
}

// unrecorded says the same, for a rule.
func (e *evaluation) unrecorded() string {
	if !countsRequests(e.history) {
		return ""
	}
	return e.asking().unrecorded()
}

// countsRequests reports that the target's count can be compared with what is on record.
func countsRequests(h *history.History) bool {
	if h.Received == nil || !h.Complete || len(h.Deaths) > 0 { // a new process counts from the start
		return false
	}
	return !slices.ContainsFunc(h.Run.Lanes, func(l history.Lane) bool { return !l.Doorstep })
}

// stepsBetween counts the steps that came between the two counts of the target: what removed something, and what was prepared
// for the fresh keys of the final retry.
func (w *whole) stepsBetween() (removals, late int) {
	for _, s := range w.head.Steps {
		switch {
		case s.Status == 0:
		case s.For == history.Remove:
			removals++
		case w.freshIDs[s.Intent]:
			late++
		}
	}
	return removals, late
}
