package checker

import (
	"fmt"
	"math"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// effects holds that every row comes with what else belongs to it, no more and no less (I6): child
// rows, and values by marker.
func (c *court) effects(m moment, s *story) {
	for _, e := range s.operation.Effects {
		for _, body := range []string{history.Original, history.Altered} {
			marker := s.intent.Bodies[body].Marker
			rows, known := c.rows(m, marker)
			got, asked := c.snapshot(m).Effects[e.Name][marker]
			if known && c.snapshot(m).Effects[e.Name] == nil {
				c.wonder("the effect %s was not asked for", e.Name)
			}
			if !known || !asked || e.Delta != nil {
				continue
			}
			each, thing := perRow(e)
			if want := each * float64(len(rows)); !near(got, want) && !(m == atT1 && short(got, want)) {
				c.report(m, s, Finding{
					Kind: EffectMismatch, Detail: e.Name,
					Contract: "effects: " + e.Name,
					Expected: fmt.Sprintf("%s %g: %g for each row of the %s body, of which there is %s", thing, want, each, body, count(len(rows), "row")),
					Observed: fmt.Sprintf("%s %g", thing, got),
				})
				break
			}
		}
	}
}

// perRow returns how much of an effect belongs to one row, and what is counted.
func perRow(e contract.Effect) (float64, string) {
	if e.Rows != nil {
		return float64(*e.Rows), "rows"
	}
	return *e.Value, "value"
}

// totals holds that what all effects change together has changed once for each: counters and balances.
// Whose request changed it too often cannot be told from a total.
func (c *court) totals(m moment) {
	before, now := c.history.Before, c.snapshot(m)
	if before == nil || now == nil || before.Error != "" || now.Error != "" {
		return
	}
	for _, o := range c.terms.operations() {
		for _, e := range o.Effects {
			first, known := before.Effects[e.Name][""]
			last, asked := now.Effects[e.Name][""]
			want, all := c.changedBy(m, e.Query)
			if e.Delta == nil || !all {
				continue
			}
			if !known || !asked {
				c.wonder("the effect %s was not asked for", e.Name)
				continue
			}
			if near(last-first, want) || m == atT1 && short(last-first, want) {
				continue
			}
			c.reportAll(m, Finding{
				Kind: EffectMismatch, Detail: e.Name,
				Promise:  "What every effect changes is changed once for each effect.",
				Contract: "effects: " + e.Name,
				Expected: fmt.Sprintf("a change by %g: %g for each row", want, *e.Delta),
				Observed: fmt.Sprintf("a change by %g, from %g to %g", last-first, first, last),
			})
		}
	}
}

// changedBy adds up what the rows of all intents change of a total, whichever operation made them, and
// reports whether all of those rows are known.
func (c *court) changedBy(m moment, query string) (float64, bool) {
	change := 0.0
	for _, f := range c.families {
		s := f.stories[0]
		for _, e := range s.operation.Effects {
			if e.Delta == nil || e.Query != query {
				continue
			}
			rows, known := c.rowsOf(m, s)
			if !known {
				return 0, false
			}
			change += *e.Delta * float64(rows)
		}
	}
	return change, true
}

// rowsOf counts the rows of all bodies of a story, and reports whether they are known.
func (c *court) rowsOf(m moment, s *story) (int, bool) {
	total := 0
	for _, body := range []string{history.Original, history.Altered} {
		if b, sent := s.intent.Bodies[body]; sent {
			rows, known := c.rows(m, b.Marker)
			if !known {
				return 0, false
			}
			total += len(rows)
		}
	}
	return total, true
}

// short reports that less than what is wanted is there: it may still come.
func short(got, want float64) bool { return math.Abs(got) < math.Abs(want) && got*want >= 0 }

// near compares numbers that may have been added up.
func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}
