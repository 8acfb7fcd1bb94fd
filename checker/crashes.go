package checker

import (
	"slices"

	"github.com/doubletap-harness/doubletap/history"
)

// crashedBeside reports whether something holds of an attempt and of the crash beside it, after which the target was
// ready again.
func crashedBeside(e *evaluation, tr *trace, holds func(history.Crash, *classified) bool) bool {
	return slices.ContainsFunc(tr.attempts, func(a *classified) bool {
		k, struck := e.crashBeside(a.ID)
		return struck && k.Struck != 0 && k.Ready != 0 && holds(k, a)
	})
}
