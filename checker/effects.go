package checker

import (
	"fmt"
	"math"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// checkEffects checks that every row comes with its child rows and values, no more and no fewer (I6). Before the
// final retry fewer are fine: they may still come.
func checkEffects(e *evaluation, m moment, tr *trace) {
	for _, fx := range tr.operation.Effects {
		for _, body := range []string{history.Original, history.Altered} {
			marker := tr.intent.Bodies[body].Marker
			rows, known := e.rows(m, marker)
			got, asked := e.snapshot(m).Effects[fx.Name][marker]
			if known && e.snapshot(m).Effects[fx.Name] == nil {
				e.doubt("the effect %s was not asked for", fx.Name)
			}
			if !known || !asked || fx.Delta != nil {
				continue
			}
			each, thing := perRow(fx)
			if want := each * float64(len(rows)); !near(got, want) && !(m == atT1 && short(got, want)) {
				e.report(m, tr, Finding{
					Kind: EffectMismatch, Detail: fx.Name,
					Contract: "effects: " + fx.Name,
					Expected: fmt.Sprintf("%s %g: %g for each row of the %s body, of which there is %s", thing, want, each, body, count(len(rows), "row")),
					Observed: fmt.Sprintf("%s %g", thing, got),
				})
				break
			}
		}
	}
}

// perRow returns how much of an effect belongs to one row, and the name of what is counted.
func perRow(fx contract.Effect) (float64, string) {
	if fx.Rows != nil {
		return float64(*fx.Rows), "rows"
	}
	return *fx.Value, "value"
}

// checkTotals checks that counters and balances changed once for each row of all intents. A total does not tell which
// request changed it too often, so the finding is about all intents.
func checkTotals(e *evaluation, m moment) {
	before, now := e.history.Before, e.snapshot(m)
	if before == nil || now == nil || before.Error != "" || now.Error != "" {
		return
	}
	for _, o := range e.terms.operations() {
		for _, fx := range o.Effects {
			first, known := before.Effects[fx.Name][""]
			last, asked := now.Effects[fx.Name][""]
			want, all := expectedChange(e, m, fx.Query)
			if fx.Delta == nil || !all {
				continue
			}
			if !known || !asked {
				e.doubt("the effect %s was not asked for", fx.Name)
				continue
			}
			if near(last-first, want) || m == atT1 && short(last-first, want) {
				continue
			}
			e.reportAll(m, Finding{
				Kind: EffectMismatch, Detail: fx.Name,
				Promise:  "What every effect changes is changed once for each effect.",
				Contract: "effects: " + fx.Name,
				Expected: fmt.Sprintf("a change by %g: %g for each row", want, *fx.Delta),
				Observed: fmt.Sprintf("a change by %g, from %g to %g", last-first, first, last),
			})
		}
	}
}

// expectedChange sums what the rows of all intents, of any operation, change of a total. It reports whether all of
// those rows are known.
func expectedChange(e *evaluation, m moment, query string) (float64, bool) {
	change := 0.0
	for _, mg := range e.groups {
		tr := mg.traces[0]
		for _, fx := range tr.operation.Effects {
			if fx.Delta == nil || fx.Query != query {
				continue
			}
			rows, known := e.rowCount(m, tr)
			if !known {
				return 0, false
			}
			change += *fx.Delta * float64(rows)
		}
	}
	return change, true
}

// short reports that there is less than expected: the rest may still come.
func short(got, want float64) bool { return math.Abs(got) < math.Abs(want) && got*want >= 0 }

// near compares sums of floating-point numbers.
func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}
