package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/runerror"
)

// LoginLasts is for how long a login is used before a scenario logs in again: less than tokens usually live.
const LoginLasts = 4 * time.Minute

// login is what the target's login gave, by principal, and when.
type login struct {
	given map[string]map[string]string // nil: no principal is logged in
	at    time.Time
}

// lasting is what a login gave that is still used; nil: there is none.
func (l login) lasting() map[string]map[string]string {
	if time.Since(l.at) >= LoginLasts {
		return nil
	}
	return l.given
}

// setUp logs in, prepares what the intents take and fetches their keys. Without that
// nothing can be sent, so a failure ends the run and is no verdict: nothing was tried yet.
// What was made until then is tidied up. A login is shared by later scenarios, as some
// services lock an account after many.
func (r *scenarioRun) setUp(ctx context.Context) error {
	s := r.session
	used := r.sender.Logins()
	prepared, err := r.sender.SetUp(ctx)
	r.prepared = prepared
	hideSecrets(r)
	switch {
	case err == nil:
		if given := r.sender.Logins(); used == nil || !maps.EqualFunc(given, used, maps.Equal[map[string]string, map[string]string]) {
			s.login = login{given: given, at: time.Now()}
		}
		return nil
	case ctx.Err() != nil:
		return r.stop(ctx, err)
	case errors.Is(err, driver.ErrLoginsUsedUp):
		r.incident(history.StepFailed, err.Error())
		_ = r.tidyUp(ctx)
		return runerror.Limited(fmt.Errorf("%s: %w: run again when it does, lift the limit for tests, or put what a login gives into the headers of the requests and take login out", s.System.Name, err))
	case errors.Is(err, driver.ErrStep):
		r.incident(history.StepFailed, err.Error())
		_ = r.tidyUp(ctx)
		if !s.alive(ctx) {
			return notAlive(ctx, s)
		}
		return runerror.Environment(fmt.Errorf("%s: %w", s.System.Name, err))
	default:
		return runerror.Environment(err)
	}
}

// tidyUp sends what cleans up after the intents. A run that was stopped has little time for it.
func (r *scenarioRun) tidyUp(ctx context.Context) error {
	if lost := r.session.lost; lost == history.TargetGone || lost == history.NoAnswer {
		return nil
	}
	tidying, end := outlasting(ctx)
	defer end()
	r.sender.CleanUp(tidying)
	hideSecrets(r)
	return nil
}

// hideSecrets keeps what is known to be secret by now out of the process's log.
func hideSecrets(r *scenarioRun) { r.session.System.Process.Hide(r.sender.Secrets()) }
