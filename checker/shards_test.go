package checker_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// shardsOf deals the intents of a history to runs of their own.
func shardsOf(h *history.History, of int) []checker.Parts {
	parts := split(h).parts
	var shards []checker.Parts
	for n := range of {
		var s splitHistory
		for i := n; i < len(parts); i += of {
			one := parts[i]
			one.Run.Shard = fmt.Sprintf("%d/%d", n+1, of)
			s.parts = append(s.parts, one)
		}
		if len(s.parts) > 0 {
			s.head = s.parts[0]
			s.head.Intents, s.head.Attempts, s.head.Followups, s.head.Sightings = nil, nil, nil, nil
			s.head.Before, s.head.T1, s.head.T2 = only(h.Before, nil), only(h.T1, nil), only(h.T2, nil)
			s.head.Received = nil // it counted what all have sent
			shards = append(shards, s)
		}
	}
	return shards
}

// TestRecordedRunsAreTheSameInShards deals the intents of every recorded run to three, which find the same.
func TestRecordedRunsAreTheSameInShards(t *testing.T) {
	t.Parallel()
	dealt := 0
	for _, name := range recordedNames(t) {
		var run recordedRun
		readJSON(t, &run, recorded, name, "run.json")
		for _, s := range run.Scenarios {
			h := readRecorded(t, name, s.Scenario)
			if h == nil || len(h.Deaths) > 0 || total(run.Terms) { // a death is of the run in which it was
				continue
			}
			want := checker.Check(h, run.Terms, s.Known...)
			shards := shardsOf(h, 3)
			got, err := checker.CheckShards(shards, run.Terms, s.Known...)
			require.NoError(t, err)
			at := name + " " + s.Scenario
			require.Equal(t, want.Verdict, got.Verdict, at)
			require.Equal(t, want.Exercise, got.Exercise, at)
			require.Equal(t, [4]int{want.Intents, want.Attempts, want.Failed, want.Beside}, [4]int{got.Intents, got.Attempts, got.Failed, got.Beside}, at)
			require.Equal(t, want.Outcomes, got.Outcomes, at)
			require.Equal(t, kindsOf(want), kindsOf(got), at)
			if len(shards) > 1 {
				dealt++
			}
		}
	}
	require.Greater(t, dealt, 30)
}

// kindsOf are a result's findings by intent.
func kindsOf(r checker.Result) map[string]int {
	all := map[string]int{}
	for _, f := range r.Findings {
		all[fmt.Sprint(f.Intent, " ", f.Kind, " ", f.Detail)]++
	}
	return all
}

// What too few intents of a shard show may be shown by enough of all.
func TestExerciseIsThatOfAllShards(t *testing.T) {
	t.Parallel()
	h := readRecorded(t, recordedNames(t)[0], "sequential-replay")
	require.NotNil(t, h)
	h.Run.Exercised = []history.Proof{{Name: "overlapped", AtLeast: 0.01}}
	alone := checker.Check(h, checker.Terms{})
	got, err := checker.CheckShards(shardsOf(h, 2), checker.Terms{})
	require.NoError(t, err)
	require.Equal(t, alone.Exercise[0].Needed, got.Exercise[0].Needed, "not one of each shard")
}

// A run that was cut short says so, by the name of its shard.
func TestAReasonNamesItsShard(t *testing.T) {
	t.Parallel()
	h := readRecorded(t, recordedNames(t)[0], "sequential-replay")
	shards := shardsOf(h, 3)
	cut := shards[1].(splitHistory)
	cut.head.Complete = false
	shards[1] = cut
	got, err := checker.CheckShards(shards, checker.Terms{})
	require.NoError(t, err)
	require.Contains(t, got.Reasons, "shard 2/3: the history ends in the middle: the run was killed")
}

// Another shard may have changed a total meanwhile: what is wrong is no finding, and no pass either. What is right is judged.
func TestAWrongTotalOfAShardIsADoubt(t *testing.T) {
	t.Parallel()
	var run recordedRun
	readJSON(t, &run, recorded, "effects", "run.json")
	all := func(r checker.Result) (n int) {
		for _, f := range r.Findings {
			if f.Intent == checker.EveryIntent {
				n++
			}
		}
		return n
	}
	h := readRecorded(t, "effects", "sequential-replay")
	run.Terms.Operation.Effects = slices.DeleteFunc(run.Terms.Operation.Effects, func(e contract.Effect) bool { return e.Delta == nil })
	require.Positive(t, all(checker.Check(h, run.Terms)))
	got, err := checker.CheckShards(shardsOf(h, 2), run.Terms)
	require.NoError(t, err)
	require.Zero(t, all(got))
	require.Equal(t, checker.Inconclusive, got.Verdict)
	require.Contains(t, fmt.Sprint(got.Reasons), "other shards may have changed it at the same time")

	for i := range run.Terms.Operation.Effects { // what each row stands for is taken off
		fx := &run.Terms.Operation.Effects[i]
		fx.Delta = new(float64)
		for _, s := range []*history.Snapshot{h.T1, h.T2} {
			s.Effects[fx.Name] = h.Before.Effects[fx.Name]
		}
	}
	got, err = checker.CheckShards(shardsOf(h, 2), run.Terms)
	require.NoError(t, err)
	require.Equal(t, checker.Pass, got.Verdict, got.Reasons)
	require.Empty(t, got.Warnings)
}

// A total of an operation that a scenario does not send to is not asked for, and no reason for doubts.
func TestATotalOfAnotherOperationIsNotMissed(t *testing.T) {
	t.Parallel()
	h := readRecorded(t, recordedNames(t)[0], "sequential-replay")
	var run recordedRun
	readJSON(t, &run, recorded, recordedNames(t)[0], "run.json")
	alone := checker.Check(h, run.Terms)
	other := run.Terms.Operation
	other.Effects = []contract.Effect{{Name: "refunded", Query: "select sum(amount) from refunds", Delta: new(float64)}}
	run.Terms.Others = map[string]contract.Operation{"refund": other}
	got := checker.Check(h, run.Terms)
	require.Equal(t, alone.Reasons, got.Reasons)
	require.Equal(t, alone.Verdict, got.Verdict)

	run.Terms.Operation.Effects = other.Effects
	require.Contains(t, fmt.Sprint(checker.Check(h, run.Terms).Reasons), "the effect refunded was not asked for", "it was sent to")
}

// total reports that an effect is compared with all intents together.
func total(t checker.Terms) bool {
	return slices.ContainsFunc(t.Operation.Effects, func(e contract.Effect) bool { return e.Delta != nil })
}

// A run that stops because the target answers nothing was not killed.
func TestARunThatEndedAHistoryWasNotKilled(t *testing.T) {
	t.Parallel()
	for _, kind := range []history.IncidentKind{history.Interruption, history.NoAnswer, history.TargetGone} {
		h := readRecorded(t, recordedNames(t)[0], "sequential-replay")
		require.NotNil(t, h)
		h.Complete, h.Incidents = false, []history.Incident{{At: 1, Kind: kind, Text: "that is why"}}
		got := checker.Check(h, checker.Terms{})
		require.Contains(t, got.Reasons, "that is why", "%s", kind)
		require.NotContains(t, got.Reasons, "the history ends in the middle: the run was killed", "%s", kind)
	}
}
