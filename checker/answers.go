package checker

import (
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// answers compares the acknowledgements of a group with each other and with the row: invariants I4,
// I9 and I11, decision table 2. Each body of a group is compared by itself.
func (c *court) answers(m moment, s *story, g group) {
	for _, body := range []string{history.Original, history.Altered} {
		same := ofBody(g, body)
		acknowledged := ofOutcome(same, Acknowledged)
		c.identities(m, s, body, same)
		if c.terms.Contract.Level == targets.DedupOnly || keyless(same) {
			continue
		}
		c.contradicted(m, s, same)
		if len(acknowledged) >= 1 {
			c.replayMarker(m, s, same, acknowledged)
		}
		if len(acknowledged) >= 2 {
			c.statuses(m, s, same, acknowledged)
			c.bodies(m, s, acknowledged)
			c.headers(m, s, acknowledged)
		}
	}
}

func keyless(attempts []judged) bool {
	return slices.ContainsFunc(attempts, func(a judged) bool { return a.Key == "" })
}

// identities holds that all who name the created thing name the same one, and the one in the row.
func (c *court) identities(m moment, s *story, body string, attempts []judged) {
	told := keep(attempts, func(a judged) bool { return a.outcome == Acknowledged || a.outcome == Exists && a.identity != "" })
	if len(told) == 0 || c.terms.Operation.Identity == "" || keyless(told) && len(c.terms.Contract.NaturalKey) == 0 {
		return
	}
	want, source := "", ""
	if rows, known := c.rows(m, s.intent.Bodies[body].Marker); known && len(rows) == 1 && !s.twin {
		want, source = c.rowIdentity(rows[0]), "the row"
	}
	named := keep(told, func(a judged) bool { return a.identity != "" })
	if want == "" && len(named) > 0 {
		want, source = named[0].identity, "attempt "+named[0].ID
	}
	for _, a := range told {
		if want == "" || a.identity == want || a.identity == "" && a.Length == 0 {
			continue
		}
		c.report(m, s, Finding{
			Kind: ReplayMismatch, Detail: "identity",
			Promise:  "Everybody is told of the same thing, and it is the one that exists.",
			Expected: fmt.Sprintf("%s at %s, as %s has it", want, c.terms.Operation.Identity, source),
			Observed: fmt.Sprintf("attempt %s names %s", a.ID, orNothing(a.identity)),
			Differs:  []Difference{{Attempt: a.ID, Where: c.terms.Operation.Identity, First: want, Then: orNothing(a.identity)}},
		})
		return
	}
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

func (c *court) rowIdentity(row history.Row) string {
	value, found := row[c.terms.Operation.Rows.Identity]
	if !found || value == nil {
		return ""
	}
	return plain(normalise(value))
}

// contradicted holds that after an acknowledgement nobody with the same request is refused (I11).
func (c *court) contradicted(m moment, s *story, attempts []judged) {
	for _, a := range ofOutcome(attempts, Acknowledged) {
		for _, r := range ofOutcome(attempts, Rejected) {
			if r.Start <= a.End {
				continue
			}
			c.report(m, s, Finding{
				Kind: ReplayMismatch, Detail: "status",
				Promise:  "Once acknowledged, a repetition is not refused.",
				Contract: "level: idempotent",
				Expected: fmt.Sprintf("status %d again", a.Status),
				Observed: fmt.Sprintf("status %d", r.Status),
				Differs:  []Difference{{Attempt: r.ID, Where: "status", First: fmt.Sprint(a.Status), Then: fmt.Sprint(r.Status)}},
			})
			return
		}
	}
}

// statuses holds that one attempt can have been the original of which every other acknowledgement is
// a legal replay. An attempt whose answer is unknown can have been it with any status.
func (c *court) statuses(m moment, s *story, all, acknowledged []judged) {
	originals := []int{}
	for _, a := range acknowledged {
		originals = append(originals, a.Status)
	}
	lost := has(all, Unknown)
	if lost {
		originals = append(originals, c.terms.Contract.Ack.Statuses...)
	}
	for i, status := range originals {
		if c.legalReplays(status, i, acknowledged) {
			return
		}
	}
	first := acknowledged[0]
	for _, a := range acknowledged[1:] {
		if a.Status != first.Status {
			c.report(m, s, Finding{
				Kind: ReplayMismatch, Detail: "status",
				Promise:  "A replay has the status of the first answer, or one that the contract allows.",
				Contract: fmt.Sprintf("replay.status: %s", statusRule(c.terms.Contract.Replay)),
				Expected: fmt.Sprintf("status %d", first.Status),
				Observed: fmt.Sprintf("status %d", a.Status),
				Differs:  []Difference{{Attempt: a.ID, Where: "status", First: fmt.Sprint(first.Status), Then: fmt.Sprint(a.Status)}},
			})
			return
		}
	}
}

// legalReplays reports that every acknowledgement but the i-th is a legal replay of a first answer
// with this status.
func (c *court) legalReplays(status, i int, acknowledged []judged) bool {
	allowed, declared := c.terms.Contract.Replay.Status[status]
	for j, a := range acknowledged {
		if j == i || !declared && a.Status == status || slices.Contains(allowed, a.Status) {
			continue
		}
		return false
	}
	return true
}

func statusRule(r targets.Replay) string {
	if len(r.Status) == 0 {
		return "same"
	}
	return fmt.Sprint(r.Status)
}

// bodies compares every acknowledgement's body with the first one's, as the contract asks.
func (c *court) bodies(m moment, s *story, acknowledged []judged) {
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
func (c *court) compare(first, then history.Attempt) []Difference {
	r := c.terms.Contract.Replay
	whole := []Difference{{Attempt: then.ID, Where: "body", First: first.Content, Then: then.Content}}
	if r.Body == targets.SameIdentity || r.Body == targets.AnyBody {
		return nil
	}
	if first.Content == then.Content && first.Digest == then.Digest {
		return nil
	}
	a, okA := parse(first.Content)
	b, okB := parse(then.Content)
	if r.Body == targets.SameBytes || !okA || !okB {
		return whole
	}
	var list []Difference
	for _, d := range differences("", a, b, r.Ignore) {
		list = append(list, Difference{Attempt: then.ID, Where: d.where, First: d.first, Then: d.then})
	}
	return list
}

// headers compares the headers that the contract lists, and no others.
func (c *court) headers(m moment, s *story, acknowledged []judged) {
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

// replayMarker holds that at most one acknowledgement claims to be the original, and that nobody
// claims to be a replay where there can have been no original.
func (c *court) replayMarker(m moment, s *story, all, acknowledged []judged) {
	rule := c.terms.Contract.Replay.Marker
	if rule == nil {
		return
	}
	unmarked := keep(acknowledged, func(a judged) bool { return headerValue(a.Header, rule.Name) != rule.Value })
	finding := Finding{Kind: ReplayMismatch, Detail: "marker", Contract: "replay.marker: " + rule.Name}
	switch {
	case rule.Required && len(unmarked) >= 2:
		finding.Promise = "A replay says that it is one."
		finding.Expected = "at most one answer without " + rule.Name
		finding.Observed = fmt.Sprintf("%d answers without it: each claims to be the first", len(unmarked))
	case len(unmarked) == 0 && !has(all, Unknown):
		finding.Promise = "A first answer does not say that it is a replay."
		finding.Expected = "one answer without " + rule.Name
		finding.Observed = "every answer says that it is a replay, and no answer was lost"
	default:
		return
	}
	c.report(m, s, finding)
}
