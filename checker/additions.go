package checker

import (
	"fmt"
	"maps"
	"math/big"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// addition is what each execution of one body adds to a column of its row. The zero value adds nothing: each execution makes a row.
type addition struct {
	column string
	each   any // number, as the body says it
}

// additionsOf returns by marker what the bodies of a history add, of operations that add to a row.
func additionsOf(t Terms, h *history.History) map[string]addition {
	all := map[string]addition{}
	for _, i := range h.Intents {
		for name, b := range i.Bodies {
			rows := t.operationFor(i, name).Rows
			if rows.Adds == "" {
				continue
			}
			sent, _ := parse(b.JSON())
			if each, said := jsonpointer.Resolve(sent, rows.Content[rows.Adds]); said {
				all[b.Marker] = addition{rows.Adds, each}
			}
		}
	}
	return all
}

// mostExecutions is how many executions a row is taken apart into: no scenario sends as many requests for one intent.
const mostExecutions = 10_000

// times returns how many executions have added to a row; 1 where it holds no multiple of what each adds.
func (x addition) times(row history.Row) int {
	each, isNumber := rational(x.each)
	sum, summed := rational(normalise(row[x.column]))
	if !isNumber || !summed || each.Sign() == 0 {
		return 1
	}
	n := new(big.Rat).Quo(sum, each)
	if !n.IsInt() || n.Sign() <= 0 || n.Num().Cmp(big.NewInt(mostExecutions)) > 0 {
		return 1
	}
	return int(n.Num().Int64())
}

// apart returns a row for each execution that has added to one.
func (x addition) apart(rows []history.Row) []history.Row {
	if x.column == "" {
		return rows
	}
	var all []history.Row
	for _, row := range rows {
		n := x.times(row)
		if n > 1 {
			row = maps.Clone(row)
			row[x.column] = x.each
		}
		for range n {
			all = append(all, row)
		}
	}
	return all
}

// counted says how many executions of an intent there were: rows, or additions to one.
func (e *evaluation) counted(n int, tr *trace) string {
	if x := e.additions[tr.intent.Bodies[history.Original].Marker]; x.column != "" {
		return fmt.Sprintf("%s of %s to %s", count(n, "addition"), show(x.each), x.column)
	}
	return count(n, "row")
}

// rational reads a JSON number, or a text that is one as databases write decimals.
func rational(value any) (*big.Rat, bool) {
	return new(big.Rat).SetString(fmt.Sprint(exactly(value)))
}
