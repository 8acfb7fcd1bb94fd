package learn

import (
	"context"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

const (
	mostMeasures = 3 // how many members are tried as the one that an altered body changes
	sameMeasures = 4 // how often another body is sent that makes another number of rows, to see that it always does
)

// measures finds what says how many rows a create makes, such as a number of seats: a body with another number has another count of
// rows, and is none with a half-done effect. Where another member can be altered, that is; otherwise rows that vary are not counted. What
// equal creates differ in is not what a body says.
func measures(ctx context.Context, i *inquiry, equal alike) {
	p := i.file.Proof
	for n := range mostMeasures {
		body, pointer, ok := drafting.Altered(i.file)
		if !ok || len(p.Several.Rows) == 0 && !slices.ContainsFunc(i.file.Children, func(c drafting.Child) bool { return c.Rows > 0 }) {
			return
		}
		others, ok := measured(ctx, i, body, equal)
		if !ok || !varies(i, equal, others) {
			return
		}
		p.Unfit = append(p.Unfit, pointer)
		if _, _, more := drafting.Altered(i.file); (!more || n == mostMeasures-1) && len(p.Several.Rows) == 0 {
			p.Unfit = p.Unfit[:len(p.Unfit)-1]
			doubtVarying(i, pointer, equal, others)
			return
		}
	}
}

// measured are creates with another body: more than one where the first makes other numbers of rows than those with the body as it is. What only
// some of them do is no matter of the body.
func measured(ctx context.Context, i *inquiry, body map[string]any, equal alike) (others alike, ok bool) {
	for n := 0; n == 0 || n < sameMeasures && varies(i, equal, others); n++ {
		letBe(ctx, time.Duration(n)*apartBy)
		one, ok := madeWith(ctx, i, body)
		if !ok {
			return nil, false
		}
		others = append(others, one)
	}
	if !variesInRows(i, equal, others) && variesInRows(i, equal, others[:1]) {
		drafting.Fewer(&i.file, append(equal.rows(), others.rows()...))
	}
	for n := range i.file.Children {
		if !variesIn(i, equal, others, n) && variesIn(i, equal, others[:1], n) {
			drafting.SettleChild(&i.file, n, append(equal.child(n), others.child(n)...), true)
		}
	}
	return others, true
}

// varies reports that creates with another body have made other numbers of rows than those with the body as it is.
func varies(i *inquiry, equal, others alike) bool {
	for n := range i.file.Children {
		if variesIn(i, equal, others, n) {
			return true
		}
	}
	return variesInRows(i, equal, others)
}

// variesInRows reports that for the created thing's table, where a create makes several rows in it.
func variesInRows(i *inquiry, equal, others alike) bool {
	known := equal.rows()
	return len(i.file.Proof.Several.Rows) > 0 && !slices.ContainsFunc(others.rows(), func(rows int) bool { return slices.Contains(known, rows) })
}

// variesIn reports that for a table that refers to the created row. What is sent may be gone again.
func variesIn(i *inquiry, equal, others alike, n int) bool {
	c := i.file.Children[n]
	known := append(equal.child(n), drafting.Count{Rows: c.Rows})
	return c.Rows > 0 && !slices.ContainsFunc(others, func(o creation) bool {
		return slices.ContainsFunc(known, func(one drafting.Count) bool { return sameRows(one, o.children[n]) }) || o.children[n].Rows == 0 && drafting.HoldsMessages(c.Table)
	})
}

// madeWith sends a create of its own with another body, and counts what it has made.
func madeWith(ctx context.Context, i *inquiry, body map[string]any) (made creation, ok bool) {
	asking, err := i.questionerWith(body)
	if err != nil {
		return creation{}, false
	}
	before := slices.Clone(i.file.Children)
	defer func() { i.file.Children = before }() // this is no repetition
	answers, markers := asking.ask(ctx, "measure", 1, "[{send: {}}]")
	if len(answers) != 1 || !answers[0].Done() || i.made(ctx, markers[0]) == 0 {
		return creation{}, false
	}
	landings := search(ctx, i, markers[0])
	made.rows = len(rowsIn(landings, i.file.Proof.Table))
	for _, c := range i.file.Children {
		n, err := i.db.Referring(ctx, c.Table, c.By, i.row[c.By.Theirs])
		for look := 1; look < looks && err == nil && n < c.Rows; look++ { // they may be written behind the answer
			letBe(ctx, betweenLook)
			n, err = i.db.Referring(ctx, c.Table, c.By, i.row[c.By.Theirs])
		}
		if err != nil {
			return creation{}, false
		}
		made.children = append(made.children, drafting.Count{Rows: n})
	}
	return made, true
}

// doubtVarying leaves out the effects whose rows a member that is altered says.
func doubtVarying(i *inquiry, pointer string, equal, others alike) {
	for n := range i.file.Children {
		c := &i.file.Children[n]
		if !variesIn(i, equal, others, n) {
			continue
		}
		c.Varies = true
		i.file.Doubt("How many rows a create makes in %s: with another %s it made %d, and not %d, so they are not counted. To count them, alter another member, or compare them with the row by an effect with value.",
			c.Table.FullName(), pointer, others[0].children[n].Rows, c.Rows)
	}
}
