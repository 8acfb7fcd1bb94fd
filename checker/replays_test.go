package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

func TestTheContractThatAStatusBreaks(t *testing.T) {
	t.Parallel()
	h := scene(story(acknowledged(201, "o1"), acknowledged(200, "o1")).rows(1))
	require.Equal(t, "replay.status: same", checker.Check(h, terms()).Findings[0].Contract)
	require.Equal(t, "replay.status: map[204:[204]]", checker.Check(h, terms(replayStatus(204, 204))).Findings[0].Contract)
}

// Decision table 2: replay equality, with one row and at least two acknowledgements.
func TestReplayEquality(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	located := bearing("Location", "/orders/o1", a)
	runCells(t, []cell{
		{name: "equal answers are right", story: story(located, bearing("Location", "/orders/o1", saying(`{ "id" : "o1" }`, a))).rows(1)},
		{name: "two identities, both with a row, are a duplicate", story: story(a, acknowledged(201, "o2")).rows(2), want: []string{"duplicate"}},
		{name: "two identities and one row are an unequal replay", terms: terms(anyBody), story: story(a, acknowledged(201, "o2")).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "an undeclared status is an unequal replay", story: story(a, acknowledged(200, "o1")).rows(1), want: []string{"replay-mismatch/status"}},
		{name: "a declared status is right", terms: terms(replayStatus(201, 200)), story: story(a, a, acknowledged(200, "o1")).rows(1)},
		{name: "a declared status in the wrong order is an unequal replay", terms: terms(replayStatus(201, 200)), story: story(acknowledged(200, "o1"), a).rows(1), want: []string{"replay-mismatch/status"}},
		{name: "a declared status in the wrong order is right while both were running", terms: terms(replayStatus(201, 200)),
			story: story(during(10, 90, acknowledged(200, "o1")), during(20, 95, a)).rows(1)},
		{name: "a declared status in the wrong order is right after a lost answer", terms: terms(replayStatus(201, 200)),
			story: story(unknown(history.Reset), acknowledged(200, "o1"), a).rows(1)},
		{name: "a lost answer after the first acknowledgement explains nothing", terms: terms(replayStatus(201, 200)),
			story: story(acknowledged(200, "o1"), unknown(history.Reset), a).rows(1), want: []string{"replay-mismatch/status"}},
		{name: "another body is an unequal replay", story: story(a, saying(`{"id":"o1","state":"paid"}`, a)).rows(1), want: []string{"replay-mismatch/body"}},
		{name: "another body outside what may differ is right", terms: terms(func(t *checker.Terms) { t.Contract.Replay.Ignore = []string{"/state"} }),
			story: story(a, saying(`{"id":"o1","state":"paid"}`, a)).rows(1)},
		{name: "another body with the same identity is right where only that is promised", terms: terms(onlyIdentity), story: story(a, saying(`{"id":"o1","state":"paid"}`, a)).rows(1)},
		{name: "the same JSON spelled otherwise is no equal replay where bytes are promised", terms: terms(sameBytes), story: story(a, saying(`{"id": "o1"}`, a)).rows(1), want: []string{"replay-mismatch/body"}},
		{name: "an answer without JSON is an unequal replay", terms: terms(func(t *checker.Terms) { t.Operation.Identity = contract.Identity{} }),
			story: story(bearing("Content-Type", "text/plain", saying("done", a)), bearing("Content-Type", "text/plain", saying("done again", a))).rows(1), want: []string{"replay-mismatch/body"}},
		{name: "a missing header of the list is an unequal replay", story: story(located, a).rows(1), want: []string{"replay-mismatch/header"}},
		{name: "a different header of the list is an unequal replay", story: story(located, bearing("Location", "/orders/o2", a)).rows(1), want: []string{"replay-mismatch/header"}},
		{name: "a header outside the list may differ", story: story(bearing("Date", "Monday", a), bearing("Date", "Tuesday", a)).rows(1)},
		{name: "a media type may differ in its parameters", story: story(a, bearing("Content-Type", "application/json; charset=utf-8", a)).rows(1)},
		{name: "one answer without the replay marker is right", terms: terms(replayMarked), story: story(a, replayed(a), replayed(a)).rows(1).probe(replayed(a))},
		{name: "two answers without the replay marker are two first answers", terms: terms(replayMarked), story: story(a, a, replayed(a)).rows(1), want: []string{"replay-mismatch/marker"}},
		{name: "two answers without a replay marker that may be missing are right", story: story(a, a).rows(1),
			terms: terms(replayMarked, func(t *checker.Terms) { t.Contract.Replay.Marker.Required = false })},
		{name: "the only answer says replay and none was lost: a record from before", terms: terms(replayMarked), story: story(replayed(a)).rows(1), want: []string{"replay-mismatch/marker"}},
		{name: "the only answer says replay after a lost one: right", terms: terms(replayMarked), story: story(unknown(history.Closed), replayed(a)).rows(1)},
		{name: "the only answer says replay and one after it was lost: a record from before", terms: terms(replayMarked),
			story: story(replayed(a), unknown(history.Closed)).rows(1), want: []string{"replay-mismatch/marker"}},
		{name: "a replay of the answer to another key of the natural key is right", terms: terms(replayMarked, naturalKey),
			story: story(a, keyed("k2", replayed(a))).rows(1)},
		{name: "first answers to two keys of one natural key are right", terms: terms(replayMarked, naturalKey), story: story(a, keyed("k2", acknowledged(200, "o1"))).rows(1)},
		{name: "where only one effect is promised, answers may differ", terms: terms(dedupOnly, replayMarked),
			story: story(located, saying(`{"id":"o1","n":2}`, acknowledged(200, "o1")), saying(`{}`, a)).rows(1)},
		{name: "where only one effect is promised, the identity must still be the same", terms: terms(dedupOnly), story: story(a, acknowledged(200, "o9")).rows(1), want: []string{"replay-mismatch/identity"}},
	})
}

// Invariant I4: one identity, and it is the row.
func TestIdentity(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	cut := acknowledged(201, "o1")
	cut.Content, cut.Digest = `{"id":"o`, "abc"
	numbered := story(answer(201, `{"id": 7.0}`)).rows(1)
	numbered.before[history.Original][0]["id"] = float64(7)
	spelled := story(answer(201, `{"id": 9007199254740993}`)).rows(1)
	spelled.before[history.Original][0]["id"] = "9007199254740993"
	nameless := story(a).rows(1)
	delete(nameless.before[history.Original][0], "id")
	runCells(t, []cell{
		{name: "an answer that names another thing than the row is wrong", story: story(acknowledged(201, "o2")).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "told that another thing exists is wrong", story: story(a).rows(1).probe(exists("o5")), want: []string{"replay-mismatch/identity"}},
		{name: "told that it exists without a name is right", story: story(a).rows(1).probe(answer(409, `{"error":"exists"}`))},
		{name: "an answer that names nothing is wrong", story: story(saying(`{"ok":true}`, a)).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "an answer that names null is wrong", story: story(saying(`{"id":null}`, a)).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "an answer without a body need not name it", story: story(a, saying("", acknowledged(201, ""))).rows(1), terms: terms(anyBody)},
		{name: "an answer that is on record in part need not name it", story: story(a, cut).rows(1)},
		{name: "an answer of which nothing is promised need not name it", story: story(saying(`{"ok":true}`, a)).rows(1), terms: terms(anyBody)},
		{name: "an identity is the same as number and as text", story: numbered},
		{name: "a large number keeps its digits", story: spelled},
		{name: "rows without the identity's column compare nothing", story: nameless},
		{name: "an operation without identities compares nothing", story: story(a, acknowledged(201, "o2")).rows(1), terms: terms(anyBody, func(t *checker.Terms) { t.Operation.Identity = contract.Identity{} })},
		{name: "with two keys and one answer lost, the row may be the other's, but what was named is not there", story: story(unknown(history.Reset), keyed("k2", acknowledged(201, "o2"))).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "with two keys and one answer lost, the row may be the named one's", story: story(unknown(history.Reset), keyed("k2", acknowledged(201, "o2"))).holding("o2")},
	})
}

// Large answers are recorded in part, with a digest.
func TestLargeAnswers(t *testing.T) {
	t.Parallel()
	large := func(content, digest string) history.Attempt {
		a := bearing("Content-Type", "text/plain", answer(201, content))
		a.Digest = digest
		return a
	}
	runCells(t, []cell{
		{name: "with equal parts and digests are equal", story: story(large("abc", "d1"), large("abc", "d1")).rows(1), terms: terms(sameBytes)},
		{name: "with another digest differ where bytes are promised", story: story(large("abc", "d1"), large("abc", "d2")).rows(1), terms: terms(sameBytes), want: []string{"replay-mismatch/body"}},
		{name: "with another digest may be the same JSON spelled otherwise", story: story(large(`{"id":`, "d1"), large(`{ "id":`, "d2")).rows(1)},
	})
}

// An answer that is too long for the record is compared by a digest of its JSON value, however that is spelled.
func TestLargeAnswersAreComparedByTheirValue(t *testing.T) {
	t.Parallel()
	large := func(digest, value string) history.Attempt {
		a := acknowledged(201, "o1")
		a.Content, a.Digest, a.Value, a.Length = `{"id":"o`, digest, value, 100_000
		return a
	}
	ignoring := func(t *checker.Terms) { t.Contract.Replay.Ignore = []string{"/at"} }
	for _, c := range []struct {
		then  history.Attempt
		terms checker.Terms
		want  []string
	}{
		{large("d1", "v1"), terms(), nil},
		{large("d2", "v1"), terms(), nil},
		{large("d2", "v2"), terms(), []string{"replay-mismatch/body"}},
		{large("d2", ""), terms(), nil},
		{large("d2", "v2"), terms(ignoring), nil},
	} {
		judge(t, scene(story(large("d1", "v1"), c.then).rows(1)), c.terms, c.want, "")
	}
}
