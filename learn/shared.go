package learn

import (
	"context"
	"fmt"

	"github.com/doubletap-harness/doubletap/internal/inert"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// shared finds that the row with the marker is one that creates share, as a customer whom the target finds or makes by the name: two creates under
// keys of their own are both done and leave one, and a row each in a table that refers to it. What a create makes is that row then.
func shared(ctx context.Context, i *inquiry) error {
	children := drafting.Sharing(i.file)
	if len(children) == 0 {
		return nil
	}
	asking, err := i.questioner()
	if err != nil {
		return err
	}
	answers, markers := asking.done(ctx, "shared", "[{send: {}}, {send: {key: fresh}}]")
	if len(answers) != 2 || !answers[0].Done() || !answers[1].Done() || answers[0].Key == answers[1].Key || i.made(ctx, markers[0]) != 1 {
		return asking.err
	}
	of := i.file.Proof.Table.FullName()
	for _, child := range children {
		rows, err := i.db.With(ctx, child.Table, child.By.Column, i.row[child.By.Theirs])
		if err == nil && drafting.FindThrough(&i.file, child, i.row, rows, answers) {
			fmt.Fprintf(i.Said, "two creates with the same text, under two keys, share a row of %s; each made one of %s, which refers to it\n", inert.Comment(of), inert.Comment(child.Table.FullName()))
			i.children(ctx)
			break
		}
	}
	return asking.err
}

// search finds the rows with a marker, those in tables over which such rows are spread as if they were in one: in place of one that creates share,
// those of the created thing's table that refer to it.
func search(ctx context.Context, i *inquiry, marker string) []databases.Landing {
	found, _ := i.db.Search(ctx, i.tables, marker)
	landings := inOneTable(i, found)
	if i.file.Proof == nil || i.file.Proof.Through == nil {
		return landings
	}
	table, through := i.file.Proof.Table, i.file.Proof.Through
	found = nil
	for _, l := range landings {
		if l.Table.FullName() != through.Table.FullName() {
			found = append(found, l)
			continue
		}
		rows, _ := i.db.With(ctx, table, through.By.Column, l.Row[through.By.Theirs])
		for _, row := range rows {
			found = append(found, databases.Landing{Table: table, Columns: []string{through.By.Column}, Row: row})
		}
	}
	return found
}
