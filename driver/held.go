package driver

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// WriteGate is a table whose writers can be held back.
type WriteGate struct {
	Table   string
	Hold    func(ctx context.Context, longest time.Duration) (Held, error)
	Longest time.Duration // for which they may be held back: less than the target's own patience
}

// Held is a table whose writers are held back.
type Held interface {
	// Waiting counts the writers that stand in line; known is false where the database cannot tell.
	Waiting(ctx context.Context) (n int, known bool, err error)
	// Release lets them go on. It may be called more than once.
	Release() error
}

// holdWrites makes the writes of a burst wait for each other: the table is shut when all members stand at
// the gate, and opened when all of them that are not answered yet stand in line, or for too long. Those
// who stand there have got past whatever the target does to tell repetitions from wishes. The function
// that it returns is called for each member that is answered.
func (d *Driver) holdWrites(ctx context.Context, i scenarios.PlannedIntent, m scenarios.Move, at *gate) (answered func()) {
	table := d.WriteGates[(i.Number-1)%len(d.WriteGates)]
	facts := history.Holding{Intent: i.ID, Step: m.Step, Table: table.Table}
	var held Held
	var answers atomic.Int64
	at.before = func() {
		var err error
		if held, err = table.Hold(ctx, table.Longest); err != nil {
			facts.Error = d.mask().text(err.Error())
			return
		}
		facts.Shut = d.now()
	}
	at.after = func() {
		if held != nil {
			d.awaitWriters(ctx, held, &facts, func() int { return len(m.Volley) - int(answers.Load()) }, table.Longest)
		}
		_ = d.Record.Holding(facts) // a failed write is noticed by the next attempt
	}
	return func() { answers.Add(1) }
}

// awaitWriters opens the gate when as many writers stand in line as are unanswered. It asks the less often the longer
// it has waited: each question loads the database that the writers are waiting for.
func (d *Driver) awaitWriters(ctx context.Context, held Held, facts *history.Holding, unanswered func() int, longest time.Duration) {
	deadline, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	begun := time.Now()
	for {
		waiting, known, err := held.Waiting(deadline)
		if err == nil && known {
			facts.Waiting = &waiting
		}
		if n := unanswered(); n == 0 || err == nil && known && waiting >= n || !sleep(deadline, max(time.Millisecond, time.Since(begun)/10)) {
			break
		}
	}
	if err := held.Release(); err != nil {
		facts.Error = d.mask().text(err.Error())
	}
	facts.Opened = d.now()
}
