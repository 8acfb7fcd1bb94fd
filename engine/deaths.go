package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/sut"
)

// How long it takes at most until it is seen that a process has ended whose connections are gone, and how often the
// target may die in a scenario before no more of it is sent: each time takes a start.
const (
	obituary   = 2 * time.Second
	mostDeaths = 5
)

// errDying is why sending ends when the target dies again and again.
var errDying = errors.New("the rest of the scenario was not sent")

// tended is what a scenario knows of the processes of the target that ended by themselves.
type tended struct {
	died  atomic.Int64
	often chan struct{} // closed when they ended too often
	lost  atomic.Bool   // one does not start again
}

// died records that a process has ended by itself. It is called from the goroutine that
// tends the processes, in the midst of sending.
func (r *scenarioRun) died(d sut.Death) {
	fact := history.Death{Instance: d.Instance, At: offset(r, d.At), How: d.How, Said: d.Said}
	if d.Err != nil {
		fact.Error = d.Err.Error()
		r.tended.lost.Store(true)
	} else {
		fact.Ready = offset(r, d.Ready)
	}
	_ = r.record.Death(fact) // a failed write is noticed by the next attempt
	r.stale.Store(true)      // its sessions may be gone
	if r.tended.died.Add(1) == mostDeaths {
		close(r.tended.often)
	}
}

// offset is a moment of the run; what was before it began stands at its beginning.
func offset(r *scenarioRun, at time.Time) history.Offset {
	return max(1, history.Offset(at.Sub(r.base)))
}

// revived waits until all processes of the target run and it takes connections. The error says that it does not: one
// that ended does not start again, or none has ended.
func (r *scenarioRun) revived(ctx context.Context) error {
	system := r.session.System
	if len(system.Process.Fleet) == 0 {
		return driver.ErrTargetGone
	}
	for up := time.Now(); time.Since(up) < obituary && ctx.Err() == nil; pause(ctx, quietPoll) {
		switch {
		case r.tended.lost.Load(), r.pilot:
			return driver.ErrTargetGone
		case system.Process.Fleet.Down():
			up = time.Now() // it is being started, which has its own deadline
		case driver.Alive(ctx, system.Target) == nil:
			return nil
		}
	}
	return driver.ErrTargetGone
}
