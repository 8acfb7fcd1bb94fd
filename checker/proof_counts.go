package checker

import (
	"math"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

// measureExercise counts for how many intents each of the scenario's proofs held. Background traffic does not count. Nor
// does an intent for which a proof does not hold because it was declined or failed, unless most failed.
func measureExercise(e *evaluation, t *tally) {
	rules := exerciseRules()
	missed := map[string]bool{} // by intent: a proof did not hold
	for _, p := range e.history.Run.Exercised {
		holds := rules[proofs.Name(p.Name)]
		var counted held
		for _, mg := range e.groups {
			for _, tr := range mg.traces {
				if tr.intent.Behind || tr.intent.Fresh {
					continue
				}
				early := tr.until(atT1).whole()
				held := holds != nil && holds(e, mg, early)
				if held {
					counted.held++
				}
				missed[tr.intent.ID] = missed[tr.intent.ID] || !held
				switch {
				case !held && onlyDeclined(early): // which proves less than what is done
				case !held && onlyFailed(early):
					counted.failed++
				default:
					counted.of++
				}
			}
		}
		t.exercise = append(t.exercise, counted)
	}
	t.proven = newExercised(missed)
}

// exercised counts the intents for which every proof of a scenario held: only those can
// have shown the defect that it looks for. The zero value has none.
type exercised struct {
	intents map[string]bool // of a part
	count   int
	broke   map[Kind]int
}

// newExercised takes, by intent, whether a proof did not hold.
func newExercised(missed map[string]bool) exercised {
	x := exercised{intents: map[string]bool{}}
	for id, is := range missed {
		if !is {
			x.intents[id] = true
			x.count++
		}
	}
	return x
}

// placeBroken counts which of them have findings that the contract does not excuse.
func (x *exercised) placeBroken(all []Finding) {
	type broken struct {
		kind   Kind
		intent string
	}
	seen := map[broken]bool{}
	for _, f := range all {
		one := broken{f.Kind, f.Intent}
		if f.Excused != "" || seen[one] || !x.intents[f.Intent] {
			continue
		}
		seen[one] = true
		if x.broke == nil {
			x.broke = map[Kind]int{}
		}
		x.broke[f.Kind]++
	}
}

// add adds the counts of another part.
func (x *exercised) add(other exercised) {
	x.count += other.count
	for k, n := range other.broke {
		if x.broke == nil {
			x.broke = map[Kind]int{}
		}
		x.broke[k] += n
	}
}

// needed is for how many intents a proof has to hold: at least one. The small number keeps
// a share such as 0.1 of 30, which is a little above 3 as a float64, from needing 4.
func needed(p history.Proof, of int) int { return max(1, int(math.Ceil(p.AtLeast*float64(of)-1e-9))) }

// onlyFailed reports that all that an intent was answered so far is server errors.
func onlyFailed(tr *trace) bool {
	failures := filter(tr.attempts, func(a *classified) bool { return a.outcome == Unknown && a.Complete && a.Status >= 500 })
	return len(failures) > 0 && len(failures) == len(tr.attempts)
}

// sentence returns the words of a proof.
func sentence(p proofs.Name) string {
	if row, found := proofs.Of(p); found {
		return row.Sentence
	}
	return "an unknown proof, which never holds"
}

// anyPair reports whether a relation holds between any two attempts, in the order of sending.
func anyPair(attempts []*classified, holds func(a, b *classified) bool) bool {
	for i, a := range attempts {
		for _, b := range attempts[i+1:] {
			if holds(a, b) {
				return true
			}
		}
	}
	return false
}

// delayed reports that an answer took at least as long as the lane's latency, or that the client gave up on it.
func delayed(e *evaluation, a *classified) bool {
	delay := e.lane(a.Lane).Delay
	if delay == 0 || a.Wrote == 0 {
		return false
	}
	return a.Replied-a.Wrote >= delay || a.ErrorKind == history.Timeout
}

// committedBeforeRetry reports that the row was seen after an answer was lost, and that a
// later attempt began after that: then the retry met a committed row for sure.
func committedBeforeRetry(e *evaluation, tr *trace) bool {
	for _, seen := range e.sightings[tr.intent.ID] {
		if seen.Rows == 0 {
			continue
		}
		lost := slices.ContainsFunc(tr.attempts, func(a *classified) bool { return a.End < seen.At && a.outcome == Unknown && !a.Complete })
		retried := reached(tr.attempts, func(a *classified) bool { return a.Start >= seen.At })
		if lost && retried {
			return true
		}
	}
	return false
}

// vanished reports that the request of an attempt did not reach the target whole.
func vanished(e *evaluation, tr *trace, a *classified) bool {
	if observed(a) != nil {
		return !arrived(a)
	}
	return len(tr.attempts) == 1 && !e.committed(tr)
}

// distinctKeys reports that as many keys were answered as there are intents with the same body.
func distinctKeys(e *evaluation, mg *markerGroup) bool {
	answered := map[string]bool{}
	for _, tr := range mg.traces {
		for _, a := range tr.attempts {
			if a.Complete && !a.Probe && !notTried(a) {
				answered[a.Key] = true
			}
		}
	}
	return len(mg.traces) > 1 && len(answered) >= len(mg.traces)
}
