package checker

import (
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// replays compares the answers to one key and one body.
func (c *court) replays(m moment, s *story, g group, record []*judged) {
	acknowledged := ofOutcome(record, Acknowledged)
	c.contradicted(m, s, record)
	c.takenForAnother(m, s, record)
	c.severalFirst(m, s, acknowledged)
	if len(acknowledged) >= 2 {
		c.statuses(m, s, g, acknowledged)
		c.bodies(m, s, acknowledged)
		c.headers(m, s, acknowledged)
	}
}

// statuses holds that one attempt can have been the original of which every acknowledgement of a
// record is a legal replay.
func (c *court) statuses(m moment, s *story, g group, acknowledged []*judged) {
	first := acknowledged[0]
	if slices.ContainsFunc(c.originals(g, acknowledged), func(status int) bool { return c.legalReplays(status, acknowledged) }) {
		return
	}
	i := slices.IndexFunc(acknowledged, func(a *judged) bool { return a.Status != first.Status })
	then := acknowledged[i]
	c.report(m, s, Finding{
		Kind: ReplayMismatch, Detail: "status",
		Promise:  "A replay has the status of the first answer, or one that the contract allows.",
		Contract: fmt.Sprintf("replay.status: %s", statusRule(c.terms.Contract.Replay)),
		Expected: fmt.Sprintf("status %d", first.Status),
		Observed: fmt.Sprintf("status %d", then.Status),
		Differs:  []Difference{{Attempt: then.ID, Where: "status", First: fmt.Sprint(first.Status), Then: fmt.Sprint(then.Status)}},
	})
}

// originals lists the statuses that the one executing attempt of a group may have answered with. It
// began before any answer of the record was complete; where its answer is unknown, it may have been
// any acknowledgement.
func (c *court) originals(g group, acknowledged []*judged) []int {
	earliest := firstEnd(acknowledged)
	var statuses []int
	for _, a := range g {
		switch {
		case a.Start > earliest:
		case a.outcome == Acknowledged:
			statuses = append(statuses, a.Status)
		case a.outcome == Unknown:
			statuses = append(append(statuses, c.terms.Contract.Ack.Statuses...), c.terms.Contract.Ack.Accepted.Statuses...)
		}
	}
	return statuses
}

// legalReplays reports that every acknowledgement is the first answer itself, which had this status,
// or a legal replay of it.
func (c *court) legalReplays(status int, acknowledged []*judged) bool {
	allowed := c.terms.Contract.Replay.Status[status]
	return !slices.ContainsFunc(acknowledged, func(a *judged) bool {
		return a.Status != status && !slices.Contains(allowed, a.Status)
	})
}

func statusRule(r contract.Replay) string {
	if len(r.Status) == 0 {
		return "same"
	}
	return fmt.Sprint(r.Status)
}

// bodies compares every acknowledgement's body with the first one's, as the contract asks.
func (c *court) bodies(m moment, s *story, acknowledged []*judged) {
	first := acknowledged[0]
	for _, a := range acknowledged[1:] {
		differs := c.compare(first.Attempt, a.Attempt)
		if len(differs) == 0 {
			continue
		}
		c.report(m, s, Finding{
			Kind: ReplayMismatch, Detail: "body",
			Promise:  "A replay has the body of the first answer.",
			Contract: "replay.body: " + string(c.terms.Contract.Replay.Body),
			Expected: "the body of attempt " + first.ID,
			Observed: fmt.Sprintf("attempt %s differs at %s", a.ID, differs[0].Where),
			Differs:  differs,
		})
		return
	}
}

// compare returns where two answers' bodies differ under the contract's comparison.
func (c *court) compare(first, then *history.Attempt) []Difference {
	r := c.terms.Contract.Replay
	whole := []Difference{{Attempt: then.ID, Where: "body", First: first.Content, Then: then.Content}}
	if r.Body == contract.SameIdentity || r.Body == contract.AnyBody {
		return nil
	}
	if first.Content == then.Content && first.Digest == then.Digest {
		return nil
	}
	cut := first.Digest != "" || then.Digest != ""
	a, okA := parse(first.Content)
	b, okB := parse(then.Content)
	switch {
	case r.Body == contract.SameBytes:
		return whole
	case cut:
		return nil // the same JSON may be spelled in two ways, and only a part is on record
	case !okA || !okB:
		return whole
	}
	var list []Difference
	for _, d := range differences("", a, b, r.Ignore) {
		list = append(list, Difference{Attempt: then.ID, Where: d.where, First: d.first, Then: d.then})
	}
	return list
}

// headers compares the headers that the contract lists, and no others.
func (c *court) headers(m moment, s *story, acknowledged []*judged) {
	first := acknowledged[0]
	for _, a := range acknowledged[1:] {
		for _, name := range c.terms.Contract.Replay.Headers {
			want, got := headerValue(first.Header, name), headerValue(a.Header, name)
			if want == got {
				continue
			}
			c.report(m, s, Finding{
				Kind: ReplayMismatch, Detail: "header",
				Promise:  "A replay has the headers of the first answer that the contract lists.",
				Contract: "replay.headers: " + name,
				Expected: fmt.Sprintf("%s: %s", name, orNothing(want)),
				Observed: fmt.Sprintf("%s: %s", name, orNothing(got)),
				Differs:  []Difference{{Attempt: a.ID, Where: name, First: orNothing(want), Then: orNothing(got)}},
			})
			return
		}
	}
}

// headerValue finds a header whatever its case; a media type is compared without its parameters.
func headerValue(header map[string]string, name string) string {
	for n, value := range header {
		if !strings.EqualFold(n, name) {
			continue
		}
		if strings.EqualFold(name, "Content-Type") {
			if media, _, err := mime.ParseMediaType(value); err == nil {
				return media
			}
		}
		return value
	}
	return ""
}

func unmarkedBy(rule *contract.ReplayMarker) func(*judged) bool {
	return func(a *judged) bool { return headerValue(a.Header, rule.Name) != rule.Value }
}

// firstEnd returns when the first of some answers was complete.
func firstEnd(answers []*judged) history.Offset {
	earliest := answers[0].End
	for _, a := range answers {
		earliest = min(earliest, a.End)
	}
	return earliest
}

// severalFirst holds that at most one acknowledgement of a key does not say that it is a replay.
func (c *court) severalFirst(m moment, s *story, acknowledged []*judged) {
	rule := c.terms.Contract.Replay.Marker
	if rule == nil || !rule.Required {
		return
	}
	if unmarked := len(keep(acknowledged, unmarkedBy(rule))); unmarked >= 2 {
		c.report(m, s, Finding{
			Kind: ReplayMismatch, Detail: "marker", Contract: "replay.marker: " + rule.Name,
			Promise:  "A replay says that it is one.",
			Expected: "at most one answer without " + rule.Name,
			Observed: fmt.Sprintf("%d answers without it: each claims to be the first", unmarked),
		})
	}
}

// nobodyFirst holds that nobody is told of a replay where there can have been no first answer.
func (c *court) nobodyFirst(m moment, s *story, g group) {
	rule, acknowledged := c.terms.Contract.Replay.Marker, ofOutcome(g, Acknowledged)
	if rule == nil || len(acknowledged) == 0 || len(keep(acknowledged, unmarkedBy(rule))) > 0 {
		return
	}
	earliest := firstEnd(acknowledged)
	if slices.ContainsFunc(g, func(a *judged) bool { return a.is(Unknown, Accepted) && a.Start <= earliest }) {
		return
	}
	c.report(m, s, Finding{
		Kind: ReplayMismatch, Detail: "marker", Contract: "replay.marker: " + rule.Name,
		Promise:  "A first answer does not say that it is a replay.",
		Expected: "one answer without " + rule.Name,
		Observed: "every answer says that it is a replay, and no answer before them was lost",
	})
}
