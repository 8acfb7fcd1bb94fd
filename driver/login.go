package driver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/history"
)

// noteUnauthenticated notes a probe that the target rejected because it does not know its sender, and reports
// whether it did. A target that counts its requests may count logins as well: after another login its count would
// differ from the history.
func (p *prober) noteUnauthenticated(q probe, last history.Attempt) bool {
	unauthenticated, target := p.config.Hooks.Unauthenticated, p.config.Target
	if unauthenticated == nil || !unauthenticated(last) || len(target.Login) == 0 || target.Received != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unauthenticated = append(p.unauthenticated, q)
	return true
}

// How a rate limit of logins is met: how often a login is sent that it turns away, and how long at most before the next time.
const (
	loginTries    = 3
	loginWaitMost = 10 * time.Second
)

// ErrLoginsUsedUp is why a login failed that a rate limit turned away each time.
var ErrLoginsUsedUp = errors.New("the target limits the rate of logins, and lets no more through for now")

// logInAs logs one principal in. A login that is turned away for a rate limit is sent again when its answer lets it.
func (s *stepRunner) logInAs(ctx context.Context, principal string) (map[string]string, error) {
	for n := 1; ; n++ {
		extracted, err := s.run(ctx, s.requests.loginRun(principal))
		var throttled stepThrottled
		switch {
		case !errors.As(err, &throttled):
			return extracted, err
		case n == loginTries:
			return extracted, fmt.Errorf("%w: %w", err, ErrLoginsUsedUp)
		case !sleep(ctx, min(throttled.wait, loginWaitMost)):
			return extracted, err
		}
	}
}

// logInAnew logs the principals in once more. Old tokens stay masked, and are used on where that fails. Nothing else may be under way.
func (s *stepRunner) logInAnew(ctx context.Context) error {
	before := s.requests.logins
	for _, given := range before {
		s.requests.secrets.keep(slices.Collect(maps.Values(given)))
	}
	s.requests.setLogins(nil)
	err := s.logIn(ctx)
	if err != nil {
		s.requests.setLogins(before)
	}
	return err
}

// logInAgain logs the principals in anew and renders all requests with what that gave. It
// reports whether it did: a login that fails is on record, and a body that holds what a
// login gave would become another body under the same key, which a correct target rejects.
func (s *stepRunner) logInAgain(ctx context.Context) bool {
	return len(s.requests.config.Workload.Target.Login) > 0 && s.logInAnew(ctx) == nil && s.requests.renderAgain()
}
