package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// Decision table 1: one group, one body. Row 12 (accepted with 202, polled until it is terminal) is
// not in yet; with it come several endpoints, expiry, child rows, counters and sinks.
func TestOneGroupWithOneBody(t *testing.T) {
	t.Parallel()
	a, x, u := acknowledged(201, "o1"), exists("o1"), unknown(history.Timeout)
	p, r := inProgress(), rejected(400)
	runCells(t, []cell{
		{name: "1: acknowledged and no row is a lost write", story: story(u, a, p), want: []string{"lost-acknowledged-write"}},
		{name: "1: acknowledged and one row is right", story: story(u, p, a, a).rows(1).probe(a)},
		{name: "1: acknowledged and two rows are a duplicate", story: story(u, a).rows(2), want: []string{"duplicate"}},

		{name: "2: told exists with nothing there and nobody to make it is a false conflict", story: story(x, p), want: []string{"false-conflict"}},
		{name: "2: told exists after a lost answer with nothing there is a lost write", story: story(u, x), want: []string{"lost-acknowledged-write"}},
		{name: "2: told exists after a lost answer and one row is right", story: story(u, r, x).rows(1).probe(x)},
		{name: "2: told exists for one key, acknowledged for another, and one row is right",
			story: story(a, keyed("k2", x)).rows(1).probe(a, keyed("k2", x))},
		{name: "2: told exists for one key, answer lost for another, and one row is right",
			story: story(u, keyed("k2", x)).rows(1).probe(a, keyed("k2", x))},
		{name: "2: one row and every client was told exists is a phantom row: its creator was told so", story: story(x, p).rows(1), want: []string{"phantom-row/creator-told-exists"}},
		{name: "2: one row and both keys were told exists or refused is a phantom row", story: story(x, keyed("k2", r)).rows(1), want: []string{"phantom-row/creator-told-exists"}},
		{name: "2: told exists and two rows are a duplicate", story: story(u, x).rows(2), want: []string{"duplicate"}},
		{name: "2: only told exists and two rows are a duplicate", story: story(x, x).rows(2), want: []string{"duplicate"}},

		{name: "3: answers lost, no row, and the probe creates it", story: story(u, u).rows(0).later("o1").probe(a)},
		{name: "3: answers lost, one row, and the probe is acknowledged", story: story(u, u).rows(1).probe(a)},
		{name: "3: answers lost, one row, and the probe is told that it exists", story: story(u, u).rows(1).probe(x)},
		{name: "3: answers lost, one row, and the probe is told of another thing", story: story(u).rows(1).probe(acknowledged(201, "o7")), want: []string{"replay-mismatch/identity"}},
		{name: "3: answers lost and two rows are a duplicate", story: story(u, u).rows(2), want: []string{"duplicate"}},

		{name: "4: lost and refused, no row, refused to the end, is right", story: story(u, r).probe(r)},
		{name: "4: lost and refused, one row, and the probe is acknowledged", story: story(u, r).rows(1).probe(a)},
		{name: "4: lost and refused, one row, and refused to the end leaves the client in the dark", story: story(u, r).rows(1).probe(r, r), want: []string{"refused-though-done"}},
		{name: "4: lost and refused and two rows are a duplicate", story: story(u, r).rows(2), want: []string{"duplicate"}},

		{name: "5: only refused and no row is right", story: story(r, r).probe(r)},
		{name: "5: only refused and one row is a phantom row", story: story(r, r).rows(1), want: []string{"phantom-row"}},
		{name: "5: only refused and two rows are a duplicate", story: story(r, r).rows(2), want: []string{"duplicate"}},

		{name: "6: only in progress and no row is a stuck key", story: story(p, p).probe(p, p), want: []string{"stuck-key"}},
		{name: "6: only in progress and no row at T1 is right if the probe is acknowledged", story: story(p, p).rows(0).later("o1").probe(p, a)},
		{name: "6: only in progress and one row leaves the client in the dark, with a phantom row", story: story(p, p).rows(1).probe(p), want: []string{"phantom-row", "refused-though-done"}},
		{name: "6: only in progress and two rows are a duplicate", story: story(p, p).rows(2), want: []string{"duplicate"}},

		{name: "7: the probe is acknowledged and no row is a lost write", story: story(u, p).probe(p, a), want: []string{"lost-acknowledged-write"}},
		{name: "7: the probe is acknowledged and one row is right", story: story(u, p).rows(1).probe(p, a)},
		{name: "7: the probe is acknowledged and makes a second row: a duplicate", story: story(u, p).rows(1).later("o1", "o2").probe(acknowledged(201, "o2")), want: []string{"duplicate"}},

		{name: "8: in progress to the end and no row is a stuck key", story: story(u, p).probe(p, p), want: []string{"stuck-key"}},
		{name: "8: in progress to the end and one row leaves the client in the dark", story: story(u, p).rows(1).probe(p, p), want: []string{"refused-though-done"}},
		{name: "8: in progress to the end and two rows are a duplicate", story: story(u, p).rows(2).probe(p), want: []string{"duplicate", "refused-though-done"}},

		{name: "9: server errors to the end and no row are unavailable", story: story(u).probe(serverError(), serverError()), want: []string{"unavailable"}},
		{name: "9: server errors to the end and one row leave the client in the dark", story: story(u).rows(1).probe(serverError()), want: []string{"refused-though-done"}},
		{name: "9: a stored server error and no row is right", terms: terms(store5xx), story: story(serverError()).probe(serverError())},
		{name: "9: a stored server error and one row is right", terms: terms(store5xx), story: story(serverError()).rows(1).probe(serverError())},
		{name: "9: a stored server error that breaks off is no answer", terms: terms(store5xx), story: story(u).probe(history.Attempt{Sent: 9, Status: 500}), want: []string{"unavailable"}},
		{name: "9: server errors and two rows are a duplicate", terms: terms(store5xx), story: story(serverError()).rows(2).probe(serverError()), want: []string{"duplicate"}},

		{name: "10: acknowledged, then told exists, and no row is a lost write", story: story(a).probe(x), want: []string{"lost-acknowledged-write"}},
		{name: "10: acknowledged, then told exists, and one row is right", story: story(a).rows(1).probe(x)},
		{name: "10: acknowledged, then refused, is an unequal replay", story: story(a).rows(1).probe(r), want: []string{"replay-mismatch/status"}},
		{name: "10: acknowledged, then server errors to the end, leaves its client in the dark", story: story(a).rows(1).probe(serverError(), serverError()), want: []string{"refused-though-done"}},
		{name: "10: acknowledged, then a server error that cannot be the stored answer, leaves its client in the dark", terms: terms(store5xx), story: story(a).rows(1).probe(serverError()), want: []string{"refused-though-done"}},
		{name: "10: acknowledged, then refused, and two rows are a duplicate", story: story(a, r).rows(2), want: []string{"duplicate"}},
		{name: "10: acknowledged, then in progress to the end, leaves its client in the dark", story: story(a).rows(1).probe(p, p), want: []string{"refused-though-done"}},

		{name: "11: never sent and no row is inconclusive", story: story(refused()).probe(refused()), doubt: "was rejected at the entry"},
		{name: "11: throttled to the end and no row is inconclusive", story: story(throttled(), refused()).probe(throttled()), doubt: "was rejected at the entry"},
		{name: "11: never sent and one row is inconclusive", story: story(refused()).rows(1), doubt: "although none of its requests reached the target"},
		{name: "11: throttled and one row is a phantom row (the table says inconclusive, but the target did answer)", story: story(throttled()).rows(1), want: []string{"phantom-row"}},
		{name: "11: never sent and two rows are a duplicate", story: story(refused()).rows(2), want: []string{"duplicate"}},
		{name: "11: a lost answer and a probe that is never let in is inconclusive", story: story(u).rows(1).probe(refused()), doubt: "was rejected at the entry"},
		{name: "11: a lost answer and a probe that is throttled to the end is inconclusive", story: story(u).rows(1).probe(throttled(), throttled()), doubt: "was rejected at the entry: attempt i1.3 was throttled"},
		{name: "11: acknowledged, and a probe that is throttled without a declaration is inconclusive", story: story(a, a, limited()).rows(1).probe(limited(), limited()), doubt: "was rejected at the entry"},
		{name: "11: in progress and then throttled to the end is inconclusive", story: story(u).rows(1).probe(p, throttled()), doubt: "was rejected at the entry"},
	})
}

// A target that says when to come again is not in the dark before that (I8).
func TestATargetThatAsksForMoreTimeThanTheProbeHas(t *testing.T) {
	t.Parallel()
	u, a := unknown(history.Timeout), acknowledged(201, "o1")
	later := func(seconds string, x history.Attempt) history.Attempt { return bearing("Retry-After", seconds, x) }
	p, e := inProgress(), serverError()
	const doubt = "attempt i1.2 asked for more time than the final retry of intent i1 has: contract.lease gives it more"
	runCells(t, []cell{
		{name: "in progress for longer than the probe waits", story: story(u).rows(1).probe(later("60", p), later("60", p)), doubt: doubt},
		{name: "a server error for longer than the probe waits", story: story(u).rows(1).probe(later("60", e), e), doubt: doubt},
		{name: "in progress at the time that it asked for", story: story(u).rows(1).probe(later("1", p), during(3019, 3028, later("1", p))), want: []string{"refused-though-done"}},
		{name: "in progress just before that time", story: story(u).rows(1).probe(later("1", p), during(3018, 3027, p)), doubt: doubt},
		{name: "in progress and no time that anybody can read", story: story(u).rows(1).probe(later("soon", p), p), want: []string{"refused-though-done"}},
		{name: "acknowledged before that time", story: story(u).rows(1).probe(later("60", p), a)},
		{name: "in progress for longer than the probe waits, and two rows", story: story(u).rows(2).probe(later("60", p)), want: []string{"duplicate"}},
	})
}

// Invariant I11 and the errors that a contract says it stores.
func TestOrderOfRefusalAndAcknowledgement(t *testing.T) {
	t.Parallel()
	a, r := acknowledged(201, "o1"), rejected(400)
	runCells(t, []cell{
		{name: "refused and then acknowledged is right where nothing is said of stored refusals", story: story(r, a).rows(1)},
		{name: "refused and then acknowledged contradicts a stored refusal", terms: terms(store4xx), story: story(r, a).rows(1), want: []string{"replay-mismatch/status"}},
		{name: "refused at the door and then acknowledged is right although refusals are stored", terms: terms(store4xx), story: story(rejected(401), a).rows(1)},
		{name: "refused while another was acknowledged is right", story: story(during(10, 50, a), during(20, 30, r)).rows(1)},
		{name: "acknowledged and then refused is no matter of one effect only", terms: terms(dedupOnly), story: story(a, r).rows(1).probe(r)},
		{name: "a non-winner of a natural key may be refused under its own key", terms: terms(naturalKey), story: story(a, keyed("k2", r)).rows(1).probe(a, keyed("k2", r))},
	})
}

func TestFindingCarriesItsEvidence(t *testing.T) {
	t.Parallel()
	r := story(unknown(history.Timeout)).rows(1).later("o1", "o2").probe(acknowledged(201, "o2")).check(terms())
	require.Len(t, r.Findings, 1)
	f := r.Findings[0]
	require.Equal(t, checker.Duplicate, f.Kind)
	require.Equal(t, "i1", f.Intent)
	require.Equal(t, "T2", f.Moment)
	require.Equal(t, "2 rows, one of them made by the final retry", f.Observed)
	require.Equal(t, "at most 1 row for this marker", f.Expected)
	require.Equal(t, "holds for every contract", f.Contract)
	require.Len(t, f.Attempts, 2)
	require.Equal(t, []checker.Outcome{checker.Unknown, checker.Acknowledged}, f.Outcomes)
	require.Len(t, f.Rows, 1)
	require.Len(t, f.Rows[0].Rows, 2)
	require.Equal(t, 1, r.Failed)
	require.Equal(t, 2, r.Intents)
	require.Equal(t, map[checker.Outcome]int{checker.Unknown: 1, checker.Acknowledged: 2}, r.Outcomes)
	require.Equal(t, ms(2019), r.Elapsed)
}

func TestFindingAtT1DoesNotShowTheProbe(t *testing.T) {
	t.Parallel()
	r := story(acknowledged(201, "o1")).rows(0).later("o1").probe(acknowledged(201, "o1")).check(terms())
	require.Equal(t, []string{"lost-acknowledged-write"}, found(r), "the probe healed the lost write, which counts all the same")
	require.Equal(t, "T1", r.Findings[0].Moment)
	require.Len(t, r.Findings[0].Attempts, 1)
	require.Regexp(t, `^no row; .* was there after the final retry`, r.Findings[0].Observed)
}

// A row that was there from the start, and which the answer to another intent names, has not come by the final retry.
func TestLostWriteNamesNoRowThatWasThereAllTheTime(t *testing.T) {
	t.Parallel()
	twin := func(name, key, path string) *draft {
		return story(keyed(key, acknowledged(201, "o1"))).named(name).under(path).twinOf("dtwin").probe(acknowledged(201, "o1"))
	}
	r := check(scene(twin("t1", "k1", "/a").holding("o1"), twin("t2", "k1", "/b")), terms())
	require.Contains(t, found(r), "lost-acknowledged-write")
	for _, f := range r.Findings {
		require.NotContains(t, f.Observed, "after the final retry")
	}
}

func TestServerErrorThatARetryResolvesIsAWarning(t *testing.T) {
	t.Parallel()
	r := story(acknowledged(201, "o1"), serverError()).rows(1).probe(acknowledged(201, "o1")).check(terms())
	require.Equal(t, checker.Pass, r.Verdict)
	require.Len(t, r.Warnings, 1)
	require.Equal(t, "ungraceful-loser", r.Warnings[0].Kind)
	require.Equal(t, []string{"i1"}, r.Warnings[0].Intents)
}

func TestServerErrorWhileALinkIsBrokenIsNoLoser(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		at     float64 // the link broke beside the first request
		begins float64 // the second
		warned bool
	}{
		{"meanwhile", 12, 30, false},
		{"afterwards", 12, 62, true},
		{"it did not come to that", 0, 30, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			first := away(50, cutAt(c.at, 1, during(10, 20, acknowledged(201, "o1"))))
			r := story(first, during(c.begins, c.begins+5, serverError())).rows(1).probe(acknowledged(201, "o1")).check(terms())
			require.Equal(t, checker.Pass, r.Verdict)
			require.Equal(t, c.warned, len(r.Warnings) > 0, r.Warnings)
		})
	}
}
