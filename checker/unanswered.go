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
				(first.End - e.undisturbedFrom(first)).Duration().Round(time.Second), e.normally(), e.asking().unansweredText()),
		})
	}
}

// disturbed reports that the scenario broke or slowed something inside the target, which may keep any request waiting.
// Which requests that kept waiting cannot be told, so that no request of the scenario is reported.
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

// hanging is a request that may never be answered, and what was found beside it.
type hanging struct {
	attempt, intent string
	from, half, end history.Offset
	ahead           history.Offset // time that the target takes for what came before its end
	busy            bool           // the target may have been busy with something else
}

// mayHang reports that the target may never answer a request: its client waited long, and longer than a dead execution
// may block its key. A deadline counts from the start of an attempt, so that a quarter of it may be gone when the
// request is inside. Half of the waiting has to be several times what a request takes, since in that half a slow
// target shows that it is still at work.
func mayHang(e *evaluation, a *classified) (hanging, bool) {
	if a.ErrorKind != history.Timeout || !e.unanswered(a) {
		return hanging{}, false
	}
	from, lease := e.undisturbedFrom(a), history.Offset(e.terms.Contract.Lease)
	waited := a.End - from
	if waited < generous*3/4 || lease > 0 && waited < lease+history.Offset(time.Second) || waited/2 < 3*e.history.Run.Normal {
		return hanging{}, false
	}
	return hanging{attempt: a.ID, intent: a.Intent, from: from, half: a.End - waited/2, end: a.End}, true
}

// noteHanging notes the requests of an intent that have no answer.
func (w *whole) noteHanging(e *evaluation, tr *trace) {
	for _, a := range tr.whole().attempts {
		w.sent++
		if e.unanswered(a) {
			w.silent++
		}
		if h, may := mayHang(e, a); may && !e.disturbed() {
			w.hanging = append(w.hanging, new(h))
		}
	}
}

// noteBeside notes what the target did while requests hung. In the second half of that time a target that is only slow works its
// queue off: it answers what had come before a request or with it. A client that a lane keeps connected may occupy a target that
// serves one client at a time. In which order it takes requests that are made to take long is its own affair.
func (w *whole) noteBeside(e *evaluation) {
	for tr := range e.traces() {
		for _, b := range tr.whole().attempts {
			for _, h := range w.hanging {
				if tr.intent.Work > 0 && b.ID != h.attempt && b.Start < h.end {
					h.ahead += tr.intent.Work
				}
				h.busy = h.busy || occupies(e, b, h) || tr.intent.Work == 0 && slowBeside(e, b, h)
			}
		}
	}
}

// occupies reports that another request may be why one hangs.
func occupies(e *evaluation, b *classified, h *hanging) bool {
	came, answered := b.Wrote, b.Replied
	if p := observed(b); p != nil {
		if p.Opened < h.end && (p.Closed == 0 || p.Closed > h.half) && len(e.lane(b.Lane).Faults) > 0 {
			return true
		}
		came, answered = p.Arrived, p.Answered
	}
	const together = history.Offset(100 * time.Millisecond)
	return came != 0 && came <= h.from+together && answered >= h.half && answered <= h.end
}

// The least that a request of another intent takes where a target is slow, and how many times as long as a plain create that is.
const (
	slowAnswer  = history.Offset(2 * time.Second)
	slowCreates = 20
)

// slowBeside reports that a request of another intent, which came before the end of one that hangs, was answered after seconds. Then the
// target has more to do than it gets done, and may take requests in any order: one that hangs may be late.
func slowBeside(e *evaluation, b *classified, h *hanging) bool {
	from := e.undisturbedFrom(b)
	return b.Intent != h.intent && b.Complete && len(e.lane(b.Lane).Faults) == 0 && from != 0 && from < h.end &&
		b.End-from >= max(slowAnswer, slowCreates*e.history.Run.Normal)
}

// hung reports that the target will never answer a request. Where the target was given work that takes its time, the
// request must have waited longer than all of that work, done one after the other, and the generous deadline more.
func (e *evaluation) hung(a *classified) bool {
	if _, may := mayHang(e, a); !may {
		return false
	}
	all := e.asking().hanging
	i := slices.IndexFunc(all, func(h *hanging) bool { return h.attempt == a.ID })
	return i >= 0 && !all[i].busy && (all[i].ahead == 0 || all[i].end-all[i].from >= all[i].ahead+generous)
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

// unansweredText counts the requests that got no answer.
func (w *whole) unansweredText() string {
	return fmt.Sprintf("%d of %d requests of the scenario were never answered", w.silent, w.sent)
}

// leftUnanswered reports that a request of an intent got no answer that has no finding of it.
func leftUnanswered(e *evaluation, tr *trace) bool {
	if len(e.history.Crashes) > 0 || e.targetGone() {
		return false
	}
	reported := slices.ContainsFunc(e.found.findings, func(f Finding) bool { return f.Kind == Unanswered && f.Intent == tr.intent.ID })
	return !reported && slices.ContainsFunc(tr.whole().attempts, e.unanswered)
}
