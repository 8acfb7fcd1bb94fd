package checker_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/outline"
)

func TestTheContractThatAStatusBreaks(t *testing.T) {
	t.Parallel()
	h := scene(story(acknowledged(201, "o1"), acknowledged(200, "o1")).rows(1))
	require.Equal(t, "replay.status: same", check(h, terms()).Findings[0].Contract)
	require.Equal(t, "replay.status: map[204:[204]]", check(h, terms(replayStatus(204, 204))).Findings[0].Contract)
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
	numbered := story(answer(201, `{"id": 7.0}`)).rows(1)
	numbered.before[history.Original][0]["id"] = float64(7)
	spelled := story(answer(201, `{"id": 9007199254740993}`)).rows(1)
	spelled.before[history.Original][0]["id"] = "9007199254740993"
	unnamed := story(a).rows(1)
	delete(unnamed.before[history.Original][0], "id")
	runCells(t, []cell{
		{name: "an answer that names another thing than the row is wrong", story: story(acknowledged(201, "o2")).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "told that another thing exists is wrong", story: story(a).rows(1).probe(exists("o5")), want: []string{"replay-mismatch/identity"}},
		{name: "told that it exists without a name is right", story: story(a).rows(1).probe(answer(409, `{"error":"exists"}`))},
		{name: "an answer that names nothing is wrong", story: story(saying(`{"ok":true}`, a)).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "an answer that names null is wrong", story: story(saying(`{"id":null}`, a)).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "an answer without a body need not name it", story: story(a, saying("", acknowledged(201, ""))).rows(1), terms: terms(anyBody)},
		{name: "an answer of which nothing is promised need not name it", story: story(saying(`{"ok":true}`, a)).rows(1), terms: terms(anyBody)},
		{name: "an identity is the same as number and as text", story: numbered},
		{name: "a large number keeps its digits", story: spelled},
		{name: "rows without an identity compare nothing where none has one", story: unnamed, terms: terms(nameless)},
		{name: "a row without an identity beside rows that have one is not the one that is named", story: unnamed, want: []string{"replay-mismatch/identity"}},
		{name: "an operation without identities compares nothing", story: story(a, acknowledged(201, "o2")).rows(1), terms: terms(anyBody, func(t *checker.Terms) { t.Operation.Identity = contract.Identity{} })},
		{name: "with two keys and one answer lost, the row may be the other's, but what was named is not there", story: story(unknown(history.Reset), keyed("k2", acknowledged(201, "o2"))).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "with two keys and one answer lost, the row may be the named one's", story: story(unknown(history.Reset), keyed("k2", acknowledged(201, "o2"))).holding("o2")},
	})
}

// cutOff is an answer of which the record has only the beginning, and an outline where it is JSON.
func cutOff(body string) history.Attempt {
	a := answer(201, body[:10])
	sum := sha256.Sum256([]byte(body))
	a.Digest, a.Length = hex.EncodeToString(sum[:]), int64(len(body))
	if o, ok := outline.Of([]byte(body)); ok {
		text, _ := json.Marshal(o)
		a.Outline = string(text)
	} else {
		a.Header = map[string]string{"Content-Type": "text/plain"}
	}
	return a
}

// unread is an answer that could not be read.
func unread(digest, why string) history.Attempt {
	a := answer(201, "\uFFFD")
	a.Digest, a.Unread, a.Length = digest, why, 9
	return a
}

// Answers that the record does not hold as a whole are compared by the digest of their bytes, and by the outline of their
// JSON value.
func TestLargeAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	body := func(state string) string { return `{"terms":"` + long + `","state":"` + state + `","id":"o1"}` }
	other := `{"id":"o1","terms":"` + long[1:] + `y","state":"paid"}`
	text := bearing("Content-Type", "text/plain", cutOff(long+"paid"))
	notNaming := func(t *checker.Terms) { t.Operation.Identity = contract.Identity{} }
	ignoring := func(pointers ...string) func(*checker.Terms) {
		return func(t *checker.Terms) { t.Contract.Replay.Ignore = pointers }
	}
	paid := func(t *checker.Terms) { t.Contract.Ack.Where = map[string]any{"/state": "paid"} }
	mismatch := []string{"replay-mismatch/body"}
	runCells(t, []cell{
		{name: "that are equal are equal", story: story(cutOff(body("paid")), cutOff(body("paid"))).rows(1), terms: terms(sameBytes)},
		{name: "of other bytes differ where bytes are promised", story: story(cutOff(body("paid")), cutOff(" "+body("paid"))).rows(1), terms: terms(sameBytes), want: mismatch},
		{name: "of other bytes are the same JSON, spelled otherwise", story: story(cutOff(body("paid")), cutOff(" "+body("paid"))).rows(1)},
		{name: "that say something else behind what is kept", story: story(cutOff(body("paid")), cutOff(body("refused"))).rows(1), want: mismatch},
		{name: "that differ in what is folded", story: story(cutOff(body("paid")), cutOff(other)).rows(1), want: mismatch},
		{name: "that differ in what may differ", story: story(cutOff(body("paid")), cutOff(body("refused"))).rows(1), terms: terms(ignoring("/state"))},
		{name: "that differ in a fold that may differ", story: story(cutOff(body("paid")), cutOff(other)).rows(1), terms: terms(ignoring("/terms"))},
		{name: "that differ beside what may differ", story: story(cutOff(body("paid")), cutOff(body("refused"))).rows(1), terms: terms(ignoring("/at")), want: mismatch},
		{name: "of which one is small", story: story(cutOff(body("paid")), saying(`{"id":"o1","state":"paid","terms":"short"}`, acknowledged(201, "o1"))).rows(1), want: mismatch},
		{name: "that are text and differ", story: story(text, bearing("Content-Type", "text/plain", cutOff(long+"nono"))).rows(1), terms: terms(notNaming), want: mismatch},
		{name: "that call themselves JSON and are none are no acknowledgement", story: story(bearing("Content-Type", "application/json", text)).rows(1).probe(acknowledged(201, "o1"))},
		{name: "that name another row behind what is kept", story: story(cutOff(strings.ReplaceAll(body("paid"), "o1", "o7"))).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "that the contract tells apart by what is behind what is kept", terms: terms(paid), want: []string{"undeclared-answer"},
			story: story(cutOff(body("paid")), cutOff(body("refused"))).rows(1)},
	})
	r := check(scene(story(cutOff(body("paid")), cutOff(body("refused"))).rows(1)), terms())
	require.Equal(t, []checker.Difference{{Attempt: "i1.2", Where: "/state", First: `"paid"`, Then: `"refused"`}}, r.Findings[0].Differs)
	r = check(scene(story(cutOff(body("paid")), cutOff(other)).rows(1)), terms())
	require.Regexp(t, "^/terms 100002 bytes, SHA-256 [0-9a-f]{64}$", r.Findings[0].Differs[0].Where+" "+r.Findings[0].Differs[0].First)
	r = check(scene(story(text, bearing("Content-Type", "text/plain", cutOff(long+"nono"))).rows(1)), terms(notNaming))
	require.Regexp(t, "^body 100004 bytes, SHA-256 [0-9a-f]{64}$", r.Findings[0].Differs[0].Where+" "+r.Findings[0].Differs[0].First)
}

// What cannot be compared as the contract asks is no pass, and the reason says why.
func TestAnswersThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	coded := "its content coding is br"
	items := func(last string) string {
		return `{"id":"o1","items":[` + strings.Repeat(`{"at":1},`, 20_000) + last + `]}`
	}
	secret := func(content string) history.Attempt { return saying(content, acknowledged(201, "o1")) }
	notNaming := func(t *checker.Terms) { t.Operation.Identity = contract.Identity{} }
	for name, c := range map[string]struct {
		first, then history.Attempt
		terms       checker.Terms
		want        string // empty: nothing
	}{
		"not read":              {unread("d1", coded), unread("d2", coded), terms(notNaming), "and could not be compared as replay.body: json asks: the body was not read: its content coding is br"},
		"not read, but equal":   {unread("d1", coded), unread("d1", coded), terms(notNaming), ""},
		"not read, as bytes":    {unread("d1", coded), unread("d1", coded), terms(notNaming, sameBytes), ""},
		"not read, and nothing": {unread("d1", coded), unread("d2", coded), terms(notNaming, anyBody), ""},
		"no name was read":      {unread("d1", coded), unread("d1", coded), terms(), "which row an answer names is not known: of attempt i1.1, /id could not be read, since the body was not read: its content coding is br"},
		"an ignored member in a fold": {
			cutOff(items(`{"at":2}`)), cutOff(items(`{"at":3}`)), terms(func(t *checker.Terms) { t.Contract.Replay.Ignore = []string{"/items/20000/at"} }),
			"what replay.ignore names is within /items, of which only digests are on record",
		},
		"a masked secret": {
			cutOff(items(`{"at":2}`)), secret(`{"id":"o1","items":[{"token":"***"}]}`), terms(), "a secret is masked within /items, of which only a digest is on record",
		},
	} {
		r := check(scene(story(c.first, c.then).rows(1)), c.terms)
		require.Empty(t, found(r), name)
		if c.want == "" {
			require.Empty(t, r.Reasons, name)
			continue
		}
		require.Equal(t, checker.Inconclusive, r.Verdict, name)
		require.Contains(t, strings.Join(r.Reasons, "\n"), c.want, name)
	}
}
