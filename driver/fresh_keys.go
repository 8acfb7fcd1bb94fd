package driver

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// unclearKey is a key and body whose last answer means something only beside that to a
// fresh key. "Still throttled" is a finding if a new key gets through at the same time,
// and the target's bad day if it does not.
type unclearKey struct {
	probe
	last history.Attempt
}

// mostUnclear is how many unclear keys are tried again beside fresh ones: few enough not to throttle each other.
const mostUnclear = 3

// mostTurnedAway is how many keys are asked for once more whose senders were turned away. Each is answered at the door.
const mostTurnedAway = 50

// noteUnclear keeps a key whose last answer is unclear.
func (p *prober) noteUnclear(k unclearKey) {
	if p.Unclear == nil || !p.Unclear(k.last) || !p.resemblesFresh(k.intent) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unclear = append(p.unclear, k)
}

// noteTurnedAway keeps a key whose last answer takes its sender for nobody.
func (p *prober) noteTurnedAway(k unclearKey) {
	if p.TurnedAway == nil || !p.TurnedAway(k.last) || !p.resemblesFresh(k.intent) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turnedAway = append(p.turnedAway, k)
}

// askTurnedAway asks for keys once more whose senders were turned away, between two plain creates with fresh keys. Where the first of these does
// not get through, nobody does.
func (p *prober) askTurnedAway(ctx context.Context) {
	slices.SortFunc(p.turnedAway, func(a, b unclearKey) int { return strings.Compare(a.last.ID, b.last.ID) })
	again := slices.CompactFunc(p.turnedAway, func(a, b unclearKey) bool { return a.intent == b.intent })
	if len(again) == 0 {
		return
	}
	if o := p.createFresh(ctx); o == nil || !p.settled(o.record) || p.TurnedAway(o.record) {
		return
	}
	for _, k := range again[:min(len(again), mostTurnedAway)] {
		if !p.askOnce(ctx, &k) {
			return
		}
	}
	p.createFresh(ctx)
}

// resemblesFresh reports that plain creates with fresh keys say something of an intent. They come from the first principal, at the
// first operation: they say nothing of another.
func (p *prober) resemblesFresh(intent string) bool {
	w := &p.config.Workload
	i := slices.IndexFunc(w.Plan.Intents, func(i scenarios.PlannedIntent) bool { return i.ID == intent })
	return p.requests.operationOf(intent) == w.Operations[0].Name && w.principal(w.Plan.Intents[i]).Name == w.principal(scenarios.PlannedIntent{}).Name
}

// mostAlone is how many plain creates are sent to see whether one is refused: of a target that declines one in five, all of
// them get through in 7 of 100 runs.
const mostAlone = 12

// noteRefused notes that a request was refused that plain creates can be compared with.
func (p *prober) noteRefused(q probe, last history.Attempt) {
	if p.Refused != nil && p.Refused(last) && p.resemblesFresh(q.intent) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.refused = true
	}
}

// createUntilRefused sends plain creates until one is refused, where a request was. If
// plain creates are refused as well, the refusal was no verdict on a repetition.
func (p *prober) createUntilRefused(ctx context.Context) {
	for n := 0; p.refused && n < cmp.Or(p.Alone, mostAlone); n++ {
		if o := p.createFresh(ctx); o == nil || p.Refused(o.record) {
			return
		}
	}
}

// tryFreshKeys sends plain creates with fresh keys beside keys whose last answers are unclear. Throttled keys are tried
// once more before each of them.
func (p *prober) tryFreshKeys(ctx context.Context) {
	slices.SortFunc(p.unclear, func(a, b unclearKey) int { return strings.Compare(a.last.ID, b.last.ID) })
	throttled := func(k unclearKey) bool { return p.config.Hooks.Throttled != nil && p.config.Hooks.Throttled(k.last) }
	again := slices.DeleteFunc(slices.Clone(p.unclear), func(k unclearKey) bool { return !throttled(k) })
	if len(again) == 0 {
		if len(p.unclear) > 0 {
			p.askOnceWell(ctx, slices.Clone(p.unclear))
		}
		return
	}
	again = again[:min(len(again), mostUnclear)]
	for _, pause := range p.Rounds {
		if !sleep(ctx, pause) {
			return
		}
		for n := range again {
			if !p.askOnce(ctx, &again[n]) {
				return
			}
		}
		again = slices.DeleteFunc(again, func(k unclearKey) bool { return p.settled(k.last) })
		if len(again) == 0 || p.createFresh(ctx) == nil {
			return
		}
	}
}

// askOnceWell tries fresh keys until one gets a final answer, and then the unclear keys anew. If it was the first, each is
// tried once: the target may have become well between the two.
func (p *prober) askOnceWell(ctx context.Context, unclear []unclearKey) {
	begun := time.Now()
	for n := 0; ; n++ {
		o := p.createFresh(ctx)
		if o != nil && p.settled(o.record) {
			for _, k := range unclear {
				if n > 0 {
					p.askAgain(ctx, k.probe)
				} else if p.Recovery > 0 {
					p.askOnce(ctx, &k)
				}
			}
			return
		}
		tried := time.Since(begun)
		if tried >= p.Recovery || p.unwell.Load() || !sleep(ctx, recoveryPause(tried)) {
			return
		}
	}
}

// askOnce sends a probe anew once, and reports whether it could.
func (p *prober) askOnce(ctx context.Context, k *unclearKey) bool {
	k.n = p.numbers[k.intent]
	sent := p.once(ctx, &k.probe, &k.last)
	p.numbers[k.intent] = k.n
	return sent
}

// askAgain sends a probe anew until its answer is final.
func (p *prober) askAgain(ctx context.Context, q probe) {
	q.n = p.numbers[q.intent]
	p.numbers[q.intent] = p.ask(ctx, q)
}

// createFresh sends a plain create with a fresh key, as an intent that no plan has; nil:
// it could not. It is marked as fresh in the history, and counted like any other: its row
// must be there once. It changes the plan, so nothing else may be under way.
func (p *prober) createFresh(ctx context.Context) *outgoing {
	w := &p.config.Workload
	number := 1 + slices.MaxFunc(w.Plan.Intents, func(a, b scenarios.PlannedIntent) int { return a.Number - b.Number }).Number // a replay has a part of them
	id := scenarios.IntentID(number)
	a := scenarios.PlannedAttempt{ID: id + ".p1", Lane: scenarios.Clean, Key: scenarios.OwnKey, Body: history.Original}
	i := scenarios.PlannedIntent{ID: id, Number: number, Moves: []scenarios.Move{{Batch: []scenarios.PlannedAttempt{a}}}}
	if !p.paced(ctx, 1) || p.steps.prepareLate(ctx, i) != nil {
		return nil
	}
	intent, err := p.requests.render(i)
	if err != nil {
		return nil
	}
	intent.Fresh = true
	w.Plan.Intents = append(slices.Clip(w.Plan.Intents), i)
	if p.books.intent(intent, p.config.Record) != nil {
		return nil
	}
	o := p.requests.newRequest(i, a, a.ID, a.Key, a.Lane)
	o.record.Step, o.record.Probe = outsideSteps, true
	p.batch(ctx, []*outgoing{o}, func(*outgoing) {})
	return o
}

// prepareLate prepares an intent that is not in the plan, and fetches its key.
func (s *stepRunner) prepareLate(ctx context.Context, i scenarios.PlannedIntent) error {
	w := &s.requests.config.Workload
	o := w.operation(i)
	if len(o.Prepare) > 0 {
		extracted, err := s.run(ctx, s.requests.stepRunFor(i, history.Prepare, o.Prepare))
		if err != nil {
			return err
		}
		s.requests.prepared[w.scope(i)] = extracted
	}
	if len(o.Key.Issued) > 0 {
		extracted, err := s.run(ctx, s.requests.stepRunFor(i, history.Issue, o.Key.Issued))
		if err != nil {
			return err
		}
		s.requests.issued[issuedKey{i.ID, scenarios.OwnKey}] = extracted[targets.IssuedKey]
	}
	return nil
}
