package targets

import (
	"regexp"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// contract looks for contracts that lack a part, or whose lines contradict each other.
func (r *reviewer) contract() {
	c := r.target.Contract
	if c.Preset == "natural-key" && len(c.NaturalKey) == 0 {
		r.complain("/contract/preset", "the preset natural-key needs natural_key beside it: what makes two submissions one intent")
	}
	r.signatures(c)
	r.refusals("fingerprint", "a mismatch", c.Fingerprint.Signature)
	r.fingerprint(c.Fingerprint)
	r.expiry(c.Expiry)
	r.accepted(c.Ack.Accepted)
	r.ambiguous(c)
	r.marker(c)
	r.replayStatus(c)
}

// signatures looks for signatures that recognise nothing.
func (r *reviewer) signatures(c contract.Contract) {
	r.identity("/contract/existing/identity", c.Existing.Identity)
	for _, m := range c.Meanings() {
		path := r.present(m.Path())
		r.headers(m.Path()+"/headers", m.Signature)
		switch {
		case len(m.Signature.Statuses) > 0:
		case m.Line == "ack":
			r.complain(path, "without statuses no answer would be an acknowledgement")
		case m.Line == "in_progress" && c.InProgress.Mode == contract.InProgressReject:
			r.complain(path, "mode reject needs statuses")
		case m.Line == "fingerprint" && c.Fingerprint.OnMismatch == contract.MismatchReject:
			r.complain(path, "on_mismatch reject needs statuses")
		case m.Line == "expiry" && c.Expiry.Then == contract.ExpiryReject:
			r.complain(path, "an expired key that is rejected needs statuses")
		case len(m.Signature.Where) > 0:
			r.complain(path, "where recognises nothing without statuses")
		case len(m.Signature.Headers) > 0:
			r.complain(path, "headers recognise nothing without statuses")
		case m.Line == "existing" && c.Existing.Identity.Declared():
			r.complain(path, "identity is never looked for without statuses")
		}
	}
}

// headers looks for headers in which nothing can be recognised.
func (r *reviewer) headers(path string, s contract.Signature) {
	for name, pattern := range s.Headers {
		at := path + jsonpointer.Of(name)
		if _, err := regexp.Compile(pattern); err != nil {
			r.complain(at, "expected a regular expression, such as ^/orders/[0-9]+$")
		}
		if r.masked(name) {
			r.complain(at, maskedHeader, name)
		}
	}
}

// refusals refuses statuses that do not count as a refusal, because something between client and
// target may have sent them, or because they do not say whether anything took effect. Below 400, where or headers say it.
func (r *reviewer) refusals(line, what string, s contract.Signature) {
	for _, status := range s.Statuses {
		var otherwise string
		switch {
		case status < 400 && s.Narrowed():
			continue
		case status < 400:
			otherwise = ", or a where or headers that tell it from what is done"
		case status < 500 && !slices.Contains([]int{408, 413, 429, 431, 499}, status):
			continue
		}
		r.complain(r.present("/contract/"+line),
			"%d does not count as a refusal; %s needs a 4xx other than 408, 413, 429, 431 and 499%s", status, what, otherwise)
	}
}

// expiry looks for promises about a time that is not declared, and for answers that nobody gets.
func (r *reviewer) expiry(e contract.Expiry) {
	const path = "/contract/expiry"
	switch {
	case e.After == 0:
		for _, key := range []string{"/then", "/statuses", "/where"} {
			if r.doc.Has(path + key) {
				r.complain(path, "an expiry needs a clock: add after, such as 24h, or take the rest away")
				return
			}
		}
	case e.Then == contract.ExpiryExecute && len(e.Statuses) > 0:
		r.complain(path, "statuses are those of a refusal, but with then: execute nobody is refused")
	default:
		r.refusals("expiry", "an expired key", e.Signature)
	}
}

// ambiguous refuses contracts by which one answer has two meanings.
func (r *reviewer) ambiguous(c contract.Contract) {
	meanings := c.Meanings()
	for _, o := range c.Overlaps() {
		if !o.Misleading() {
			continue
		}
		first, second := meanings[o.First], meanings[o.Second]
		path := r.present(first.Path(), second.Path())
		if !first.Signature.Narrowed() && !second.Signature.Narrowed() {
			r.complain(path, "%d means both that %s and that %s; tell them apart with where%s", o.Status, first.Says, second.Says, advice(c, o))
			continue
		}
		r.complain(path, "every %d that means that %s means that %s as well; narrow %s with where%s",
			o.Status, second.Says, first.Says, first.Line, advice(c, o))
	}
}

// advice names the way out that a mode opens.
func advice(c contract.Contract, o contract.Overlap) string {
	if o.First == contract.MeansRunning && c.InProgress.Mode == contract.InProgressWait {
		return ", or write statuses: [] under in_progress, since with mode wait nobody is told so"
	}
	return ""
}

func (r *reviewer) marker(c contract.Contract) {
	const path = "/contract/replay/marker"
	m := c.Replay.Marker
	if m == nil {
		return
	}
	if m.Name == "" {
		r.complain(path, "a marker needs the name of a header")
	} else if m.Value == "" {
		r.complain(path, "a marker needs a value: without one, an answer that lacks the header would count as a replay")
	}
	if m.Required && c.Level == contract.DedupOnly {
		r.complain(r.present(path+"/required", path, "/contract/level"),
			"a required marker contradicts the level dedup-only, which promises nothing about answers")
	}
}

// replayStatus refuses rules about statuses that are no acknowledgements: no answer could follow them.
func (r *reviewer) replayStatus(c contract.Contract) {
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
				r.complain(path, "%d is no acknowledgement; %s", status, known)
			}
		}
	}
}
