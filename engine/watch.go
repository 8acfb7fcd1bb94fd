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
	err := work(ctx)
	close(ended)
	stop(nil)
	<-watching
	r.hideSecrets()
	return err
}

// watch stops the work when nothing has ended for long and the target does not answer.
func (r *scenarioRun) watch(ctx context.Context, ended <-chan struct{}, stop context.CancelCauseFunc) {
	tick := time.NewTicker(r.session.silence)
	defer tick.Stop()
	unanswered, before := 0, r.ended.Load()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		if now := r.ended.Load(); now != before || r.session.alive(ctx) {
			unanswered, before = 0, now
			continue
		}
		if unanswered++; unanswered >= silentAnswer {
			stop(fmt.Errorf("%w, for %s now", errSilent, time.Duration(unanswered)*r.session.silence))
			return
		}
	}
}
