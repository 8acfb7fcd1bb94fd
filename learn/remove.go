package learn

import (
	"context"
	"fmt"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// removes finds out whether what was removed can be made again, where the source says how it is removed and a natural key makes it one: it
// sends a create and removes what that made, and another one that it makes again. A refusal that only says that the thing exists is taken
// for a mistake.
func removes(ctx context.Context, i *inquiry, r drafting.Repeated) {
	if !drafting.Removes(i.file, r) {
		return
	}
	fmt.Fprintln(i.Said, "removing what creates have made, to learn whether it can be made again")
	asking, err := i.removing()
	if err != nil {
		return
	}
	once, markers := asking.done(ctx, "removed", "[{send: {}}, {remove: {}}]")
	if len(once) == 0 || !once[0].Done() || asking.err != nil {
		doubtRemoval(i, "a DELETE of what a create had made did not succeed")
		return
	}
	left := &drafting.Removal{}
	if rowsOf(ctx, i, markers[0]) > 0 {
		removed := i.row
		_, others := asking.done(ctx, "left", "[{send: {}}]")
		if left = nil; len(others) > 0 && i.made(ctx, others[0]) > 0 {
			left = drafting.RemovalIn(i.file, i.row, removed)
		}
	}
	if left == nil || left.Column != "" && i.file.Listing != nil { // what the target lists takes no condition
		doubtRemoval(i, "a row stays when it is removed, and no column was found that says so")
		return
	}
	taken := r.Retold()
	again, _ := asking.done(ctx, "made-again", "[{send: {}}, {remove: {}}, {send: {key: fresh}}]")
	switch {
	case len(again) < 2 || again[1].Failed():
		return
	case again[1].Refused() && (again[1].SpeaksOfRemoval() || again[1].Status != taken.Status):
		doubtRemoval(i, fmt.Sprintf("to make it again was answered %d", again[1].Status))
		return
	case again[1].Refused():
		i.file.Doubt("Whether what was removed may be made again: it was answered %d, as if it were still there. Runs will show it as a broken promise; if it may not, take remove out.", again[1].Status)
	}
	i.file = drafting.WithRemoval(i.file, left)
}

// removing asks with a file that removes what was made, as answers name it.
func (i *inquiry) removing() (*questioner, error) {
	file := drafting.WithRemoval(i.file, &drafting.Removal{})
	asking, err := i.questionerFor(file)
	if err == nil {
		asking.names = func(_ string, a history.Attempt) string { return drafting.NameIn(file, answerOf(a)) }
	}
	return asking, err
}

// doubtRemoval says why it was not found out what may follow a removal.
func doubtRemoval(i *inquiry, why string) {
	i.file.Doubt("Whether what was removed may be made again: %s. If it may, add remove to the operation.", why)
}
