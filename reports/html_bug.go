package reports

import (
	"slices"

	"github.com/doubletap-harness/doubletap/internal/english"
)

// Limits of the first screen.
const (
	mostFirst  = 4 // attempts on the time line
	mostCauses = 60
)

// htmlBug is the first cause of new findings: what the first screen is about.
type htmlBug struct {
	Sentence, Kind, Count, Under, Note string
	Finding                            htmlFinding
	Anchor                             string // of the finding with all its evidence, further down
	Likely                             *likelyView
}

// htmlCause is a cause in the list of all.
type htmlCause struct {
	ID, Kind, Sentence, Under, Note, Standing string
	Likely                                    *likelyView
	Count                                     int
	First                                     findingLink
	Scenarios                                 []causeLine
	More                                      int // scenarios that are left out
}

// newHTMLBug shows the first cause, with few attempts; nil: no finding is new.
func newHTMLBug(v view, anchors []string) *htmlBug {
	if len(v.Causes) == 0 || !v.Causes[0].First.isNew() {
		return nil
	}
	c := v.Causes[0]
	f := c.First
	b := &htmlBug{Sentence: c.Sentence, Kind: f.kindAndDetail(), Count: causeCount(v.Causes), Under: c.Under, Note: c.Note, Anchor: anchors[0], Likely: c.Likely}
	const anchor = "bug" // the finding has its own, further down
	b.Finding = newBrief(f, anchor).withEvidence(v, f)
	e := f.evidence()
	if e.Attempts != nil {
		e.Attempts, e.MoreAttempts = attemptsAt(f.finding, firstScreen(f))
		for i := range b.Finding.Evidence.Rows {
			b.Finding.Evidence.Rows[i].first(mostFirst)
		}
		b.Finding.Evidence.Line, b.Finding.Evidence.Notes = newTimeline(f.finding, e, anchor), attemptNotes(e)
		b.Finding.Evidence.Line.All = &findingLink{Anchor: anchors[0], ID: name(f.ID)}
	}
	return b
}

// first leaves the first rows, and counts the others.
func (r *htmlRows) first(n int) {
	if more := len(r.Rows) - n; more > 0 {
		r.Rows, r.More = r.Rows[:n], r.More+more
	}
}

// firstScreen returns the attempts that the first screen draws: those that matter, and a few more.
func firstScreen(f findingView) []int {
	list := decisive(f.finding)
	for _, i := range mostTelling(f.finding, mostFirst) {
		if len(list) < mostFirst && !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	slices.Sort(list)
	return list
}

// htmlCauses lists the causes.
func htmlCauses(v view, anchors map[string]string) []htmlCause {
	var list []htmlCause
	for _, c := range v.Causes[:min(len(v.Causes), mostCauses)] {
		h := htmlCause{
			ID: c.ID, Kind: c.First.kindAndDetail(), Sentence: fit(c.Sentence, 2*widestCell), Under: c.Under, Note: c.Note, Standing: c.First.standing(), Count: c.Count, Likely: c.Likely,
			First: findingLink{Anchor: anchors[c.First.ID], ID: name(c.First.ID), Kind: name(c.First.Kind)},
		}
		for _, s := range c.Scenarios[:min(len(c.Scenarios), mostLinks)] {
			h.Scenarios = append(h.Scenarios, causeLine{name(s.Scenario), s.Share, s.Numbers})
		}
		h.More = len(c.Scenarios) - len(h.Scenarios)
		list = append(list, h)
	}
	return list
}

// causesTitle counts causes and findings.
func causesTitle(v view) string {
	return english.Plural(len(v.Causes), "cause") + ", " + english.Plural(len(v.Findings), "finding")
}
