package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// Cells in which two rules of the tables meet.
func TestWhereRulesMeet(t *testing.T) {
	t.Parallel()
	one, two := acknowledged(201, "o1"), acknowledged(201, "o2")
	first := during(1, 10, one)
	execute, reject := expiring(100, contract.ExpiryExecute), expiring(100, contract.ExpiryReject)
	taken := bearing("Location", "/operations/7", answer(202, `{"operation":"7"}`))
	done := history.Followup{Status: 200, Content: `{"state":"done","thing":"o1"}`, Complete: true}
	failed := history.Followup{Status: 200, Content: `{"state":"failed"}`, Complete: true}
	invalidKey := func(t *checker.Terms) {
		keyRequired(t)
		t.Contract.Fingerprint.Signature = contract.Signature{Statuses: []int{400}}
		t.Contract.MissingKey = contract.Signature{Statuses: []int{400}, Where: says("invalid")}
	}
	later := func() *draft {
		d := story(during(20, 29, taken), during(30, 39, taken)).then(done)
		return d.rows(1)
	}
	firstFailed := later()
	failed.Attempt = "i1.1"
	firstFailed.followed = append(firstFailed.followed, failed)
	twoOf200 := func(t *checker.Terms) {
		accepting(t)
		anyBody(t)
		t.Contract.Replay.Headers = nil
		t.Contract.Replay.Status = map[int][]int{202: {200, 201}}
	}
	runCells(t, []cell{
		{name: "a marked replay that may come after an expiry", terms: terms(replayMarked, execute), story: story(first, during(95, 105, replayed(one))).rows(1)},
		{name: "a marked replay after an expiry", terms: terms(replayMarked, execute), story: story(first, during(200, 210, replayed(one))).rows(1)},
		{name: "a marked replay and nobody before it", terms: terms(replayMarked, execute), story: story(during(1, 10, replayed(one))).rows(1), want: []string{"replay-mismatch/marker"}},
		{name: "a lost request that was executed after the key was forgotten", terms: terms(onlyIdentity, execute), story: story(during(1, 5, unknown(history.Timeout)), during(20, 30, one)).rows(2)},
		{name: "a lost request that the target had answered in time", terms: terms(onlyIdentity, execute),
			story: story(watched(2, 4, during(1, 5, unknown(history.Timeout))), during(20, 30, one)).rows(2), want: []string{"duplicate"}},
		{name: "a natural key whose key expires and is refused", terms: terms(naturalKey, reject), story: story(first, during(200, 210, rejected(412))).rows(1)},
		{name: "a natural key whose key expires and is answered anew", terms: terms(naturalKey, execute), story: story(first, during(200, 210, acknowledged(200, "o1"))).rows(1)},
		{name: "a natural key whose key does not expire and is answered anew", terms: terms(naturalKey), story: story(first, during(200, 210, acknowledged(200, "o1"))).rows(1), want: []string{"replay-mismatch/status"}},
		{name: "an operation that failed is no stored refusal", terms: terms(accepting, store4xx), story: firstFailed},
		{name: "a lost answer may have been an acceptance", terms: terms(twoOf200), story: story(unknown(history.Reset), during(20, 29, acknowledged(200, "o1")), during(30, 39, acknowledged(201, "o1"))).rows(1)},
		{name: "a blank key that is told to be missing", terms: terms(invalidKey), story: story(blank(rejected(400)))},
		{name: "a request without the required key that has an effect and fails", terms: terms(keyRequired), story: story(keyed(noKey, serverError())).rows(1), want: []string{"missing-key-accepted"}},
		{name: "a request without the required key that fails, beside one that got through", terms: terms(keyRequired), story: story(keyed(noKey, serverError()), two).holding("o2")},
		{name: "an effect that is short at first", terms: terms(lines), story: story(one).rows(1).with("lines", 2).with("sum", 12.5)},
	})
}

func TestATargetThatIsStillBusyIsNotUnavailable(t *testing.T) {
	t.Parallel()
	h := scene(story(unknown(history.Timeout)).rows(1).probe(inProgress(), inProgress()))
	happened(history.StillBusy, h)
	r := checker.Check(h, terms())
	require.Empty(t, r.Findings)
	require.Equal(t, checker.Inconclusive, r.Verdict)
}

func TestAnEffectMayComeLaterThanItsRow(t *testing.T) {
	t.Parallel()
	h := scene(story(acknowledged(201, "o1")).rows(1).with("lines", 2).with("sum", 12.5))
	h.T1.Effects["lines"]["dti1"] = 1
	judge(t, h, terms(lines), nil, "")
	h.T1.Effects["lines"]["dti1"] = 3
	require.Equal(t, []string{"effect-mismatch/lines"}, found(checker.Check(h, terms(lines))), "too much never goes away")
	h.T1.Effects["lines"]["dti1"], h.T2.Effects["lines"]["dti1"] = 2, 1
	require.Equal(t, []string{"effect-mismatch/lines"}, found(checker.Check(h, terms(lines))), "it never came")
}

func TestAKeyThatIsTakenIsRefused(t *testing.T) {
	t.Parallel()
	p := func() *draft {
		return story(keyed("k", acknowledged(201, "o1"))).named("p1").beside("p1").of("p").rows(1)
	}
	q := func(at float64) *draft {
		return story(keyed("k", during(at, at+9, acknowledged(201, "o2")))).named("q1").beside("p1").of("q").holding("o2")
	}
	judge(t, scene(p(), q(50)), terms(scoped(contract.ScopeReject, "")), []string{"altered-body-violation/scope"}, "")
	judge(t, scene(p(), q(12)), terms(scoped(contract.ScopeReject, "")), nil, "") // at once: nobody knows who was first
	judge(t, scene(p(), q(50)), terms(scoped(contract.ScopeSeparate, "")), nil, "")
	operation := q(50).of("p").at("quote")
	judge(t, scene(p(), operation), terms(alike, scoped("", contract.ScopeReject)), []string{"altered-body-violation/scope"}, "")
}

func TestAKeyThatNeverArrivedWasNotUsed(t *testing.T) {
	t.Parallel()
	p := story(keyed("k", refused())).named("p1").beside("p1").of("p")
	q := story(keyed("k", mismatch())).named("q1").beside("p1").of("q")
	judge(t, scene(p, q), terms(), []string{"false-conflict"}, "")
}

func TestALeakIsFoundWhereverItStands(t *testing.T) {
	t.Parallel()
	for name, shown := range map[string]*draft{
		"escaped":              story(answer(201, `{"id":"o2","note":"hello\ndtp1"}`)),
		"in a header":          story(bearing("X-Original", "dtp1", acknowledged(201, "o2"))),
		"in a path":            story(bearing("Location", "/orders%2fdtp1", acknowledged(201, "o2"))),
		"in a status resource": story(answer(202, `{}`)).named("q1").then(history.Followup{Status: 200, Content: `{"state":"done","thing":"o2","note":"dtp1"}`, Complete: true}),
	} {
		p := story(acknowledged(201, "o1")).named("p1").of("p").rows(1)
		require.Contains(t, found(checker.Check(scene(p, shown.named("q1").of("q").holding("o2")), terms(accepting))), "leak", name)
	}
}

func TestWhoeverIsToldOfAThingIsToldOfOneThatIsThere(t *testing.T) {
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
