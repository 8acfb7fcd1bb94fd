package driver

import (
	"context"
	"sync"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// Directly sets up and sends the attempts of a config's plan and nothing else, straight to the target and on no lane: one
// after the other, and those of a burst at once; it waits where a step only pauses. It needs no Dialers. The answers are as the target gave them, and may
// hold secrets; without a complete one an attempt has an Error. The error is that of [Sender.SetUp], or says why a
// request cannot be sent.
func Directly(ctx context.Context, c Config) ([]history.Attempt, error) {
	var order []turn
	for _, intent := range c.Plan.Intents {
		for _, move := range intent.Moves {
			order = append(order, turn{intent, move})
		}
	}
	return inOrder(ctx, c, order)
}

// InTurn is [Directly], but for that the first moves of all intents come before the second ones.
func InTurn(ctx context.Context, c Config) ([]history.Attempt, error) {
	var order []turn
	for n, more := 0, true; more; n++ {
		more = false
		for _, intent := range c.Plan.Intents {
			if n < len(intent.Moves) {
				order, more = append(order, turn{intent, intent.Moves[n]}), true
			}
		}
	}
	return inOrder(ctx, c, order)
}

// turn is one move of an intent.
type turn struct {
	intent scenarios.PlannedIntent
	move   scenarios.Move
}

func inOrder(ctx context.Context, c Config, order []turn) ([]history.Attempt, error) {
	s := New(c)
	if _, err := s.SetUp(ctx); err != nil {
		return nil, err
	}
	if err := s.renderAll(); err != nil {
		return nil, err
	}
	var all []history.Attempt
	for _, t := range order {
		if w := t.move.Wait; w != nil && w.For == scenarios.WaitPause {
			sleep(ctx, w.Pause.Of(0))
		}
		if t.move.Remove && len(all) > 0 {
			if err := s.removeDirectly(ctx, t.intent, all[len(all)-1]); err != nil {
				return all, err
			}
		}
		sent, err := s.directly(ctx, t.intent, t.move.Batch)
		if err != nil {
			return nil, err
		}
		all = append(all, sent...)
	}
	return all, nil
}

// removeDirectly sends the steps that remove what an intent has made, as its last answer names that.
func (s *Sender) removeDirectly(ctx context.Context, intent scenarios.PlannedIntent, last history.Attempt) error {
	run := s.requests.stepRunFor(intent, history.Remove, s.config.operation(intent).Remove)
	run.known = map[string]string{targets.MadeIdentity: s.line.identity(last)}
	_, err := s.steps.run(ctx, run)
	return err
}

// directly sends a batch at once.
func (s *Sender) directly(ctx context.Context, intent scenarios.PlannedIntent, batch []scenarios.PlannedAttempt) ([]history.Attempt, error) {
	exchanges := make([]*outgoing, len(batch))
	for i, a := range batch {
		o := s.requests.newRequest(intent, a, a.ID, a.Key, a.Lane)
		request, err := o.target.Request()
		if err != nil {
			return nil, err
		}
		// No vegeta here, so nothing has to find the attempt by its URL.
		request.URL.Fragment = ""
		o.http = request
		exchanges[i] = o
	}
	var sending sync.WaitGroup
	for _, o := range exchanges {
		sending.Go(func() { o.direct(ctx, s.config.Target) })
	}
	sending.Wait()
	answers := make([]history.Attempt, len(batch))
	for i, o := range exchanges {
		answers[i] = o.record
	}
	return answers, nil
}
