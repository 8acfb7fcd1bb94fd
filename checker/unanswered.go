package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// generous is the shortest deadline after which a request counts as never answered. A client that gives up earlier has
// learnt nothing of the target.
const generous = history.Offset(10 * time.Second)

// checkUnanswered reports intents with a request that the target never answered, although nothing was in its way and
// its client waited long. Where the final retry got no answer either, that is reported already.
func checkUnanswered(e *evaluation) {
	if e.disturbed() {
		return
	}
	for tr := range e.traces() {
		hung := filter(tr.whole().attempts, e.hung)
		if len(hung) == 0 {
			continue
		}
		first, m := hung[0], atT1
		if first.Probe {
			m = atT2
		}
		if first.Probe && slices.ContainsFunc(e.found.findings, func(f Finding) bool { return f.Intent == tr.intent.ID }) {
			continue
		}
		e.report(m, tr, Finding{
			Kind: Unanswered, Contract: inProgressLine(e, tr, first),
			Expected: "an answer, however late: no fault was on its way, and nothing else kept the target busy",
			Observed: fmt.Sprintf("%s reached the target and had no answer after %s%s: %s", whichOf(hung),
				(first.End - e.undisturbedFrom(first)).Duration().Round(time.Second), e.normally(), unansweredOf(e)),
		})
	}
}

// disturbed reports that the scenario broke or slowed something inside the target, which may keep any request waiting.
func (e *evaluation) disturbed() bool {
	h := e.history
	return len(h.Run.Links)+len(h.Crashes)+len(h.Deaths)+len(h.Flushes) > 0
}

// unanswered reports that a request reached the target on a lane without faults and got no whole answer, though its
// client did not give up early.
func (e *evaluation) unanswered(a *classified) bool {
	switch {
	case a.Complete, a.ErrorKind == history.Interrupted, len(e.lane(a.Lane).Faults) > 0, e.undisturbedFrom(a) == 0:
		return false
	default:
		return a.ErrorKind != history.Timeout || a.Deadline >= generous
	}
}

// undisturbedFrom returns since when nothing of the harness's kept the target from answering: since the request had
// arrived, and no writers were held back any more. 0: never.
func (e *evaluation) undisturbedFrom(a *classified) history.Offset {
	from := a.Wrote
	if p := observed(a); p != nil && !arrived(a) {
		return 0
	} else if p != nil {
		from = p.Arrived
	}
	for _, h := range e.history.Holdings {
		switch {
		case h.Shut == 0, h.Shut > a.End, h.Opened != 0 && h.Opened < from:
		case h.Opened == 0:
			return 0
		default:
			from = max(from, h.Opened)
		}
	}
	return from
}

// hung reports that the target will never answer a request. Its client waited long, and longer than a dead execution
// may block its key. In the second half of that time the target answered nothing that had come before the request or
// with it: a target that is only slow works its queue off. A client that a lane keeps connected may occupy a target
// that serves one client at a time.
func (e *evaluation) hung(a *classified) bool {
	from, lease := e.undisturbedFrom(a), history.Offset(e.terms.Contract.Lease)
	waited := a.End - from
	if a.ErrorKind != history.Timeout || !e.unanswered(a) || waited < generous*3/4 || lease > 0 && waited < lease+history.Offset(time.Second) {
		return false
	}
	if ahead := workAhead(e, a); ahead > 0 && waited < ahead+generous {
		return false
	}
	half := a.End - waited/2
	return waited/2 >= 3*e.history.Run.Normal && !slices.ContainsFunc(e.all(), func(b *classified) bool {
		if p := observed(b); p != nil && len(e.lane(b.Lane).Faults) > 0 && p.Opened < a.End && (p.Closed == 0 || p.Closed > half) {
			return true
		}
		came, answered := b.Wrote, b.Replied
		if p := observed(b); p != nil {
			came, answered = p.Arrived, p.Answered
		}
		const together = history.Offset(100 * time.Millisecond)
		return came != 0 && came <= from+together && answered >= half && answered <= a.End
	})
}

// workAhead is how long the target takes for the other requests that came before the end of this one, one after the other, where
// the scenario makes them take long. In which order it takes them is its own affair.
func workAhead(e *evaluation, a *classified) history.Offset {
	sum := history.Offset(0)
	for tr := range e.traces() {
		others := filter(tr.whole().attempts, func(b *classified) bool { return b != a && b.Start < a.End })
		sum += history.Offset(len(others)) * tr.intent.Work
	}
	return sum
}

// all returns the attempts of all intents.
func (e *evaluation) all() []*classified {
	var all []*classified
	for tr := range e.traces() {
		all = append(all, tr.whole().attempts...)
	}
	return all
}

// inProgressLine names what the contract says of a request that meets another one of its key; empty: nothing was
// there to meet, or it says nothing.
func inProgressLine(e *evaluation, tr *trace, a *classified) string {
	met := slices.ContainsFunc(tr.whole().attempts, func(b *classified) bool { return b != a && b.Key == a.Key && b.Start <= a.End })
	if mode := e.terms.Contract.InProgress.Mode; met && mode != contract.InProgressUnspecified {
		return "in_progress.mode: " + string(mode)
	}
	return ""
}

// whichOf names the first of the attempts, and says how many there are.
func whichOf(hung []*classified) string {
	if len(hung) == 1 {
		return "attempt " + hung[0].ID
	}
	return fmt.Sprintf("%d attempts, the first is %s,", len(hung), hung[0].ID)
}

// normally says what a plain create takes.
func (e *evaluation) normally() string {
	if e.history.Run.Normal == 0 {
		return ""
	}
	return fmt.Sprintf(" (a plain create takes %s)", e.history.Run.Normal.Duration().Round(time.Millisecond/10))
}

// unansweredOf counts the requests that got no answer.
func unansweredOf(e *evaluation) string {
	all := e.all()
	return fmt.Sprintf("%d of %d requests of the scenario were never answered", len(filter(all, e.unanswered)), len(all))
}

// warnUnanswered counts the requests without an answer in intents that have no finding of it.
func warnUnanswered(e *evaluation) {
	if len(e.history.Crashes) > 0 || e.targetGone() {
		return
	}
	e.warn("unanswered", "%s had a request that reached the target on a clean lane and got no answer ("+unansweredOf(e)+")", func(tr *trace) bool {
		reported := slices.ContainsFunc(e.found.findings, func(f Finding) bool { return f.Kind == Unanswered && f.Intent == tr.intent.ID })
		return !reported && slices.ContainsFunc(tr.whole().attempts, e.unanswered)
	})
}
