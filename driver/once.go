package driver

import (
	"context"

	"github.com/doubletap-harness/doubletap/history"
)

// Once sets up and sends the first attempt of a config's plan and nothing else, straight to the target and on no
// lane. It needs no Dialers. The answer is as the target gave it, and may hold secrets; without a complete one the
// attempt has an Error. The error is that of [Sender.SetUp], or says why the request cannot be sent.
func Once(ctx context.Context, c Config) (history.Attempt, error) {
	s := New(c)
	if _, err := s.SetUp(ctx); err != nil {
		return history.Attempt{}, err
	}
	if err := s.renderAll(); err != nil {
		return history.Attempt{}, err
	}
	intent := c.Plan.Intents[0]
	first := intent.Moves[0].Batch[0]
	o := s.requests.newRequest(intent, first, first.ID, first.Key, first.Lane)
	request, err := o.target.Request()
	if err != nil {
		return history.Attempt{}, err
	}
	request.URL.Fragment = ""
	o.http = request
	o.direct(ctx, c.Target)
	return o.record, nil
}
