package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// How a target shows that it has recovered: as many plain creates at once as a burst has requests, so that no dead
// connection is left in its pool, and at least so many with each instance. Where it has a rate limit, no more than that.
const (
	recoverWithin = 15 * time.Second // a target has so long to recover
	leastTimeout  = 5 * time.Second  // for one of these creates
	createsAtOnce = 10
	createsEach   = 3
)

// aftermath is what a session knows of a target after a scenario that broke something
// inside it. The zero value, but for within: nothing was broken, or all is well again. What it
// knows of keys stays.
type aftermath struct {
	after  string        // the scenario; empty: none, or the target has recovered since
	within time.Duration // a target has so long to recover
	failed string        // how plain creates were answered when it had not recovered in time; empty: it was not asked
	rounds int
	stuck  bool // a key was blocked for longer than a request that died usually blocks it
}

// breaks reports that a scenario breaks a link or the store of the target, or ends its process.
func breaks(s scenarios.Scenario) bool {
	return slices.ContainsFunc([]scenarios.Need{scenarios.NeedsProcess, scenarios.NeedsLink, scenarios.NeedsFlush}, func(need scenarios.Need) bool {
		return slices.Contains(s.Needs, need)
	})
}

// awaitRecovery sends plain creates until all of them are acknowledged, if a scenario before broke something: the next one
// is not to be judged by what that left behind, such as a pool of dead connections. A target that had its time and did not
// recover is asked once before each scenario.
func awaitRecovery(ctx context.Context, s *Session) {
	r := &s.aftermath
	if r.after == "" {
		return
	}
	begun := time.Now()
	for ctx.Err() == nil {
		failed := tryCreates(ctx, s)
		if failed == "" {
			r.after, r.failed = "", ""
			return
		}
		tried := time.Since(begun)
		if r.failed != "" || tried >= r.within {
			r.failed = failed
			return
		}
		pause(ctx, min(max(tried/2, 100*time.Millisecond), 2*time.Second))
	}
}

// tryCreates sends plain creates and says what was wrong with them; empty: nothing was.
// They are a scenario of their own, with a history, and named after the one that broke
// something.
func tryCreates(ctx context.Context, s *Session) (failed string) {
	r := &s.aftermath
	r.rounds++
	defer func() { s.lost = "" }() // the next scenario sees for itself
	instances := max(len(s.System.Process.Places), 1)
	creates := max(createsAtOnce, createsEach*instances)
	if s.System.Target.RateLimit != nil {
		creates = createsEach * instances
	}
	f := pilotFile(rundir.PilotAfter(r.after, r.rounds), creates, max(leastTimeout, 20*s.normal), scenarios.AcrossNothing)
	f.Scenario.Concurrency = creates
	if err := s.Play(ctx, f, scenarios.NewPlan(f.Scenario, s.config.Seed)); err != nil {
		return err.Error()
	}
	h, err := s.History(f.Scenario.Name)
	if err != nil {
		return err.Error()
	}
	return failedCreates(h, s.System.Terms())
}

// failedCreates says how plain creates failed; empty: none did. One that was throttled tells nothing.
func failedCreates(h *history.History, terms checker.Terms) string {
	done, failed, last := 0, 0, ""
	for _, a := range h.Attempts {
		switch outcome := terms.Classify(a); {
		case outcome == checker.Throttled:
		case terms.Settled(a) && outcome != checker.Rejected:
			done++
		default:
			failed++
			last = fmt.Sprintf("answered %d", a.Status)
			if !a.Complete {
				last = "not answered: " + a.Error
			}
		}
	}
	switch {
	case failed > 0:
		return fmt.Sprintf("of %s %d failed, the last was %s", english.Plural(len(h.Attempts), "plain create"), failed, last)
	case done == 0:
		return "no plain create was acknowledged"
	default:
		return ""
	}
}

// noteBreaks notes that a scenario broke something, or the target died in it.
func noteBreaks(r *scenarioRun) {
	if r.recovering || !breaks(r.scenario) && r.tended.died.Load() == 0 {
		return
	}
	r.session.aftermath.after, r.session.aftermath.failed = r.scenario.Name, ""
}

// noteNotRecovered says in a scenario that it meets a target which has not recovered.
func noteNotRecovered(r *scenarioRun) {
	if before := r.session.aftermath; before.failed != "" && !r.recovering {
		r.incident(history.NotRecovered, fmt.Sprintf("the target did not recover from %s within %s: %s", before.after, before.within, before.failed))
	}
}
