package driver

import (
	"context"
	"fmt"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Probing bounds the final probe. The zero value is [Patience] with a target that has no lease.
type Probing struct {
	Tries   int           // for each key and body
	Pause   time.Duration // before the second try; it doubles
	Timeout time.Duration // of one try
}

// Patience gives a target about three seconds to come to a final answer: eight tries. Where an
// execution that died blocks its key for a lease, the tries go on until that is over.
func Patience(lease time.Duration) Probing {
	p := Probing{Tries: 8, Pause: 25 * time.Millisecond, Timeout: 10 * time.Second}
	for p.Pause<<(p.Tries-1) <= lease+p.Pause {
		p.Tries++
	}
	return p
}

// Probe is the final question: every key is sent once more with every body that it was sent with,
// politely, until settled says that the answer is final or the tries are used up. Requests without a
// key are left out, unless keyless says that repeating one is no new wish.
func (d *Driver) Probe(ctx context.Context, p Probing, keyless bool, settled func(history.Attempt) bool) error {
	if p == (Probing{}) {
		p = Patience(0)
	}
	turns := make(chan struct{}, max(d.Plan.Concurrency, probesAtOnce))
	return d.haltable(ctx, func(ctx context.Context) {
		d.each(ctx, d.Plan.Intents, len(d.Plan.Intents), func(ctx context.Context, i scenarios.PlannedIntent) {
			n := 0
			for _, q := range d.ledger.asks(i.ID) {
				if q.key != "" || keyless {
					n = d.ask(ctx, turns, q, p, n, settled)
				}
			}
		})
	})
}

// probesAtOnce is how many probes are under way at once, at least: the intents are done with each other.
// A pause before the next try takes no turn.
const probesAtOnce = 4

// outsideSteps is the step of an attempt that belongs to none.
const outsideSteps = -1

// ask sends one question until it is settled. N numbers the intent's probes; ask returns the last.
func (d *Driver) ask(ctx context.Context, turns chan struct{}, q question, p Probing, n int, settled func(history.Attempt) bool) int {
	var pause time.Duration
	for try := range p.Tries {
		if !sleep(ctx, pause) || !d.paced(ctx, 1) || !begin(ctx, turns) {
			return n
		}
		n++
		s := d.aim(history.Attempt{
			ID: fmt.Sprintf("%s.p%d", q.intent, n), Intent: q.intent, Step: outsideSteps, Retry: try, Probe: true,
			Lane: scenarios.Clean, Body: q.body, Key: q.key,
		}, p.Timeout)
		d.volley(ctx, []*shot{s}, func(*shot) {})
		<-turns
		if settled(s.record) {
			return n
		}
		pause = max(p.Pause<<try, retryAfter(s.record))
	}
	return n
}

// begin takes a turn, unless the context ends before there is one.
func begin(ctx context.Context, turns chan struct{}) bool {
	select {
	case turns <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}
