package learn

import (
	"context"
	"maps"
	"slices"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

const (
	lastsForRuns = 3000 // rows of a table, of which creates of a run take fewer
	tellingValue = 6    // letters of what is looked for in all tables
)

// handedOver reports that a create takes rows away from a table to give them to what is created: a value of one that is gone stands in what it
// leaves. What is cleaned up by the way stands nowhere, and comes to an end in a run, but for a table that has more than a run takes.
func handedOver(ctx context.Context, i *inquiry, asking *questioner, db *databases.Database, g growth) bool {
	if g.rows > lastsForRuns {
		return true
	}
	var columns []string
	for _, c := range g.table.Columns {
		columns = append(columns, c.Name)
	}
	before, few, err := db.Few(ctx, g.table, columns, lastsForRuns)
	if !few || err != nil {
		return true
	}
	if _, each := makeOneEach(ctx, i, asking, "taken", 1, "[{send: {}}]"); !each || i.row == nil {
		return true
	}
	row := i.row
	letBe(ctx, forChildren)
	after, few, err := db.Few(ctx, g.table, columns, lastsForRuns)
	if !few || err != nil {
		return true
	}
	left := written(ctx, i, row)
	for _, value := range onlyIn(before, after) {
		if slices.ContainsFunc(left, func(s source) bool { return s.has(value) }) {
			return true
		}
		if len(value) >= tellingValue {
			if landings, err := db.Search(ctx, near(i), value); err != nil || len(landings) > 0 {
				return true
			}
		}
	}
	return false
}

// has reports that a row has a value in any column.
func (s source) has(value string) bool {
	return slices.ContainsFunc(s.rows, func(row map[string]string) bool { return slices.Contains(slices.Collect(maps.Values(row)), value) })
}

// onlyIn are the values of rows that are gone, of which each stood in no other row.
func onlyIn(before, after []map[string]string) (values []string) {
	rows := map[string]int{}
	for _, row := range before {
		for _, value := range row {
			rows[value]++
		}
	}
	for _, row := range before {
		if slices.ContainsFunc(after, func(other map[string]string) bool { return maps.Equal(row, other) }) {
			continue
		}
		for _, value := range row {
			if rows[value] == 1 {
				values = append(values, value)
			}
		}
	}
	return values
}
