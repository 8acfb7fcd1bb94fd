package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// removals parts each story where what it had made was removed: what came before was another wish, whose story is
// over. Where that is not certain, nobody knows what there was for the second wish to find.
func splitAtRemovals(e *evaluation) {
	why := map[string]string{}
	for _, r := range e.history.Removals {
		for _, mg := range e.groups {
			for _, tr := range mg.traces {
				if tr.intent.ID == r.Intent {
					why[r.Intent] = tr.split(r)
				}
			}
		}
	}
	unclear, first := 0, ""
	for _, r := range e.history.Removals {
		if text := why[r.Intent]; text != "" {
			if unclear++; first == "" {
				first = fmt.Sprintf("%s: %s", r.Intent, text)
			}
		}
	}
	if unclear > 0 {
		e.doubt("what %s had made was not surely gone when it was wanted again; the first, %s", count(unclear, "intent"), first)
	}
}

// part parts a story in two, and says what makes it unclear where the first ended.
func (tr *trace) split(r history.Removal) (unclear string) {
	tr.beforeRemoval = &trace{
		intent: tr.intent, operation: tr.operation, endedByRemoval: true, rowsFound: r.Found,
		attempts: filter(tr.attempts, func(a *classified) bool { return a.Start < r.Begun }),
	}
	tr.attempts = filter(tr.attempts, func(a *classified) bool { return a.Start >= r.Begun })
	busy := slices.IndexFunc(tr.beforeRemoval.attempts, func(a *classified) bool {
		return !a.is(Acknowledged, Exists, Rejected, Throttled, NotSent) || a.followup != nil || a.latest > r.Begun
	})
	switch {
	case r.Done == 0:
		unclear = cmp.Or(r.Error, "nobody knows that it was removed")
	case busy >= 0:
		unclear = fmt.Sprintf("the target may not have been done with attempt %s", tr.beforeRemoval.attempts[busy].ID)
	}
	tr.removalUnconfirmed = unclear != ""
	return unclear
}

// wishes are the story and what came before a removal in it.
func (tr *trace) parts() []*trace {
	if tr.beforeRemoval == nil {
		return []*trace{tr}
	}
	return []*trace{tr.beforeRemoval, tr}
}

// whole is a story with what came before a removal.
func (tr *trace) whole() *trace {
	if tr.beforeRemoval == nil {
		return tr
	}
	all := *tr
	all.attempts = slices.Concat(tr.beforeRemoval.attempts, tr.attempts)
	return &all
}

// bygone holds what came before a removal against the contract, as far as that takes no snapshot.
func checkBeforeRemoval(e *evaluation, m moment, tr *trace) {
	if tr.beforeRemoval == nil {
		return
	}
	wishes := max(e.terms.bounds(tr.beforeRemoval).intended, 1)
	if n := tr.beforeRemoval.rowsFound; n > wishes {
		reportDuplicate(e, m, tr.beforeRemoval, n, wishes, ", before it was removed")
	}
	for _, g := range e.terms.groups(tr.beforeRemoval.attempts) {
		checkAnswers(e, m, tr.beforeRemoval, g)
	}
}

// refusedOnceGone reports that a wish that had come true was refused when it came again after what it made was gone.
func rejectedAfterRemoval(tr *trace) bool {
	return tr.beforeRemoval != nil && has(tr.beforeRemoval.attempts, Acknowledged) && rejectedAtOnce(tr) &&
		!slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.unauthenticated() })
}
