package targets

import (
	"slices"

	"github.com/doubletap-harness/doubletap/scenarios/document"
)

// contract looks for contracts that lack a part, or whose lines contradict each other.
func (r *reviewer) contract() {
	c := r.target.Contract
	if c.Preset == "natural-key" && len(c.NaturalKey) == 0 {
		r.complain("/contract/preset", "the preset natural-key needs natural_key beside it: what makes two submissions one intent")
	}
	r.signatures(c)
	r.mismatch(c)
	r.ambiguous(c)
	r.marker(c)
	r.replayStatus(c)
}

// signatures looks for signatures that recognise nothing.
func (r *reviewer) signatures(c Contract) {
	for _, m := range c.meanings() {
		path := r.present("/contract/" + m.line)
		switch {
		case len(m.signature.Statuses) > 0:
		case m.line == "ack":
			r.complain(path, "without statuses no answer would be an acknowledgement")
		case m.line == "in_progress" && c.InProgress.Mode == InProgressReject:
			r.complain(path, "mode reject needs statuses")
		case m.line == "fingerprint" && c.Fingerprint.OnMismatch == MismatchReject:
			r.complain(path, "on_mismatch reject needs statuses")
		case len(m.signature.Where) > 0:
			r.complain(path, "where recognises nothing without statuses")
		case m.line == "existing" && c.Existing.Identity != "":
			r.complain(path, "identity is never looked for without statuses")
		}
	}
}

// mismatch refuses statuses of a mismatch that do not count as a refusal, because something between
// client and target may have sent them, or because they do not say whether anything took effect.
func (r *reviewer) mismatch(c Contract) {
	for _, status := range c.Fingerprint.Statuses {
		if status < 400 || status > 499 || slices.Contains([]int{408, 413, 429, 431, 499}, status) {
			r.complain(r.present("/contract/fingerprint"),
				"%d does not count as a refusal; a mismatch needs a 4xx other than 408, 413, 429, 431 and 499", status)
		}
	}
}

// ambiguous refuses contracts by which one answer has two meanings.
func (r *reviewer) ambiguous(c Contract) {
	meanings := c.meanings()
	for _, o := range c.overlaps() {
		if !o.misleading() {
			continue
		}
		first, second := meanings[o.first], meanings[o.second]
		path := r.present("/contract/"+first.line, "/contract/"+second.line)
		if len(first.signature.Where)+len(second.signature.Where) == 0 {
			r.complain(path, "%d means both that %s and that %s; tell them apart with where%s", o.status, first.says, second.says, c.advice(o))
			continue
		}
		r.complain(path, "every %d that means that %s means that %s as well; narrow %s with where%s",
			o.status, second.says, first.says, first.line, c.advice(o))
	}
}

// advice names the way out that a mode opens.
func (c Contract) advice(o overlap) string {
	if o.first == meansRunning && c.InProgress.Mode == InProgressWait {
		return ", or write statuses: [] under in_progress, since with mode wait nobody is told so"
	}
	return ""
}

func (r *reviewer) marker(c Contract) {
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
	if m.Required && c.Level == DedupOnly {
		r.complain(r.present(path+"/required", path, "/contract/level"),
			"a required marker contradicts the level dedup-only, which promises nothing about answers")
	}
}

// replayStatus refuses rules about statuses that are no acknowledgements: no answer could follow them.
func (r *reviewer) replayStatus(c Contract) {
	if len(c.Ack.Statuses) == 0 {
		return // which is a mistake already
	}
	for first, then := range c.Replay.Status {
		path := document.Pointer("contract", "replay", "status", first)
		for _, status := range append([]int{first}, then...) {
			if !slices.Contains(c.Ack.Statuses, status) {
				r.complain(path, "%d is no acknowledgement; ack.statuses are %s", status, anyOf(c.Ack.Statuses))
			}
		}
	}
}
