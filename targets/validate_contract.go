package targets

import (
	"regexp"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// contract looks for contracts that lack a part, or whose lines contradict each other.
func (v *validator) contract() {
	c := v.target.Contract
	if c.Preset == "natural-key" && len(c.NaturalKey) == 0 {
		v.addMistake("/contract/preset", "the preset natural-key needs natural_key beside it: what makes two submissions one intent")
	}
	v.signatures(c)
	refusals(v, "fingerprint", "a mismatch", c.Fingerprint.Signature)
	v.fingerprint(c.Fingerprint)
	v.expiry(c.Expiry)
	v.accepted(c.Ack.Accepted)
	ambiguous(v, c)
	v.marker(c)
	replayStatus(v, c)
}

// signatures looks for signatures that recognise nothing.
func (v *validator) signatures(c contract.Contract) {
	v.identity("/contract/existing/identity", c.Existing.Identity)
	for _, m := range c.Meanings() {
		path := v.present(m.Path())
		v.headers(m.Path()+"/headers", m.Signature)
		switch {
		case len(m.Signature.Statuses) > 0:
		case m.Line == "ack":
			v.addMistake(path, "without statuses no answer would be an acknowledgement")
		case m.Line == "in_progress" && c.InProgress.Mode == contract.InProgressReject:
			v.addMistake(path, "mode reject needs statuses")
		case m.Line == "fingerprint" && c.Fingerprint.OnMismatch == contract.MismatchReject:
			v.addMistake(path, "on_mismatch reject needs statuses")
		case m.Line == "expiry" && c.Expiry.Then == contract.ExpiryReject:
			v.addMistake(path, "an expired key that is rejected needs statuses")
		case len(m.Signature.Where) > 0:
			v.addMistake(path, "where recognises nothing without statuses")
		case len(m.Signature.Headers) > 0:
			v.addMistake(path, "headers recognise nothing without statuses")
		case m.Line == "existing" && c.Existing.Identity.Declared():
			v.addMistake(path, "identity is never looked for without statuses")
		}
	}
}

// headers looks for headers in which nothing can be recognised.
func (v *validator) headers(path string, s contract.Signature) {
	for name, pattern := range s.Headers {
		at := path + jsonpointer.Of(name)
		if _, err := regexp.Compile(pattern); err != nil {
			v.addMistake(at, "expected a regular expression, such as ^/orders/[0-9]+$")
		}
		if v.masked(name) {
			v.addMistake(at, maskedHeader, name)
		}
	}
}

// refusals refuses statuses that do not count as a refusal, because something between client and
// target may have sent them, or because they do not say whether anything took effect. Below 400, where or headers say it.
func refusals(v *validator, line, what string, s contract.Signature) {
	for _, status := range s.Statuses {
		var otherwise string
		switch {
		case status < 400 && s.Narrowed():
			continue
		case status < 400:
			otherwise = ", or a where or headers that distinguish it from success"
		case status < 500 && !slices.Contains([]int{408, 413, 429, 431, 499}, status):
			continue
		}
		v.addMistake(v.present("/contract/"+line),
			"%d does not count as a refusal; %s needs a 4xx other than 408, 413, 429, 431 and 499%s", status, what, otherwise)
	}
}

// expiry finds promises about a time that is not declared, and answers that cannot occur.
func (v *validator) expiry(e contract.Expiry) {
	const path = "/contract/expiry"
	switch {
	case e.After == 0:
		for _, key := range []string{"/then", "/statuses", "/where"} {
			if v.doc.Has(path + key) {
				v.addMistake(path, "an expiry needs a clock: add after, such as 24h, or take the rest away")
				return
			}
		}
	case e.Then == contract.ExpiryExecute && len(e.Statuses) > 0:
		v.addMistake(path, "statuses are those of a refusal, but with then: execute no request is refused")
	default:
		refusals(v, "expiry", "an expired key", e.Signature)
	}
}

// ambiguous refuses contracts by which one answer has two meanings.
func ambiguous(v *validator, c contract.Contract) {
	meanings := c.Meanings()
	for _, o := range c.Overlaps() {
		if !o.Misleading() || ofChanges(c, o) {
			continue
		}
		first, second := meanings[o.First], meanings[o.Second]
		path := v.present(first.Path(), second.Path())
		if !first.Signature.Narrowed() && !second.Signature.Narrowed() {
			v.addMistake(path, "%d means both that %s and that %s; distinguish them with where%s", o.Status, first.Says, second.Says, advice(c, o))
			continue
		}
		v.addMistake(path, "every %d that means that %s means that %s as well; narrow %s with where%s",
			o.Status, second.Says, first.Says, first.Line, advice(c, o))
	}
}

// ofChanges reports that an answer says that a thing has changed since, to a repetition as to another change of it: which of them it answers
// is known by what was sent.
func ofChanges(c contract.Contract, o contract.Overlap) bool {
	return o.First == contract.MeansExists && o.Second == contract.MeansMismatch && slices.Equal(c.NaturalKey, []string{contract.WholePath})
}

// advice names the way out that a mode opens.
func advice(c contract.Contract, o contract.Overlap) string {
	if o.First == contract.MeansRunning && c.InProgress.Mode == contract.InProgressWait {
		return ", or write statuses: [] under in_progress, since with mode wait no request is answered so"
	}
	return ""
}

// marker looks at the header by which a replay is known.
func (v *validator) marker(c contract.Contract) {
	const path = "/contract/replay/marker"
	m := c.Replay.Marker
	if m == nil {
		return
	}
	if m.Name == "" {
		v.addMistake(path, "a marker needs the name of a header")
	} else if m.Value == "" {
		v.addMistake(path, "a marker needs a value: without one, an answer that lacks the header would count as a replay")
	}
	if m.Required && c.Level == contract.DedupOnly {
		v.addMistake(v.present(path+"/required", path, "/contract/level"),
			"a required marker contradicts the level dedup-only, which promises nothing about answers")
	}
}

// replayStatus refuses rules about statuses that are no acknowledgements: no answer could follow them.
func replayStatus(v *validator, c contract.Contract) {
	if len(c.Ack.Statuses) == 0 {
		return // which is a mistake already
	}
	known := "ack.statuses are " + contract.AnyOf(c.Ack.Statuses)
	if accepted := c.Ack.Accepted.Statuses; len(accepted) > 0 {
		known += ", ack.accepted.statuses are " + contract.AnyOf(accepted)
	}
	for first, then := range c.Replay.Status {
		path := jsonpointer.Of("contract", "replay", "status", first)
		for _, status := range append([]int{first}, then...) {
			if !slices.Contains(c.Ack.Statuses, status) && !slices.Contains(c.Ack.Accepted.Statuses, status) {
				v.addMistake(path, "%d is no acknowledgement; %s", status, known)
			}
		}
	}
}
