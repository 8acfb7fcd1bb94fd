package explain

import (
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/targets"
)

// running says how a request may be answered while another one with its key runs.
func (x *explainer) running() {
	p := x.contract.InProgress
	if len(p.Statuses) > 0 {
		x.held("in_progress", "While a request runs, a second one may be answered %s: the client then asks again, and must get another answer in the end", p.Signature)
	}
	switch {
	case p.Mode == contract.InProgressWait && len(p.Statuses) > 0:
		x.weakened("in_progress.mode: wait, in_progress.statuses", "A second request need not wait: %s passes as \"still running\"", p.Signature)
	case p.Mode == contract.InProgressWait:
		x.notChecked("in_progress.mode: wait", "Whether a second request waits for the first: what it is answered in the end is judged like any other answer")
	case len(p.Statuses) == 0:
		x.undeclared("in_progress", "What a second request is answered while the first one runs")
	}
}

// existing says what is checked of "it exists already".
func (x *explainer) existing() {
	e := x.contract.Existing
	switch {
	case len(e.Statuses) == 0:
		x.undeclared("existing", "Whether a refusal means \"it exists already\"")
		return
	case x.rowsKnown():
		x.held("existing", "An answer %s is true: the thing exists, and another request can have created it", e.Signature)
	default:
		x.held("existing", "An answer %s means that the thing exists already", e.Signature)
	}
	switch {
	case !e.Identity.Declared():
		x.weakened("existing.identity", "\"It exists already\" may mean any thing, because the contract does not say where it is named")
	case !x.operation.Identity.Declared():
		x.weakened("identity", "\"It exists already\" may name any thing, because the operation has no identity to compare it with")
	default:
		x.held("existing.identity", "What it names at %s is the thing that acknowledgements and the row name", e.Identity)
	}
}

// otherBody says what is checked of a key that comes with another body.
func (x *explainer) otherBody() {
	if len(x.operation.Alter) == 0 {
		x.notChecked("alter", "What happens when a %s comes with another body, because the operation has no other body", keyWord(x))
		return
	}
	if x.rowsKnown() {
		x.held(everyContract, "Of two bodies under one %s at most one takes effect, and what was acknowledged is not overwritten", keyWord(x))
	} else {
		x.notChecked("database, rows.query", "Which of two bodies under one %s took effect, and so how the other one is answered, because the rows are unknown", keyWord(x))
		return
	}
	if x.comparesBodies() {
		x.held("replay.body", "An acknowledgement of a body that took no effect does not show that body's content")
	}
	x.onMismatch()
}

// onMismatch says how another body under the same key is answered.
func (x *explainer) onMismatch() {
	f, comes := x.contract.Fingerprint, "A "+keyWord(x)+" that comes with another body"
	switch {
	case f.OnMismatch == contract.MismatchReject:
		x.held("fingerprint", "%s is refused, with %s, and not answered as if it were the first request", comes, f.Signature)
		x.weakened("fingerprint.statuses", "%s may be refused with any other 4xx as well", comes)
	case f.OnMismatch == contract.MismatchReplayOriginal && x.comparesBodies():
		x.held("fingerprint.on_mismatch: replay-original", "%s is answered with the body of the first answer", comes)
		x.weakened("fingerprint.on_mismatch: replay-original", "%s may be refused as well", comes)
	case f.OnMismatch == contract.MismatchReplayOriginal:
		x.weakened("fingerprint.on_mismatch: replay-original", "%s may be answered with any body, or refused, because bodies are not compared", comes)
	default:
		x.undeclared("fingerprint.on_mismatch", "Whether a %s that comes with another body is refused or gets the first answer", keyWord(x))
	}
}

// spelling says whether a request may be written in another way.
func spelling(x *explainer) {
	if !x.dedupOnly() && x.keyed() {
		x.held("level: idempotent", "A repetition in other User-Agent, Accept-Encoding, Date, Forwarded, X-Forwarded-For and traceparent headers is the same request")
	}
	if len(x.operation.Volatile) > 0 {
		x.held("volatile", "A repetition with another value of %s is the same request", english.List(words(x.operation.Volatile), "and"))
	}
	f := x.contract.Fingerprint
	kind, _ := x.operation.Request.Payload()
	const spelled = "with its members in another order or 1200 as 1200.0"
	switch {
	case kind == targets.NoPayload:
	case kind != targets.JSONPayload:
		x.notChecked("request."+string(kind), "Whether a repetition whose body is spelled differently is the same request, because a form is written in one way here")
	case f.Mode == contract.FingerprintJSON:
		x.held("fingerprint.mode: json", "A repetition whose body is spelled differently, %s, is the same request", spelled)
	case f.Mode == contract.FingerprintFields:
		x.held("fingerprint.mode: fields", "A repetition whose body is spelled differently, %s, is the same request", spelled)
		x.notChecked("fingerprint.fields", "Whether a body that differs in other members than %s is the same request", english.List(words(f.Fields), "and"))
	case f.Mode == contract.FingerprintBytes:
		x.notChecked("fingerprint.mode: bytes", "What a repetition gets whose body is spelled differently, because to the target it is another body")
	default:
		x.undeclared("fingerprint.mode", "Whether a repetition whose body is spelled differently is the same request")
	}
}

// sizes says which sizes of answers are tried.
func sizes(x *explainer) {
	for _, size := range []targets.AnswerSize{targets.LargeAnswer, targets.HugeAnswer, targets.EmptyAnswer} {
		if _, declared := x.operation.Answers[size]; !declared {
			x.notChecked("answers."+string(size), "Whether a request with %s is known when it is repeated, because the operation does not say how to ask for one", map[targets.AnswerSize]string{
				targets.LargeAnswer: "a large answer", targets.HugeAnswer: "an answer of 1 MiB", targets.EmptyAnswer: "an answer without a body",
			}[size])
		}
	}
	if len(x.operation.Answers) > 0 {
		x.held("answers", "A request with a large answer, or one without a body, is known when it is repeated, as far as answers says how to ask for them")
	}
}

// keyWord names what joins requests.
func keyWord(x *explainer) string {
	if x.keyed() {
		return "key"
	}
	return "natural key"
}

// throttled says which answers count as a rejection before any handling.
func (x *explainer) throttled() {
	if t := x.contract.Throttled; len(t.Statuses) > 0 {
		x.held("throttled", "An answer %s means that the request was rejected before any handling: nothing took effect", t)
	}
}

// confusions says what one answer can mean when the contract does not distinguish two meanings. A
// loaded contract has only those that do no harm.
func confusions(x *explainer) {
	meanings := x.contract.Meanings()
	for _, o := range x.contract.Overlaps() {
		first, second := meanings[o.First], meanings[o.Second]
		from := first.Line + ", " + second.Line
		switch {
		case o.Second == contract.MeansMismatch && (o.First == contract.MeansRunning || o.First == contract.MeansExists):
			x.weakened(from, "%d can mean both that %s and that %s: for the same body it counts as the first, for another body as the second",
				o.Status, first.Says, second.Says)
		case o.First == contract.MeansExpired && o.Second == contract.MeansMismatch:
			x.weakened(from, "%d can mean both that %s and that %s: after the expiry it counts as the first, before it as the second",
				o.Status, first.Says, second.Says)
		case o.First == contract.MeansRunning && o.Second == contract.MeansExists && o.Hidden:
			x.weakened(from, "%d means both that %s and that %s, so that it proves neither", o.Status, first.Says, second.Says)
		case o.Hidden && o.Second != contract.MeansNoKey:
			x.weakened(from, "%d means that %s, and so never that %s", o.Status, first.Says, second.Says)
		}
	}
}
