package checker

import (
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// byWay splits the answers to one key by the operation that gave them: each shows what was
// made in its own form, so only answers of one form can be compared.
func byWay(record []*classified) [][]*classified {
	other := filter(record, (*classified).otherWay)
	if len(other) == 0 {
		return [][]*classified{record}
	}
	var ways [][]*classified
	for _, way := range [][]*classified{filter(record, func(a *classified) bool { return !a.otherWay() }), other} {
		if len(way) > 0 {
			ways = append(ways, way)
		}
	}
	return ways
}

// checkWays checks that an acknowledged request is not rejected because it takes another way. A target may compare paths
// and members, so that only requests count that differ in nothing but the place of the key.
func checkWays(e *evaluation, m moment, tr *trace, record []*classified) {
	own, other := tr.intent.Bodies[history.Original], tr.intent.Bodies[history.OtherWay]
	if own.Method != other.Method || own.Path != other.Path || own.JSON() != other.JSON() {
		return
	}
	for _, a := range withOutcome(record, Rejected) {
		first := slices.IndexFunc(record, func(b *classified) bool {
			return b.outcome == Acknowledged && b.otherWay() != a.otherWay() && b.End < a.Start
		})
		if first < 0 {
			continue
		}
		e.report(m, tr, Finding{
			Kind: FalseConflict, Detail: "other-way",
			Promise:  "One key is one thing, in whichever of its places it is sent.",
			Contract: "same_as",
			Expected: "the answer of the first request",
			Observed: fmt.Sprintf("attempt %s, which differs from %s in nothing but the place of the key, was refused with status %d", a.ID, record[first].ID, a.Status),
		})
		return
	}
}

// bothWays reports that requests of both ways reached the target, and one was acknowledged.
func bothWays(tr *trace) bool {
	return has(tr.attempts, Acknowledged, Accepted) && reached(tr.attempts, (*classified).otherWay) &&
		reached(tr.attempts, func(a *classified) bool { return !a.otherWay() && a.body == history.Original })
}
