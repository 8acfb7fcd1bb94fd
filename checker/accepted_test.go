package checker_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

func TestAStatusResourceThatIsGoneForGood(t *testing.T) {
	t.Parallel()
	taken := bearing("Location", "/operations/7", answer(202, `{"operation":"7"}`))
	gone := history.Followup{At: ms(900), Tries: 2, Status: 410, Complete: true}
	judge(t, scene(story(taken).then(gone)), terms(accepting), []string{"lost-acknowledged-write/accepted"}, "")
}

// Accepted answers, and what their status resource says of them (row 12).
func TestAccepted(t *testing.T) {
	t.Parallel()
	taken := bearing("Location", "/operations/7", answer(202, `{"operation":"7"}`))
	says := func(status int, content string) history.Followup {
		return history.Followup{At: ms(900), Tries: 2, Status: status, Content: content, Complete: true}
	}
	done, failed, running := says(200, `{"state":"done","thing":"o1"}`), says(200, `{"state":"failed"}`), says(200, `{"state":"running"}`)
	other, gone, none := says(200, `{"state":"done","thing":"o2"}`), says(404, ``), history.Followup{At: ms(900), Error: "connection refused"}
	cells := []cell{
		{name: "done, and one row", story: story(taken).then(done).rows(1)},
		{name: "done, and no row", story: story(taken).then(done), want: []string{"lost-acknowledged-write"}},
		{name: "done, and two rows", story: story(taken).then(done).rows(2), want: []string{"duplicate"}},
		{name: "done, of another thing than the row", story: story(taken).then(other).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "failed, and no row", story: story(taken).then(failed)},
		{name: "failed, and one row", story: story(taken).then(failed).rows(1), want: []string{"phantom-row"}},
		{name: "failed, and two rows", story: story(taken).then(failed).rows(2), want: []string{"duplicate"}},
		{name: "never done, and no row", story: story(taken).then(running), want: []string{"stuck-key/accepted"}},
		{name: "never done, and one row", story: story(taken).then(running).rows(1), want: []string{"refused-though-done/accepted"}},
		{name: "never done, and two rows", story: story(taken).then(running).rows(2), want: []string{"duplicate"}},
		{name: "gone, and no row", story: story(taken).then(gone), want: []string{"lost-acknowledged-write/accepted"}},
		{name: "gone, and one row", story: story(taken).then(gone).rows(1), want: []string{"replay-mismatch/status-resource"}},
		{name: "throttled when it was asked, and one row", story: story(taken).then(says(429, ``)).rows(1), doubt: "its status resource refused to answer: status 429"},
		{name: "throttled when it was asked, and no row", story: story(taken).then(says(429, ``)), doubt: "refused to answer: status 429"},
		{name: "throttled as declared when it was asked", story: story(taken).then(says(503, `{"error":"slow"}`)).rows(1), doubt: "refused to answer: status 503"},
		{name: "turned away when it was asked", story: story(taken).then(says(401, ``)).rows(1), doubt: "refused to answer: status 401"},
		{name: "throttled when it was asked, and two rows", story: story(taken).then(says(429, ``)).rows(2), want: []string{"duplicate"}},
		{name: "a server error when it was asked, and one row", story: story(taken).then(says(503, `{"error":"down"}`)).rows(1), want: []string{"refused-though-done/accepted"}},
		{name: "throttled and not heard to its end", story: story(taken).then(history.Followup{Status: 429, Error: "broken off"}).rows(1), doubt: "broken off"},
		{name: "not to be asked", story: story(taken).then(none).rows(1), doubt: "gave no answer: connection refused"},
		{name: "not heard to its end", story: story(taken).then(history.Followup{Status: 200, Content: `{"state":"done","thing":"o1"}`, Error: "broken off"}).rows(1), doubt: "broken off"},
		{name: "not asked", story: story(taken).rows(1), doubt: "it was never asked"},
		{name: "accepted again, and done", story: story(taken).then(done).rows(1).probe(taken).then(done)},
		{name: "accepted again as another operation", story: story(taken).then(done).rows(1).probe(saying(`{"operation":"8"}`, taken)).then(done), want: []string{"replay-mismatch/body"}},
		{name: "accepted, then acknowledged with a status that is not declared", story: story(taken).then(done).rows(1).probe(acknowledged(200, "o1")), want: []string{"replay-mismatch/status", "replay-mismatch/body", "replay-mismatch/header"}},
		{name: "accepted after a lost answer", story: story(unknown(history.Reset)).rows(1).probe(taken).then(done)},
		{name: "accepted for ever after a lost answer", story: story(unknown(history.Reset)).probe(taken).then(running), want: []string{"stuck-key/accepted"}},
	}
	for i := range cells {
		cells[i].terms = terms(accepting)
	}
	runCells(t, cells)
}

func TestAnAcceptedAnswerSaysWhereToAsk(t *testing.T) {
	t.Parallel()
	taken := bearing("Location", "/operations/7", answer(202, `{"operation":"/o/7"}`))
	require.Equal(t, "/operations/7", terms(accepting).Monitor(taken))
	pointed := terms(accepting)
	pointed.Contract.Ack.Accepted.Monitor = "/operation"
	require.Equal(t, "/o/7", pointed.Monitor(taken))
	require.Empty(t, terms(accepting).Monitor(bearing("Location", "/orders/o1", acknowledged(201, "o1"))))
	require.Empty(t, terms().Monitor(taken), "202 is not declared")
	require.True(t, terms(accepting).Settled(taken))
	for status, content := range map[int]string{200: `{"state":"done"}`, 404: "", 410: ""} {
		require.Equal(t, status == 200, terms(accepting).Followed(history.Followup{Status: status, Content: content, Complete: true}), "one that is not there yet may come")
		require.False(t, terms(accepting).Followed(history.Followup{Status: status, Content: content}))
	}
	require.True(t, terms(accepting).Followed(history.Followup{Status: 200, Content: `{"state":"failed"}`, Complete: true}))
	require.False(t, terms(accepting).Followed(history.Followup{Status: 200, Content: `{"state":"running"}`, Complete: true}))
}

func TestWithoutAPointerTheAcceptedAnswerItselfNamesTheThing(t *testing.T) {
	t.Parallel()
	terms := terms(accepting)
	terms.Contract.Ack.Accepted.Identity = ""
	done := history.Followup{Status: 200, Content: `{"state":"done"}`, Complete: true}
	judge(t, scene(story(answer(202, `{"id":"o1"}`)).then(done).rows(1)), terms, nil, "")
	judge(t, scene(story(answer(202, `{"id":"o2"}`)).then(done).rows(1)), terms, []string{"replay-mismatch/identity"}, "")
}

func TestAnotherIdentityIsShownWhereItStands(t *testing.T) {
	t.Parallel()
	taken := answer(202, `{"operation":"7"}`)
	done := history.Followup{Status: 200, Content: `{"state":"done","thing":"o2"}`, Complete: true}
	nameless := terms(accepting)
	nameless.Operation.Identity = contract.Identity{}
	for _, terms := range []checker.Terms{terms(accepting), nameless} {
		r := story(taken).then(done).rows(1).check(terms)
		require.Equal(t, []string{"replay-mismatch/identity"}, found(r))
		require.Equal(t, "/thing", r.Findings[0].Differs[0].Where)
	}
	linked := terms(naturalKey)
	linked.Contract.Existing.Identity = contract.Identity{JSON: "/link"}
	r := story(acknowledged(201, "o1"), answer(409, `{"error":"exists","link":"o2"}`)).rows(1).check(linked)
	require.Equal(t, []string{"replay-mismatch/identity"}, found(r))
	require.Equal(t, "/link", r.Findings[0].Differs[0].Where)
}

// byRows is a contract of work that is done later, and has no status resource.
func byRows(t *checker.Terms) {
	t.Contract.Ack.Accepted = contract.Accepted{Signature: contract.Signature{Statuses: []int{202}}, Within: contract.Duration(10e9)}
}

// Accepted answers whose end only the rows tell.
func TestAcceptedByRows(t *testing.T) {
	t.Parallel()
	taken := answer(202, `{"status":"queued"}`)
	cells := []cell{
		{name: "done", story: story(taken).rows(1)},
		{name: "never done", story: story(taken), want: []string{"lost-acknowledged-write/accepted"}},
		{name: "done twice", story: story(taken).rows(2), want: []string{"duplicate"}},
		{name: "accepted again", story: story(taken).rows(1).probe(taken)},
		{name: "accepted again with another answer", story: story(taken).rows(1).probe(answer(202, `{"status":"running"}`)), want: []string{"replay-mismatch/body"}},
		{name: "acknowledged when it was done", story: story(taken).rows(1).probe(acknowledged(201, "o1"))},
		{name: "accepted, and another thing acknowledged", story: story(taken).rows(1).probe(acknowledged(201, "o2")), want: []string{"replay-mismatch/identity"}},
		{name: "accepted after a lost answer", story: story(unknown(history.Reset)).rows(1).probe(taken)},
		{name: "refused once it was accepted", story: story(taken).rows(1).probe(rejected(400)), want: []string{"replay-mismatch/status"}},
	}
	for i := range cells {
		cells[i].terms = terms(byRows)
	}
	runCells(t, cells)
}

// What was accepted is not lost while it has time.
func TestARunThatWasStoppedLosesNothingAccepted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		read, recovery time.Duration
		crashed        bool
		lost           int
	}{
		{read: 5 * time.Second}, {read: time.Hour, lost: 1}, {read: 30 * time.Second, recovery: time.Minute, crashed: true}, {read: 30 * time.Second, recovery: time.Minute, lost: 1},
	} {
		h := scene(story(answer(202, `{"status":"queued"}`)))
		h.Incidents = []history.Incident{{At: 1, Kind: history.Interruption, Text: "ctrl-c"}}
		h.T1.At, h.T2.At = history.Offset(c.read), history.Offset(c.read)
		if c.crashed {
			h.Crashes = []history.Crash{{}}
		}
		r := check(h, terms(byRows, func(t *checker.Terms) { t.Contract.Ack.Accepted.Recovery = contract.Duration(c.recovery) }))
		require.Len(t, r.Findings, c.lost, "%+v", c)
		require.NotEqual(t, checker.Pass, r.Verdict)
	}
}

// A repetition of what was accepted may be told so by a status of its own, and the work is not lost while it has time.
func TestARunThatWasStoppedLosesNothingWhoseAcceptanceWasRepeated(t *testing.T) {
	t.Parallel()
	taken, again := answer(202, `{"status":"queued"}`), answer(200, `{"status":"duplicate"}`)
	for name, c := range map[string]struct {
		read    time.Duration
		replays []int
		lost    int
	}{
		"stopped in time":                  {5 * time.Second, []int{200}, 0},
		"when it had to be done":           {time.Hour, []int{200}, 1},
		"200 is no replay, and says: done": {5 * time.Second, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := scene(story(taken, again))
			h.Incidents = []history.Incident{{At: 1, Kind: history.Interruption, Text: "the time of the run was over (budget)"}}
			h.T1.At, h.T2.At = history.Offset(c.read), history.Offset(c.read)
			r := check(h, terms(byRows, func(t *checker.Terms) { t.Contract.Replay.Status = map[int][]int{202: c.replays} }))
			lost := slices.DeleteFunc(found(r), func(kind string) bool { return !strings.HasPrefix(kind, "lost-acknowledged-write") })
			require.Len(t, lost, c.lost)
			require.NotEqual(t, checker.Pass, r.Verdict)
		})
	}
}

// A snapshot is asked for what clients were told of.
func TestOwed(t *testing.T) {
	t.Parallel()
	owed := func(d *draft) []string {
		h := scene(d)
		return terms(byRows).Owed(h, *h.T1)
	}
	taken := answer(202, `{"status":"queued"}`)
	require.NotEmpty(t, owed(story(taken)))
	require.Empty(t, owed(story(taken).rows(1)))
	require.Empty(t, owed(story(unknown(history.Reset))), "nothing was promised")
	require.NotEmpty(t, owed(story(acknowledged(201, "o1"))))
	require.Empty(t, owed(story(rejected(400))))
}

// What came late is not lost.
func TestARowThatComesLateIsAWarning(t *testing.T) {
	t.Parallel()
	d := story(answer(202, `{"status":"queued"}`)).rows(1)
	h := scene(d)
	h.T1.Late = []string{h.Intents[0].Bodies[history.Original].Marker}
	r := check(h, terms(byRows))
	require.Empty(t, r.Findings)
	require.Equal(t, "late", r.Warnings[0].Kind)
}
