package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// epochs splits the attempts of one key where the target may have forgotten it. A natural key is not forgotten.
func (t *Terms) epochs(record keyGroup) []keyGroup {
	if len(t.Contract.NaturalKey) > 0 {
		return []keyGroup{record}
	}
	return t.remembered(record)
}

// remembered splits the attempts of one key where the target may have forgotten it. The target forgets a key some
// time after one of the attempts made its record, and looks at a later attempt some time between its start and its
// end. Only what holds for every such moment is certain. An attempt that may lie on either side stands alone, so that
// it is compared with nothing.
func (t *Terms) remembered(record keyGroup) []keyGroup {
	after := history.Offset(t.Contract.Expiry.After)
	if after <= 0 {
		return []keyGroup{record}
	}
	var all []keyGroup
	current := keyGroup{record[0]}
	earliest, latest := record[0].Start, record[0].latest
	doubtful := history.Offset(0) // since when the key may have a newer record
	for _, a := range record[1:] {
		switch {
		case max(latest, a.latest)-earliest < after:
			current, latest = append(current, a), max(latest, a.latest)
		case a.Start-latest >= after:
			all = append(all, current)
			current, earliest, latest = keyGroup{a}, a.Start, a.latest
			if doubtful != 0 {
				earliest, doubtful = doubtful, 0
			}
		default:
			all = append(all, keyGroup{a})
			if doubtful == 0 {
				doubtful = a.Start
			}
		}
	}
	return append(all, current)
}

// executions splits the attempts of one key into groups that may each have had an effect.
func (t *Terms) executions(record keyGroup) []keyGroup {
	if t.Contract.Expiry.Then == contract.ExpiryReject {
		return []keyGroup{record}
	}
	return t.epochs(record)
}

// effectsTold counts the effects of one key that a client was told of. A target may remember a key for longer than it
// must, so that two acknowledgements speak of two effects only where they name different identities.
func (t *Terms) effectsTold(record keyGroup) int {
	told := false
	named := map[string]bool{}
	for _, g := range t.executions(record) {
		if first := slices.IndexFunc(g, func(a *classified) bool { return a.outcome == Acknowledged }); first >= 0 {
			told = true
			named[g[first].identity] = true
		}
	}
	delete(named, "")
	if !told {
		return 0
	}
	return max(1, len(named))
}

// effectsToldOf counts the effects of records that a client was told of. Where an equal body is a repetition for a while, whatever its key,
// what was told under several keys, or without one, speaks of one effect, unless it names several.
func effectsToldOf(t *Terms, records []keyGroup) (n int) {
	if t.Contract.ContentWindow <= 0 || len(t.Contract.NaturalKey) > 0 {
		for _, record := range records {
			n += t.effectsTold(record)
		}
		return n
	}
	named := map[string]map[string]bool{} // by body
	for _, record := range records {
		if first := slices.IndexFunc(record, func(a *classified) bool { return a.outcome == Acknowledged }); first >= 0 {
			a := record[first]
			if named[a.body] == nil {
				named[a.body] = map[string]bool{}
			}
			named[a.body][a.identity] = true
		}
	}
	for _, of := range named {
		delete(of, "")
		n += max(1, len(of))
	}
	return n
}

// expired reports that a repetition reached the target after it had to forget the key of an acknowledged request.
func expired(e *evaluation, first, then *classified) bool {
	after := e.terms.Contract.Expiry.After
	return after > 0 && first.outcome == Acknowledged && reachedTarget(then) && first.Key == then.Key && first.body == then.body &&
		(then.Start-first.latest).Duration() >= time.Duration(after)
}

// retriedLate reports that a repetition reached the target a second after the answer, or a quarter of the promised time if
// that is less, and before the target might forget the key.
func retriedLate(e *evaluation, first, then *classified) bool {
	after, late := history.Offset(e.terms.Contract.Expiry.After), history.Offset(time.Second)
	forgets := after > 0 && len(e.terms.Contract.NaturalKey) == 0
	if forgets {
		late = min(late, after/4)
	}
	return first.Complete && !notTried(first) && reachedTarget(then) && first.Key == then.Key && first.body == then.body &&
		then.Start-first.End >= late && !(forgets && then.latest-first.Start >= after)
}

// mayBeForgotten reports that an attempt may have come after the target forgot its key.
func mayBeForgotten(e *evaluation, tr *trace, last *classified) bool {
	after := history.Offset(e.terms.Contract.Expiry.After)
	return after > 0 && slices.ContainsFunc(tr.attempts, func(a *classified) bool {
		return a.Key == last.Key && last.latest-a.Start >= after
	})
}

// longUntilForgotten is how long after the answer a request has to come, until it may be that its key was forgotten.
const longUntilForgotten = history.Offset(time.Second)

// forgotten says of an intent with more than one row, where the contract does not say for how long keys are known, that the second one came long
// after the answer, and which request before it was still known; empty: that is not so.
func forgotten(t *Terms, tr *trace) string {
	told := filter(tr.attempts, func(a *classified) bool { return a.outcome == Acknowledged && a.body == tr.attempts[0].body })
	if len(t.Contract.NaturalKey) > 0 || t.Contract.Expiry.After > 0 || len(told) < 2 || told[0].identity == "" || !oneKey(tr.attempts) {
		return ""
	}
	first := told[0]
	n := slices.IndexFunc(told, func(a *classified) bool { return a.identity != first.identity })
	if n < 0 || told[n].identity == "" || told[n].Start-first.End < longUntilForgotten {
		return ""
	}
	after := func(a *classified) time.Duration {
		return (a.Start - first.Start).Duration().Round(100 * time.Millisecond)
	}
	known := ""
	if n > 1 {
		known = fmt.Sprintf(" (one after %s got the first one's answer)", after(told[n-1]))
	}
	return fmt.Sprintf("; the second came with a request %s after the first%s: if keys are forgotten by then, and may be, contract.expiry has to say so (after, then: execute)", after(told[n]), known)
}
