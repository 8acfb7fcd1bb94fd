package learn

import (
	"context"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// made counts the rows of the created thing's table that hold a marker. It looks once more often for the first than it took to find
// that of the first create. Where rows come behind the answers, a second one may come later than the first, by as long as one takes.
func (i *inquiry) made(ctx context.Context, marker string) int {
	i.row = nil
	rows := 0
	for n := 0; n < i.looked+1 && rows == 0 && ctx.Err() == nil; n++ {
		if n > 0 {
			letBe(ctx, betweenLook)
		}
		rows = rowsOf(ctx, i, marker)
	}
	if i.looked < 2 {
		return rows
	}
	for until := time.Now().Add(2*i.waited + betweenLook); rows == 1 && ctx.Err() == nil && time.Now().Before(until); {
		letBe(ctx, betweenLook)
		rows = rowsOf(ctx, i, marker)
	}
	return rows
}

// makeOneEach sends creates, and reports whether each intent has made a row of its own.
func makeOneEach(ctx context.Context, i *inquiry, asking *questioner, name string, intents int, steps string) (answers []drafting.Answer, each bool) {
	answers, markers := asking.ask(ctx, name, intents, steps)
	each = asking.err == nil && len(markers) == intents && !slices.ContainsFunc(markers, func(m string) bool { return i.made(ctx, m) != 1 })
	return answers, each
}

// rowsOf counts the rows of the created thing's table that hold a marker now.
func rowsOf(ctx context.Context, i *inquiry, marker string) int {
	landings := search(ctx, i, marker)
	rows := rowsIn(landings, i.file.Proof.Table)
	for _, row := range rows {
		i.row = row
		recount(ctx, i, row)
	}
	made := i.file.Proof.Count(rows)
	for n := range i.file.Proof.Others {
		if o := &i.file.Proof.Others[n]; made == 1 { // two have two of each
			o.Again = max(o.Again, o.CountIn(landings))
		}
	}
	return made
}

// rowsIn are the rows of one table among those that hold a marker.
func rowsIn(landings []databases.Landing, table databases.Table) []map[string]string {
	var rows []map[string]string
	for _, l := range landings {
		if l.Table.FullName() == table.FullName() {
			rows = append(rows, l.Row)
		}
	}
	return rows
}

// once is another table in which a create and its repetition have made as many rows as a create does; empty: there is none.
func once(ctx context.Context, i *inquiry, marker string) string {
	landings := search(ctx, i, marker)
	for _, o := range i.file.Proof.Others {
		if len(rowsIn(landings, o.Table)) == o.Rows {
			return o.Table.FullName()
		}
	}
	return ""
}

// recount counts again what refers to a created row.
func recount(ctx context.Context, i *inquiry, row map[string]string) {
	eachChild(ctx, i, row, func(c *drafting.Child, rows int) { c.Again = max(c.Again, rows) })
}

// late reports that a create has made a row after all, though it was not there when others would have been. Where rows come behind the answers, a
// worker may have had others to make first. So one more create is sent, and when its row is there, those before it have had their turn.
func late(ctx context.Context, i *inquiry, markers []string) bool {
	if i.looked < 2 {
		return false
	}
	asking, err := i.questioner()
	if err != nil {
		return false
	}
	answers, last := asking.done(ctx, "turn", "[{send: {}}]")
	if len(answers) == 0 || !answers[0].Done() {
		return false
	}
	for until := time.Now().Add(forTurns*i.waited + aSecond); rowsOf(ctx, i, last[0]) == 0 && ctx.Err() == nil && time.Now().Before(until); {
		letBe(ctx, betweenLook)
	}
	letBe(ctx, i.waited) // several workers may overtake each other
	return slices.ContainsFunc(markers, func(marker string) bool { return rowsOf(ctx, i, marker) > 0 })
}

// forTurns is how many rows a worker may have to make before that of a create: as many as were asked for at once, and some more.
const forTurns = 6

// noted counts what a repetition that made no row has left in other tables: it is there for each request, such as a queue of all of them, and is
// no effect of the thing.
func noted(ctx context.Context, i *inquiry, marker string) {
	landings := search(ctx, i, marker)
	if len(rowsIn(landings, i.file.Proof.Table)) > 0 {
		return
	}
	for n := range i.file.Proof.Others {
		o := &i.file.Proof.Others[n]
		if rows := o.CountIn(landings); rows > 0 {
			o.Again = max(o.Again, o.Rows+rows)
		}
	}
}
