package driver

import (
	"context"
	"fmt"
	"slices"
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
// key are left out, unless keyless says that repeating one is no new wish. Questions to which nobody was known at the
// door are asked once more after a new login.
func (d *Driver) Probe(ctx context.Context, p Probing, keyless bool, settled func(history.Attempt) bool) error {
	if p == (Probing{}) {
		p = Patience(0)
	}
	turns := make(chan struct{}, max(d.Plan.Concurrency, probesAtOnce))
	numbers := map[string]int{} // of the last probe, by intent
	return d.haltable(ctx, func(ctx context.Context) {
		d.each(ctx, d.Plan.Intents, len(d.Plan.Intents), func(ctx context.Context, i scenarios.PlannedIntent) {
			n := 0
			for _, q := range d.ledger.asks(i.ID) {
				if q.key != "" || keyless {
					n = d.ask(ctx, turns, asking{question: q, n: n}, p, settled)
				}
			}
			d.mu.Lock()
			numbers[i.ID] = n
			d.mu.Unlock()
		})
		if len(d.strangers) == 0 || !d.renew(ctx) {
			return
		}
		for _, a := range slices.Clone(d.strangers) {
			a.n = numbers[a.intent]
			numbers[a.intent] = d.ask(ctx, turns, a, p, settled)
		}
	})
}

// asking is a question on its way to an answer.
type asking struct {
	question
	n     int // number of the intent's last probe
	tried int // times that it was asked
}

// probesAtOnce is how many probes are under way at once, at least: the intents are done with each other.
// A pause before the next try takes no turn.
const probesAtOnce = 4

// outsideSteps is the step of an attempt that belongs to none.
const outsideSteps = -1

// ask sends one question until it is settled, and returns the number of the intent's last probe.
func (d *Driver) ask(ctx context.Context, turns chan struct{}, q asking, p Probing, settled func(history.Attempt) bool) int {
	var pause time.Duration
	for try := range p.Tries {
		if !sleep(ctx, pause) || !d.paced(ctx, 1) || !begin(ctx, turns) {
			return q.n
		}
		q.n++
		s := d.aim(history.Attempt{
			ID: fmt.Sprintf("%s.p%d", q.intent, q.n), Intent: q.intent, Step: outsideSteps, Retry: q.tried, Probe: true,
			Lane: scenarios.Clean, Body: q.body, Key: q.key,
		}, p.Timeout)
		d.volley(ctx, []*shot{s}, func(*shot) {})
		<-turns
		q.tried++
		if d.unknown(q, s.record) || settled(s.record) {
			return q.n
		}
		pause = max(p.Pause<<try, retryAfter(s.record))
	}
	return q.n
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
