package checker_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

const tracker = "https://tracker.example.com/7"

func knownBug(kind checker.Kind) checker.KnownBug {
	return checker.KnownBug{Expect: kind, Link: tracker}
}

// twoKinds is an intent with a duplicate beside one with a lost write.
func twoKinds() *history.History {
	return scene(story(acknowledged(201, "o1")).rows(2), story(acknowledged(201, "o1")).named("i2"))
}

func TestWhatIsKnownFailsAsExpected(t *testing.T) {
	t.Parallel()
	duplicate, lost := knownBug(checker.Duplicate), knownBug(checker.LostWrite)
	lacking := func(h *history.History) { h.Run.Exercised[0].AtLeast = 1; h.Attempts[len(h.Attempts)-1].Status = 500 }
	for _, c := range []struct {
		name    string
		history *history.History
		change  func(*history.History)
		known   []checker.KnownBug
		want    checker.Verdict
		reason  string
	}{
		{"nothing is known, and nothing broke", right(), nil, nil, checker.Pass, ""},
		{"nothing is known", wrong(), nil, nil, checker.Fail, ""},
		{"all that broke is known", wrong(), nil, []checker.KnownBug{duplicate}, checker.Known, ""},
		{"both kinds are known", twoKinds(), nil, []checker.KnownBug{lost, duplicate}, checker.Known, ""},
		{"another kind is known", wrong(), nil, []checker.KnownBug{lost}, checker.Fail, ""},
		{"another kind broke besides", twoKinds(), nil, []checker.KnownBug{duplicate}, checker.Fail, ""},
		{"it is told nowhere", wrong(), nil, []checker.KnownBug{{Expect: checker.Duplicate}}, checker.Fail, ""},
		{"the same kind with another detail is known", wrong(), nil, []checker.KnownBug{{Expect: checker.Duplicate, Detail: "altered-body-accepted", Link: tracker}}, checker.Fail, ""},
		{"what is known was not seen", right(), nil, []checker.KnownBug{duplicate}, checker.Mended, "a known duplicate was not seen in 1 exercised round: take it out of the register (" + tracker + ")"},
		{"what is known of some operation was not seen at this one", right(), nil, []checker.KnownBug{{Expect: checker.Duplicate, Link: tracker, Elsewhere: true}}, checker.Pass, ""},
		{"what is known was not seen, nor exercised", right(), lacking, []checker.KnownBug{duplicate}, checker.Inconclusive, "not exercised"},
		{"what is known kept the rest from being exercised", wrong(), lacking, []checker.KnownBug{duplicate}, checker.Known, "not exercised"},
		{"the run was interrupted after it", wrong(), func(h *history.History) { happened(history.Interruption, h) }, []checker.KnownBug{duplicate}, checker.Inconclusive, "it was interrupted"},
		{"the run was killed after it", wrong(), func(h *history.History) { h.Complete = false }, []checker.KnownBug{duplicate}, checker.Inconclusive, "the run was killed"},
		{"rows are not known at the end", wrong(), func(h *history.History) { h.T2.Error = "no such table" }, []checker.KnownBug{duplicate}, checker.Inconclusive, "no such table"},
		{"the target was gone after it", wrong(), func(h *history.History) { happened(history.TargetGone, h) }, []checker.KnownBug{duplicate}, checker.Broken, "it was target-gone"},
		{"the target was gone before it", right(), func(h *history.History) { happened(history.TargetGone, h) }, []checker.KnownBug{duplicate}, checker.Broken, "it was target-gone"},
		{"the target was gone after something new", wrong(), func(h *history.History) { happened(history.TargetGone, h) }, []checker.KnownBug{lost}, checker.Fail, "it was target-gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.change != nil {
				c.change(c.history)
			}
			res := check(c.history, terms(), c.known...)
			require.Equal(t, c.want, res.Verdict, "%v", res.Reasons)
			require.Contains(t, strings.Join(res.Reasons, "\n"), c.reason)
			require.Equal(t, c.reason == "", len(res.Reasons) == 0)
		})
	}
}

func TestTheRegisterChangesNothingButMarks(t *testing.T) {
	t.Parallel()
	without := check(twoKinds(), terms())
	res := check(twoKinds(), terms(), knownBug(checker.Duplicate))
	require.Equal(t, []string{"lost-acknowledged-write", "duplicate"}, found(res), "what is new comes first")
	require.Empty(t, res.Findings[0].Known)
	require.Equal(t, tracker, res.Findings[1].Known)
	require.Equal(t, without.Failed, res.Failed)
	require.Equal(t, without.Warnings, res.Warnings)
	require.Equal(t, without.Exercise, res.Exercise)
}

func TestAFindingIsKnownByTheFirstThatExplainsIt(t *testing.T) {
	t.Parallel()
	h := scene(story(acknowledged(201, "o1"), acknowledged(200, "o1")).rows(1))
	status := checker.KnownBug{Expect: checker.ReplayMismatch, Detail: "status", Link: "https://tracker.example.com/8"}
	res := check(h, terms(), status, knownBug(checker.ReplayMismatch))
	require.Equal(t, checker.Known, res.Verdict)
	require.Equal(t, status.Link, res.Findings[0].Known)
	require.Empty(t, res.Warnings, "both explain it")
}

func TestAKnownBugThatIsNotAmongWhatBrokeIsWorthAWarning(t *testing.T) {
	t.Parallel()
	stale := checker.KnownBug{Expect: checker.ReplayMismatch, Detail: "status", Link: "https://tracker.example.com/8"}
	want := []checker.Warning{{Kind: "known-not-seen", Text: "a known replay-mismatch (status) was not seen (https://tracker.example.com/8)"}}
	res := check(wrong(), terms(), knownBug(checker.Duplicate), stale)
	require.Equal(t, checker.Known, res.Verdict)
	require.Equal(t, want, res.Warnings)
	require.Equal(t, want, check(wrong(), terms(), stale).Warnings, "a new finding beside it does not hide it")

	cut := wrong()
	happened(history.Interruption, cut)
	require.Empty(t, check(cut, terms(), stale).Warnings, "who did not look has seen nothing")
	require.Empty(t, check(right(), terms(), stale).Warnings, "the verdict says it")
}

func TestWhatNamesTheDetailExplainsItFirst(t *testing.T) {
	t.Parallel()
	h := scene(story(acknowledged(201, "o1"), acknowledged(200, "o1")).rows(1))
	status := checker.KnownBug{Expect: checker.ReplayMismatch, Detail: "status", Link: "https://tracker.example.com/8"}
	require.Equal(t, status.Link, check(h, terms(), knownBug(checker.ReplayMismatch), status).Findings[0].Known)
}

func TestABugIsNotFixedWhileAnotherScenarioShowsIt(t *testing.T) {
	t.Parallel()
	other := checker.KnownBug{Expect: checker.ReplayMismatch, Link: "https://tracker.example.com/8"}
	results := func() []checker.Result {
		shows, silent := check(wrong(), terms(), knownBug(checker.Duplicate)), check(right(), terms(), knownBug(checker.Duplicate), other)
		shows.Scenario, silent.Scenario = "shows", "silent"
		return []checker.Result{shows, silent}
	}
	both := results()
	checker.SettleFixed(both, map[string][]checker.KnownBug{"silent": {knownBug(checker.Duplicate), other}})
	require.Equal(t, checker.Mended, both[1].Verdict, "one of its bugs is shown nowhere")
	require.Len(t, both[1].Reasons, 1)
	require.Contains(t, both[1].Reasons[0], other.Link)
	require.Len(t, both[1].Warnings, 1)

	alone := results()
	alone[1] = check(right(), terms(), knownBug(checker.Duplicate))
	alone[1].Scenario = "silent"
	checker.SettleFixed(alone, map[string][]checker.KnownBug{"silent": {knownBug(checker.Duplicate)}})
	require.Equal(t, checker.Pass, alone[1].Verdict)
	require.Empty(t, alone[1].Reasons)

	elsewhere := []checker.Result{check(right(), terms(), knownBug(checker.Duplicate))}
	elsewhere[0].Scenario = "silent"
	checker.SettleFixed(elsewhere, map[string][]checker.KnownBug{"silent": {knownBug(checker.Duplicate)}})
	require.Equal(t, checker.Mended, elsewhere[0].Verdict)
}
