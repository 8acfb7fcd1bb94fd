package driver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/doubletap-harness/doubletap/targets"
)

// Pace keeps the requests of a run within the target's rate limit, and holds them back for as long as a
// throttled answer asks for. All senders of a run share one. Safe for concurrent use. Nil holds nothing back.
type Pace struct {
	limit *rate.Limiter // nil: the target names none

	mu    sync.Mutex
	until time.Time // nothing is sent before
}

// NewPace makes the pace of a run. A limit of nil is none.
func NewPace(limit *targets.RateLimit) *Pace {
	p := &Pace{}
	if limit != nil {
		p.limit = rate.NewLimiter(rate.Every(limit.Every()), limit.Requests)
	}
	return p
}

// Wait returns when so many requests may be sent at once. It fails where they never may, or the context ends.
func (p *Pace) Wait(ctx context.Context, requests int) error {
	if p == nil {
		return ctx.Err()
	}
	if p.limit != nil {
		if requests > p.limit.Burst() {
			return fmt.Errorf("%d requests at once are more than the %d that rate_limit lets through", requests, p.limit.Burst())
		}
		if err := p.limit.WaitN(ctx, requests); err != nil {
			return err
		}
	}
	// Look again after each sleep: another answer may have asked for more meanwhile.
	for sleep(ctx, p.held()) {
		if p.held() <= 0 {
			return nil
		}
	}
	return ctx.Err()
}

// hold lets nothing be sent for a time from now on.
func (p *Pace) hold(pause time.Duration) {
	if p == nil || pause <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(pause); until.After(p.until) {
		p.until = until
	}
}

// held is for how long nothing may be sent.
func (p *Pace) held() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Until(p.until)
}
