package learn

import (
	"context"
	"slices"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// moreCreates is how many plain creates are sent to see that each makes as many messages as the first.
const moreCreates = 4

// messages counts how many messages plain creates have made when all have had their time. Where some made more than others, the least is
// what one makes, if no more come by themselves.
func messages(ctx context.Context, i *inquiry) error {
	if !drafting.MayHaveMessages(&i.file) {
		return nil
	}
	asking, err := i.questioner()
	if err != nil {
		return err
	}
	_, markers := asking.ask(ctx, "messages", moreCreates, "[{send: {}}]")
	counts := messagesOf(ctx, i, markers)
	for n := range i.file.Children {
		c := &i.file.Children[n]
		least := slices.Min(append(slices.DeleteFunc(slices.Clone(counts[n]), func(rows int) bool { return rows == 0 }), c.Rows))
		if !c.HoldsMessages() || max(c.Rows, slices.Max(append(counts[n], 0))) == least {
			continue
		}
		if later := messagesOf(ctx, i, markers)[n]; slices.Equal(later, counts[n]) {
			i.file.Doubt("How many rows a create makes in %s: of creates that were each sent once, some made more than others. The file has the least, %d; if there may be more, leave the effect out.", c.Table.FullName(), least)
			c.Rows = least
		} else {
			i.file.Doubt("How many rows a create makes in %s: their number changes by itself, so they are not counted.", c.Table.FullName())
			c.Varies = true
		}
	}
	return asking.err
}

// messagesOf counts for each child table the rows that refer to each of some creates, when those have had their time.
func messagesOf(ctx context.Context, i *inquiry, markers []string) [][]int {
	letBe(ctx, forChildren)
	before := slices.Clone(i.file.Children)
	defer func() { i.file.Children = before }()
	counts := make([][]int, len(before))
	for _, marker := range markers {
		if rowsOf(ctx, i, marker) != 1 {
			continue
		}
		for n := range i.file.Children {
			i.file.Children[n].Again = 0
		}
		recount(ctx, i, i.row)
		for n, c := range i.file.Children {
			counts[n] = append(counts[n], c.Again)
		}
	}
	return counts
}
