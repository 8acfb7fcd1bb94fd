package targets

import "github.com/doubletap-harness/doubletap/contract"

// accepted finds promises of a later outcome that no client could follow up.
func (v *validator) accepted(a contract.Accepted) {
	const path = "/contract/ack/accepted"
	if len(a.Statuses) == 0 {
		if !a.Narrowed() && v.doc.Has(path) { // where alone is a mistake of every signature
			v.addMistake(path, "nothing is accepted without statuses, such as 202")
		}
		return
	}
	if a.ByRows() {
		acceptedByRows(v)
		return
	}
	if len(a.Done.Statuses) == 0 {
		v.addMistake(path, "an accepted request needs done: by which answer of the status resource it is done")
	}
	if status, ok := a.Done.Shared(a.Failed); ok && (a.Done.Covers(a.Failed) || a.Failed.Covers(a.Done)) {
		v.addMistake(path, "%d of the status resource means both that it is done and that it failed; distinguish them with where", status)
	}
}

// acceptedByRows looks at work whose end only the rows tell.
func acceptedByRows(v *validator) {
	const path = "/contract/ack/accepted"
	for _, key := range []string{"done", "failed", "identity"} {
		if v.doc.Has(path + "/" + key) {
			v.addMistake(path+"/"+key, "this is about the answer of a status resource: name it with monitor, such as Location")
		}
	}
	for _, name := range v.target.OperationNames() {
		if !v.target.KnowsRows(v.target.Operations[name]) {
			v.addMistake(path, "an accepted request needs monitor, where its answer names the status resource, such as Location, or rows: of operations.%s none can be found", name)
			return
		}
	}
}
