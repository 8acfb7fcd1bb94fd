package checker_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

// What a key without a final answer is called depends on what it leaves its client with.
func TestAKeyWithoutAFinalAnswerIsNamedByWhatItLeaves(t *testing.T) {
	t.Parallel()
	u, e, p, lim := unknown(history.Timeout), serverError(), inProgress(), limited()
	fresh := func(start float64, x history.Attempt) *draft {
		id := fmt.Sprint("f", start)
		return story(during(start, start+5, x)).named(id).fresh().holding(id)
	}
	named := func(kind string, first *draft, others ...*draft) {
		t.Helper()
		h := scene(append([]*draft{first}, others...)...)
		require.Equal(t, []string{kind}, found(check(h, terms())))
	}
	early, late := fresh(2015, acknowledged(201, "f2015")), fresh(2045, acknowledged(201, "f2045"))

	named("stored-error", story(e).probe(e, e), late)
	named("stuck-key", story(u).probe(answer(500, `{"request":1}`), answer(500, `{"request":2}`)), late)
	named("unavailable", story(e).probe(e, e), story(during(2045, 2050, e)).named("f").fresh())
	named("refused-though-done", story(u).rows(1).probe(e, e), late)
	named("stuck-key", story(u).probe(p, p))
	named("stuck-key", story(lim).probe(during(2000, 2010, lim), during(2030, 2040, lim)), early, late)
	named("refused-though-done", story(u).rows(1).probe(during(2000, 2010, lim), during(2030, 2040, lim)), early, late)

	marked := terms(func(t *checker.Terms) {
		t.Contract.Replay.Marker = &contract.ReplayMarker{Name: "Idempotency-Replayed", Value: "true"}
	})
	h := scene(story(u).probe(bearing("Idempotency-Replayed", "true", e)))
	require.Equal(t, []string{"stored-error"}, found(check(h, marked)), "it says itself that it is stored")
}

// Where nobody could look into the database, no finding says what it held.
func TestWithoutADatabaseNothingIsSaidOfRows(t *testing.T) {
	t.Parallel()
	e, p, a := serverError(), inProgress(), acknowledged(201, "o1")
	for name, first := range map[string]*draft{
		"in progress for ever":       story(unknown(history.Timeout)).probe(p, p),
		"done, and then in progress": story(a).probe(p, p),
		"a failure for ever":         story(e).probe(e, e),
	} {
		h := scene(first)
		h.T1.Error, h.T2.Error = "the target file names no database", "the target file names no database"
		r := checker.Check(h, terms())
		require.Equal(t, []string{"unavailable"}, found(r), name)
		require.True(t, r.Findings[0].Rows[0].Unknown)
		require.False(t, checker.Check(scene(story(e).probe(e, e)), terms()).Findings[0].Rows[0].Unknown)
	}
}

// A rate limit that all share refuses now this key and now that.
func TestThrottlingForEverNeedsFreshKeysThatGetThrough(t *testing.T) {
	t.Parallel()
	lim, a := limited(), acknowledged(201, "o1")
	throttledTo := func(others ...*draft) {
		t.Helper()
		h := scene(append([]*draft{story(lim).probe(during(2000, 2010, lim), during(2030, 2040, lim))}, others...)...)
		judge(t, h, terms(), nil, "was rejected at the entry")
	}
	at := func(start float64, x history.Attempt) *draft {
		d := story(during(start, start+5, x)).named(fmt.Sprint("f", start)).fresh()
		if x.Status == 201 {
			d.holding("o1")
		}
		return d
	}
	throttledTo()
	throttledTo(at(2045, a))
	throttledTo(at(2015, a))
	throttledTo(at(2015, a), at(2045, lim))
	throttledTo(at(2015, lim), at(2045, a))
}

func TestOlderNamesCoverTheKindsThatCameOfThem(t *testing.T) {
	t.Parallel()
	for _, k := range []checker.Kind{checker.StuckKey, checker.StoredError, checker.RefusedThoughDone, checker.Unavailable} {
		require.True(t, checker.Unavailable.Covers(k), k)
		older := checker.Truth{Shows: []checker.Kind{checker.Unavailable}}
		require.Equal(t, checker.Caught, older.Mark(checker.Result{Verdict: checker.Fail, Findings: []checker.Finding{{Kind: k}}}))
	}
	require.False(t, checker.Unavailable.Covers(checker.Duplicate))
	require.False(t, checker.StuckKey.Covers(checker.StoredError))
	known := checker.KnownBug{Expect: checker.Unavailable, Link: "https://tracker.example.com/1"}
	r := check(scene(story(unknown(history.Timeout)).probe(inProgress(), inProgress())), terms(), known)
	require.Equal(t, checker.Known, r.Verdict)
}

// An API that checks no key may refuse one that its database does not take with a server error: nothing is made, and no key of that
// form gets through.
func TestAServerErrorForAnUnusualKeyIsARefusal(t *testing.T) {
	t.Parallel()
	e, a := serverError(), acknowledged(201, "o1")
	late := story(during(2045, 2050, a)).named("f").fresh().holding("o1")
	refused := func(id string) *draft { return story(e).named(id).beside("k").probe(e, e) }

	r := check(scene(refused("i1"), refused("i2"), late), terms())
	require.Empty(t, found(r))
	require.Equal(t, checker.Pass, r.Verdict, r.Reasons)
	require.Len(t, r.Warnings, 1)
	require.Equal(t, "ungraceful-refusal", r.Warnings[0].Kind)
	require.Equal(t, []string{"i1", "i2"}, r.Warnings[0].Intents)

	both := func(id string) *draft { return story(twoKeys(e), twoKeys(e)).named(id).probe(twoKeys(e), twoKeys(e)) }
	twoEach := scene(both("i1"), both("i2"), late)
	twoEach.Run.Exercised = []history.Proof{{Name: string(proofs.Respelled)}}
	r = check(twoEach, terms())
	require.Empty(t, found(r), "two keys in two headers")
	require.Equal(t, checker.Pass, r.Verdict, r.Reasons)
	require.Equal(t, "ungraceful-refusal", r.Warnings[0].Kind)

	through := story(a).named("i2").beside("k").holding("o2")
	made := story(e).named("i2").beside("k").holding("o2").probe(e, e)
	alone := story(e).named("i1").probe(e, e)
	down := story(during(2045, 2050, e)).named("f").fresh()
	for name, drafts := range map[string][]*draft{
		"a neighbour got through":   {refused("i1"), through, late},
		"a neighbour has a row":     {refused("i1"), made, late},
		"an ordinary key":           {alone, late},
		"nothing else gets through": {refused("i1"), refused("i2"), down},
		"two keys got through":      {both("i1"), story(twoKeys(a)).named("i2").holding("o2"), late},
		"two keys made a row":       {both("i1"), story(twoKeys(e)).named("i2").holding("o2").probe(twoKeys(e), twoKeys(e)), late},
		"one key, and then two":     {story(e, twoKeys(e)).named("i1").probe(e, e), late},
		"a neighbour had no answer": {refused("i1"), story(unknown(history.Timeout)).named("i2").beside("k").probe(e, e), late},
	} {
		require.NotEmpty(t, found(check(scene(drafts...), terms())), name)
	}
}
