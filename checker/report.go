package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// findingKey tells findings apart: one that shows before the final retry is not repeated after it.
type findingKey struct {
	kind   Kind
	detail string
	intent string
}

// verdicts is what rules have found so far.
type verdicts struct {
	findings   []Finding
	passes     []int // of findings, by index
	reported   map[findingKey]bool
	duplicates map[string]bool // intents with several effects
	doubts     []placedDoubt   // what nothing on record explains and the target is not to blame for
	doubted    map[string]bool // texts and keys of doubts
}

// newVerdicts returns an empty collection.
func newVerdicts() verdicts {
	return verdicts{reported: map[findingKey]bool{}, doubted: map[string]bool{}, duplicates: map[string]bool{}}
}

// has reports whether an intent has a finding of this kind and detail.
func (v verdicts) has(k Kind, detail string, tr *trace) bool {
	return v.reported[findingKey{k, detail, tr.intent.ID}]
}

// report adds a finding about a trace, with its evidence. It does not where the finding is there already, where what
// went wrong around the run may be its cause, and where answers differ because the intent has several effects: that is
// the same defect again (decision table 2, second row).
func (e *evaluation) report(m moment, tr *trace, f Finding) {
	id := tr.intent.ID
	if e.found.has(f.Kind, f.Detail, tr) || e.unproven(f.Kind) || f.Kind == ReplayMismatch && e.found.duplicates[id] {
		return
	}
	e.found.reported[findingKey{f.Kind, f.Detail, id}] = true
	if f.Kind == Duplicate || f.Kind == Diverged {
		e.found.duplicates[id] = true
	}
	f.Intent, f.Moment = tr.intent.ID, m.String()
	attach(e, m, tr, &f)
	f.Circumstances = e.circumstances(m, tr, f)
	e.addFinding(f)
}

// attach gives a finding the evidence of a trace: what was sent and answered, what happened meanwhile, and the rows.
func attach(e *evaluation, m moment, tr *trace, f *Finding) {
	f.Who = e.principals(tr)
	for _, a := range e.evidence(m, tr) {
		f.Attempts = append(f.Attempts, *a.Attempt)
		f.Outcomes = append(f.Outcomes, a.outcome)
		if k, struck := e.crashBeside(a.ID); struck {
			f.Crashes = append(f.Crashes, k)
		}
	}
	f.Requests = e.requests(f.Attempts)
	for _, k := range e.history.Flushes { // a flush hits all intents, whichever asked for it
		if n := len(f.Attempts); n > 0 && k.Begun > f.Attempts[0].Start && k.Begun < f.Attempts[n-1].End {
			f.Flushes = append(f.Flushes, k)
		}
	}
	f.Printed = printed(e, *f)
	for _, r := range e.history.Removals {
		if r.Intent == tr.intent.ID {
			f.Removals = append(f.Removals, r)
		}
	}
	for _, body := range []string{history.Original, history.Altered, history.Invalid} {
		if b, sent := tr.intent.Bodies[body]; sent {
			rows, known := e.rows(m, b.Marker)
			f.Rows = append(f.Rows, RowEvidence{Body: body, Marker: b.Marker, Rows: rows, Adds: e.additions[b.Marker].column, Unknown: !known, Messages: messagesUntil(e, m, b.Marker)})
		}
	}
}

// principals names the principals of a trace and its neighbours; nil: there is only one.
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

// evidence lists the attempts that a finding rests on, in the order of sending: those of the trace, and of the
// neighbours that it may have been mistaken for.
func (e *evaluation) evidence(m moment, tr *trace) []*classified {
	traces := []*trace{tr}
	if tr.intent.Kin != "" {
		traces = e.neighbours[tr.intent.Kin]
	}
	var all []*classified
	for _, one := range traces {
		all = append(append(append(all, one.until(m).whole().attempts...), one.refused...), one.strangers...)
	}
	slices.SortStableFunc(all, func(a, b *classified) int { return cmp.Compare(a.Start, b.Start) })
	return all
}

// reportAll adds a finding that shows only in all intents together.
func (e *evaluation) reportAll(m moment, f Finding) {
	f.Intent, f.Moment = EveryIntent, m.String()
	key := findingKey{f.Kind, f.Detail, EveryIntent}
	if !e.found.reported[key] && !e.unproven(f.Kind) {
		e.found.reported[key] = true
		e.addFinding(f)
	}
}

// addFinding adds a finding, with the promise of its kind where it has none of its own.
func (e *evaluation) addFinding(f Finding) {
	f.Promise = cmp.Or(f.Promise, f.Kind.Row().Promise)
	if f.Contract == "" {
		f.Contract = "holds for every contract"
	}
	e.found.findings, e.found.passes = append(e.found.findings, f), append(e.found.passes, e.pass)
}

// doubt notes why a clean history is not a pass, although no promise was broken.
func (e *evaluation) doubt(format string, args ...any) { e.noteDoubt("", fmt.Sprintf(format, args...)) }

// doubtOnce notes a reason that holds for many attempts, with the first of them.
func doubtOnce(e *evaluation, format string, args ...any) {
	e.noteDoubt(format, fmt.Sprintf(format, args...))
}

// noteDoubt notes a reason, unless there is one with its text or its key.
func (e *evaluation) noteDoubt(once, text string) {
	if e.found.doubted[text] || once != "" && e.found.doubted[once] {
		return
	}
	e.found.doubted[text], e.found.doubted[once] = true, true
	e.found.doubts = append(e.found.doubts, placedDoubt{place: place{pass: e.pass}, once: once, text: text})
}

// unproven reports that what went wrong around the run may be the cause of a finding of this kind.
func (e *evaluation) unproven(k Kind) bool {
	switch {
	case k.Row().Unresolved: // needs all tries of the final retry, and a quiet target
		return e.targetGone() || e.incident(history.StillBusy) != nil || e.incident(history.Interruption) != nil || e.incident(history.HarnessFault) != nil
	case k == PhantomRow: // a request that is not on record is a cause
		return e.targetGone() || e.unrecorded() != ""
	default:
		return e.targetGone() && !k.Row().Lasting
	}
}

// Compare orders findings for a reader: new ones before expected failures and those before what the contract excuses, the
// worst kind first, an unknown kind last, and within a kind the easiest to understand.
func Compare(a, b Finding) int {
	return cmp.Or(compareStanding(a, b), cmp.Compare(a.Kind.rank(), b.Kind.rank()), compareEvidence(a, b))
}

// compareStanding puts new findings before expected failures, and those before what the contract excuses.
func compareStanding(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(min(len(a.Excused), 1), min(len(b.Excused), 1)), cmp.Compare(min(len(a.Known), 1), min(len(b.Known), 1)),
	)
}

// compareEvidence puts first what is the easiest to understand: the plainest circumstances, requests one after the other
// before those of bursts and those before what is beside crashes, and among them those with the fewest attempts without an
// answer, and the fewest attempts.
func compareEvidence(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.weight(), b.weight()), cmp.Compare(a.disturbance(), b.disturbance()),
		cmp.Compare(a.withoutAnswer(), b.withoutAnswer()), cmp.Compare(len(a.Attempts), len(b.Attempts)),
	)
}

// CompareResults orders the results of findings that are equally easy: those of a scenario without bursts come first, so that no
// plain create beside a burst stands for all others, then those in which more of the intents failed, then those with the
// fewest attempts for each.
func CompareResults(a, b Result) int {
	bursts := func(r Result) int {
		if r.Bursts != nil {
			return 1
		}
		return 0
	}
	share := func(n int, of Result) float64 { return float64(n) / float64(max(of.Of(), 1)) }
	return cmp.Or(
		cmp.Compare(bursts(a), bursts(b)), cmp.Compare(share(b.Failed, b), share(a.Failed, a)), cmp.Compare(share(a.Attempts, a), share(b.Attempts, b)),
	)
}

// withoutAnswer counts the attempts whose client got no answer: what they did takes a reader more thought.
func (f Finding) withoutAnswer() int {
	n := 0
	for _, a := range f.Attempts {
		if !a.Complete {
			n++
		}
	}
	return n
}

// disturbance is how much had to happen for a finding: 0 requests one after the other, 1 requests released together, 2 a
// crash, an emptied store or a broken link.
func (f Finding) disturbance() int {
	switch {
	case len(f.Crashes)+len(f.Flushes) > 0, slices.ContainsFunc(f.Attempts, func(a history.Attempt) bool { return a.Cut != nil }):
		return 2
	case slices.ContainsFunc(f.Attempts, func(a history.Attempt) bool { return a.Together }):
		return 1
	default:
		return 0
	}
}
