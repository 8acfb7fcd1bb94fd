package driver

import (
	"slices"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// carryWork leaves the headers that make a request take long to the first requests of an intent: the others meet a request
// that takes long, and need not take long themselves, one after the other. The headers are noted as the attempt's
// own. Members of the body stay, as without them it would be another body.
func (r *requests) carryWork(request *targets.Rendered, one rendered, a history.Attempt) {
	for _, name := range workHeaders(one) {
		if value := request.Header[name]; r.isFirst(a) {
			request.SetOwnHeader(name, value)
		} else {
			delete(request.Header, name)
		}
	}
}

// workHeaders are the headers that the intent's requests have only in order to take long.
func workHeaders(one rendered) []string {
	work := one.operation.Work
	if work == nil || one.values.Intent.Work == 0 || len(work.Body) > 0 {
		return nil
	}
	var names []string
	for name := range work.Header {
		if _, always := one.operation.Request.Header[name]; !always {
			names = append(names, name)
		}
	}
	return names
}

// isFirst reports whether an attempt is one with which its intent begins: of the first
// batch, and with no delay.
func (r *requests) isFirst(a history.Attempt) bool {
	all := r.config.Plan.Intents
	n := slices.IndexFunc(all, func(i scenarios.PlannedIntent) bool { return i.ID == a.Intent })
	if n < 0 {
		return false
	}
	for _, m := range all[n].Moves {
		if len(m.Batch) > 0 {
			return slices.ContainsFunc(m.Batch, func(p scenarios.PlannedAttempt) bool { return p.ID == a.ID && p.At == scenarios.Span{} })
		}
	}
	return false
}
