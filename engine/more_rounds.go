package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// A scenario is played again with at least twice its rounds, and with at most so many: of a defect that shows in 3 of 100
// rounds, nothing is seen in 96 of them in one of 20 runs.
const (
	timesMore  = 2
	mostRounds = 96
)

// playMore plays scenarios again that race and passed, with more rounds, within the time that the config has for it. Each gets an
// equal share of what is left, and those with the fewest rounds come first. A scenario that decides nothing this time
// keeps what it had.
func playMore(ctx context.Context, s *Session) error {
	end := time.Now().Add(s.config.MoreRounds)
	if !s.budget.end.IsZero() && s.budget.end.Before(end) {
		end = s.budget.end
	}
	racers := racersThatPassed(s)
	if why, _ := s.stopReason(ctx); why != "" || len(racers) == 0 {
		return nil
	}
	a := s.announcement()
	left, told := s.config.MaxRequests-a.Requests-a.Steps, false
	for n, i := range racers {
		share := time.Until(end) / time.Duration(len(racers)-n)
		more := affords(s, i, share)
		plan := scenarios.NewPlan(s.config.Scenarios[i].Scenario.WithIntents(more), s.config.Seed).Of(s.config.Shard)
		if s.plans[i].Whole > 0 {
			plan = plan.Spread(more)
		}
		if rounds(plan) < timesMore*rounds(s.plans[i]) || plan.Requests() > left {
			continue
		}
		left -= plan.Requests()
		if !told {
			s.config.Observe(MoreRounds{time.Until(end)})
			told = true
		}
		if err := playAgain(ctx, s, i, plan); err != nil {
			return err
		}
		if why, _ := s.stopReason(ctx); why != "" {
			return nil
		}
	}
	return nil
}

// racersThatPassed are the scenarios for which more rounds say more, those with the fewest first, and of these the fastest.
func racersThatPassed(s *Session) []int {
	var all []int
	if s.config.MoreRounds <= 0 || s.config.Confidence > 0 || s.config.Intents > 0 || s.config.Replay.Dir != "" {
		return nil
	}
	for i, f := range s.config.Scenarios {
		if len(s.plans[i].Intents) > 0 && f.Scenario.Races() && resultOf(s, i).Verdict == checker.Pass {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Or(cmp.Compare(rounds(s.plans[a]), rounds(s.plans[b])), cmp.Compare(s.took[a], s.took[b]))
	})
	return all
}

// affords is how many rounds of a scenario fit into a time.
func affords(s *Session, i int, within time.Duration) int {
	each := s.took[i] / time.Duration(max(rounds(s.plans[i]), 1))
	return min(mostRounds, int(within/max(each, 1)))
}

// playAgain plays a scenario with more rounds, in place of those that it had.
func playAgain(ctx context.Context, s *Session, i int, with scenarios.Plan) error {
	return playAnew(ctx, s, i, with, "-again", retake{
		keep: func(v checker.Verdict) bool {
			decides := v == checker.Pass || v == checker.Fail
			if decides {
				s.show(i)
			}
			return decides
		},
		replaced: s.dir.DropAside,
		restored: s.dir.TakeBack,
	})
}

// retake says what becomes of a scenario that is played once more. The first history is
// set aside meanwhile, so that an interruption leaves one that can be judged.
type retake struct {
	keep     func(checker.Verdict) bool  // the new verdict is the one that counts
	replaced func(scenario string) error // the new history is in its place, the other was set aside
	restored func(scenario string) error // puts the other back
}

// playAnew plays a scenario once more, with other names, in place of what there is of it.
func playAnew(ctx context.Context, s *Session, i int, with scenarios.Plan, names string, r retake) error {
	before := s.plans[i]
	defer func() { s.again = "" }()
	if err := s.dir.SetAside(with.Scenario); err != nil {
		return err
	}
	s.plans[i], s.again = with, names
	err := playQuietly(ctx, s, i)
	entry := &s.manifest.Scenarios[i]
	if err == nil && r.keep(resultOf(s, i).Verdict) {
		return r.replaced(with.Scenario)
	}
	s.plans[i], entry.Verdict, entry.Why = before, checker.Inconclusive, ""
	if restore := r.restored(with.Scenario); restore != nil || ctx.Err() == nil {
		return cmp.Or(err, restore)
	}
	return nil
}

// resultOf judges what is on disk of a scenario.
func resultOf(s *Session, i int) checker.Result {
	return s.dir.Judge(s.manifest.Scenarios[i], s.manifest)
}
