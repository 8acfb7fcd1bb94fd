package checker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// waitingInVain is a burst of three: one is answered at once, and two wait for ten seconds in vain.
func waitingInVain() *history.History {
	hung := func() history.Attempt {
		a := unknown(history.Timeout)
		a.Deadline, a.Sent = ms(10_000), 300
		a.Start, a.Wrote, a.End = ms(10), ms(11), ms(10_011)
		a.Passage = &history.Passage{Opened: ms(10), Arrived: ms(11), Up: 300, Left: ms(10_011)}
		return a
	}
	first := acknowledged(201, "o1")
	first.Start, first.Wrote, first.Replied, first.End = ms(10), ms(11), ms(40), ms(41)
	h := scene(story(first, hung(), hung()).rows(1))
	h.Run.Normal = ms(30)
	h.T1.At, h.T2.At = ms(11_000), ms(12_000)
	return h
}

func TestARequestThatIsNeverAnswered(t *testing.T) {
	t.Parallel()
	last := func(h *history.History) *history.Attempt { return &h.Attempts[2] }
	for _, test := range []struct {
		name    string
		change  func(h *history.History, terms *checker.Terms)
		found   bool
		warning bool
	}{
		{"nothing was in its way", func(*history.History, *checker.Terms) {}, true, false},
		{"the contract lets it wait", func(_ *history.History, t *checker.Terms) {
			t.Contract.InProgress.Mode = contract.InProgressWait
		}, true, false},
		{"a dead execution may block its key for longer", func(_ *history.History, t *checker.Terms) {
			t.Contract.Lease = contract.Duration(30 * time.Second)
		}, false, true},
		{"others before it were made to take long, and are taken one at a time", func(h *history.History, _ *checker.Terms) {
			h.Intents[0].Work = ms(2000)
		}, false, true},
		{"its client gave up early", func(h *history.History, _ *checker.Terms) {
			for i := range h.Attempts {
				h.Attempts[i].Deadline = ms(900)
			}
		}, false, false},
		{"its lane has a fault", func(h *history.History, _ *checker.Terms) {
			h.Run.Lanes[0].Faults = []string{"latency: 10s"}
		}, false, false},
		{"it never arrived", func(h *history.History, _ *checker.Terms) {
			for i := range h.Attempts {
				if p := h.Attempts[i].Passage; p != nil {
					p.Up = 200
				}
			}
		}, false, false},
		{"a link inside the target was slow", func(h *history.History, _ *checker.Terms) {
			h.Run.Links = []history.Link{{Name: "database"}}
		}, false, true},
		{"the store was emptied", func(h *history.History, _ *checker.Terms) {
			h.Flushes = []history.Flush{{Intent: "i1", Begun: ms(20), Done: ms(30)}}
		}, false, true},
		{"writers were held back until its last seconds", func(h *history.History, _ *checker.Terms) {
			h.Holdings = []history.Holding{{Intent: "i1", Shut: ms(20), Opened: ms(6000)}}
		}, false, true},
		{"writers were held back before", func(h *history.History, _ *checker.Terms) {
			h.Holdings = []history.Holding{{Intent: "i1", Shut: ms(20), Opened: ms(300)}}
		}, true, false},
		{"the target works off a queue", func(h *history.History, _ *checker.Terms) {
			h.Attempts[0].Replied, h.Attempts[0].End = ms(9000), ms(9001)
		}, false, true},
		{"others overtake it", func(h *history.History, _ *checker.Terms) {
			healthy := &h.Attempts[3]
			healthy.Start, healthy.Wrote, healthy.Replied, healthy.End = ms(8000), ms(8001), ms(8040), ms(8041)
		}, true, false},
		{"one of another intent that came later takes seconds", func(h *history.History, _ *checker.Terms) {
			slow := &h.Attempts[3]
			slow.Start, slow.Wrote, slow.Replied, slow.End = ms(1000), ms(1001), ms(4000), ms(4001)
		}, false, true},
		{"a plain create takes seconds", func(h *history.History, _ *checker.Terms) { h.Run.Normal = ms(3000) }, false, true},
		{"a client of a faulty lane occupies the target", func(h *history.History, _ *checker.Terms) {
			h.Run.Lanes = append(h.Run.Lanes, history.Lane{Name: "silent", Faults: []string{"withhold"}})
			h.Attempts[0].Lane = "silent"
			h.Attempts[0].Passage = &history.Passage{Opened: ms(10), Arrived: ms(11), Answered: ms(40), Up: 300}
			h.Attempts[0].Sent = 300
		}, false, true},
		{"the connection was closed", func(h *history.History, _ *checker.Terms) {
			for i := range h.Attempts[1:3] {
				h.Attempts[i+1].ErrorKind = history.Closed
			}
		}, false, true},
		{"the target was killed", func(h *history.History, _ *checker.Terms) {
			h.Crashes = []history.Crash{{Attempt: last(h).ID, Struck: ms(20), Ready: ms(400)}}
		}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h, terms := waitingInVain(), terms()
			test.change(h, &terms)
			r := check(h, terms)
			require.Equal(t, test.found, len(r.Findings) == 1, "%+v", r.Findings)
			for _, f := range r.Findings {
				require.Equal(t, checker.Unanswered, f.Kind)
				require.Contains(t, f.Observed, "2 of 4 requests")
			}
			warned := false
			for _, w := range r.Warnings {
				warned = warned || w.Kind == "unanswered"
			}
			require.Equal(t, test.warning, warned, "%+v", r.Warnings)
		})
	}
}

func TestAFinalRetryThatIsNeverAnswered(t *testing.T) {
	t.Parallel()
	hung := unknown(history.Timeout)
	hung.Deadline, hung.Sent = ms(10_000), 300
	hung.Start, hung.Wrote, hung.End = ms(1000), ms(1001), ms(11_001)
	answered := acknowledged(201, "o1")
	answered.Start, answered.Wrote, answered.Replied, answered.End = ms(11_100), ms(11_101), ms(11_130), ms(11_131)
	h := scene(story(acknowledged(201, "o1")).rows(1).probe(hung, answered))
	require.Equal(t, checker.Unanswered, check(h, terms()).Findings[0].Kind)
	h = scene(story(acknowledged(201, "o1")).rows(1).probe(hung))
	r := check(h, terms())
	require.Len(t, r.Findings, 1, "that is one defect")
	require.Equal(t, checker.RefusedThoughDone, r.Findings[0].Kind)

	slow := acknowledged(201, "o2") // of another customer, after 4 s
	slow.Sent, slow.Start, slow.Wrote, slow.Replied, slow.End = 300, ms(900), ms(901), ms(4900), ms(4901)
	busy := func(tries ...history.Attempt) checker.Result {
		return check(scene(story(acknowledged(201, "o1")).rows(1).probe(tries...), story(slow).named("i2").holding("o2")), terms())
	}
	r = busy(hung)
	require.Empty(t, r.Findings, "the target had more to do than it got done")
	require.Equal(t, checker.Inconclusive, r.Verdict)
	require.Contains(t, strings.Join(r.Reasons, "\n"), "had more to do than it got done, and was not sent again")
	again := hung
	again.Start, again.Wrote, again.End = ms(12_000), ms(12_001), ms(22_001)
	require.Equal(t, checker.RefusedThoughDone, busy(hung, again).Findings[0].Kind, "and it got no answer when all others had theirs")
	require.Empty(t, busy(hung, answered).Findings)
}
