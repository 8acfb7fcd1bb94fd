package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// splitAtRemovals splits each trace where its rows were removed: what came before is a trace of its own, which is
// over. Where the removal is not confirmed, nothing on record says what the second part found.
func splitAtRemovals(e *evaluation) {
	if len(e.history.Removals) == 0 {
		return
	}
	why, traces := map[string]string{}, map[string]*trace{}
	for tr := range e.traces() {
		traces[tr.intent.ID] = tr
	}
	for _, r := range e.history.Removals {
		if tr := traces[r.Intent]; tr != nil {
			why[r.Intent] = tr.split(r)
		}
	}
	for i, r := range e.history.Removals {
		if text := why[r.Intent]; text != "" {
			e.removals.add(unclearRemovals{count: 1, at: i, first: fmt.Sprintf("%s: %s", r.Intent, text)})
		}
	}
}

// split splits a trace in two, and says why the end of the first part is unclear; empty: it is clear.
func (tr *trace) split(r history.Removal) (unclear string) {
	tr.beforeRemoval = &trace{
		intent: tr.intent, operation: tr.operation, endedByRemoval: true, rowsFound: r.Found,
		attempts: filter(tr.attempts, func(a *classified) bool { return a.Start < r.Begun }),
	}
	tr.attempts = filter(tr.attempts, func(a *classified) bool { return a.Start >= r.Begun })
	busy := slices.IndexFunc(tr.beforeRemoval.attempts, func(a *classified) bool {
		return !a.is(Acknowledged, Declined, Exists, Rejected, Throttled, NotSent) || a.followup != nil || a.latest > r.Begun
	})
	switch {
	case r.Done == 0:
		unclear = cmp.Or(r.Error, "the removal was not confirmed")
	case busy >= 0:
		unclear = fmt.Sprintf("the target may not have been done with attempt %s", tr.beforeRemoval.attempts[busy].ID)
	}
	tr.removalUnconfirmed = unclear != ""
	return unclear
}

// parts returns the trace and what came before a removal in it.
func (tr *trace) parts() []*trace {
	if tr.beforeRemoval == nil {
		return []*trace{tr}
	}
	return []*trace{tr.beforeRemoval, tr}
}

// whole returns the trace with what came before a removal.
func (tr *trace) whole() *trace {
	if tr.beforeRemoval == nil {
		return tr
	}
	all := *tr
	all.attempts = slices.Concat(tr.beforeRemoval.attempts, tr.attempts)
	return &all
}

// checkBeforeRemoval checks what came before a removal, as far as that takes no snapshot.
func checkBeforeRemoval(e *evaluation, m moment, tr *trace) {
	if tr.beforeRemoval == nil {
		return
	}
	intended := max(e.terms.bounds(tr.beforeRemoval).intended, 1)
	if n := tr.beforeRemoval.rowsFound; n > intended {
		reportDuplicate(e, m, tr.beforeRemoval, n, intended, ", before it was removed")
	}
	for _, g := range e.terms.groups(tr.beforeRemoval.attempts) {
		checkAnswers(e, m, tr.beforeRemoval, g)
	}
}

// rejectedAfterRemoval reports that an acknowledged intent was rejected when it was sent again after its row was
// removed.
func rejectedAfterRemoval(tr *trace) bool {
	return tr.beforeRemoval != nil && has(tr.beforeRemoval.attempts, Acknowledged) && rejectedAtOnce(tr) &&
		!slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.unauthenticated() })
}
