package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

func TestCrashesOfASlowStarterStrikeSeveralIntents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		took                  time.Duration
		sweep, between, sinks int // intents
		perCrash              [2]int
	}{
		{0, 30, 5, 6, [2]int{1, 1}},
		{500 * time.Millisecond, 30, 5, 6, [2]int{1, 1}},
		{time.Second, 30, 5, 6, [2]int{2, 1}},
		{5 * time.Second, 30, 5, 4, [2]int{8, 2}},
		{10 * time.Second, 20, 5, 2, [2]int{10, 3}},
		{time.Minute, 12, 5, 1, [2]int{10, 5}},
	} {
		t.Run(fmt.Sprint(c.took), func(t *testing.T) {
			t.Parallel()
			s := atSlow(t, speed{}, Config{}, "crash-sweep", "crash-between", "crash-before-effect", "burst-same-key")
			s.config.Replay.Dir, s.System.Process.Took, s.slow.beside = "", c.took, mostPerCrash
			bursts := len(s.plans[3].Intents)
			playFewerCrashes(s)
			var intents []int
			for i := range s.plans {
				intents = append(intents, rounds(s.plans[i]))
			}
			require.Equal(t, []int{c.sweep, c.between, c.sinks, bursts}, intents)
			for i, each := range append(c.perCrash[:], 1, 1) {
				require.Equal(t, each, perCrash(s, s.config.Scenarios[i].Scenario, intents[i]), s.config.Scenarios[i].Scenario.Name)
				require.LessOrEqual(t, startsOf(s, s.config.Scenarios[i].Scenario, intents[i]), max(startsTake, 2*c.took)*3/2)
			}
		})
	}
}

func TestWhereACrashStrikesOneIntent(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Session){
		"a rate limit":         func(s *Session) { s.System.Target.RateLimit = &targets.RateLimit{} },
		"one create at a time": func(s *Session) { s.slow.beside = 1 },
		"it is not known":      func(s *Session) { s.slow.beside = 0 },
		"twins":                func(s *Session) { s.config.Scenarios[0].Scenario.Twins = 2 },
		"a crash that is no first step": func(s *Session) {
			one := &s.config.Scenarios[0].Scenario
			one.Steps = []scenarios.Step{one.Steps[1], one.Steps[0]}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := atSlow(t, speed{}, Config{}, "crash-sweep")
			s.System.Process.Took, s.slow.beside = 5*time.Second, mostPerCrash
			require.Equal(t, 8, perCrash(s, s.config.Scenarios[0].Scenario, 30))
			change(s)
			require.Equal(t, 1, perCrash(s, s.config.Scenarios[0].Scenario, 30))
		})
	}
}

func TestACrashStrikesNoMoreThanIsWorkedOnSideBySide(t *testing.T) {
	t.Parallel()
	s := atSlow(t, speed{}, Config{}, "crash-sweep")
	s.config.Replay.Dir, s.System.Process.Took = "", 5*time.Second
	for beside, want := range map[int][2]int{1: {1, 12}, 4: {4, 16}, 10: {8, 30}} {
		s.plans[0], s.slow.beside = scenarios.NewPlan(s.config.Scenarios[0].Scenario, 7), beside
		require.Equal(t, want[0], perCrash(s, s.config.Scenarios[0].Scenario, 30))
		playFewerCrashes(s)
		require.Equal(t, want[1], rounds(s.plans[0]))
	}
	require.Equal(t, 1, besideOf(20*time.Millisecond, 200*time.Millisecond, 10), "each waits for all others")
	require.Equal(t, 4, besideOf(20*time.Millisecond, 50*time.Millisecond, 10))
	require.Equal(t, 9, besideOf(20*time.Millisecond, 22*time.Millisecond, 10))
}
