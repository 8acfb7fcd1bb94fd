package driver

import (
	"context"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/scenarios"
)

// background sends the plan's background traffic at its rate. Stop is called when the scenario's intents
// are through; it lets the requests on their way come to their end.
func (d *Driver) background(ctx context.Context) (stop func()) {
	traffic := d.intents(true)
	if len(traffic) == 0 {
		return func() {}
	}
	pacing, enough := context.WithCancel(ctx)
	every := time.Duration(float64(time.Second) / d.Plan.Background)
	planned := map[string]scenarios.PlannedIntent{}
	shots := make([]*shot, 0, len(traffic))
	for n, i := range traffic {
		a := i.Moves[0].Volley[0]
		s := d.load(i, a, a.ID, a.Key, a.Lane)
		s.record.Step, s.at = outsideSteps, time.Duration(n)*every
		planned[a.ID] = i
		shots = append(shots, s)
	}
	var sending sync.WaitGroup
	sending.Go(func() {
		var retries sync.WaitGroup
		d.attack(ctx, schedule{ctx: pacing, shots: shots, pace: d.Pace}, func(s *shot) {
			i := planned[s.record.ID]
			retries.Go(func() { d.retry(ctx, i, i.Moves[0].Volley[0], s) })
		})
		retries.Wait()
	})
	return func() {
		enough()
		sending.Wait()
	}
}

// intents returns the plan's intents: those of the background traffic, or the others.
func (d *Driver) intents(behind bool) []scenarios.PlannedIntent {
	var some []scenarios.PlannedIntent
	for _, i := range d.Plan.Intents {
		if i.Behind == behind {
			some = append(some, i)
		}
	}
	return some
}
