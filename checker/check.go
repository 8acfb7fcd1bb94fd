// Package checker judges: it turns a history and the contract of its target into a verdict with
// findings. Check is a pure function; the readers that take snapshots are in checker/readers.
//
// The rules are those of linearizability for an operation that may execute at most once: there must
// be a sequential history, consistent with real time, in which at most one attempt of a key group
// executes and every other answer is a legal answer of one that did not. Because at most one
// executes, counting rows and comparing answers suffices; nothing is searched.
//
// Decisions where the rules leave room:
//
//   - Rows are judged twice, before the final probe (T1) and after it (T2), and the findings of both
//     count: a probe heals a lost write, and it brings a second row to light.
//   - Intents with one marker (twins) are judged by the sum of their bounds, since their rows cannot
//     be told apart.
//   - An intent that is told "that exists already" although nothing of it exists is a false conflict
//     if all its attempts were answered so, and a lost write if one of them may have executed.
//   - When the target went away in the middle, only findings that more waiting cannot undo are
//     reported: duplicates, leaks, altered bodies and unequal answers.
//   - An answer that ends where the connection ends has no framing that tells whether it is whole. It
//     counts as complete.
package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// moment is one of the two snapshots.
type moment int

const (
	atT1 moment = iota
	atT2
)

func (m moment) String() string {
	if m == atT1 {
		return history.T1Name
	}
	return history.T2Name
}

// Check judges one history. It changes nothing and needs nothing but its arguments.
func Check(h *history.History, t Terms) Result {
	c := &court{
		terms: t, history: h, families: t.families(h),
		sightings: map[string][]history.Sighting{}, seen: map[string]bool{},
	}
	for _, s := range h.Sightings {
		c.sightings[s.Intent] = append(c.sightings[s.Intent], s)
	}
	for _, m := range []moment{atT1, atT2} {
		for _, f := range c.families {
			c.judge(f, m)
		}
	}
	c.leaks()
	c.warn()
	if c.misconfigured() {
		c.findings = nil
	}
	return c.result()
}

// court collects what is found in one history.
type court struct {
	terms     Terms
	history   *history.History
	families  []*family
	sightings map[string][]history.Sighting // by intent
	findings  []Finding
	warnings  []Warning
	seen      map[string]bool // findings by kind, detail and intent: one that shows at T1 is not repeated at T2
}

func (c *court) snapshot(m moment) *history.Snapshot {
	if m == atT1 {
		return c.history.T1
	}
	return c.history.T2
}

// rows returns the rows of a marker at a moment, and whether they are known.
func (c *court) rows(m moment, marker string) ([]history.Row, bool) {
	s := c.snapshot(m)
	if s == nil || s.Error != "" {
		return nil, false
	}
	rows, asked := s.Rows[marker]
	return rows, asked
}

// report adds a finding about a story, with its evidence.
func (c *court) report(m moment, s *story, f Finding) {
	id := fmt.Sprintf("%s/%s/%s", f.Kind, f.Detail, s.intent.ID)
	if c.seen[id] || c.gone() && !lasting(f.Kind) {
		return
	}
	c.seen[id] = true
	f.Intent, f.Moment = s.intent.ID, m.String()
	if f.Contract == "" {
		f.Contract = "holds for every contract"
	}
	for _, a := range s.until(m).attempts {
		f.Attempts = append(f.Attempts, a.Attempt)
		f.Outcomes = append(f.Outcomes, a.outcome)
	}
	for _, body := range []string{history.Original, history.Altered} {
		if b, sent := s.intent.Bodies[body]; sent {
			rows, _ := c.rows(m, b.Marker)
			f.Rows = append(f.Rows, RowEvidence{Body: body, Marker: b.Marker, Rows: rows})
		}
	}
	c.findings = append(c.findings, f)
}

// lasting reports whether a finding stands even if the target died before it could answer for itself.
func lasting(k Kind) bool {
	return slices.Contains([]Kind{Leak, Duplicate, AlteredBody, ReplayMismatch, MissingKeyAccepted}, k)
}

func (c *court) gone() bool { return c.incident(history.TargetGone) != nil }

func (c *court) incident(k history.IncidentKind) *history.Incident {
	for i := range c.history.Incidents {
		if c.history.Incidents[i].Kind == k {
			return &c.history.Incidents[i]
		}
	}
	return nil
}

// judge holds one family against the invariants at one moment.
func (c *court) judge(f *family, m moment) {
	if c.snapshot(m) == nil {
		return
	}
	stories := make([]*story, len(f.stories))
	for i, s := range f.stories {
		stories[i] = s.until(m)
	}
	if _, altered := stories[0].intent.Bodies[history.Altered]; altered {
		c.altered(m, stories[0])
	} else {
		c.counts(m, stories)
	}
	for _, s := range stories {
		for _, g := range c.terms.groups(s.attempts) {
			c.answers(m, s, g)
		}
		if m == atT2 {
			c.resolution(s)
		}
	}
}

// severity orders kinds, worst first.
func severity(k Kind) int {
	return slices.Index([]Kind{
		Leak, Duplicate, LostWrite, PhantomRow, AlteredBody, EffectMismatch, ReplayMismatch,
		FalseConflict, MissingKeyAccepted, Unavailable,
	}, k)
}

func (c *court) result() Result {
	h := c.history
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return cmp.Compare(severity(a.Kind), severity(b.Kind)) })
	r := Result{
		Scenario: h.Run.Scenario, Summary: h.Run.Summary, Seed: h.Run.Seed,
		Intents: len(h.Intents), Attempts: len(h.Attempts), Outcomes: map[Outcome]int{},
		Findings: c.findings, Warnings: c.warnings, Exercise: c.exercise(),
	}
	broken := map[string]bool{}
	for _, f := range c.findings {
		broken[f.Intent] = true
	}
	r.Failed = len(broken)
	for _, f := range c.families {
		for _, s := range f.stories {
			for _, a := range s.attempts {
				r.Outcomes[a.outcome]++
				r.Elapsed = max(r.Elapsed, a.End)
			}
		}
	}
	r.Verdict, r.Reasons = c.verdict(r.Exercise)
	return r
}
