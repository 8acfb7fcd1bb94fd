package explain

import (
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// intents says which requests are one intent.
func (x *explainer) intents() {
	switch {
	case x.natural():
		var pointers []string
		for _, pointer := range x.contract.NaturalKey {
			pointers = append(pointers, english.Word(pointer))
		}
		x.held("natural_key", "Requests with the same %s are one intent, whatever their keys", english.List(pointers, "and"))
	case x.keyed():
		x.weakened("natural_key is not declared",
			"Different keys may create different rows: an intent that is sent with two keys may have two rows")
	default:
		x.weakened("neither key nor natural_key is declared",
			"Every request is an intent of its own: scenarios that repeat a request do not apply")
	}
	if window := x.contract.ContentWindow; window > 0 {
		x.notChecked("content_window: "+brief(window),
			"Whether equal bodies of two intents create two rows, because for so long the target treats an equal body as a repetition, and later not")
	}
}

// rows says what is checked of the number of rows.
func (x *explainer) rows() {
	done := x.contract.Ack.Signature
	if !x.rowsKnown() {
		x.held("ack", "An answer %s says that it is done", done)
		x.notChecked("database, rows.query",
			"Whether anything was created once, twice or not at all, because the rows are unknown: only answers are judged, and no verdict can be a pass")
		return
	}
	x.held(everyContract, "At most one row per %s, whatever the answers", unit(x))
	if within := x.contract.Converged; within > 0 {
		x.held("converged", "The databases of all instances hold the same rows %s after the last answer", brief(within))
	}
	x.held("ack", "What was acknowledged (status %s) is there when we look", done)
	if visible := x.operation.Rows.VisibleWithin; visible > 0 {
		x.weakened("rows.visible_within", "It may be missing there for %s", brief(visible))
	}
	x.held(everyContract, "Where every request was refused, there is no row")
	if x.operation.Rows.ByKey() {
		x.notChecked("rows.query: :key", "What is made with another key, or without one, requests of two intents with equal or blank keys, and a key that was forgotten, because rows are those of one key")
	}
	if x.operation.Rows.HTTP != nil {
		x.weakened("rows.http", "The rows are what the target itself lists: a row that its listing does not show counts as missing, and one that it shows once as one row")
	}
	if gate := x.target.Database.WriteGate; gate != nil {
		x.held("database.write_gate", "Two requests of a burst that both get past the target's own check write at the same moment, however short the time in between: the writers of %s are held back, for %s at most",
			english.List(gate.Tables, "and of"), brief(gate.Longest))
	} else {
		x.weakened("database.write_gate is not declared",
			"A window between check and write that is shorter than the time between two requests of a burst is hit only with luck")
	}
	if lines := conflicts(x); len(lines) > 0 {
		x.held(strings.Join(lines, ", "), "A new intent is not refused as the repetition of another")
	}
}

// unit names what may have one row.
func unit(x *explainer) string {
	switch {
	case x.natural():
		return "intent"
	case !x.keyed():
		return "request"
	case x.awaitsExpiry() && x.contract.Expiry.Then != contract.ExpiryReject:
		return "intent and key, for as long as the key is remembered"
	default:
		return "intent and key"
	}
}

// conflicts names the lines by which a refusal is known that speaks of another request.
func conflicts(x *explainer) []string {
	var lines []string
	meanings := x.contract.Meanings()
	for _, m := range []contract.Meaning{meanings[contract.MeansExists], meanings[contract.MeansMismatch]} {
		if len(m.Signature.Statuses) > 0 {
			lines = append(lines, m.Line)
		}
	}
	return lines
}

// content says which columns are compared.
func (x *explainer) content() {
	if !x.rowsKnown() {
		return
	}
	columns := x.operation.Rows.Content
	if len(columns) == 0 {
		x.notChecked("rows.content", "Whether a row holds what the request said, because the operation names no column that should")
		return
	}
	var pairs []string
	for _, column := range slices.Sorted(maps.Keys(columns)) {
		pairs = append(pairs, english.Word(column)+" what its body has at "+english.Word(columns[column]))
	}
	if x.operation.Rows.Adds != "" {
		x.held("rows.adds", "The column %s of the row is a sum, to which each intent adds once what its body says", english.Word(x.operation.Rows.Adds))
	}
	x.held("rows.content", "A row is that of one request and no blend: it holds in column %s", english.List(pairs, "and in column"))
}

// identity says whether answers must name the same thing.
func (x *explainer) identity() {
	where, column := x.operation.Identity, x.operation.Rows.Identity
	switch {
	case !where.Declared():
		x.notChecked("identity", "Whether all answers speak of the same thing, because the operation does not say where they name it")
		return
	case x.rowsKnown() && column != "":
		x.held("identity, rows.identity", "Every acknowledgement names the same thing at %s, and it is the one in the row, column %s",
			where, english.Word(column))
	default:
		x.held("identity", "Every acknowledgement names the same thing at %s", where)
		x.notChecked("rows.identity", "Whether the thing that answers name is the one in the row, because the row is unknown or its column is not named")
	}
	if x.dedupOnly() || x.contract.Replay.Body == contract.AnyBody {
		x.weakened("level, replay.body", "An acknowledgement that names nothing at %s passes", where)
	}
}

// missingKey says what is checked of requests without a key.
func missingKey(x *explainer) {
	switch {
	case !x.keyed(), x.operation.Rows.ByKey():
	case x.operation.Key.In == contract.KeyInPath:
		x.notChecked("key.in: path", "What becomes of requests without a key, because the key is a part of the path")
	case !x.operation.Key.Required:
		x.optionalKey()
		x.notChecked("key.required", "Whether a request without a key is refused, because the operation does not require one")
	default:
		x.held("key.required", "A request without a key is not acknowledged")
		if s := x.contract.MissingKey; len(s.Statuses) > 0 {
			x.weakened("missing_key", "A request without a key may be refused with any 4xx, not only with %s", s)
		}
	}
}

// outside says what no line of this contract or operation can make visible.
func outside(x *explainer) {
	if x.target.Received != nil {
		x.held("received", "The target's own count of requests is that of the requests on record, or the run is void")
	} else {
		x.notChecked("received", "Whether something on the way repeats requests, because the target does not count them")
	}
	switch {
	case !x.rowsKnown():
	case len(x.operation.Effects) > 0:
		x.notChecked("rows.query, effects", "Effects that no query shows, such as mails or calls to other services")
	default:
		x.notChecked("rows.query, effects", "Effects that the query does not list, such as other tables, mails or calls to other services")
	}
}
