package checker_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// A key that may have been executed anew at the edge of its time is remembered from then on.
func TestAKeyIsForgottenAgainAfterTheEdge(t *testing.T) {
	t.Parallel()
	execute := terms(onlyIdentity, expiring(100, contract.ExpiryExecute))
	one, two, three := acknowledged(201, "o1"), acknowledged(201, "o2"), acknowledged(201, "o3")
	judge(t, scene(story(during(1, 10, one), during(95, 105, two), during(150, 160, two), during(200, 210, three)).rows(3)), execute, nil, "")
	judge(t, scene(story(during(1, 10, one), during(150, 160, two), during(200, 210, three)).rows(3)), execute, []string{"duplicate"}, "")
}

// How long a target may have worked on a request whose answer was lost: until it was seen to be quiet.
func TestWhenATargetWasDone(t *testing.T) {
	t.Parallel()
	execute := terms(onlyIdentity, expiring(100, contract.ExpiryExecute))
	one, two, three := acknowledged(201, "o1"), acknowledged(201, "o2"), acknowledged(201, "o3")
	first, lost := during(1, 10, one), unknown(history.Timeout)
	for name, c := range map[string]struct {
		story *draft
		want  []string
	}{
		"a lost probe until after the probe": {
			story(first).rows(1).later("o1", "o2", "o3").probe(during(2000, 2010, lost), during(2050, 2060, three)), nil,
		},
		"an answered probe until its answer": {
			story(first).rows(1).later("o1", "o2", "o3").probe(during(2000, 2010, two), during(2050, 2060, three)), []string{"duplicate"},
		},
		"a lost request no longer than until the probe": {
			story(during(1, 10, lost)).rows(1).later("o1", "o2").probe(during(2000, 2010, two), during(2050, 2060, one)), []string{"replay-mismatch/identity"},
		},
		"a request that never came, not at all": {
			story(first, during(20, 21, refused()), during(200, 210, two), during(280, 290, one)).rows(2), []string{"replay-mismatch/identity"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, found(check(scene(c.story), execute)))
		})
	}
}

// A second row that comes long after the answer may be that of a key which was forgotten, and may be: where the contract says nothing of that, the
// finding says when it came, and what would say so.
func TestASecondRowThatComesLateNamesExpiry(t *testing.T) {
	t.Parallel()
	one, two := acknowledged(201, "o1"), acknowledged(201, "o2")
	for name, c := range map[string]struct {
		attempts []history.Attempt
		terms    checker.Terms
		says     string
	}{
		"late":                    {[]history.Attempt{during(1, 10, one), during(6100, 6110, two)}, terms(), "2 rows; the second came with a request 6.1s after the first: if keys are forgotten by then, and may be, contract.expiry has to say so (after, then: execute)"},
		"known before":            {[]history.Attempt{during(1, 10, one), during(3000, 3010, one), during(6100, 6110, two)}, terms(), "2 rows; the second came with a request 6.1s after the first (one after 3s got the first one's answer): if keys are forgotten by then, and may be, contract.expiry has to say so (after, then: execute)"},
		"at once":                 {[]history.Attempt{during(1, 10, one), during(2, 12, two), during(6100, 6110, two)}, terms(), "2 rows"},
		"soon":                    {[]history.Attempt{during(1, 10, one), during(900, 910, two)}, terms(), "2 rows"},
		"while it must be known":  {[]history.Attempt{during(1, 10, one), during(6100, 6110, two)}, terms(expiring(60_000, contract.ExpiryExecute)), "2 rows"},
		"what it is is not named": {[]history.Attempt{during(1, 10, acknowledged(201, "")), during(6100, 6110, acknowledged(201, ""))}, terms(), "2 rows"},
	} {
		r := story(c.attempts...).rows(2).check(c.terms)
		at := slices.IndexFunc(r.Findings, func(f checker.Finding) bool { return f.Kind == checker.Duplicate })
		require.GreaterOrEqual(t, at, 0, name)
		require.Equal(t, c.says, r.Findings[at].Observed, name)
	}
}

// Keys that are forgotten after 100 ms (TTL).
func TestExpiry(t *testing.T) {
	t.Parallel()
	one, two := acknowledged(201, "o1"), acknowledged(201, "o2")
	first := during(1, 10, one)
	inside := func(a history.Attempt) history.Attempt { return during(80, 90, a) }
	edge := func(a history.Attempt) history.Attempt { return during(95, 105, a) }
	outside := func(a history.Attempt) history.Attempt { return during(200, 210, a) }
	execute, reject, open := terms(onlyIdentity, expiring(100, contract.ExpiryExecute)), terms(onlyIdentity, expiring(100, contract.ExpiryReject)), terms(onlyIdentity, expiring(100, ""))
	natural := terms(naturalKey, expiring(100, contract.ExpiryExecute))
	runCells(t, []cell{
		{name: "inside: a replay", terms: execute, story: story(first, inside(one)).rows(1)},
		{name: "inside: two rows are a duplicate", terms: execute, story: story(first, inside(two)).rows(2), want: []string{"duplicate"}},
		{name: "inside: another identity", terms: execute, story: story(first, inside(two)).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "outside: executed again", terms: execute, story: story(first, inside(one), outside(two)).rows(2)},
		{name: "outside: executed again and replayed", terms: execute, story: story(first, outside(two), during(220, 230, two)).rows(2)},
		{name: "outside: executed again and replayed wrongly", terms: execute, story: story(first, outside(two), during(220, 230, one)).rows(2), want: []string{"replay-mismatch/identity"}},
		{name: "outside: executed twice again", terms: execute, story: story(first, outside(two), during(220, 230, acknowledged(201, "o3"))).rows(3), want: []string{"duplicate"}},
		{name: "outside: acknowledged anew, and no new row", terms: execute, story: story(first, outside(two)).rows(1), want: []string{"lost-acknowledged-write"}},
		{name: "outside: still a replay", terms: execute, story: story(first, outside(one)).rows(1)},
		{name: "outside: refused where it is executed", terms: execute, story: story(first, outside(rejected(412))).rows(1)},
		{name: "outside: refused", terms: reject, story: story(first, inside(one), outside(rejected(412))).rows(1)},
		{name: "outside: executed where it is refused", terms: reject, story: story(first, outside(two)).rows(2), want: []string{"duplicate"}},
		{name: "outside, undeclared: executed again", terms: open, story: story(first, outside(two)).rows(2)},
		{name: "outside, undeclared: still a replay", terms: open, story: story(first, outside(one)).rows(1)},
		{name: "at the edge: a replay", terms: execute, story: story(first, edge(one)).rows(1)},
		{name: "at the edge: executed again", terms: execute, story: story(first, edge(two)).rows(2)},
		{name: "at the edge: executed again, replayed inside the new time", terms: execute, story: story(first, edge(two), during(150, 160, two)).rows(2)},
		{name: "at the edge: a replay, then executed again", terms: execute, story: story(first, edge(one), during(150, 160, two)).rows(2)},
		{name: "a natural key is not forgotten", terms: natural, story: story(first, outside(two)).rows(2), want: []string{"duplicate"}},
		{name: "nothing declared, nothing forgotten", story: story(first, outside(two)).rows(2), want: []string{"duplicate"}},
	})
	t.Run("a lost request may have been executed until the target was quiet", func(t *testing.T) {
		t.Parallel()
		judge(t, scene(story(first, during(20, 30, unknown(history.Timeout))).rows(2)), execute, nil, "")
	})
	t.Run("a final probe comes after the time", func(t *testing.T) {
		t.Parallel()
		judge(t, scene(story(first).rows(1).later("o1", "o2").probe(two)), execute, nil, "")
	})
}

func TestAKeyThatIsRememberedForLongerIsWorthAWarning(t *testing.T) {
	t.Parallel()
	again := func() *draft {
		return story(during(1, 10, acknowledged(201, "o1")), during(200, 210, acknowledged(201, "o1"))).rows(1)
	}
	r := again().check(terms(expiring(100, contract.ExpiryExecute)))
	require.Len(t, r.Warnings, 1)
	require.Equal(t, "remembered-longer", r.Warnings[0].Kind)
	require.Equal(t, []string{"i1"}, r.Warnings[0].Intents)
	require.Equal(t, "remembered-longer", again().check(terms(expiring(100, contract.ExpiryReject))).Warnings[0].Kind)
	require.Empty(t, again().check(terms(expiring(100, ""))).Warnings)
	anew := story(during(1, 10, acknowledged(201, "o1")), during(200, 210, acknowledged(201, "o2"))).rows(2)
	require.Empty(t, anew.check(terms(expiring(100, contract.ExpiryExecute))).Warnings)
}

func TestARowThatComesLateIsWorthAWarning(t *testing.T) {
	t.Parallel()
	late := func(at float64, rows int, d *draft) checker.Result {
		return check(seen(at, rows, alone(d)), terms())
	}
	acknowledgedLate := story(during(1, 10, acknowledged(201, "o1"))).rows(1)
	r := late(20, 0, acknowledgedLate)
	require.Len(t, r.Warnings, 1)
	require.Equal(t, "late-visibility", r.Warnings[0].Kind)
	require.Empty(t, r.Findings)
	require.Empty(t, late(20, 1, acknowledgedLate).Warnings, "it was there")
	require.Empty(t, late(5, 0, acknowledgedLate).Warnings, "nobody had been told")
	require.Empty(t, late(20, 0, story(during(1, 10, unknown(history.Timeout))).rows(1)).Warnings, "nobody was told")
	r = late(20, 0, story(during(1, 10, acknowledged(201, "o1"))))
	require.Empty(t, r.Warnings)
	require.Equal(t, []string{"lost-acknowledged-write"}, found(r), "it never came")
}

func TestARateLimitThatTheFileDoesNotNameIsWorthAWarning(t *testing.T) {
	t.Parallel()
	r := check(scene(story(limited(), acknowledged(201, "o1")).rows(1)), terms())
	require.Equal(t, "throttled", r.Warnings[0].Kind)
	require.Equal(t, []string{"i1"}, r.Warnings[0].Intents)
	require.Contains(t, r.Warnings[0].Text, "rate_limit")
	require.Empty(t, check(scene(story(acknowledged(201, "o1"), limited()).rows(1)), terms()).Warnings, "a repetition that is turned away is nothing new")
}
