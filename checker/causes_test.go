package checker_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// under is a finding of a kind under circumstances, with so many attempts.
func under(k checker.Kind, detail, intent string, attempts int, all ...checker.Circumstance) checker.Finding {
	return checker.Finding{Kind: k, Detail: detail, Intent: intent, Attempts: make([]history.Attempt, attempts), Circumstances: all}
}

// numbered gives findings their ids in the order of the results, and groups them.
func numbered(results ...checker.Result) []checker.Cause {
	for i := range results {
		for j := range results[i].Findings {
			f := &results[i].Findings[j]
			f.ID = results[i].Scenario + "/" + f.Intent
		}
	}
	return checker.Causes(results)
}

func TestWhatPlainRequestsShowExplainsWhatShowsUnderMore(t *testing.T) {
	t.Parallel()
	got := numbered(
		checker.Result{Scenario: "crash", Intents: 3, Findings: []checker.Finding{under(checker.Duplicate, "", "i1", 2, checker.LostAnswer, checker.Crashed)}},
		checker.Result{Scenario: "burst", Intents: 2, Findings: []checker.Finding{
			under(checker.Duplicate, "", "i1", 9, checker.Overlapping), under(checker.Duplicate, "", "i2", 9, checker.Overlapping),
		}},
		checker.Result{Scenario: "race", Intents: 5, Findings: []checker.Finding{
			under(checker.Duplicate, "", "b1", 2, checker.Overlapping, checker.Background), under(checker.Duplicate, "", "i1", 2, checker.OtherBody, checker.Overlapping),
		}},
		checker.Result{Scenario: "double-click", Intents: 4, Findings: []checker.Finding{under(checker.Duplicate, "", "i3", 2, checker.Overlapping)}},
	)
	require.Len(t, got, 2)
	require.Equal(t, []string{"double-click/i3", "burst/i1", "burst/i2", "race/i1", "race/b1"}, got[0].Findings, "the simplest first, the background last")
	require.Equal(t, []checker.Circumstance{checker.Overlapping}, got[0].Circumstances)
	require.Equal(t, []string{"double-click", "burst", "race"}, []string{got[0].Scenarios[0].Scenario, got[0].Scenarios[1].Scenario, got[0].Scenarios[2].Scenario})
	require.Equal(t, checker.CauseIn{Scenario: "burst", Findings: []string{"burst/i1", "burst/i2"}, Broke: 2, Of: 2}, got[0].Scenarios[1])
	require.Equal(t, []string{"crash/i1"}, got[1].Findings, "requests that overlap do not explain what one after the other do")
	require.Equal(t, "C2", got[1].ID)
}

// TestWhatClientsLeaveMayOverlap holds that a retry which met a request whose client had left shows no more than copies at once do, where those
// show it, and that a process which was killed, or an answer that was lost on its way, is another thing.
func TestWhatClientsLeaveMayOverlap(t *testing.T) {
	t.Parallel()
	left := func(intent string, p history.Passage, all ...checker.Circumstance) checker.Finding {
		f := under(checker.Duplicate, "", intent, 2, append(all, checker.LostAnswer)...)
		f.Attempts[0] = history.Attempt{Sent: 100, Wrote: 2, ErrorKind: history.Timeout, Passage: &p}
		return f
	}
	running := history.Passage{Opened: 1, Arrived: 2, Left: 5, Closed: 5, Up: 100}
	answered := history.Passage{Opened: 1, Arrived: 2, Answered: 4, Left: 5, Closed: 5, Up: 100}
	burst := checker.Result{Scenario: "burst", Intents: 2, Findings: []checker.Finding{under(checker.Duplicate, "", "i1", 9, checker.Overlapping)}}
	leaving := checker.Result{Scenario: "impatient-retry", Intents: 4, Findings: []checker.Finding{
		left("i1", running), left("i2", answered), left("i3", running, checker.Crashed),
	}}
	got := numbered(leaving, burst)
	require.Equal(t, []string{"burst/i1", "impatient-retry/i1"}, got[0].Findings)
	require.Equal(t, []string{"impatient-retry/i2", "impatient-retry/i3"}, got[1].Findings)
	require.Equal(t, []checker.Circumstance{checker.LostAnswer}, numbered(leaving)[0].Circumstances, "where copies at once show nothing, it took the leaving")
}

func TestAControlThatFailsComesFirstAndExplainsTheRest(t *testing.T) {
	t.Parallel()
	twice := func(intent string) checker.Finding { return under(checker.Duplicate, "", intent, 2) }
	got := numbered(
		checker.Result{Scenario: "late-retry", Intents: 1, Failed: 1, Findings: []checker.Finding{twice("i1")}},
		checker.Result{Scenario: "burst", Intents: 1, Failed: 1, Findings: []checker.Finding{under(checker.Duplicate, "", "i1", 5, checker.Overlapping)}},
		checker.Result{Scenario: "sequential-replay", Intents: 9, Failed: 1, Findings: []checker.Finding{twice("i1")}},
		checker.Result{Scenario: "plain-create", Intents: 1, Failed: 1, Findings: []checker.Finding{under(checker.LostWrite, "", "i1", 1)}},
	)
	require.Len(t, got, 2)
	require.Equal(t, []string{"plain-create/i1"}, got[0].Findings, "a create that is wrong by itself comes before a worse kind")
	require.Equal(t, []string{"sequential-replay/i1", "late-retry/i1", "burst/i1"}, got[1].Findings)
	require.True(t, got[1].Plain())
}

func TestRequestsOneAfterTheOtherComeBeforeThoseAtOnce(t *testing.T) {
	t.Parallel()
	overlapped := []checker.Exercise{{Proof: "overlapped"}}
	twice := func(attempts int) []checker.Finding {
		return []checker.Finding{under(checker.Duplicate, "", "i1", attempts)}
	}
	got := numbered( // a race of which these requests happened to come one after the other
		checker.Result{Scenario: "enter-plus-click", Intents: 1, Failed: 1, Exercise: overlapped, Findings: twice(2)},
		checker.Result{Scenario: "late-retry", Intents: 1, Failed: 1, Findings: twice(3)},
		checker.Result{Scenario: "sequential-replay", Intents: 9, Failed: 1, Findings: twice(4)},
	)
	require.Equal(t, []string{"sequential-replay/i1", "late-retry/i1", "enter-plus-click/i1"}, got[0].Findings)
}

func TestDetailsOfOneIntentAreOneCause(t *testing.T) {
	t.Parallel()
	got := numbered(checker.Result{Scenario: "s", Intents: 4, Findings: []checker.Finding{
		under(checker.ReplayMismatch, "status", "i1", 2), under(checker.ReplayMismatch, "body", "i1", 2), under(checker.ReplayMismatch, "body", "i2", 2),
		under(checker.ReplayMismatch, "header", "i3", 2),
	}})
	require.Len(t, got, 2)
	require.Equal(t, []string{"status", "body"}, got[0].Details)
	require.Equal(t, 2, got[0].Scenarios[0].Broke, "an intent counts once")
	require.Equal(t, []string{"header"}, got[1].Details)
}

func TestKnownAndExcusedFindingsAreCausesOfTheirOwn(t *testing.T) {
	t.Parallel()
	excused, known, fresh := under(checker.Duplicate, "", "i1", 2), under(checker.Duplicate, "", "i2", 2), under(checker.MissingKeyAccepted, "", "i3", 2)
	excused.Excused, known.Known = "after_crash", "https://tracker.example.com/7"
	whole := under(checker.EffectMismatch, "", checker.EveryIntent, 0)
	got := numbered(checker.Result{Scenario: "s", Intents: 7, Findings: []checker.Finding{excused, known, fresh, whole}})
	var order []checker.Kind
	for _, c := range got {
		order = append(order, c.Kind)
	}
	require.Equal(t, []checker.Kind{checker.EffectMismatch, checker.MissingKeyAccepted, checker.Duplicate, checker.Duplicate}, order)
	require.Equal(t, 7, got[0].Scenarios[0].Broke, "what all intents together show broke all of them")
	require.Equal(t, known.Known, got[2].Known)
	require.Empty(t, numbered())
}

func TestWhatIsSeldomSeenIsNoFirstPage(t *testing.T) {
	t.Parallel()
	got := numbered(
		checker.Result{Scenario: "double-click", Intents: 12, Failed: 1, Findings: []checker.Finding{under(checker.Duplicate, "", "i3", 2, checker.Overlapping)}},
		checker.Result{Scenario: "burst", Intents: 2, Failed: 1, Findings: []checker.Finding{under(checker.Duplicate, "", "i1", 9, checker.Overlapping)}},
	)
	require.Len(t, got, 1)
	require.Equal(t, []string{"burst/i1", "double-click/i3"}, got[0].Findings)
}

// What shows in the middle of a sweep shows again when it is replayed; at its edge it may not.
func TestTheMiddleOfASweepComesFirst(t *testing.T) {
	t.Parallel()
	crashes, sweeps := checker.Result{Scenario: "crash-sweep", Intents: 5}, checker.Result{Scenario: "sweep", Intents: 5}
	for i, at := range []history.Offset{4, 30, 18, 20, 22} {
		f := under(checker.Duplicate, "", fmt.Sprint("i", i), 2, checker.Crashed)
		f.Crashes = []history.Crash{{After: at}}
		crashes.Findings = append(crashes.Findings, f)
		f = under(checker.LostWrite, "", fmt.Sprint("i", i), 2, checker.Overlapping)
		f.Attempts[1].Intent, f.Attempts[1].After = f.Intent, at
		sweeps.Findings = append(sweeps.Findings, f)
	}
	got := numbered(crashes, sweeps)
	require.Len(t, got, 2)
	order := []string{"i3", "i2", "i4", "i1", "i0"}
	for _, c := range got {
		for n, id := range c.Findings {
			require.Equal(t, c.Scenarios[0].Scenario+"/"+order[n], id)
		}
	}
}

// Without a database, two names for one thing are all that shows of a second row: no other body that was taken is worse.
func TestTwoNamesAreASecondRowWhereNoRowsAreKnown(t *testing.T) {
	t.Parallel()
	for unknown, first := range map[bool]checker.Kind{true: checker.ReplayMismatch, false: checker.AlteredBody} {
		named := under(checker.ReplayMismatch, "identity", "i1", 5, checker.Overlapping)
		named.Rows = []checker.RowEvidence{{Unknown: unknown}}
		got := numbered(
			checker.Result{Scenario: "race", Intents: 1, Findings: []checker.Finding{under(checker.AlteredBody, "", "i1", 8, checker.OtherBody, checker.Overlapping)}},
			checker.Result{Scenario: "burst", Intents: 1, Findings: []checker.Finding{named}},
		)
		require.Len(t, got, 2)
		require.Equal(t, first, got[0].Kind, "rows unknown: %t", unknown)
	}
}
