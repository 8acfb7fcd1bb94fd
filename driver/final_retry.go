package driver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Probing bounds the final retry. The zero value is [Patience] for a target without a lease.
type Probing struct {
	Tries   int           // for each key and body
	Pause   time.Duration // before the second try; it doubles with each of Tries
	Timeout time.Duration // of one try
	AtOnce  int           // tries that may be under way, at least; 0: probesAtOnce
	Hung    int           // how many tries may wait out their deadline; 0: all

	// Blocked tells of an answer that the key is blocked by an execution, which may have died. Such a key is tried for Lease at least.
	// Nil: none is.
	Blocked func(history.Attempt) bool
	Lease   time.Duration

	// Unclear tells that a last answer means something only beside that to a fresh key: the target may answer no request,
	// or not this key. Nil: none does.
	Unclear func(history.Attempt) bool
	// TurnedAway tells that a final answer takes the sender for nobody it knows. Where fresh keys get through before such a key is asked
	// for once more, and after that, it is about the key. Nil: none does.
	TurnedAway func(history.Attempt) bool
	// Refused tells that a request was refused, as plain creates may be that equal no other request. Some of these are sent then,
	// until one is refused as well. Nil: none are.
	Refused func(history.Attempt) bool
	Alone   int // how many are sent at most; 0: mostAlone
	// Rounds are the pauses before throttled keys are tried once more, each time with a fresh key right behind them. A
	// rate limit that all share lets the throttled key through after such a pause, or not the fresh one.
	Rounds []time.Duration
	// Recovery is for how long fresh keys are tried where neither they nor the unclear ones get a final answer: once they do,
	// the target is well again, and the unclear keys are tried once more. 0: a fresh key is tried once.
	Recovery time.Duration
}

// Patience gives a target about three seconds to come to a final answer: eight tries. Where a dead execution
// blocks its key for a lease, the tries go on until that is over, and where a request that its client has left may still run, until
// that has run for so long. Of a target that answers nothing, two tries are enough to wait for.
func Patience(lease, running time.Duration) Probing {
	p := Probing{
		Tries: 8, Pause: 25 * time.Millisecond, Timeout: usualTimeout,
		Rounds: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second},
	}
	p.Hung = 2 + int(lease/p.Timeout)
	for p.Pause<<(p.Tries-1) <= max(lease, running)+p.Pause {
		p.Tries++
	}
	return p
}

// prober sends the final retry. After all faults are gone, each key is sent once more with
// each body that it was sent with. A correct target replays; a target that lost a write
// creates it now; and one that never stored the key makes its second row now, where the
// snapshot after it shows it.
type prober struct {
	*transmitter
	Probing
	steps   *stepRunner
	settled func(history.Attempt) bool // an answer is final
	turns   chan struct{}              // one for each probe that may be under way

	mu              sync.Mutex
	numbers         map[string]int // of the last probe, by intent
	unauthenticated []probe        // to be sent again after a new login
	unclear         []unclearKey   // after the last try
	hung            []unclearKey   // whose last try waited in vain
	turnedAway      []unclearKey   // whose sender is taken for nobody
	refused         bool           // a request that plain creates can be compared with

	outlasted atomic.Bool // a key was blocked for longer than Lease
}

// newProber makes a prober for one final retry.
func newProber(s *Sender, p Probing, settled func(history.Attempt) bool) *prober {
	return &prober{
		transmitter: s.line, Probing: p, steps: s.steps, settled: settled, numbers: map[string]int{},
		turns: make(chan struct{}, max(s.config.Plan.Concurrency, p.AtOnce, probesAtOnce)),
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

// probeAll sends the probes of all intents, and after a new login those again whose sender
// was not known. What needs a quiet target comes last, one request at a time: unclear keys
// beside fresh ones, then plain creates.
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
	defer p.createUntilRefused(ctx)
	defer p.askTurnedAway(ctx)
	defer p.tryFreshKeys(ctx)
	defer p.askHungAgain(ctx)
	if len(p.unauthenticated) == 0 || !p.steps.logInAgain(ctx) {
		return
	}
	for _, q := range slices.Clone(p.unauthenticated) {
		p.askAgain(ctx, q)
	}
}

// ask sends one probe until its answer is final, and returns the number of the intent's
// last probe. It ends without a final answer when the tries are used up, or when too many
// of them waited for nothing.
func (p *prober) ask(ctx context.Context, q probe) int {
	var pause time.Duration
	inVainSoFar := 0
	var last history.Attempt
	for try, began := 0, time.Now(); try < p.Tries || p.blocked(last, began); try++ {
		if p.givenUp(true) {
			p.noteHung(unclearKey{q, last})
			return q.n
		}
		if !sleep(ctx, pause) || !p.once(ctx, &q, &last) {
			return q.n
		}
		if p.noteUnauthenticated(q, last) || p.settled(last) {
			p.noteRefused(q, last)
			p.noteTurnedAway(unclearKey{q, last})
			return q.n
		}
		if inVain(last) {
			inVainSoFar++
		}
		if p.Hung > 0 && inVainSoFar >= p.Hung {
			p.noteHung(unclearKey{q, last})
			return q.n
		}
		pause = max(p.Pause<<min(try, p.Tries-1), RetryAfter(last))
	}
	if p.Blocked != nil && p.Blocked(last) {
		p.outlasted.Store(true)
	}
	p.noteUnclear(unclearKey{q, last})
	return q.n
}

// noteHung keeps a key whose last try waited in vain.
func (p *prober) noteHung(k unclearKey) {
	if !inVain(k.last) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hung = append(p.hung, k)
}

// mostHung is how many keys are tried again that waited in vain: few, as each may wait until its deadline once more.
const mostHung = 3

// askHungAgain tries some keys once more that waited in vain, one of each intent, when all others had their answers: a target that had
// more to do than it got done answers now, and one that has lost the request does not.
func (p *prober) askHungAgain(ctx context.Context) {
	slices.SortFunc(p.hung, func(a, b unclearKey) int { return strings.Compare(a.last.ID, b.last.ID) })
	again := slices.CompactFunc(p.hung, func(a, b unclearKey) bool { return a.intent == b.intent })
	again = again[:min(len(again), mostHung)]
	var all sync.WaitGroup
	for i := range again {
		k := &again[i]
		k.n = p.numbers[k.intent]
		all.Go(func() { p.once(ctx, &k.probe, &k.last) })
	}
	all.Wait()
	for _, k := range again {
		p.numbers[k.intent] = k.n
		if !p.settled(k.last) {
			p.noteUnclear(k)
		}
	}
}

// blocked reports that a key may still be given free.
func (p *prober) blocked(last history.Attempt, began time.Time) bool {
	return p.Blocked != nil && p.Blocked(last) && time.Since(began) < p.Lease
}

// once sends a probe once, and fills in its answer. It reports whether it did: the context
// may end before. The turn is held while the probe is under way, and not during pauses.
func (p *prober) once(ctx context.Context, q *probe, last *history.Attempt) bool {
	if !p.paced(ctx, 1) || !p.takeTurn(ctx) {
		return false
	}
	q.n++
	o := p.requests.build(history.Attempt{
		ID: fmt.Sprintf("%s.p%d", q.intent, q.n), Intent: q.intent, Step: outsideSteps, Retry: q.tried, Probe: true,
		Lane: scenarios.Clean, Body: q.body, Key: q.key,
	}, p.Timeout)
	p.batch(ctx, []*outgoing{o}, func(*outgoing) {})
	<-p.turns
	q.tried++
	*last = o.record
	return true
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
