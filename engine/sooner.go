package engine

import (
	"context"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// playSooner plays a scenario once more that decided nothing, where its own clients got the answers that they were not to wait for: the
// machine was busier while the pilot measured a create, and their patience is a share of that. It is a share of what they saw then.
func playSooner(ctx context.Context, s *Session, i int) error {
	took := tooSoon(s, i)
	if why, _ := s.stopReason(ctx); why != "" || took == 0 {
		return nil
	}
	defer func(normal time.Duration) { s.normal = normal }(s.normal)
	s.normal = took
	return playAnew(ctx, s, i, s.plans[i], "-sooner", retake{
		keep:     func(v checker.Verdict) bool { return v == checker.Pass || v == checker.Fail },
		replaced: s.dir.DropAside,
		restored: s.dir.TakeBack,
	})
}

// tooSoon is how long a create took in a scenario that did not decide, and whose clients were to leave before the answer; 0: it
// decided, or they left.
func tooSoon(s *Session, i int) time.Duration {
	if s.config.Replay.Dir != "" || len(s.plans[i].Intents) == 0 || resultOf(s, i).Verdict != checker.Inconclusive {
		return 0
	}
	h, err := s.History(s.manifest.Scenarios[i].Scenario)
	if err != nil {
		return 0
	}
	return answeredAhead(h.Attempts, s.normal)
}

// answeredAhead is how long the requests took whose clients were to leave before a normal create is over, and got the answer; 0: most of
// them left.
func answeredAhead(attempts []history.Attempt, normal time.Duration) time.Duration {
	impatient := slices.DeleteFunc(slices.Clone(attempts), func(a history.Attempt) bool {
		return a.Deadline == 0 || a.Deadline.Duration() >= normal
	})
	answered := slices.DeleteFunc(slices.Clone(impatient), func(a history.Attempt) bool { return !a.Complete })
	if len(answered) == 0 || 2*len(answered) < len(impatient) {
		return 0
	}
	return min(normalTime(answered), normal)
}
