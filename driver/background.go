package driver

import (
	"context"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/scenarios"
)

// background sends the plan's background traffic at its rate. Stop is called when the other intents are
// over; it waits for the requests that are under way.
func (r *intentRunner) background(ctx context.Context) (stop func()) {
	traffic := r.config.intents(true)
	if len(traffic) == 0 {
		return func() {}
	}
	pacing, enough := context.WithCancel(ctx)
	every := time.Duration(float64(time.Second) / r.config.Plan.Background)
	planned := map[string]scenarios.PlannedIntent{}
	all := make([]*outgoing, 0, len(traffic))
	for n, i := range traffic {
		a := i.Moves[0].Batch[0]
		o := r.requests.newRequest(i, a, a.ID, a.Key, a.Lane)
		o.record.Step, o.at = outsideSteps, time.Duration(n)*every
		planned[a.ID] = i
		all = append(all, o)
	}
	var sending sync.WaitGroup
	sending.Go(func() {
		var retries sync.WaitGroup
		r.attack(ctx, schedule{ctx: pacing, all: all, pace: r.config.Pace}, func(o *outgoing) {
			i := planned[o.record.ID]
			retries.Go(func() { r.retry(ctx, i, i.Moves[0].Batch[0], o) })
		})
		retries.Wait()
	})
	return func() {
		enough()
		sending.Wait()
	}
}
