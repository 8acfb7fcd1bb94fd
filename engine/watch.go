package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How long nothing may come to an end before the target is asked whether it is there, and how often
// it may fail to say so. A target with one worker may be too busy to answer once.
const (
	silence      = 10 * time.Second
	silentAnswer = 2
)

// errSilent is why sending ends when the target takes connections and does nothing else.
var errSilent = errors.New("the target answers nothing any more")

// silence is how long nothing may come to an end. All requests that a slow target works on at once may end when each has had its turn.
func (r *scenarioRun) silence() time.Duration {
	return max(r.session.silence, leftRunning(r)/silentAnswer)
}

// watched sends with work, and stops it when the target has fallen silent: every client would wait
// out its deadline, and a run of many intents would take hours to say so.
func (r *scenarioRun) watched(ctx context.Context, work func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		r.watch(ctx, ended, stop)
	}()
	// The watcher has ended before this returns: it must not stop what comes after.
	err := work(ctx)
	close(ended)
	stop(nil)
	<-watching
	hideSecrets(r)
	return err
}

// watch stops the work when nothing has ended for long and the target does not answer,
// asked directly and more than once. A target that is only slow answers, or ends
// something.
func (r *scenarioRun) watch(ctx context.Context, ended <-chan struct{}, stop context.CancelCauseFunc) {
	silence := r.silence()
	tick := time.NewTicker(silence)
	defer tick.Stop()
	unanswered, before := 0, r.ended.Load()
	for {
		select {
		case <-ended:
			return
		case <-r.tended.often:
			stop(fmt.Errorf("the target died %d times in this scenario: %w", mostDeaths, errDying))
			return
		case <-tick.C:
		}
		if r.session.System.Process.Fleet.Down() && !r.pilot {
			continue // it is being started, which has its own deadline
		}
		now, err := r.ended.Load(), error(nil)
		if now == before {
			err = r.session.life(ctx)
		}
		if err == nil {
			unanswered, before = 0, now
			continue
		}
		if unanswered++; unanswered >= silentAnswer {
			stop(fmt.Errorf("%w, for %s now (%w)", errSilent, time.Duration(unanswered)*silence, err))
			return
		}
	}
}
