package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
)

// checkDiverged checks that the databases of a target with several are equal, once the
// contract's time for that is over (converged). The snapshots have waited for so long, so
// no clock is asked here.
func checkDiverged(e *evaluation, m moment, traces []*trace) {
	if e.terms.Contract.Converged <= 0 || waitedInVain(e) {
		return
	}
	for _, body := range []string{history.Original, history.Altered} {
		b, sent := traces[0].intent.Bodies[body]
		if !sent {
			continue
		}
		rows, _ := e.rows(m, b.Marker)
		i := slices.IndexFunc(rows, func(row history.Row) bool { return row[history.NotAt] != nil })
		if i < 0 {
			continue
		}
		e.report(m, traces[0], Finding{
			Kind: Diverged, Detail: "rows", Contract: "converged: " + e.terms.Contract.Converged.String(),
			Promise:  "Replicas come to hold the same rows.",
			Expected: "the same rows in all databases",
			Observed: fmt.Sprintf("a row that is not at %v", rows[i][history.NotAt]),
		})
		return
	}
}

// waitedInVain reports that a snapshot may not have waited for the databases to become equal.
func waitedInVain(e *evaluation) bool {
	return e.targetGone() || e.incident(history.Interruption) != nil || e.incident(history.HarnessFault) != nil || e.incident(history.NoAnswer) != nil
}

// madeByReplication says how duplicate rows came to be at a target whose instances have databases of their own: each instance told of one
// thing, always the same, and another told of another. Empty: that is not so.
func madeByReplication(e *evaluation, tr *trace) string {
	if e.terms.Contract.Converged <= 0 {
		return ""
	}
	made := map[int]string{}
	for _, a := range tr.attempts {
		if a.outcome != Acknowledged || a.identity == "" || a.Instance == 0 {
			continue
		}
		if first, known := made[a.Instance]; known && first != a.identity {
			return "" // this one is not single by itself
		}
		made[a.Instance] = a.identity
	}
	var parts []string
	told := map[string]bool{}
	for instance := range history.MostInstances {
		if identity, some := made[instance+1]; some && !told[identity] {
			told[identity] = true
			parts = append(parts, fmt.Sprintf("instance %d made %s", instance+1, identity))
		}
	}
	if len(parts) < 2 {
		return ""
	}
	return strings.Join(parts, ", ")
}
