package checker

import (
	"cmp"
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// together is what findings about all intents take beside totals.
type together struct {
	list []Circumstance // under which any intent was sent
	met  [2]metTogether // by moment
	sent [2]typical     // likewise
}

// typical is an intent that shows what all of them sent: of those with the most answers the one that was sent first.
type typical struct {
	intent   string // empty: nothing was sent
	answered int
	start    history.Offset
	evidence Finding
}

// note takes an intent where it shows more than the one so far. A plain create beside the plan's intents shows least.
func (t *typical) note(e *evaluation, m moment, tr *trace) {
	all := tr.until(m).whole().attempts
	if len(all) == 0 || tr.intent.Fresh || tr.intent.Behind {
		return
	}
	answered := len(filter(all, func(a *classified) bool { return a.Complete }))
	if t.intent != "" && cmp.Or(cmp.Compare(t.answered, answered), cmp.Compare(all[0].Start, t.start), cmp.Compare(tr.intent.ID, t.intent)) >= 0 {
		return
	}
	*t = typical{intent: tr.intent.ID, answered: answered, start: all[0].Start}
	attach(e, m, tr, &t.evidence)
}

// at returns the typical intent at the snapshot with a name.
func (t *together) at(snapshot string) *typical {
	if snapshot == history.T2Name {
		return &t.sent[atT2]
	}
	return &t.sent[atT1]
}

// show gives a finding about all intents the evidence of the typical one.
func (t *typical) show(f *Finding) {
	one := t.evidence
	f.Typical, f.Who, f.Attempts, f.Outcomes, f.Requests, f.Rows = t.intent, one.Who, one.Attempts, one.Outcomes, one.Requests, one.Rows
	f.Meanwhile = one.Meanwhile
}

// metTogether is the setbacks that intents met.
type metTogether struct {
	count int
	line  string // of the contract, of the first
}

// allTogether goes through all parts once more. Only findings about all intents need it, and so it is not part of the
// first walk.
func (w *whole) allTogether() (*together, error) {
	t, setbacks := &together{}, w.setbacks()
	everything := Finding{Meanwhile: Meanwhile{Crashes: w.head.Crashes, Flushes: w.head.Flushes, Removals: w.head.Removals}}
	err := w.each(all(w.parts.Len()), applyExpiredSessions, func(e *evaluation) {
		for tr := range e.traces() {
			for _, c := range e.circumstances(atT2, tr, everything) {
				if c != Background && !slices.Contains(t.list, c) {
					t.list = append(t.list, c)
				}
			}
		}
		for tr := range e.traces() {
			for m := range t.sent {
				t.sent[m].note(e, moment(m), tr)
			}
		}
		for _, mg := range e.groups {
			for m := range t.met {
				for _, s := range metBy(mg, moment(m), setbacks) {
					if t.met[m].count++; t.met[m].count == 1 {
						t.met[m].line = s.line
					}
				}
			}
		}
	})
	return t, err
}

// circumstances returns a copy in the order of reports: findings may not share a list.
func (t *together) circumstances() []Circumstance { return sorted(slices.Clone(t.list)) }

// excuse returns the line of the contract that allows a finding about a total; empty: none does.
func (t *together) excuse(e *evaluation, f Finding) string {
	line := ""
	for _, m := range []moment{atT1, atT2} {
		if f.Moment == history.T2Name && m == atT1 {
			continue
		}
		met, surplus := t.met[m], 0
		for _, o := range e.terms.operations() {
			for _, fx := range o.Effects {
				if fx.Name == f.Detail && fx.Delta != nil {
					change := e.totalOf(m, fx)
					surplus = add(surplus, change.last-change.first-change.want, *fx.Delta, change.asked && change.rowsKnown)
				}
			}
		}
		if f.Kind != EffectMismatch || surplus > met.count || surplus < 0 || met.count == 0 && line == "" {
			return ""
		}
		if met.count > 0 {
			line = met.line + ": " + string(contract.AtLeastOnce)
		}
	}
	return line
}
