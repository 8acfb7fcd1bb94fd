package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
)

// Phase describes how the second of two requests was answered. It needs no other attempts, so a driver can ask it
// during a run: two moments of the first request's life are in different phases if the words differ.
func (t Terms) Phase(o string, first, second history.Attempt) string {
	operation := t.named(o)
	a, b := t.classifyAttempt(&first, operation, nil), t.classifyAttempt(&second, operation, nil)
	return phase(&a, &b)
}

// phase describes the answer to the second request, and whether it names the same row as the first.
func phase(first, second *classified) string {
	said := strings.ReplaceAll(second.outcome.String(), "-", " ")
	known := first.identity != "" && second.identity != ""
	switch {
	case known && first.identity == second.identity:
		return said + " with the same thing"
	case known:
		return said + " with another thing"
	case second.outcome == Rejected || second.outcome == Unknown && second.Complete:
		return fmt.Sprintf("%s (status %d)", said, second.Status)
	default:
		return said
	}
}

// measurePhases notes how the second request was answered at each offset of a sweep.
func measurePhases(e *evaluation, t *tally) {
	for tr := range e.traces() {
		for _, pair := range sweepsOf(tr.attempts) {
			if offset, known := between(pair[0], pair[1]); known {
				t.phases = append(t.phases, Phase{Answer: phase(pair[0], pair[1]), From: offset, To: offset, Count: 1})
			}
		}
	}
}

// mergedPhases groups the offsets of sweeps by how the second request was answered.
func mergedPhases(all []Phase) []Phase {
	slices.SortFunc(all, func(a, b Phase) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Answer, b.Answer)) })
	var merged []Phase
	for _, p := range all {
		if n := len(merged) - 1; n >= 0 && merged[n].Answer == p.Answer {
			merged[n].To, merged[n].Count = p.To, merged[n].Count+1
			continue
		}
		merged = append(merged, p)
	}
	return merged
}

// sweepsOf finds the pairs of requests of sweeps, in the order in which they were to be released.
func sweepsOf(attempts []*classified) [][2]*classified {
	var pairs [][2]*classified
	for _, members := range burstMembers(attempts) {
		if !swept(members) {
			continue
		}
		slices.SortStableFunc(members, func(a, b *classified) int { return cmp.Compare(a.After, b.After) })
		pairs = append(pairs, [2]*classified{members[0], members[1]})
	}
	return pairs
}

// swept reports that members were not to be released at once.
func swept(members []*classified) bool {
	return len(members) == 2 && slices.ContainsFunc(members, func(a *classified) bool { return a.After > 0 })
}

// between returns how long after the first the second of two requests was released, and whether both were.
func between(first, second *classified) (history.Offset, bool) {
	a, _ := released(first)
	b, _ := released(second)
	return b - a, a != 0 && b != 0
}
