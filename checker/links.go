package checker

import (
	"slices"
	"sort"

	"github.com/doubletap-harness/doubletap/history"
)

// answeredLate is for how long the answer to a question of a request is awaited that its client has left, in latencies of the link.
const answeredLate = 10

// linkDelayed reports that a slow link carried a question and its answer while a request was inside the target, and
// that this took at least the link's latency. A target works on when the client has left: then it is enough that the
// question was under way.
func linkDelayed(e *evaluation, a *classified) bool {
	begin, end, known := e.inside(a)
	if !known {
		return false
	}
	p := observed(a)
	left := p != nil && p.Answered == 0
	for _, t := range e.history.Traffic {
		delay := e.link(t.Link).Delay
		if delay == 0 {
			continue
		}
		until := end
		if left {
			until += answeredLate * delay
		}
		passed := t.Exchanges // in the order of the answers
		first := sort.Search(len(passed), func(i int) bool { return passed[i].Answered >= begin })
		for _, e := range passed[first:] {
			if e.Answered > until {
				break
			}
			if e.Asked >= begin && e.Asked <= end && e.Answered-e.Asked >= delay {
				return true
			}
		}
	}
	return false
}

// linkCut reports that a link with at least one connection broke after a request came to the target and before it was
// answered.
func linkCut(e *evaluation, a *classified) bool {
	if a.Cut == nil || a.Cut.Connections == 0 {
		return false
	}
	begin, end, known := e.inside(a)
	if !known && a.Passage == nil && e.lane(a.Lane).Delay == 0 {
		begin, end = a.Wrote, a.End // no tap saw it come; the client's times have to do
	}
	return begin != 0 && end != 0 && begin <= a.Cut.At && a.Cut.At <= end
}

// linkAway reports that a link with at least one connection broke while the first of two equal requests was under
// way, and that the second came to the target before the link was whole again.
func linkAway(e *evaluation, a, b *classified) bool {
	cut := a.Cut
	if cut == nil || cut.At == 0 || cut.Connections == 0 || !arrived(b) || a.body != b.body || a.Key != b.Key {
		return false
	}
	came, _, _ := e.inside(b)
	return came > cut.At && came < cut.At+cut.Away
}

// duringLinkCut reports that a link of the target was broken while a request was under way: its failure says nothing
// about load.
func duringLinkCut(tr *trace, a *classified) bool {
	return slices.ContainsFunc(tr.attempts, func(b *classified) bool {
		return b.Cut != nil && b.Cut.At != 0 && b.Cut.At < a.End && a.Start < b.Cut.At+b.Cut.Away
	})
}

// flushed reports that keys of the target's store were deleted between two equal requests, or while the first was
// inside.
func flushed(e *evaluation, tr *trace) bool {
	return slices.ContainsFunc(e.history.Flushes, func(f history.Flush) bool {
		return f.Intent == tr.intent.ID && f.Done != 0 && f.Deleted > 0 && anyPair(tr.attempts, func(a, b *classified) bool {
			return !notTried(a) && reachedTarget(b) && a.body == b.body && a.Key == b.Key && a.Wrote != 0 && a.Wrote < f.Begun && b.Start >= f.Done
		})
	})
}
