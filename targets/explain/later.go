package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// maxAwaited is the longest expiry that a run waits for.
const maxAwaited = contract.Duration(time.Minute)

// accepted says what is checked of "it will be done".
func (x *explainer) accepted() {
	const line = "ack.accepted"
	a := x.contract.Ack.Accepted
	if len(a.Statuses) == 0 {
		return
	}
	if a.ByRows() {
		x.acceptedByRows()
		return
	}
	failed := ""
	if len(a.Failed.Statuses) > 0 {
		failed = fmt.Sprintf(", or that it failed with %s", a.Failed)
	}
	x.held(line, "An answer %s says that it will be done: within %s the status resource, which it names at %s, says that it is with %s%s",
		a.Signature, brief(a.Within), english.Word(a.Monitor), a.Done, failed)
	if x.rowsKnown() {
		x.held(line, "What is done in the end is there when we look, and what failed is not")
	}
	switch {
	case !x.operation.Identity.Declared():
	case a.Identity == "":
		x.weakened(line+".identity", "The status resource may name any thing, because the contract does not say where: only what the answer %s names is compared", a.Signature)
	default:
		x.held(line+".identity", "What the status resource names at %s is what every acknowledgement names", english.Word(a.Identity))
	}
}

// acceptedByRows says what is checked where there is no status resource.
func (x *explainer) acceptedByRows() {
	a := x.contract.Ack.Accepted
	x.held("ack.accepted.within", "An answer %s says that it will be done: the row is there within %s", a.Signature, brief(a.Within))
	x.weakened("ack.accepted.monitor is not declared", "Work that fails for good, and what comes later than that, cannot be told apart by an answer: a row that comes late is a warning, and one that never comes is lost")
	if a.Recovery > 0 {
		x.held("ack.accepted.recovery", "After a crash, the work is done within %s more", brief(a.Recovery))
	} else {
		x.held("ack.accepted.within", "A crash in between takes no longer: recovery is not declared")
	}
}

// expiry says what a key's repetition gets once the key is forgotten.
func (x *explainer) expiry() {
	e := x.contract.Expiry
	after := brief(e.After)
	switch {
	case !x.keyed(), x.operation.Rows.ByKey():
	case x.natural():
		x.notChecked("natural_key", "How long a key is remembered, because a natural key never expires")
	case e.After == 0:
		x.undeclared("expiry", "How long a key is remembered, and what its repetition gets afterwards")
	case !x.awaitsExpiry():
		x.notChecked("expiry.after: "+after, "What a key's repetition gets once the key is forgotten, because a run waits for at most %s", brief(maxAwaited))
	case e.Then == contract.ExpiryReject:
		x.held("expiry", "A key that comes again after %s creates nothing", after)
		x.weakened("expiry", "It is to be refused, with %s, but any other 4xx passes, and the answer of the first request with a warning", e.Signature)
	case e.Then == contract.ExpiryExecute:
		x.held("expiry", "A key that comes again after %s is a new key: it creates one more row at most", after)
		x.weakened("expiry.then: execute", "The answer of the first request passes then as well, with a warning")
	default:
		x.undeclared("expiry.then", "Whether a key that comes again after %s is executed or refused", after)
	}
}

// awaitsExpiry reports that a run sees keys expire.
func (x *explainer) awaitsExpiry() bool {
	after := x.contract.Expiry.After
	return after > 0 && after <= maxAwaited
}

// lease says how long an execution that died may block its key.
func (x *explainer) lease() {
	if lease := x.contract.Lease; lease > 0 {
		x.held("lease", "The key of an execution that died is free again after %s: a run goes on asking for so long", brief(lease))
	}
}

// store says what is promised while the store is away, or once it has lost what it held.
func (x *explainer) store() {
	if x.contract.Store.OnFailure == contract.FailOpen {
		x.notChecked("store.on_failure: fail-open", "What becomes of repeated requests while the store is slow or away, or once it has lost what it held, because they are executed without it")
	}
}

// setbacks says after what a request may be executed once more.
func setbacks(x *explainer) {
	for _, s := range []struct {
		line  string
		often contract.Execution
		what  string
	}{
		{"after_crash", x.contract.AfterCrash, "After a crash of the target that came before its answer"},
		{"after_flush", x.contract.AfterFlush, "After a flush of the store"},
		{"after_unknown_commit", x.contract.AfterUnknownCommit, "Where the link to the database breaks before a query is answered"},
	} {
		if s.often == contract.AtLeastOnce {
			x.weakened(s.line+": at-least-once", "%s, a request may be executed once more: a duplicate that this explains is listed as excused, and fails nothing; what was acknowledged must still be there", s.what)
		}
	}
}

// brief returns a duration without the units that are zero: 24h, not 24h0m0s.
func brief(d contract.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
