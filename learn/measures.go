package learn

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// mostMeasures is how many members are tried as the one that an altered body changes.
const mostMeasures = 3

// measures finds what says how many rows a create makes, such as a number of seats: a body with another number has another count of
// rows, and is none with a half-done effect. Where another member can be altered, that is; otherwise rows that vary are not counted.
func measures(ctx context.Context, i *inquiry) {
	p := i.file.Proof
	for n := range mostMeasures {
		body, pointer, ok := drafting.Altered(i.file)
		if !ok || len(p.Several.Rows) == 0 && !slices.ContainsFunc(i.file.Children, func(c drafting.Child) bool { return c.Rows > 0 }) {
			return
		}
		others, rows, ok := madeWith(ctx, i, body)
		if !ok {
			return
		}
		varies := len(p.Several.Rows) > 0 && rows != len(p.Several.Rows)
		for at, c := range i.file.Children {
			varies = varies || c.Rows > 0 && others[at] != c.Rows
		}
		if !varies {
			return
		}
		p.Unfit = append(p.Unfit, pointer)
		if _, _, other := drafting.Altered(i.file); (!other || n == mostMeasures-1) && len(p.Several.Rows) == 0 {
			p.Unfit = p.Unfit[:len(p.Unfit)-1]
			doubtVarying(i, pointer, others)
			return
		}
	}
}

// madeWith sends a create of its own with another body. It reports how many rows each child table has for it, and how many of its table hold
// its marker.
func madeWith(ctx context.Context, i *inquiry, body map[string]any) (children []int, rows int, ok bool) {
	asking, err := i.questionerWith(body)
	if err != nil {
		return nil, 0, false
	}
	before := slices.Clone(i.file.Children)
	defer func() { i.file.Children = before }() // this is no repetition
	answers, markers := asking.ask(ctx, "measure", 1, "[{send: {}}]")
	if len(answers) != 1 || !answers[0].Done() || i.made(ctx, markers[0]) == 0 {
		return nil, 0, false
	}
	landings, _ := i.db.Search(ctx, i.tables, markers[0])
	rows = len(rowsIn(landings, i.file.Proof.Table))
	for _, c := range i.file.Children {
		n, err := i.db.Referring(ctx, c.Table, c.By, i.row[c.By.Theirs])
		for look := 1; look < looks && err == nil && n < c.Rows; look++ { // they may be written behind the answer
			time.Sleep(betweenLook)
			n, err = i.db.Referring(ctx, c.Table, c.By, i.row[c.By.Theirs])
		}
		if err != nil {
			return nil, 0, false
		}
		children = append(children, n)
	}
	return children, rows, true
}

// doubtVarying leaves out the effects whose rows a member that is altered says.
func doubtVarying(i *inquiry, pointer string, rows []int) {
	for at := range i.file.Children {
		c := &i.file.Children[at]
		if c.Rows == 0 || rows[at] == c.Rows {
			continue
		}
		c.Varies = true
		i.file.Doubts = append(i.file.Doubts, fmt.Sprintf(
			"How many rows a create makes in %s: with another %s it made %d, and not %d, so they are not counted. To count them, alter another member, or compare them with the row by an effect with value.",
			c.Table.FullName(), pointer, rows[at], c.Rows))
	}
}
