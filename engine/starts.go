package engine

import (
	"context"
	"math"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Each crash costs a start of the target, which takes a JVM seconds.
const (
	startsTake   = 20 * time.Second // that the starts of a scenario are to take
	mostPerCrash = 10               // intents that are struck by one crash
	leastStruck  = 12               // intents of a scenario that plays more, where a crash cannot strike as many as that takes
)

// perCrash is how many intents of a scenario are struck by one crash where each has one: as few as a start of the target allows, since
// what they ask for is done beside each other. They are no more than the target works on side by side: the others would wait for their
// turn, and a crash that strikes what has not begun shows nothing.
func perCrash(s *Session, scenario scenarios.Scenario, intents int) int {
	if !sharesCrashes(s, scenario) {
		return 1
	}
	return min(parts(intents, crashesFor(s)), mostPerCrash, max(s.slow.beside, 1))
}

// parts is how many parts of a size, at most, something is cut into.
func parts(of, size int) int { return (of + size - 1) / size }

// crashesFor is how many crashes of a target that was started take startsTake.
func crashesFor(s *Session) int {
	return max(1, int(math.Round(startsTake.Seconds()/s.System.Process.Took.Seconds())))
}

// sharesCrashes reports that one crash may strike several intents of a scenario: they have one each, none depends on another, and the
// target takes all that come at once.
func sharesCrashes(s *Session, scenario scenarios.Scenario) bool {
	if crashesOf(scenario) != 1 {
		return false
	}
	first := scenario.Steps[0].Crash
	return first != nil && first.At == "" && s.System.Process.Took > 0 && s.System.Target.RateLimit == nil &&
		scenario.Twins < 2 && scenario.Neighbours == nil && len(scenario.Work) == 0
}

// crashesOf is how many crashes each intent of a scenario has.
func crashesOf(scenario scenarios.Scenario) (n int) {
	for _, step := range scenario.Steps {
		if step.Crash != nil {
			n++
		}
	}
	return n
}

// measureBeside sends a target that starts slowly plain creates, as many at a time as one crash may strike, and returns how many of these it works on
// side by side; 0: there is no need to know. What becomes of them breaks no run.
func measureBeside(ctx context.Context, s *Session) (int, error) {
	need := 0
	for i, f := range s.config.Scenarios {
		if n := rounds(s.plans[i]); n > 0 && sharesCrashes(s, f.Scenario) {
			need = max(need, parts(n, crashesFor(s)))
		}
	}
	switch {
	case need < 2 || s.config.Diagnose || s.config.Private || s.config.Replay.Dir != "" || s.config.Hunt != nil:
		return 0, nil
	case s.slow.create > 0: // it was measured already
		return besideOf(s.normal, s.slow.each, 1), nil
	}
	attempts, err := createsTogether(ctx, s, 3*mostPerCrash, mostPerCrash)
	if err != nil || len(attempts) == 0 {
		return 0, err
	}
	return besideOf(s.normal, normalTime(attempts), mostPerCrash), nil
}

// besideOf is how many of so many creates are worked on side by side, by how long one takes alone, and among the others.
func besideOf(alone, among time.Duration, atOnce int) int {
	return int(math.Round(float64(atOnce) * alone.Seconds() / max(among, time.Microsecond).Seconds()))
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
		if crashesOf(f.Scenario) == 0 {
			continue
		}
		n := rounds(s.plans[i])
		most := crashes * perCrash(s, f.Scenario, n)
		if sharesCrashes(s, f.Scenario) {
			most = max(most, leastStruck)
		}
		if n > most {
			s.plans[i] = s.plans[i].Spread(most)
		}
	}
}

// startsOf is about how long the starts of a scenario with crashes take.
func startsOf(s *Session, scenario scenarios.Scenario, intents int) time.Duration {
	if crashesOf(scenario) == 0 {
		return 0
	}
	return time.Duration(parts(intents, perCrash(s, scenario, intents))) * s.System.Process.Took
}

// slowStart is how long the target takes to start, where a plan has fewer intents for that; 0: it has not.
func slowStart(s *Session, plan scenarios.Plan) history.Offset {
	if plan.Whole == 0 || s.slow.create > 0 {
		return 0
	}
	return history.Offset(s.System.Process.Took)
}
