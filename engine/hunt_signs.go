package engine

import (
	"cmp"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// signs sums up the signs of trouble in the rounds of a history, for each 0 to 1: what a race that is nearly hit shows.
func signs(h *history.History) float64 {
	rounds := map[string][]history.Attempt{}
	for _, a := range h.Attempts {
		if !a.Probe {
			rounds[a.Intent] = append(rounds[a.Intent], a)
		}
	}
	sum := 0.0
	for _, i := range h.Intents {
		if !i.Behind && !i.Fresh {
			sum += signOf(rounds[i.ID])
		}
	}
	return sum
}

// breakKinds are the ways in which the target breaks an exchange, where no lane does.
func breakKinds() []history.ErrorKind {
	return []history.ErrorKind{history.Reset, history.Closed, history.Truncated, history.Garbage}
}

// signOf is the sign of one round, by its requests.
func signOf(round []history.Attempt) float64 {
	sign := 0.0
	for n, a := range round {
		if a.Status >= 500 || a.Lane == scenarios.Clean && slices.Contains(breakKinds(), a.ErrorKind) {
			return failureSign
		}
		for _, b := range round[:n] {
			if !overlap(a, b) {
				continue
			}
			sign = max(sign, overlapSign)
			if a.Complete && b.Complete && a.Status != b.Status {
				sign = max(sign, differSign)
			}
		}
	}
	return sign
}

// overlap reports that two requests were under way at once: inside the target, where its tap saw them.
func overlap(a, b history.Attempt) bool {
	inside := func(a history.Attempt) (from, to history.Offset) {
		if p := a.Passage; p != nil && p.Arrived > 0 && p.Answered > 0 {
			return p.Arrived, p.Answered
		}
		return a.Wrote, cmp.Or(a.Replied, a.End)
	}
	from, to := inside(a)
	begins, ends := inside(b)
	return from > 0 && begins > 0 && from < ends && begins < to
}

// Of a round, how much of a sign of trouble it is that its requests were inside the target at once, and that their answers differ.
const (
	overlapSign = 0.125
	differSign  = 0.5
	failureSign = 1
)
