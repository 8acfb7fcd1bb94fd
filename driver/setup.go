package driver

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// stepRunsAtOnce is how many lists of steps are under way at once.
const stepRunsAtOnce = 4

// stepRunner sends the steps of the target file: to log in, to prepare, to fetch keys, to remove and to clean up.
type stepRunner struct {
	requests *requests
	pace     *Pace
	record   *history.Writer
}

// setUp is [Sender.SetUp]. Where a login that an earlier scenario has used is not valid any more, the principals are logged in anew and all is
// prepared once more: nothing of the plan was sent yet. A target that counts its requests may count those as well, so there it is an error.
func (s *stepRunner) setUp(ctx context.Context) error {
	used := s.requests.logins
	if err := s.logIn(ctx); err != nil {
		return err
	}
	err := s.ready(ctx)
	if !errors.As(err, new(stepUnauthenticated)) || len(used) == 0 || s.requests.config.Workload.Target.Received != nil {
		return err
	}
	if err := s.logInAnew(ctx); err != nil {
		return err
	}
	s.cleanUp(ctx)
	return s.ready(ctx)
}

// ready prepares what the intents need, and fetches their keys: the request for a key may use what was prepared.
func (s *stepRunner) ready(ctx context.Context) error {
	if err := s.prepareAll(ctx); err != nil {
		return err
	}
	return s.fetchKeys(ctx)
}

// logIn logs the principals in, unless that has been done.
func (s *stepRunner) logIn(ctx context.Context) error {
	w := &s.requests.config.Workload
	if len(w.Target.Login) == 0 || s.requests.logins != nil {
		return nil
	}
	logins := map[string]map[string]string{}
	for _, name := range s.requests.loggedIn() {
		extracted, err := s.logInAs(ctx, name)
		if err != nil {
			return err
		}
		logins[name] = extracted
	}
	s.requests.setLogins(logins)
	if loggedIn := s.requests.config.Hooks.LoggedIn; loggedIn != nil {
		loggedIn(logins)
	}
	return nil
}

// prepareAll runs the steps of prepare, once for each prepare scope.
func (s *stepRunner) prepareAll(ctx context.Context) error {
	w := &s.requests.config.Workload
	s.requests.prepared = map[prepareScope]map[string]string{}
	var runs []stepRun
	for _, i := range w.firsts() {
		if o := w.operation(i); len(o.Prepare) > 0 {
			runs = append(runs, s.requests.stepRunFor(i, history.Prepare, o.Prepare))
		}
	}
	return s.runAll(ctx, runs, false, func(r stepRun, extracted map[string]string) error {
		s.requests.prepared[w.scope(r.intent)] = extracted
		return nil
	})
}

// fetchKeys runs the steps of key.issued, once for each key that the plan may need.
func (s *stepRunner) fetchKeys(ctx context.Context) error {
	w := &s.requests.config.Workload
	s.requests.issued = map[issuedKey]string{}
	var runs []stepRun
	for _, i := range w.Plan.Intents {
		for _, name := range keyNames(i) {
			if o := w.operation(i); len(o.Key.Issued) > 0 {
				r := s.requests.stepRunFor(i, history.Issue, o.Key.Issued)
				r.key = name
				runs = append(runs, r)
			}
		}
	}
	seen := map[string]bool{}
	return s.runAll(ctx, runs, false, func(r stepRun, extracted map[string]string) error {
		key := extracted[targets.IssuedKey]
		if seen[key] {
			return fmt.Errorf("%w: %s gave the same key twice: it has to give another one each time; a token that is good for many forms is no key, and can be taken in prepare", ErrStep, r.place())
		}
		seen[key] = true
		s.requests.issued[issuedKey{r.intent.ID, r.key}] = key
		return nil
	})
}

// enoughHung is how many questions in a row that are not answered until their deadline say that the others would not be either: each
// of them waits.
const enoughHung = 8

// hung counts the questions in a row that were last not answered. Without it, a target
// that hangs would cost a whole deadline for every step of cleanup. The zero value has
// counted none. Safe for concurrent use.
type hung struct{ inARow atomic.Int64 }

// note notes how a question ended.
func (h *hung) note(answered bool) {
	if answered {
		h.inARow.Store(0)
	} else {
		h.inARow.Add(1)
	}
}

// enough reports that no more should be asked.
func (h *hung) enough() bool { return h.inARow.Load() >= enoughHung }

// errHung is why a question was not sent.
var errHung = fmt.Errorf("was not sent: %d before it were not answered", enoughHung)

// cleanUp is [Sender.CleanUp]. Where prepare failed there is nothing to clean up.
func (s *stepRunner) cleanUp(ctx context.Context) {
	w := &s.requests.config.Workload
	var runs []stepRun
	for _, i := range w.firsts() {
		o := w.operation(i)
		_, prepared := s.requests.prepared[w.scope(i)]
		if len(o.Cleanup) == 0 || len(o.Prepare) > 0 && !prepared {
			continue
		}
		runs = append(runs, s.requests.stepRunFor(i, history.Cleanup, o.Cleanup))
	}
	_ = s.runAll(ctx, runs, true, func(stepRun, map[string]string) error { return nil })
}

// runAll sends lists of steps, some at a time, and lets keep have what each extracted, never twice at once. The
// first that fails stops the others, unless all are to be tried. Then those after enough that were not answered are not sent, and that
// is on record.
func (s *stepRunner) runAll(ctx context.Context, runs []stepRun, all bool, keep func(stepRun, map[string]string) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	type result struct {
		extracted map[string]string
		err       error
	}
	// Each run writes to its own place, so results need no lock.
	results := make([]result, len(runs))
	var waited hung
	inParallel(ctx, indices(runs), stepRunsAtOnce, func(ctx context.Context, n int) {
		if waited.enough() {
			results[n].err = s.unsent(runs[n])
			return
		}
		results[n].extracted, results[n].err = s.run(ctx, runs[n])
		waited.note(!errors.Is(results[n].err, ErrNoAnswer))
	}, func(n int) {
		err := results[n].err
		if err == nil {
			err = keep(runs[n], results[n].extracted)
		}
		if err != nil && !all {
			stop(err)
		}
	})
	return context.Cause(ctx)
}

// indices returns 0 to len(all)-1: inParallel is given places, not the runs themselves, so
// that a result can be put beside its run.
func indices[T any](all []T) []int {
	numbers := make([]int, len(all))
	for n := range all {
		numbers[n] = n
	}
	return numbers
}
