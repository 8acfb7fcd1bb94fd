package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

func againAfterFlush(t *checker.Terms) { t.Contract.AfterFlush = contract.AtLeastOnce }

func againAfterUnknownCommit(t *checker.Terms) { t.Contract.AfterUnknownCommit = contract.AtLeastOnce }

// broke is a request that a crash or a cut ended.
func broke(start, end float64) history.Attempt { return during(start, end, unknown(history.Closed)) }

func told(start, end float64, id string) history.Attempt {
	return during(start, end, acknowledged(201, id))
}

// cutDuring is a request during which the link to the database broke, and an answer was lost.
func cutDuring(at float64, a history.Attempt) history.Attempt {
	a.Cut = &history.Cut{Link: "database", Moment: "committed", At: ms(at), Answer: true, Connections: 1}
	return a
}

func TestTheContractExcusesWhatASetbackExplains(t *testing.T) {
	t.Parallel()
	crash := func(h *history.History) {
		h.Crashes = append(h.Crashes, history.Crash{Attempt: "i1.1", Struck: ms(20), Ended: ms(21), Ready: ms(30)})
	}
	died := func(h *history.History) { h.Deaths = append(h.Deaths, history.Death{At: ms(20), How: "exit status 2"}) }
	flush := func(h *history.History) {
		h.Flushes = append(h.Flushes, history.Flush{Intent: "i1", Begun: ms(20), Done: ms(21), Deleted: 3})
	}
	empty := func(h *history.History) { flush(h); h.Flushes[0].Deleted = 0 }
	nothing := func(*history.History) {}
	again := func() *draft { return story(broke(10, 21), told(40, 50, "o2")).rows(2) }
	afterCrash := "after_crash: at-least-once"
	lines := func(t *checker.Terms) {
		one := 1
		t.Operation.Effects = []contract.Effect{{Name: "lines", Query: "q", Rows: &one}}
	}
	for _, c := range []struct {
		name  string
		story *draft
		with  func(*history.History)
		terms checker.Terms
		want  string // excuse; empty: the run fails
	}{
		{"executed again after the crash", again(), crash, terms(againAfterCrash), afterCrash},
		{"after the process ended by itself, which is a finding", again(), died, terms(againAfterCrash), ""},
		{"the contract says nothing", again(), crash, terms(), ""},
		{"the contract speaks of another setback", again(), crash, terms(againAfterFlush, againAfterUnknownCommit), ""},
		{"there was no crash", again(), nothing, terms(againAfterCrash), ""},
		{"the crash came before", story(told(40, 50, "o1"), told(60, 70, "o1")).rows(2), crash, terms(againAfterCrash), ""},
		{"the crash came after", story(told(1, 5, "o1"), told(6, 9, "o1")).rows(2), crash, terms(againAfterCrash), ""},
		{"acknowledged before the crash, and executed again after it", story(told(1, 5, "o1"), told(40, 50, "o2")).rows(2), crash, terms(againAfterCrash), ""},
		{"acknowledged before the crash, beside a copy that the crash ended", story(told(1, 5, "o1"), broke(10, 21), told(40, 50, "o2")).rows(2), crash, terms(againAfterCrash), ""},
		{"its client left before the crash", story(broke(1, 5), told(40, 50, "o2")).rows(2), crash, terms(againAfterCrash), afterCrash},
		{"failed before the crash, and executed again after it", story(during(1, 5, serverError()), told(40, 50, "o2")).rows(2), crash, terms(againAfterCrash), ""},
		{"three rows and one crash", story(broke(10, 21), told(40, 50, "o2")).rows(3), crash, terms(againAfterCrash), ""},
		{"two rows were named before the crash", story(told(1, 5, "o1"), told(6, 9, "o2"), told(40, 50, "o2")).rows(2), crash, terms(againAfterCrash), ""},
		{"two rows were named after the crash", story(broke(10, 21), told(40, 50, "o2"), told(60, 70, "o3")).rows(2), crash, terms(againAfterCrash), ""},
		{"the final retry adds a third row", story(broke(10, 21), told(40, 50, "o2")).rows(2).probe(told(2000, 2010, "o2")).later("o1", "o2", "o3"), crash, terms(againAfterCrash), ""},
		{"the final retry executes again", story(broke(10, 21)).rows(1).probe(told(2000, 2010, "o2")).later("o1", "o2"), crash, terms(againAfterCrash), afterCrash},
		{"acknowledged and lost", story(told(1, 5, "o1"), told(40, 50, "o1")), crash, terms(againAfterCrash), ""},
		{"executed again after the flush", story(told(1, 5, "o1"), told(40, 50, "o2")).rows(2), flush, terms(againAfterFlush), "after_flush: at-least-once"},
		{"nothing was flushed", story(told(1, 5, "o1"), told(40, 50, "o2")).rows(2), empty, terms(againAfterFlush), ""},
		{"two ran on beside the flush", story(told(10, 45, "o1"), told(25, 50, "o2"), told(60, 70, "o1"), told(80, 90, "o2")).rows(2), flush, terms(againAfterFlush), "after_flush: at-least-once"},
		{"executed again after an unknown commit", story(cutDuring(15, broke(10, 21)), told(40, 50, "o2")).rows(2), nothing, terms(againAfterUnknownCommit), "after_unknown_commit: at-least-once"},
		{"its driver repeats the write", story(cutDuring(15, told(10, 21, "o2"))).rows(2), nothing, terms(againAfterUnknownCommit), "after_unknown_commit: at-least-once"},
		{"a burst has one cut on its record", story(cutDuring(15, broke(10, 21)), cutDuring(15, broke(10, 22)), told(40, 50, "o2")).rows(3), nothing, terms(againAfterUnknownCommit), ""},
		{"a question was lost", story(asked(cutDuring(15, broke(10, 21))), told(40, 50, "o2")).rows(2), nothing, terms(againAfterUnknownCommit), ""},
		{"the link broke after its answer", story(told(1, 5, "o1"), cutDuring(45, told(40, 50, "o2"))).rows(2), nothing, terms(againAfterUnknownCommit), "after_unknown_commit: at-least-once"},
		{"a side effect came once more", story(broke(10, 21), told(40, 50, "o1")).rows(1).with("lines", 2), crash, terms(againAfterCrash, lines), afterCrash},
		{"a side effect came twice more", story(broke(10, 21), told(40, 50, "o1")).rows(1).with("lines", 3), crash, terms(againAfterCrash, lines), ""},
		{"a side effect is missing", story(broke(10, 21), told(40, 50, "o1")).rows(1).with("lines", 0), crash, terms(againAfterCrash, lines), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := scene(c.story)
			for _, s := range []*history.Snapshot{h.T1, h.T2} {
				if s.Effects["lines"] != nil {
					s.Effects["lines"]["dti0"] = 1
				}
			}
			c.with(h)
			r := check(h, c.terms)
			require.NotEmpty(t, r.Findings)
			if c.want == "" {
				require.Equal(t, checker.Fail, r.Verdict)
				return
			}
			require.Equal(t, checker.Pass, r.Verdict, "%v %+v", r.Reasons, r.Findings)
			require.Zero(t, r.Failed)
			for _, f := range r.Findings {
				require.Equal(t, c.want, f.Excused)
			}
		})
	}
}

// asked makes the question the one that was lost.
func asked(a history.Attempt) history.Attempt { a.Cut.Answer = false; return a }

func TestATotalIsExcusedForAsManyAsMetASetback(t *testing.T) {
	t.Parallel()
	one := 1.0
	counted := terms(againAfterCrash, func(t *checker.Terms) {
		t.Operation.Effects = []contract.Effect{{Name: "counter", Query: "q", Delta: &one}}
	})
	for change, verdict := range map[float64]checker.Verdict{2: checker.Pass, 3: checker.Pass, 4: checker.Fail, 1: checker.Fail} {
		h := scene(story(broke(10, 21), told(40, 50, "o1")).rows(1))
		h.Crashes = []history.Crash{{Attempt: "i1.1", Struck: ms(20), Ended: ms(21), Ready: ms(30)}}
		h.Attempts[len(h.Attempts)-1].Start, h.Attempts[len(h.Attempts)-1].End = ms(40), ms(50)
		for s, n := range map[*history.Snapshot]float64{h.Before: 0, h.T1: change, h.T2: change} {
			s.Effects = map[string]map[string]float64{"counter": {"": n}}
		}
		require.Equal(t, verdict, check(h, counted).Verdict, "%g", change)
	}
}

func TestWhatIsExcusedHidesNothingElse(t *testing.T) {
	t.Parallel()
	crashed := func() *history.History {
		h := scene(story(broke(10, 21), told(40, 50, "o2")).rows(2), story(told(60, 70, "o9")).named("i2"))
		h.Crashes = []history.Crash{{Attempt: "i1.1", Struck: ms(20), Ended: ms(21), Ready: ms(30)}}
		return h
	}
	r := check(crashed(), terms(againAfterCrash))
	require.Equal(t, checker.Fail, r.Verdict)
	require.Equal(t, []string{"lost-acknowledged-write", "duplicate"}, found(r), "what is excused comes last")
	require.Equal(t, 1, r.Failed)

	r = check(crashed(), terms(againAfterCrash), knownBug(checker.LostWrite))
	require.Equal(t, checker.Known, r.Verdict)

	idle := crashed()
	idle.Run.Exercised[0].AtLeast = 1
	idle.Intents, idle.Attempts = append(idle.Intents[:1:1], idle.Intents[2:]...), append(idle.Attempts[:2:2], idle.Attempts[3:]...)
	idle.Attempts[2] = during(60, 70, serverError())
	idle.Attempts[2].ID, idle.Attempts[2].Intent, idle.Attempts[2].Body, idle.Attempts[2].Lane = "i0.1", "i0", history.Original, "clean"
	r = check(idle, terms(againAfterCrash))
	require.Equal(t, checker.Inconclusive, r.Verdict, "it has to be exercised as ever")
}
