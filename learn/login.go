package learn

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/targets"
)

// login is what the login gave, which all requests share as in a run: some services let few logins through, or lock an account after many.
type login struct {
	steps  []targets.Step
	given  map[string]map[string]string // by principal; nil: no principal is logged in
	at     time.Time
	failed bool // a step before the last create was refused
}

// sending is [driver.Directly], or another way to send a workload.
type sending func(context.Context, driver.Config) ([]history.Attempt, error)

// lend gives a workload the login that there is, and keeps the one that it needs itself. It reports whether there was one.
func (l *login) lend(d *driver.Config) bool {
	steps := d.Target.Login
	if l.given != nil && time.Since(l.at) < engine.LoginLasts && reflect.DeepEqual(steps, l.steps) {
		d.Logins = l.given
	}
	d.Hooks.LoggedIn = func(given map[string]map[string]string) { *l = login{steps: steps, given: given, at: time.Now()} }
	return d.Logins != nil
}

// send sends a workload. Where a login was kept and is not taken any more, it sends all of it anew, with markers of its own.
func (l *login) send(ctx context.Context, d *driver.Config, send sending) ([]history.Attempt, error) {
	lent := l.lend(d)
	sent, err := send(ctx, *d)
	unknown := slices.ContainsFunc(sent, func(a history.Attempt) bool {
		return a.Status == http.StatusUnauthorized && a.Body != history.NoCredential
	})
	if !lent || !unknown && !errors.Is(err, driver.ErrStep) || ctx.Err() != nil { // a step may have been refused as well
		return sent, err
	}
	d.Logins, d.Names.Run = nil, rundir.NewID(time.Now())
	return send(ctx, *d)
}
