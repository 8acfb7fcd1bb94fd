package engine

import (
	"math"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Each crash costs a start of the target, which takes a JVM seconds.
const (
	startsTake   = 20 * time.Second // that the starts of a scenario are to take
	mostPerCrash = 10               // intents that are struck by one crash
)

// perCrash is how many intents of a scenario are struck by one crash where each has one: as few as a start of the target allows, since
// what they ask for is done beside each other.
func perCrash(s *Session, scenario scenarios.Scenario, intents int) int {
	if !sharesCrashes(s, scenario) {
		return 1
	}
	crashes := crashesFor(s)
	return min((intents+crashes-1)/crashes, mostPerCrash)
}

// crashesFor is how many crashes of a target that was started take startsTake.
func crashesFor(s *Session) int {
	return max(1, int(math.Round(startsTake.Seconds()/s.System.Process.Took.Seconds())))
}

// sharesCrashes reports that one crash may strike several intents of a scenario: they have one each, none depends on another, and the
// target takes all that come at once.
func sharesCrashes(s *Session, scenario scenarios.Scenario) bool {
	crashes := 0
	for _, step := range scenario.Steps {
		if step.Crash != nil {
			crashes++
		}
	}
	return s.System.Process.Took > 0 && s.System.Target.RateLimit == nil && crashes == 1 && scenario.Steps[0].Crash != nil &&
		scenario.Steps[0].Crash.At == "" && scenario.Twins < 2 && scenario.Neighbours == nil && len(scenario.Work) == 0
}

// playFewerCrashes leaves intents out of plans with crashes where a start of the target takes so long that even crashes which strike
// many of them take longer than startsTake. If the user asked for a number of intents, as many are played.
func playFewerCrashes(s *Session) {
	c := s.config
	if s.System.Process.Took == 0 || c.Intents > 0 || c.Shard.Several() || c.Replay.Dir != "" || c.Hunt != nil || c.Confidence > 0 {
		return
	}
	crashes := crashesFor(s)
	for i, f := range c.Scenarios {
		if !slices.ContainsFunc(f.Scenario.Steps, func(step scenarios.Step) bool { return step.Crash != nil }) {
			continue
		}
		n := rounds(s.plans[i])
		if most := crashes * perCrash(s, f.Scenario, n); n > most {
			s.plans[i] = s.plans[i].Spread(most)
		}
	}
}

// startsOf is about how long the starts of a scenario with crashes take.
func startsOf(s *Session, scenario scenarios.Scenario, intents int) time.Duration {
	if !slices.ContainsFunc(scenario.Steps, func(step scenarios.Step) bool { return step.Crash != nil }) {
		return 0
	}
	each := perCrash(s, scenario, intents)
	return time.Duration((intents+each-1)/each) * s.System.Process.Took
}

// slowStart is how long the target takes to start, where a plan has fewer intents for that; 0: it has not.
func slowStart(s *Session, plan scenarios.Plan) history.Offset {
	if plan.Whole == 0 || s.slow.create > 0 {
		return 0
	}
	return history.Offset(s.System.Process.Took)
}
