package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// together is what findings about all intents take beside totals.
type together struct {
	list []Circumstance // under which any intent was sent
	met  [2]metTogether // by moment
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
	everything := Finding{Crashes: w.head.Crashes, Flushes: w.head.Flushes, Removals: w.head.Removals}
	err := w.each(all(w.parts.Len()), applyExpiredSessions, func(e *evaluation) {
		for tr := range e.traces() {
			for _, c := range e.circumstances(atT2, tr, everything) {
				if c != Background && !slices.Contains(t.list, c) {
					t.list = append(t.list, c)
				}
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
