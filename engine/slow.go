package engine

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Where a plain create takes long, scenarios are played with fewer intents: the longer the work, the wider are the windows between a
// check and a write, and the fewer rounds it takes to hit one.
const (
	slowCreate        = 250 * time.Millisecond // a plain create of a slow target, as rounded
	scenariosTake     = 80 * time.Second       // that all scenarios are to take at a slow target
	scenarioTakes     = 30 * time.Second       // that one of them is to take at most
	fewestIntents     = 4                      // of a scenario
	leastIntents      = 2                      // where four take too long, or the target works on one request at a time
	slowCreatesAtOnce = 12                     // by which the pilot learns whether a slow target works on requests side by side
	aboutAsLong       = 1.5                    // times what one create takes, side by side creates take
	createsInSweep    = 1.2                    // that a second request waits, and then is answered at once
)

// speed is how fast the target of a session is, rounded so that two runs of one target
// play the same intents. The zero value is a target that is not slow.
type speed struct {
	create     time.Duration // of a plain create; 0: it is not slow
	each       time.Duration // of each of several at once: as long as one, where they are not worked on side by side
	sideBySide bool
	beside     int // creates that are worked on side by side, as far as a crash is to strike several; 0: it is to strike one
}

// round makes a time coarse: the next power of two, in seconds.
func round(d time.Duration) time.Duration {
	return time.Duration(math.Exp2(math.Round(math.Log2(d.Seconds()))) * float64(time.Second))
}

// measureSlow sends a target several plain creates at once if even the fastest of those before was slow: the others may have waited for
// a busy machine. What becomes of them breaks no run: a target may turn some away.
func measureSlow(ctx context.Context, s *Session, fastest time.Duration) (speed, error) {
	create := round(max(fastest, time.Millisecond))
	if create < slowCreate || s.config.Diagnose || s.config.Private || s.config.Replay.Dir != "" || s.config.Hunt != nil {
		return speed{}, nil
	}
	slow := speed{create: create, each: create}
	if s.System.Target.RateLimit != nil || s.applicable() < 2 {
		return slow, nil
	}
	attempts, err := createsTogether(ctx, s, slowCreatesAtOnce, slowCreatesAtOnce)
	if err != nil || len(attempts) == 0 {
		return slow, err
	}
	var first, last history.Offset
	for _, a := range attempts {
		first, last = cmp.Or(min(first, a.Start), a.Start), max(last, a.End)
	}
	took := (last - first).Duration()
	slow.each = round(max(took/slowCreatesAtOnce, time.Millisecond))
	slow.sideBySide = took.Seconds() <= aboutAsLong*s.normal.Seconds()
	return slow, nil
}

// createsTogether sends plain creates, so many at a time, and returns what came of them; nothing, if one was not acknowledged.
func createsTogether(ctx context.Context, s *Session, creates, atOnce int) ([]history.Attempt, error) {
	f := pilotFile(rundir.PilotTogether, creates, time.Duration(atOnce)*max(s.normal, time.Second), scenarios.AcrossNothing)
	f.Scenario.Concurrency = atOnce
	if err := s.Play(ctx, f, scenarios.NewPlan(f.Scenario, s.config.Seed)); err != nil {
		return nil, err
	}
	h, err := s.History(f.Scenario.Name)
	if err != nil || slices.ContainsFunc(h.Attempts, func(a history.Attempt) bool { return s.System.Terms().Classify(a) != checker.Acknowledged }) {
		return nil, err
	}
	return h.Attempts, nil
}

// playFewer leaves intents out of the plans where the target is slow, so that all
// scenarios take about scenariosTake: a create of two seconds would make a run of hours,
// which is of no use in CI. The slower a create, the wider are its races, so fewer rounds
// hit them. A scenario that needs less than its share leaves the rest of it to the others.
// If the user asked for a number of intents, as many are played.
func playFewer(s *Session) {
	if s.slow.create == 0 || s.config.Intents > 0 || s.config.Shard.Several() {
		return
	}
	beside := map[int]bool{}
	all, atOnce := sharing(s)
	for _, i := range all {
		beside[i] = true
	}
	var open []int
	need := map[int]time.Duration{} // of the run's time
	for i, f := range s.config.Scenarios {
		if len(s.plans[i].Intents) == 0 || notInside(s.passing, f.Scenario) != "" {
			continue
		}
		need[i] = takes(s.slow, f.Scenario, pauses(s, f.Scenario), rounds(s.plans[i]))
		if beside[i] {
			need[i] /= time.Duration(atOnce)
		}
		open = append(open, i)
	}
	slices.SortStableFunc(open, func(a, b int) int { return cmp.Compare(need[a], need[b]) })
	left := scenariosTake
	if !s.budget.end.IsZero() {
		left = min(left, timeToFit(s))
	}
	for n, i := range open {
		share, scenario := left/time.Duration(len(open)-n), s.config.Scenarios[i].Scenario
		left -= min(need[i], share)
		if beside[i] {
			share *= time.Duration(atOnce)
		}
		if s.config.Confidence == 0 || !scenario.Races() {
			s.plans[i] = s.plans[i].Spread(fitting(s.slow, scenario, pauses(s, scenario), rounds(s.plans[i]), min(share, scenarioTakes)))
		}
		if within := takes(s.slow, scenario, pauses(s, scenario), rounds(s.plans[i])); scenario.Background != nil {
			s.plans[i] = s.plans[i].WithBackground(max(fewestIntents, int(within/s.slow.each)), within)
		}
	}
}

// rounds counts the intents of a plan, without the background.
func rounds(p scenarios.Plan) int {
	n := 0
	for _, i := range p.Intents {
		if !i.Background {
			n++
		}
	}
	return n
}

// pauses is how long an intent of a scenario pauses, or its work takes.
func pauses(s *Session, scenario scenarios.Scenario) time.Duration {
	longest := scenario.Pauses(s.System.Target.Contract)
	for _, w := range scenario.Work {
		longest = max(longest, time.Duration(w))
	}
	return longest
}

// takes is about how long so many intents of a scenario, each with its pauses, take at a slow target.
func takes(slow speed, scenario scenarios.Scenario, pauses time.Duration, intents int) time.Duration {
	atOnce := max(scenario.Concurrency, 1)
	turns := (intents + atOnce - 1) / atOnce
	creates := max(slow.create, time.Duration(min(atOnce, intents))*slow.each)
	return time.Duration(turns) * (time.Duration(createsOf(scenario)*float64(creates)) + pauses)
}

// createsOf is how many creates an intent of a scenario waits for at a correct target, one after the other.
func createsOf(scenario scenarios.Scenario) float64 {
	creates, breaks := 1.0, breaks(scenario)
	for _, step := range scenario.Steps {
		switch {
		case step.Sweep != nil:
			creates = max(creates, createsInSweep)
		case step.Crash != nil, step.Remove != nil, breaks && step.Send != nil && step.Send.Cut != nil:
			creates++
		}
	}
	return creates
}

// fitting is how many intents of a scenario fit into a time at a slow target, of so many.
func fitting(slow speed, scenario scenarios.Scenario, pauses time.Duration, intents int, within time.Duration) int {
	n, fewest := intents, fewestIntents
	if !slow.sideBySide {
		fewest = leastIntents
	}
	for n > leastIntents && takes(slow, scenario, pauses, n) > within && (n > fewest || takes(slow, scenario, pauses, n) > scenarioTakes) {
		n--
	}
	return n
}
