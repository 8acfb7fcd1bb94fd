package checker_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// dead is a death at a moment of the run, in milliseconds.
func dead(at int) history.Death {
	return history.Death{At: history.Offset(time.Duration(at) * time.Millisecond), How: "exit status 2", Said: []string{"panic: no"}}
}

// inside is an attempt that arrived and whose connection broke, in milliseconds.
func inside(came, broke int) history.Attempt {
	ms := func(n int) history.Offset { return history.Offset(time.Duration(n) * time.Millisecond) }
	return history.Attempt{
		Start: ms(came - 1), Wrote: ms(came), End: ms(broke), Sent: 9, ErrorKind: history.Closed,
		Passage: &history.Passage{Opened: ms(came - 1), Arrived: ms(came), Closed: ms(broke), Up: 9},
	}
}

func TestAProcessThatDied(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		drafts   []*draft
		death    history.Death
		intent   string
		observed string
	}{
		"with two of one intent": {
			[]*draft{story(inside(100, 200)).named("i1"), story(inside(110, 200), inside(120, 200)).named("i2")}, dead(210), "i2",
			"the process ended by itself (exit status 2): panic: no; inside: i1.1, i2.1, i2.2",
		},
		"with one that came last": {
			[]*draft{story(inside(100, 200)).named("i1"), story(inside(90, 200)).named("i2")}, dead(210), "i1",
			"the process ended by itself (exit status 2): panic: no; inside: i2.1, i1.1",
		},
		"long after its connection broke": {
			[]*draft{story(inside(100, 200)).named("i1")}, dead(5000), "i0",
			"the process ended by itself (exit status 2): panic: no; no request was inside",
		},
		"before it came": {
			[]*draft{story(inside(100, 200)).named("i1")}, dead(50), "i0",
			"the process ended by itself (exit status 2): panic: no; no request was inside",
		},
		"after an answer": {
			[]*draft{story(acknowledged(201, "o1")).named("i1").rows(1)}, dead(900_000), "i1",
			"the process ended by itself (exit status 2): panic: no; no request was inside",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := scene(c.drafts...)
			h.Deaths = []history.Death{c.death}
			r := check(h, terms())
			require.Equal(t, []string{"target-died"}, found(r))
			require.Equal(t, checker.Fail, r.Verdict)
			require.Equal(t, c.intent, r.Findings[0].Intent)
			require.Equal(t, c.observed, r.Findings[0].Observed)
		})
	}
}

func TestADeathBeforeAnyAnswerShowsWhatWasSent(t *testing.T) {
	t.Parallel()
	h := scene(story(unknown(history.Refused)).named("i1"))
	h.Intents = slices.DeleteFunc(h.Intents, func(i history.Intent) bool { return i.ID != "i1" }) // without the healthy one
	h.Attempts = slices.DeleteFunc(h.Attempts, func(a history.Attempt) bool { return a.Intent != "i1" })
	h.Deaths = []history.Death{dead(0)}
	f := check(h, terms()).Findings[0]
	require.Equal(t, []string{"all", "i1"}, []string{f.Intent, f.Typical})
	require.Len(t, f.Requests, 1)
}

func TestADeathOfAnotherInstanceHadNothingOfItsNeighbour(t *testing.T) {
	t.Parallel()
	h := scene(story(at(1, inside(100, 200))).named("i1"), story(at(2, inside(100, 200))).named("i2"))
	h.Deaths = []history.Death{dead(210)}
	h.Deaths[0].Instance, h.Deaths[0].Error = 1, "no port"
	f := check(h, terms()).Findings[0]
	require.Equal(t, "i1", f.Intent)
	require.Equal(t, "the process of instance 1 ended by itself (exit status 2): panic: no; inside: i1.1; it does not start again: no port", f.Observed)
}

// TestADeathStandsBesideATargetThatIsGone and is not hidden by its end.
func TestADeathStandsBesideATargetThatIsGone(t *testing.T) {
	t.Parallel()
	h := scene(story(inside(100, 200)))
	h.Deaths = []history.Death{dead(210)}
	happened(history.TargetGone, h)
	r := check(h, terms())
	require.Equal(t, []string{"target-died"}, found(r))
	require.Equal(t, checker.Fail, r.Verdict)
}

// TestTheCountOfANewProcessIsNotCompared since it begins anew.
func TestTheCountOfANewProcessIsNotCompared(t *testing.T) {
	t.Parallel()
	h := scene(story(acknowledged(201, "o1")).rows(1))
	h.Received = &history.Received{Before: 100, After: 1}
	for i := range h.Run.Lanes {
		h.Run.Lanes[i].Doorstep = true
	}
	h.Deaths = []history.Death{dead(900_000)}
	require.Equal(t, []string{"target-died"}, found(check(h, terms())))
	require.Empty(t, check(h, terms()).Reasons)
}
