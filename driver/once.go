package driver

import (
	"context"

	"github.com/doubletap-harness/doubletap/history"
)

// Once sends the first attempt of the plan and nothing else, straight to the target and on no lane, after what
// goes ahead of it as in SetUp. It takes the driver's Target, Operations, Principals, Plan, Names, Record and Base.
// The answer is as the target gave it, and may hold secrets; without a complete one the attempt has an Error. The
// error is that of SetUp, or says why the request cannot be sent.
func (d *Driver) Once(ctx context.Context) (history.Attempt, error) {
	if err := d.SetUp(ctx); err != nil {
		return history.Attempt{}, err
	}
	if err := d.prepareAll(); err != nil {
		return history.Attempt{}, err
	}
	intent := d.Plan.Intents[0]
	first := intent.Moves[0].Volley[0]
	s := d.load(intent, first, first.ID, first.Key, first.Lane)
	request, err := s.target.Request()
	if err != nil {
		return history.Attempt{}, err
	}
	request.URL.Fragment = ""
	s.request = request
	s.direct(ctx, d.Target)
	return s.record, nil
}
