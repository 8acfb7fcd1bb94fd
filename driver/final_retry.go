package driver

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Probing bounds the final retry. The zero value is [Patience] for a target without a lease.
type Probing struct {
	Tries   int           // for each key and body
	Pause   time.Duration // before the second try; it doubles
	Timeout time.Duration // of one try
}

// Patience gives a target about three seconds to come to a final answer: eight tries. Where a dead execution
// blocks its key for a lease, the tries go on until that is over.
func Patience(lease time.Duration) Probing {
	p := Probing{Tries: 8, Pause: 25 * time.Millisecond, Timeout: 10 * time.Second}
	for p.Pause<<(p.Tries-1) <= lease+p.Pause {
		p.Tries++
	}
	return p
}

// prober sends the final retry of each intent.
type prober struct {
	*transmitter
	Probing
	steps   *stepRunner
	settled func(history.Attempt) bool // an answer is final
	turns   chan struct{}              // one for each probe that may be under way

	mu              sync.Mutex
	numbers         map[string]int // of the last probe, by intent
	unauthenticated []probe        // to be sent again after a new login
}

func newProber(s *Sender, p Probing, settled func(history.Attempt) bool) *prober {
	return &prober{
		transmitter: s.line, Probing: p, steps: s.steps, settled: settled, numbers: map[string]int{},
		turns: make(chan struct{}, max(s.config.Plan.Concurrency, probesAtOnce)),
	}
}

// probe is a question on its way to an answer.
type probe struct {
	question
	n     int // number of the intent's last probe
	tried int // times that it was sent
}

// probesAtOnce is how many probes are under way at once, at least: no intent waits for another any more.
// A pause before the next try takes no turn.
const probesAtOnce = 4

// outsideSteps is the step of an attempt that belongs to none.
const outsideSteps = -1

// probeAll sends the probes of all intents, and after a new login those again whose sender was not known.
func (p *prober) probeAll(ctx context.Context, keyless bool) {
	p.forEach(ctx, p.config.Plan.Intents, len(p.config.Plan.Intents), func(ctx context.Context, i scenarios.PlannedIntent) {
		n := 0
		for _, q := range p.books.asks(i.ID) {
			if q.key != "" || keyless {
				n = p.ask(ctx, probe{question: q, n: n})
			}
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.numbers[i.ID] = n
	})
	if len(p.unauthenticated) == 0 || !p.logInAgain(ctx) {
		return
	}
	for _, q := range slices.Clone(p.unauthenticated) {
		q.n = p.numbers[q.intent]
		p.numbers[q.intent] = p.ask(ctx, q)
	}
}

// ask sends one probe until its answer is final, and returns the number of the intent's last probe.
func (p *prober) ask(ctx context.Context, q probe) int {
	var pause time.Duration
	for try := range p.Tries {
		if !sleep(ctx, pause) || !p.paced(ctx, 1) || !p.takeTurn(ctx) {
			return q.n
		}
		q.n++
		o := p.requests.build(history.Attempt{
			ID: fmt.Sprintf("%s.p%d", q.intent, q.n), Intent: q.intent, Step: outsideSteps, Retry: q.tried, Probe: true,
			Lane: scenarios.Clean, Body: q.body, Key: q.key,
		}, p.Timeout)
		p.batch(ctx, []*outgoing{o}, func(*outgoing) {})
		<-p.turns
		q.tried++
		if p.noteUnauthenticated(q, o.record) || p.settled(o.record) {
			return q.n
		}
		pause = max(p.Pause<<try, retryAfter(o.record))
	}
	return q.n
}

// takeTurn takes a turn, unless the context ends before there is one.
func (p *prober) takeTurn(ctx context.Context) bool {
	select {
	case p.turns <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}
