package driver

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// WriteGate is a table whose writers can be held: see package writegate. A
// select-then-insert race is open for half a millisecond; held writers make it open for as
// long as it takes, so that finding it is no luck.
type WriteGate struct {
	Table   string
	Hold    func(ctx context.Context, longest time.Duration) (Held, error)
	Longest time.Duration // that they may be held: less than the timeouts of the target itself
}

// Held is a table whose writers are held.
type Held interface {
	// Waiting counts the blocked writers; known is false where the database cannot tell.
	Waiting(ctx context.Context) (n int, known bool, err error)
	// Release releases them. It may be called more than once.
	Release() error
}

// holdWrites makes the writes of a burst wait for each other: the table is locked when all members wait at the
// barrier, and unlocked when all members that are not answered yet are blocked writers, or their time is over. A
// blocked writer has passed every check by which the target tells a duplicate from a new intent. The function
// that it returns is called for each member that is answered.
func (r *intentRunner) holdWrites(ctx context.Context, i scenarios.PlannedIntent, m scenarios.Move, at *barrier) (answered func()) {
	gates := r.config.Controls.WriteGates
	table := gates[(i.Number-1)%len(gates)]
	facts := history.Holding{Intent: i.ID, Step: m.Step, Table: table.Table}
	var held Held
	var answers atomic.Int64
	at.before = func() {
		var err error
		if held, err = table.Hold(ctx, table.Longest); err != nil {
			facts.Error = r.maskError(err)
			return
		}
		facts.Shut = r.config.now()
	}
	at.after = func() {
		if held != nil {
			r.awaitWriters(ctx, held, &facts, func() int { return len(m.Batch) - int(answers.Load()) }, table.Longest)
		}
		_ = r.config.Record.Holding(facts) // a failed write is noticed by the next attempt
	}
	return func() { answers.Add(1) }
}

// leastUnseen is the shortest time for which writers are held that the database cannot
// count.
const leastUnseen = 50 * time.Millisecond

// awaitWriters unlocks the table when there are as many blocked writers as unanswered requests. It asks less often
// the longer it has waited: each question loads the database that the writers are waiting for. Where the database cannot tell, it
// waits for as long as the target takes to bring all requests to their writes, one after the other.
func (r *intentRunner) awaitWriters(ctx context.Context, held Held, facts *history.Holding, unanswered func() int, longest time.Duration) {
	deadline, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	begun, unseen := time.Now(), max(leastUnseen, 2*time.Duration(unanswered())*r.config.Normal)
	for {
		waiting, known, err := held.Waiting(deadline)
		if err == nil && known {
			facts.Waiting = &waiting
		}
		if n := unanswered(); n == 0 || err == nil && (known && waiting >= n || !known && time.Since(begun) >= unseen) || !sleep(deadline, max(time.Millisecond, time.Since(begun)/10)) {
			break
		}
	}
	if err := held.Release(); err != nil {
		facts.Error = r.maskError(err)
	}
	facts.Opened = r.config.now()
}
