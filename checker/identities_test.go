package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

func TestWhatAnswersAndRowsName(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	anonymous := scene(story(a).rows(1).probe(a))
	for _, s := range []*history.Snapshot{anonymous.T1, anonymous.T2} {
		s.Rows["dti1"][0]["id"] = nil
	}
	judge(t, anonymous, terms(nameless), nil, "")
	runCells(t, []cell{
		{name: "two answers that name two things are unequal, where rows name nothing", terms: terms(nameless, onlyIdentity),
			story: story(a, acknowledged(201, "o2")).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "an acknowledgement without a body need not name anything", terms: terms(onlyIdentity, replayStatus(201, 204)),
			story: story(a, saying("", acknowledged(204, ""))).rows(1).probe(a)},
	})
	r := check(scene(story(a, answer(201, `{}`)).rows(1)), terms(onlyIdentity))
	require.Contains(t, r.Findings[0].Observed, "names nothing")
}

func TestThingsAreKnownFromEitherSnapshot(t *testing.T) {
	t.Parallel()
	mine := func() *draft { return story(unknown(history.Timeout)).named("p1").of("p") }
	theirs := story(acknowledged(201, "o1")).named("q1").of("q").holding("o9").later("o9")
	for name, p := range map[string]*draft{"gone at T2": mine().rows(1).later(), "there at T2": mine().rows(0).later("o1")} {
		r := check(scene(p, theirs), terms())
		require.Contains(t, found(r), "leak", name)
	}
}

func TestNamesOfWhatIsNone(t *testing.T) {
	t.Parallel()
	require.Equal(t, "verdict(-1)", checker.Verdict(-1).String())
	require.Equal(t, "verdict(99)", checker.Verdict(99).String())
	require.Equal(t, "outcome(-1)", checker.Outcome(-1).String())
	require.Equal(t, "outcome(99)", checker.Outcome(99).String())
}

func TestExistsThatNamesNothing(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	runCells(t, []cell{
		{name: "told exists with an identity that is null is right", story: story(a).rows(1).probe(answer(409, `{"error":"exists","id":null}`))},
		{name: "told exists, where the contract says of no identity, is right",
			terms: terms(func(t *checker.Terms) { t.Contract.Existing.Identity = contract.Identity{} }), story: story(a).rows(1).probe(exists("o7"))},
	})
}

func TestAnAcknowledgementThatNamesNothingIsOfNoThingMore(t *testing.T) {
	t.Parallel()
	execute := terms(anyBody, expiring(100, contract.ExpiryExecute))
	judge(t, scene(story(during(1, 10, acknowledged(201, "o1")), during(200, 210, answer(204, ""))).rows(1)), execute, nil, "")
}

func TestEveryIdentityInAnAnswerExists(t *testing.T) {
	t.Parallel()
	one, nine := acknowledged(201, "o1"), acknowledged(201, "o9")
	bare := func(x history.Attempt) history.Attempt { return keyed(noKey, x) }
	stranger := []string{"replay-mismatch/identity"}
	runCells(t, []cell{
		{name: "of two keys", story: story(one, keyed("k2", nine)).rows(2), want: stranger},
		{name: "without a key", story: story(bare(one), bare(nine)).rows(2), want: stranger},
		{name: "after an expiry", terms: terms(onlyIdentity, expiring(100, contract.ExpiryExecute)), story: story(during(1, 10, one), during(200, 210, nine)).rows(2), want: stranger},
		{name: "after an expiry that refuses", terms: terms(onlyIdentity, expiring(100, contract.ExpiryReject)), story: story(during(1, 10, one), during(200, 210, nine)).rows(1), want: stranger},
		{name: "that is gone at the end", story: story(one).holding("o1").later(), want: []string{"lost-acknowledged-write"}},
	})
	twins := scene(story(one).named("t1").twinOf("dtwin").holding("o1", "o2"), story(nine).named("t2").twinOf("dtwin"))
	judge(t, twins, terms(), stranger, "")
}

// A row without a name, or two rows with one, are what an answer must not be about.
func TestRowsThatAreNotNamed(t *testing.T) {
	t.Parallel()
	acknowledge := func(id, name string) *draft {
		return story(acknowledged(201, id), acknowledged(201, id)).named(name).rows(1)
	}
	unnamed := func(h *history.History, markers ...string) *history.History {
		for _, m := range markers {
			h.T1.Rows[m][0]["id"], h.T2.Rows[m][0]["id"] = nil, nil
		}
		return h
	}
	judge(t, unnamed(scene(acknowledge("o1", "i1"), acknowledge("o2", "i2")), "dti2"), terms(), []string{"replay-mismatch/identity"}, "")
	judge(t, scene(acknowledge("o1", "i1"), acknowledge("o2", "i2")), terms(nameless), nil, "")
	judge(t, scene(acknowledge("0", "i1"), acknowledge("0", "i2")), terms(nameless), []string{"replay-mismatch/identity"}, "")
	judge(t, scene(acknowledge("0", "i1").of("p"), acknowledge("0", "i2").of("q")), terms(nameless), nil, "")
	judge(t, scene(acknowledge("0", "i1").under("/a"), acknowledge("0", "i2").under("/b")), terms(nameless), nil, "")
}

func TestANameThatTheClientChooses(t *testing.T) {
	t.Parallel()
	inCapitals := acknowledged(201, "AB-1")
	inCapitals.Body = history.OtherNaming
	spelled := func(ignores ...contract.Ignored) checker.Terms {
		return terms(naturalKey, onlyIdentity, func(t *checker.Terms) { t.Contract.NaturalKeyIgnores = ignores })
	}
	chosen := func(row string) *history.History {
		h := scene(story(acknowledged(201, "ab-1"), inCapitals).holding(row))
		original := h.Intents[0].Bodies[history.Original]
		original.Content = `{"ref":"ab-1"}`
		other := original
		other.Content = `{"ref":"AB-1"}`
		h.Intents[0].Bodies[history.Original], h.Intents[0].Bodies[history.OtherNaming] = original, other
		return h
	}
	stranger := []string{"replay-mismatch/identity"}
	judge(t, chosen("ab-1"), spelled(contract.IgnoresCase), nil, "")
	judge(t, chosen("AB-1"), spelled(contract.IgnoresCase), nil, "")
	judge(t, chosen("ab-1"), spelled(contract.IgnoresBlanks), stranger, "")
	judge(t, chosen("ab-2"), spelled(contract.IgnoresCase), stranger, "")
}
