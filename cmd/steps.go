package cmd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// loginLasts is for how long a login is used before a scenario logs in anew: less than tokens usually live.
const loginLasts = 4 * time.Minute

// login is what the target's login gave, by principal, and when.
type login struct {
	given map[string]map[string]string // nil: nobody is logged in
	at    time.Time
}

// lasting is what a login gave that is still used; nil: there is none.
func (l login) lasting() map[string]map[string]string {
	if time.Since(l.at) >= loginLasts {
		return nil
	}
	return l.given
}

// setUp logs in, prepares what the intents take and fetches their keys. Without that nothing can be sent.
func (a *act) setUp(ctx context.Context) error {
	again := a.sender.Logins() == nil
	prepared, err := a.sender.SetUp(ctx)
	a.prepared = prepared
	a.hide()
	switch {
	case err == nil && again:
		a.login = login{given: a.sender.Logins(), at: time.Now()}
		return nil
	case err == nil:
		return nil
	case ctx.Err() != nil:
		a.ended(ctx, err)
		return nil
	case errors.Is(err, driver.ErrStep):
		a.incident(history.StepFailed, err.Error())
		a.tidyUp(ctx)
		if !a.alive(ctx) {
			return a.notThere()
		}
		return surroundings(fmt.Errorf("%s: %w", a.subject.name, err))
	default:
		return surroundings(err)
	}
}

// tidyUp sends what cleans up after the intents. A run that was stopped has little time for it.
func (a *act) tidyUp(ctx context.Context) {
	if a.lost == history.TargetGone {
		return
	}
	if ctx.Err() != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
		defer cancel()
		ctx = last
	}
	a.sender.CleanUp(ctx)
	a.hide()
}

// hide keeps what is known to be secret by now out of the process's log.
func (a *act) hide() { a.subject.started.hide(a.sender.Secrets()) }

// leavesOut says why a scenario is not played against the subject; empty: it is.
func (s *subject) leavesOut(scenario scenarios.Scenario) string {
	if why := s.lacks(scenario); why != "" {
		return why
	}
	limit, atOnce := s.target.RateLimit, scenarios.NewPlan(scenario, 0).AtOnce()
	if limit != nil && atOnce > limit.Requests {
		return fmt.Sprintf("it sends %d requests at once, and the target lets %d through (rate_limit)", atOnce, limit.Requests)
	}
	return ""
}

// beyondCurl names the steps of a scenario that a shell script would have to take; empty: there are none. What a
// login gives can be put into a variable.
func (s *subject) beyondCurl(scenario scenarios.Scenario) string {
	used := s.operations[:1]
	if n := scenario.Neighbours; n != nil && n.Across == scenarios.AcrossOperations {
		used = s.operations
	}
	for _, o := range used {
		switch {
		case len(o.Prepare) > 0:
			return "operations." + o.Name + ".prepare"
		case len(o.Key.Issued) > 0:
			return "operations." + o.Name + ".key.issued"
		}
	}
	return ""
}

// loginVariables makes up what a login gives, for each principal, and adds to variables the names of the
// environment variables that stand for it: TOKEN as LOGIN_TOKEN, and where there are several principals as
// LOGIN_TOKEN_ALICE.
func (s *subject) loginVariables(variables map[string]string) map[string]map[string]string {
	if len(s.target.Login) == 0 {
		return nil
	}
	logins := map[string]map[string]string{}
	enter := func(principal, suffix string) {
		logins[principal] = driver.Placeholders(s.target.Login)
		for name := range logins[principal] {
			variable := strings.ToUpper("LOGIN_" + name + suffix)
			logins[principal][name] = standIn(variable)
			variables[standIn(variable)] = variable
		}
	}
	if len(s.principals) < 2 {
		name := ""
		for _, only := range s.principals {
			name = only.Name
		}
		enter(name, "")
		return logins
	}
	for _, p := range s.principals {
		enter(p.Name, "_"+notInNames.ReplaceAllString(p.Name, "_"))
	}
	return logins
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_]`)
