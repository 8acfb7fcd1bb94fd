package checker

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// checkEffects checks that every row comes with its child rows and values, no more and no fewer (I6). Before the
// final retry fewer are fine: they may still come.
func checkEffects(e *evaluation, m moment, tr *trace) {
	for _, fx := range tr.operation.Effects {
		if fx.Seen != "" {
			continue
		}
		for _, body := range []string{history.Original, history.Altered} {
			marker := tr.intent.Bodies[body].Marker
			if body == history.Altered && marker == tr.intent.Bodies[history.Original].Marker {
				continue // its rows were counted
			}
			rows, known := e.rows(m, marker)
			if known && e.snapshot(m).Effects[fx.Name] == nil {
				e.doubt("the effect %s was not asked for", fx.Name)
			}
			got, want, asked := e.effectOf(m, fx, marker)
			if !asked {
				continue
			}
			each, thing := perRow(fx)
			mayLack := m == atT1 || onlyDeclined(tr) || fx.Delivery == contract.SentAtMostOnce
			if !near(got, want) && !(mayLack && short(got, want)) {
				e.report(m, tr, Finding{
					Kind: EffectMismatch, Detail: fx.Name,
					Contract: "effects: " + fx.Name,
					Expected: fmt.Sprintf("%s%s %s: %s for each row of the %s body, of which there is %s", atMost(fx), thing, decimal(want), decimal(each), body, count(len(rows), "row")),
					Observed: fmt.Sprintf("%s %s", thing, decimal(got)),
					Clues:    Clues{Own: true, Unrepeated: short(got, want) || m == atT1 && e.history.Run.Scenario == plainCreate},
				})
				break
			}
		}
	}
}

// effectOf returns how much of an effect there is beside the rows of a marker, and how much is to be. It reports whether
// both are known.
func (e *evaluation) effectOf(m moment, fx contract.Effect, marker string) (got, want float64, known bool) {
	rows, known := e.rows(m, marker)
	if !known || fx.Delta != nil {
		return 0, 0, false
	}
	each, _ := perRow(fx)
	if fx.Seen != "" {
		return float64(e.messages.count(e.snapshot(m).At, fx, marker)), each * float64(len(rows)), true
	}
	got, asked := e.snapshot(m).Effects[fx.Name][marker]
	return got, each * float64(len(rows)), asked
}

// perRow returns how much of an effect belongs to one row, and the name of what is counted.
func perRow(fx contract.Effect) (float64, string) {
	switch {
	case fx.Seen != "":
		return float64(fx.Each()), "messages"
	case fx.Rows != nil:
		return float64(*fx.Rows), "rows"
	default:
		return *fx.Value, "value"
	}
}

// checkTotals checks that counters and balances changed once for each row of all intents. A total does not tell which
// request changed it too often, so the finding is about all intents. One that is right in a shard is right; one that is wrong there may be so
// because of other shards, and is no reason to pass.
func checkTotals(e *evaluation, m moment) {
	before, now := e.history.Before, e.snapshot(m)
	if before == nil || now == nil || before.Error != "" || now.Error != "" {
		return
	}
	for _, o := range e.terms.operations() {
		for _, fx := range o.Effects {
			t := e.totalOf(m, fx)
			if fx.Delta == nil || !t.rowsKnown {
				continue
			}
			if !t.asked {
				if t.played { // a snapshot asks for what was sent
					e.doubt("the effect %s was not asked for", fx.Name)
				}
				continue
			}
			change := t.last - t.first
			if m == atT1 && *fx.Delta == 0 && e.history.T2 != nil && e.history.T2.Error == "" {
				continue // either may come after the other
			}
			if near(change, t.want) || m == atT1 && short(change, t.want) || short(change, t.want) && !short(change, t.want-t.declined) {
				continue
			}
			if e.history.Run.Shard != "" {
				e.doubt("the effect %s tells nothing: it changed by %s in this scenario and not by %s, and other shards may have changed it at the same time. %s",
					fx.Name, decimal(change), decimal(t.want), shardsWrite(fx))
				continue
			}
			if moved := movedIdle(e.history, fx.Name); moved != "" {
				e.doubt("the effect %s tells nothing: it changed by %s in this scenario and not by %s, and %s. %s", fx.Name, decimal(change), decimal(t.want), moved, othersWrite)
				continue
			}
			e.reportAll(m, Finding{
				Kind: EffectMismatch, Detail: fx.Name,
				Promise:  "What every effect changes is changed once for each effect.",
				Contract: "effects: " + fx.Name,
				Expected: fmt.Sprintf("a change by %s: %s for each row", decimal(t.want), decimal(*fx.Delta)),
				Observed: fmt.Sprintf("a change by %s, from %s to %s%s", decimal(change), decimal(t.first), decimal(t.last), restedIdle(e.history, fx.Name)),

				Clues: Clues{Own: true, Unrepeated: *fx.Delta != 0 && short(change, t.want) || wrongWhenPlain(e, fx)},
			})
		}
	}
}

// wrongWhenPlain reports that a total was wrong when each intent had been sent once, as plain creates are before their final retry, and that
// this changed nothing.
func wrongWhenPlain(e *evaluation, fx contract.Effect) bool {
	if t1 := e.history.T1; e.history.Run.Scenario != plainCreate || t1 == nil || t1.Error != "" {
		return false
	}
	before := e.totalOf(atT1, fx)
	return before.asked && before.rowsKnown && !near(before.last-before.first, before.want) &&
		(e.history.T2 == nil || near(before.last, e.history.T2.Effects[fx.Name][""]))
}

// othersWrite says what it means that a total changes while nothing is sent, and what helps.
const othersWrite = "Something else than these requests writes there, or work behind an answer takes longer than the target file says (settle). " +
	"Let nobody else write there during a run, or give the effect a query that only creates change"

// shardsWrite says what helps where other shards change a total.
func shardsWrite(fx contract.Effect) string {
	const alone = "Run the scenario without --shard, or give each shard a target and a database of its own"
	if *fx.Delta == 0 {
		return alone
	}
	return alone + "; or take off in the effect's query what each row stands for, with delta: 0"
}

// movedIdle says how a total changed while nothing was sent; empty: that was not seen.
func movedIdle(h *history.History, effect string) string {
	for _, i := range idleOf(h, effect) {
		if !near(i.Was, i.Is) {
			after := ""
			if i.Scenario != "" {
				after = " of " + i.Scenario
			}
			return fmt.Sprintf("from %s to %s while nothing was sent, between %s and %s after the beginning%s",
				decimal(i.Was), decimal(i.Is), roundly(i.From), roundly(i.To), after)
		}
	}
	return ""
}

// restedIdle says for how long a total stayed as it was after the last answer; empty: nobody looked.
func restedIdle(h *history.History, effect string) string {
	for _, i := range idleOf(h, effect) {
		if i.Scenario == "" {
			return fmt.Sprintf("; it stayed so for %s in which nothing was sent", roundly(i.To-i.From))
		}
	}
	return ""
}

// idleOf lists what a total was while nothing was sent.
func idleOf(h *history.History, effect string) []history.Idle {
	if h.T2 == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(h.T2.Idle), func(i history.Idle) bool { return i.Effect != effect })
}

// roundly rounds a time for reading.
func roundly(o history.Offset) time.Duration { return o.Duration().Round(100 * time.Millisecond) }

// WrongTotals names the effects of which a history says that they changed by another number than the rows of all its intents say.
func WrongTotals(t Terms, h *history.History) []string {
	var names []string
	for _, f := range Check(h, t).Findings {
		if f.Kind == EffectMismatch && f.Intent == EveryIntent {
			names = append(names, f.Detail)
		}
	}
	return names
}

// total is a counter or balance before the run and at a moment.
type total struct {
	first, last float64
	want        float64 // change
	declined    float64 // part of it that may be left out: of rows of intents that were declined
	asked       bool    // first and last are known
	rowsKnown   bool    // want is known
	played      bool    // intents of its operation were sent
}

// OwedEffects returns the markers of whose rows a snapshot holds fewer child rows, or less of a value, than belong to them, and
// the names of the totals that have changed by less than all rows together say, or at all where none does. A job may bring the rest behind the
// answer. Before the final retry that is no reason to wait: what a retry brings is no more than late.
func OwedEffects(t Terms, h *history.History, s history.Snapshot) []string {
	counted := func(o contract.Operation) bool {
		return slices.ContainsFunc(o.Effects, func(fx contract.Effect) bool { return fx.Seen == "" })
	}
	if !slices.ContainsFunc(t.operations(), counted) { // most targets have none, and each look asks
		return nil
	}
	var owed []string
	added, totals, together := additionsOf(t, h), map[string]float64{}, map[string]bool{}
	for _, mg := range t.markerGroups(h) {
		tr := mg.traces[0]
		if onlyDeclined(tr) {
			continue
		}
		for _, fx := range tr.operation.Effects {
			for _, marker := range markersOf(tr.intent) {
				rows := float64(len(added[marker].apart(s.Rows[marker])))
				switch {
				case fx.Seen != "", fx.Delta != nil && h.Before == nil:
				case fx.Delta != nil:
					totals[fx.Name] += *fx.Delta * rows
					together[fx.Name] = *fx.Delta == 0
				default:
					each, _ := perRow(fx)
					if got, asked := s.Effects[fx.Name][marker]; asked && short(got, each*rows) && !near(got, each*rows) {
						owed = append(owed, marker)
					}
				}
			}
		}
	}
	for name, want := range totals {
		change := s.Effects[name][""] - h.Before.Effects[name][""]
		if (short(change, want) || together[name]) && !near(change, want) {
			owed = append(owed, name)
		}
	}
	slices.Sort(owed)
	return slices.Compact(owed)
}

// totalOf returns what became of a total. The snapshot of the moment was taken.
func (e *evaluation) totalOf(m moment, fx contract.Effect) total {
	var t total
	var before, now bool
	t.first, before = e.history.Before.Effects[fx.Name][""]
	t.last, now = e.snapshot(m).Effects[fx.Name][""]
	t.rowsKnown = true
	if want := e.whole.sum.totals[m][fx.Query]; want != nil {
		t.want, t.declined, t.rowsKnown, t.played = want.change, want.declined, !want.unknown, true
	}
	t.asked = before && now
	return t
}

// expectedTotals is what the rows of intents, of any operation, change of a total.
type expectedTotals struct {
	change   float64
	declined float64 // of it, of intents that were declined
	unknown  bool    // some of the rows are not known
}

// add adds what rows of another part change.
func (t *expectedTotals) add(other expectedTotals) {
	t.change, t.declined, t.unknown = t.change+other.change, t.declined+other.declined, t.unknown || other.unknown
}

// measureTotals sums what the rows of a part change of totals.
func measureTotals(e *evaluation, t *tally) {
	for _, mg := range e.groups {
		tr := mg.traces[0]
		for _, fx := range tr.operation.Effects {
			if fx.Delta == nil {
				continue
			}
			for m := range t.totals {
				rows, known := e.rowCount(moment(m), tr)
				more := expectedTotals{change: *fx.Delta * float64(rows), unknown: !known}
				if onlyDeclined(tr) {
					more.declined = more.change
				}
				if t.totals[m][fx.Query] == nil {
					t.totals[m][fx.Query] = &expectedTotals{}
				}
				t.totals[m][fx.Query].add(more)
			}
		}
	}
}

// decimal writes a number as people do, a balance of a million among them.
func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// short reports that there is less than expected: the rest may still come.
func short(got, want float64) bool { return math.Abs(got) < math.Abs(want) && got*want >= 0 }

// near compares sums of floating-point numbers: balances of many small amounts do not add
// up exactly.
func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}
