package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// checkAnswers compares the acknowledgements of a group with each other and with the row: invariants I4, I9 and I11,
// decision table 2. It compares within one body and one key: with a natural key a group may have several keys, and a
// replay repeats the answer to its own key only.
func checkAnswers(e *evaluation, m moment, tr *trace, g keyGroup) {
	alone := len(g) == len(tr.attempts)
	for _, body := range []string{history.Original, history.Altered} {
		same := withBody(g, body)
		if len(same) == 0 {
			continue
		}
		checkIdentities(e, m, tr, body, same, alone)
		if e.terms.Contract.Level != contract.DedupOnly {
			reportToldNowhere(e, m, tr, same)
			for _, record := range byKey(same) {
				for _, remembered := range e.terms.remembered(record) {
					checkWays(e, m, tr, remembered)
					for _, way := range byWay(remembered) {
						checkReplays(e, m, tr, g, way)
					}
				}
			}
		}
	}
	if e.terms.Contract.Level != contract.DedupOnly && g[0].Key != "" && begins(tr, g) {
		checkNoFirst(e, m, tr, g)
	}
}

// begins reports that a group has the first attempt of its key. A later group may still be answered with a replay,
// since a target may remember a key for longer than it must.
func begins(tr *trace, g keyGroup) bool {
	first := slices.IndexFunc(tr.attempts, func(a *classified) bool { return a.Key == g[0].Key })
	return tr.attempts[first] == g[0]
}

// byKey splits attempts by key and drops those without: a request without a key promises no replay.
func byKey(attempts []*classified) []keyGroup {
	if oneKey(attempts) {
		return []keyGroup{slices.Clip(attempts)}
	}
	var records []keyGroup
	at := map[string]int{}
	for _, a := range attempts {
		i, known := at[a.Key]
		switch {
		case a.Key == "":
			continue
		case !known:
			i = len(records)
			at[a.Key], records = i, append(records, nil)
		}
		records[i] = append(records[i], a)
	}
	return records
}
