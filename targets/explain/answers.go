package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/targets"
)

// replays says in what a repetition's answer must equal the first one.
func (x *explainer) replays() {
	switch {
	case !x.keyed():
		x.notChecked("key", "Whether a repetition gets the answer of the first request, because a request without a key promises no replay")
		return
	case x.dedupOnly():
		x.notChecked("level: dedup-only", "Whether a repetition gets the status and the body of the first answer, or is refused")
		unusedReplay(x)
		return
	}
	x.held("level: idempotent", "Once acknowledged, a repetition with the same key and body is not refused")
	x.held("replay.status", "A repetition with the same key and body gets the same status as the first%s", otherStatuses(x))
	x.replayBody()
	x.replayHeaders()
	replayMarker(x)
}

// unusedReplay names the lines that have no effect at this level.
func unusedReplay(x *explainer) {
	r := x.contract.Replay
	var lines []string
	if r.Marker != nil {
		lines = append(lines, "replay.marker")
	}
	if len(r.Headers) > 0 {
		lines = append(lines, "replay.headers")
	}
	if len(r.Status) > 0 {
		lines = append(lines, "replay.status")
	}
	if len(lines) > 0 {
		x.weakened("level: dedup-only", "These lines have no effect: %s", english.List(lines, "and"))
	}
}

// otherStatuses goes on with the statuses that a repetition may have instead.
func otherStatuses(x *explainer) string {
	var text strings.Builder
	for _, first := range slices.Sorted(maps.Keys(x.contract.Replay.Status)) {
		if then := x.contract.Replay.Status[first]; len(then) > 0 {
			fmt.Fprintf(&text, ", or after %d also %s", first, contract.AnyOf(then))
		}
	}
	return text.String()
}

// replayBody says how the bodies of two answers are compared.
func (x *explainer) replayBody() {
	r := x.contract.Replay
	from := "replay.body: " + string(r.Body)
	switch r.Body {
	case contract.SameBytes:
		x.held(from, "Its body is the first one's, byte by byte")
		if len(r.Ignore) > 0 {
			x.weakened(from, "Nothing is left out of the comparison: replay.ignore is only for JSON")
		}
	case contract.SameIdentity:
		sameIdentity(x, from)
	case contract.AnyBody:
		x.weakened(from, "A repetition may be answered with any body")
	default:
		from, rest := "replay.body: json", ""
		if len(r.Ignore) > 0 {
			from += ", replay.ignore"
			rest = ", leaving out " + english.List(words(r.Ignore), "and")
		}
		x.held(from, "Its JSON body is equal to the first one's%s", rest)
	}
}

// sameIdentity says that only the name of the thing is compared.
func sameIdentity(x *explainer, from string) {
	if !x.operation.Identity.Declared() {
		x.weakened(from, "A repetition may be answered with any body, because the operation has no identity to compare")
		return
	}
	x.weakened(from, "Of a repetition's body only %s is compared; the rest may show another state", x.operation.Identity)
}

// replayHeaders says which headers are compared.
func (x *explainer) replayHeaders() {
	if len(x.contract.Replay.Headers) == 0 {
		x.undeclared("replay.headers", "Whether a repetition's headers are those of the first answer")
		return
	}
	x.held("replay.headers", "Its headers %s are those of the first answer", english.List(words(x.contract.Replay.Headers), "and"))
}

// replayMarker says what is checked of the header by which a replay is known.
func replayMarker(x *explainer) {
	m := x.contract.Replay.Marker
	if m == nil {
		x.undeclared("replay.marker", "Whether a replay says that it is one")
		return
	}
	header := fmt.Sprintf("%s: %s", english.Word(m.Name), english.Word(m.Value))
	x.held("replay.marker", "Not every answer bears %s, unless an earlier one was lost: the first is no replay", header)
	if m.Required {
		x.held("replay.marker.required", "At most one acknowledgement of a key lacks %s", header)
		return
	}
	x.weakened("replay.marker.required", "A replay without %s passes", header)
}

// refusals says whether a refusal must come again, and what it leaves behind.
func (x *explainer) refusals() {
	const refused = "After a key was refused, except before any handling (such as 401 or 404),"
	kind, _ := x.operation.Request.Payload()
	invalid := len(x.operation.Invalid) > 0
	switch {
	case kind == targets.NoPayload:
	case !invalid:
		x.notChecked("invalid", "What comes of a request that is corrected after it was refused, because the operation does not say what makes its body invalid")
	case x.rowsKnown():
		x.held(everyContract, "A body that was refused as invalid makes nothing")
	}
	switch stored := x.contract.Errors.Store4xx; {
	case stored == nil && x.keyed():
		x.undeclared("errors.store_4xx", "Whether a refusal is stored under its key and comes again, and whether the corrected body gets through with it")
	case stored == nil || !invalid && !x.keyed():
	case !*stored && invalid:
		x.held("errors.store_4xx: false, invalid", "After an invalid body was refused, the corrected body is not refused for good with its %s", keyWord(x))
	case !*stored:
		x.notChecked("errors.store_4xx: false", "Whether a refusal leaves its key free")
	case !x.keyed():
		x.held("errors.store_4xx: true, invalid", "After an invalid body was refused, the corrected body does not get through with its natural key")
	case x.dedupOnly():
		x.held("errors.store_4xx: true", refused+" another body does not get through with it")
		x.weakened("level: dedup-only", "Once a key was refused, the same body may get through with it")
	default:
		x.held("errors.store_4xx: true", refused+" neither the same body nor another one gets through with it")
		if invalid {
			x.held("errors.store_4xx: true, invalid", "The refusal of an invalid body comes again, with the same status, and with the same headers and body as far as replay compares them")
		}
	}
}

// declines says what is checked of answers that decline a request for good.
func declines(x *explainer) {
	const line = "errors.declined"
	declined := x.contract.Errors.Declined
	if len(declined.Statuses) == 0 {
		return
	}
	x.held(line, "An answer %s declines the request for good: a repetition is not acknowledged, and there is one row at most", declined)
	x.weakened(line, "A request that was declined may have left a row, or not, and effects of it, or none")
}

// serverErrors says whether a server error may be the last word.
func (x *explainer) serverErrors() {
	const beyond = ", as long as a client gets beyond it in the end"
	switch stored := x.contract.Errors.Store5xx; {
	case stored == nil:
		x.undeclared("errors.store_5xx", "Whether a server error is stored and comes again"+beyond)
	case !*stored:
		x.notChecked("errors.store_5xx: false", "Whether a server error comes again"+beyond)
	default:
		x.weakened("errors.store_5xx: true", "A server error that comes again and again counts as the final answer, unless there was an acknowledgement")
	}
}

// resolution says what a patient client must learn.
func (x *explainer) resolution() {
	answers := "an acknowledgement"
	if len(x.contract.Existing.Statuses) > 0 {
		answers += ", \"it exists already\""
	}
	refusal := "a refusal"
	if x.rowsKnown() {
		refusal += " where nothing took effect"
	}
	x.held(everyContract, "A client that retries with backoff gets a final answer: %s, or %s", answers, refusal)
}

// words writes texts of the file as words of a sentence, in quotes where they need them.
func words(texts []string) []string {
	var all []string
	for _, text := range texts {
		all = append(all, english.Word(text))
	}
	return all
}
