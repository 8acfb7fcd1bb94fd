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
func carryWork(request *targets.Rendered, one rendered, a history.Attempt) {
	for _, name := range workHeaders(one) {
		if value := request.Header[name]; slices.Contains(one.first, a.ID) {
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

// firstOf returns the IDs of the attempts with which an intent begins: of its first batch,
// and with no delay.
func firstOf(i scenarios.PlannedIntent) []string {
	var ids []string
	for _, m := range i.Moves {
		for _, p := range m.Batch {
			if (p.At == scenarios.Span{}) {
				ids = append(ids, p.ID)
			}
		}
		if len(m.Batch) > 0 {
			break
		}
	}
	return ids
}
