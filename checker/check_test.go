package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// A run that is killed in the final probe leaves attempts without the snapshot that belongs to them.
func TestTheProbeIsNotJudgedWithoutItsSnapshot(t *testing.T) {
	t.Parallel()
	h := scene(story(unknown(history.Timeout)).rows(1).probe(inProgress()))
	h.T2, h.Complete = nil, false
	judge(t, h, terms(), nil, "the run was killed")
}

func TestAnIntentWithoutAttempts(t *testing.T) {
	t.Parallel()
	require.Empty(t, check(scene(story()), terms(naturalKey)).Findings)
}

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
