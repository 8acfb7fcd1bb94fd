package export

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/export/curl"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// conditions say what shows a finding of each kind; those that are not there have to be judged by who reads the script.
func conditions() map[checker.Kind]curl.Condition {
	return map[checker.Kind]curl.Condition{
		checker.Leak: curl.Leaked, checker.Duplicate: curl.TooMany, checker.TargetDied: curl.Died, checker.LostWrite: curl.Lost,
		checker.PhantomRow: curl.Phantom, checker.AlteredBody: curl.Altered, checker.EffectMismatch: curl.Wrong,
		checker.StuckKey: curl.Refused, checker.StoredError: curl.Refused, checker.RefusedThoughDone: curl.Refused, checker.Unavailable: curl.Refused,
		checker.Unanswered: curl.Unanswered, checker.ReplayMismatch: curl.Differs, checker.UndeclaredAnswer: curl.Undeclared,
		checker.FalseConflict: curl.Mixed, checker.MissingKeyAccepted: curl.Keyless,
	}
}

// judge is how a script sees that it happened again, and what keeps it from that. Where executions add to a row, told says that it
// knows how much.
func (f Finding) judge(s *sut.System, plan scenarios.Plan, told bool) (j curl.Judge, cannot []string) {
	finding, c, o := f.Finding.Finding, s.Target.Contract, s.Operations[0]
	j = curl.Judge{
		Sees: conditions()[finding.Kind], Late: finding.Moment == history.T2Name,
		Means: means(c), Identity: o.Identity, Natural: len(c.NaturalKey) > 0 || c.ContentWindow > 0, Promise: c,
	}
	if len(c.Ack.Accepted.Statuses) > 0 || o.Rows.VisibleWithin > 0 {
		j.Settle = time.Duration(max(s.Target.Settle, o.Rows.VisibleWithin))
	}
	for _, d := range finding.Differs {
		if strings.HasPrefix(d.Where, "/") && slices.Contains([]string{d.First, d.Then}, checker.Nothing) {
			d.Where = "body" // the member may be there, and somewhere else
		}
		if !slices.Contains(j.Where, d.Where) {
			j.Where = append(j.Where, d.Where)
		}
	}
	if j.Sees == curl.Differs && len(j.Where) == 0 {
		j.Where = []string{map[string]string{"status": "status", "identity": "identity"}[finding.Detail]}
	}
	if j.Sees == curl.Altered && sendsInvalid(plan) {
		j.Sees = curl.Corrected
	}
	for _, e := range o.Effects {
		if e.Seen == "" {
			j.Effects = append(j.Effects, curl.Effect{Query: e.Query, Rows: e.Rows, Value: e.Value, Delta: e.Delta})
		}
	}
	if j.Sees == curl.Leaked && finding.Detail == history.NoCredential {
		j.Sees = curl.Told
	}
	if j.Sees == curl.Lost && o.Rows.Identity == "" {
		j.Identity = contract.Identity{} // the rows do not say it
	}
	if j.Sees == curl.Mixed && removes(plan) {
		j.Sees = curl.Gone
	}
	j.Each = slices.ContainsFunc(finding.Rows, func(r checker.RowEvidence) bool { return len(r.Rows) > 0 })
	if worksLong(plan) && o.Work == nil {
		cannot = append(cannot, "what makes the work for a request take long: the link database did it")
	}
	switch {
	case finding.Kind == checker.EffectBeforeCommit || finding.Kind == checker.DownstreamKeyChanged || j.Sees == curl.Wrong && seenAtSink(o.Effects):
		cannot = append(cannot, "the sink at which the effect is seen")
	case !told && j.Sees == curl.TooMany:
		cannot = append(cannot, "a look at the sum in the row: the requests do not say as a number what is added to it")
	case s.Instances() > 1:
		cannot = append(cannot, "several instances of the target: BASE_URL is one address")
	case len(s.Target.Instances) > 1:
		cannot = append(cannot, "the several addresses of the target: BASE_URL is one of them")
	}
	return j, cannot
}

// means are those of a contract. A 402 declines, where nothing else is said.
func means(c contract.Contract) curl.Means {
	all := c.Meanings()
	of := func(which ...int) (signatures []contract.Signature) {
		for _, i := range which {
			if s := all[i].Signature; len(s.Statuses) > 0 {
				signatures = append(signatures, s)
			}
		}
		return signatures
	}
	m := curl.Means{
		Earlier: of(contract.MeansThrottled, contract.MeansRunning), Declined: of(contract.MeansDeclined),
		Done: of(contract.MeansAccepted, contract.MeansDone), Exists: of(contract.MeansExists),
		Refused: of(contract.MeansExpired, contract.MeansMismatch, contract.MeansNoKey),
	}
	named := slices.ContainsFunc(all, func(m contract.Meaning) bool {
		return slices.Contains(m.Signature.Statuses, http.StatusPaymentRequired)
	})
	if len(m.Declined) == 0 && !named {
		m.Declined = []contract.Signature{{Statuses: []int{http.StatusPaymentRequired}}}
	}
	return m
}

// seenAtSink reports that an effect is counted at a sink, which no script has.
func seenAtSink(effects []contract.Effect) bool {
	return slices.ContainsFunc(effects, func(e contract.Effect) bool { return e.Seen != "" })
}

// sendsInvalid reports that a plan has requests that are to be refused, and then corrected.
func sendsInvalid(plan scenarios.Plan) bool {
	return hasMove(plan, func(m scenarios.Move) bool {
		return slices.ContainsFunc(m.Batch, func(a scenarios.PlannedAttempt) bool { return a.Body == history.Invalid })
	})
}

// removes reports that a plan removes what was made.
func removes(plan scenarios.Plan) bool {
	return hasMove(plan, func(m scenarios.Move) bool { return m.Remove })
}

// hasMove reports that some intent of a plan makes such a move.
func hasMove(plan scenarios.Plan, is func(scenarios.Move) bool) bool {
	return slices.ContainsFunc(plan.Intents, func(i scenarios.PlannedIntent) bool { return slices.ContainsFunc(i.Moves, is) })
}

// worksLong reports that requests are made to take long.
func worksLong(plan scenarios.Plan) bool {
	return slices.ContainsFunc(plan.Intents, func(i scenarios.PlannedIntent) bool { return i.Work > 0 })
}
