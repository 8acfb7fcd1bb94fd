package checker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

func TestAPassageThatSawNoConnectionProvesNothing(t *testing.T) {
	t.Parallel()
	h := alone(story(keyed(noKey, passing(history.Passage{}, acknowledged(201, "o1")))).rows(1))
	h.Run.Exercised = []history.Proof{{Name: string(proofs.KeyOmitted)}}
	require.Equal(t, 1, check(h, terms()).Exercise[0].Held)
}

func TestSignaturesOfEveryNumber(t *testing.T) {
	t.Parallel()
	for answered, want := range map[string]any{"7": 7, "7.0": int64(7), "18446744073709551615": ^uint64(0), "0.75": 0.75} {
		x := terms()
		x.Contract.Throttled.Where = map[string]any{"/code": want}
		require.Equal(t, checker.Throttled, x.Classify(answer(503, `{"code":`+answered+`}`)))
		require.Equal(t, checker.Unknown, x.Classify(answer(503, `{"code":8}`)))
	}
}

// A form may refuse a token that was used as it does none. Without a key, nothing exists already by it.
func TestARequestWithoutAKeyIsToldWhatIsMissing(t *testing.T) {
	t.Parallel()
	x := terms(keyRequired)
	x.Contract.Existing.Statuses, x.Contract.Existing.Where = []int{403}, nil
	require.Equal(t, checker.Rejected, x.Classify(rejected(403)))
	require.Equal(t, checker.Exists, x.Classify(keyed("k1", rejected(403))))

	h := scene(story(keyed(noKey, rejected(403))).rows(0).probe(keyed(noKey, rejected(403))))
	h.Run.Normal = ms(5)
	require.Empty(t, found(check(h, x)))
	require.NotContains(t, strings.Join(check(h, x).Reasons, "\n"), "401, 403 or 404")
}

func TestAnswersThatAreNoJSON(t *testing.T) {
	t.Parallel()
	require.Equal(t, checker.Unknown, terms().Classify(answer(201, "  ")), "white space is no JSON value")
	x := terms()
	x.Contract.Ack.Where = map[string]any{"/error": nil}
	require.Equal(t, checker.Acknowledged, x.Classify(answer(201, `{"id":"o1"}`)))
	require.Equal(t, checker.Unknown, x.Classify(bearing("Content-Type", "text/plain", answer(201, "done"))))

	text, value := bearing("Content-Type", "text/plain", answer(201, "done")), acknowledged(201, "o1")
	for _, pair := range [][]history.Attempt{{text, value}, {value, text}} {
		r := check(scene(story(pair...).rows(1)), terms())
		i := slices.IndexFunc(r.Findings, func(f checker.Finding) bool { return f.Detail == "body" })
		require.Equal(t, "body", r.Findings[i].Differs[0].Where)
	}
}

func passing(p history.Passage, a history.Attempt) history.Attempt { a.Passage = &p; return a }

func truncated(a history.Attempt) history.Attempt {
	a.Complete, a.ErrorKind = false, history.Truncated
	return a
}

func TestClassify(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	part := cutOff(`{"id":"o1","terms":"` + strings.Repeat("x", 100_000) + `"}`)
	unread := unread("abc", "it is longer than 2 MiB")
	broken := cutOff(`{"id":"o1","terms":"` + strings.Repeat("x", 100_000))
	broken.Header = a.Header
	late := refused()
	late.Sent = 5
	type row struct {
		name    string
		attempt history.Attempt
		want    checker.Outcome
	}
	rows := []row{
		{"a complete answer of a declared status is acknowledged", a, checker.Acknowledged},
		{"a complete answer without a body is acknowledged", saying("", acknowledged(204, "")), checker.Acknowledged},
		{"a truncated 2xx is unknown: a status line acknowledges nothing", truncated(a), checker.Unknown},
		{"a 2xx that is no JSON though it says so is unknown", saying(`{"id":`, a), checker.Unknown},
		{"a 2xx with a second value behind the first is unknown", saying(`{} {}`, a), checker.Unknown},
		{"a 2xx with problem JSON that is none is unknown", bearing("Content-Type", "application/problem+json", saying(`<html>`, a)), checker.Unknown},
		{"a 2xx that does not say JSON need not be JSON", bearing("Content-Type", "text/html", saying(`<html>`, a)), checker.Acknowledged},
		{"a 2xx of no readable type need not be JSON", bearing("Content-Type", ";", saying(`<html>`, a)), checker.Acknowledged},
		{"a 2xx that is on record in part is acknowledged", part, checker.Acknowledged},
		{"a 2xx that could not be read is acknowledged", unread, checker.Acknowledged},
		{"a 2xx that is on record in part, and no JSON though it says so, is unknown", broken, checker.Unknown},
		{"an undeclared 2xx is unknown", acknowledged(202, "o1"), checker.Unknown},
		{"an undeclared redirect is unknown", acknowledged(303, "o1"), checker.Unknown},
		{"nothing at all is unknown", history.Attempt{}, checker.Unknown},
		{"the existing signature says that it exists", exists("o1"), checker.Exists},
		{"the in-progress signature says in progress", inProgress(), checker.InProgress},
		{"the same status with another code is a refusal", answer(409, `{"error":"stale"}`), checker.Rejected},
		{"the same status without a body is a refusal", answer(409, ""), checker.Rejected},
		{"the throttle signature is throttled", throttled(), checker.Throttled},
		{"a 429 is throttled even where it is undeclared", answer(429, ""), checker.Throttled},
		{"a 402 declines even where it is undeclared", answer(402, ""), checker.Declined},
		{"a 503 without the throttle signature is unknown", answer(503, `{"error":"down"}`), checker.Unknown},
		{"no connection is not sent", refused(), checker.NotSent},
		{"no connection after bytes were sent is unknown", late, checker.Unknown},
		{"a doorstep that could not reach the target proves not sent", passing(history.Passage{Refused: true}, unknown(history.Closed)), checker.NotSent},
		{"a doorstep that passed no byte proves not sent", passing(history.Passage{Opened: 5}, unknown(history.Reset)), checker.NotSent},
		{"a doorstep that passed a byte proves nothing", passing(history.Passage{Opened: 5, Up: 1}, unknown(history.Reset)), checker.Unknown},
		{"a doorstep that saw no connection proves nothing", passing(history.Passage{}, unknown(history.Reset)), checker.Unknown},
	}
	for _, s := range []int{400, 401, 403, 404, 405, 410, 412, 415, 422, 428} {
		rows = append(rows, row{fmt.Sprintf("a complete %d is a refusal", s), rejected(s), checker.Rejected})
	}
	for _, s := range []int{408, 413, 431, 499} {
		rows = append(rows, row{fmt.Sprintf("a %d may be an intermediary's and is unknown", s), rejected(s), checker.Unknown})
	}
	for _, s := range []int{500, 501, 502, 503, 504, 520, 599} {
		rows = append(rows, row{fmt.Sprintf("a %d is unknown whatever its body says", s), answer(s, `{"error":"exists"}`), checker.Unknown})
	}
	for _, k := range []history.ErrorKind{history.Timeout, history.Reset, history.Closed, history.Truncated, history.Garbage, history.Interrupted, history.OtherError} {
		rows = append(rows, row{fmt.Sprintf("an exchange that breaks by %s is unknown", k), unknown(k), checker.Unknown})
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, r.want, terms().Classify(r.attempt))
		})
	}
}

// Where one status means two things and no member of the body tells which, the body that was sent does.
func TestClassifyOneStatusForTwoMeanings(t *testing.T) {
	t.Parallel()
	conflict := contract.Signature{Statuses: []int{409}}
	inProgressToo := terms(func(t *checker.Terms) {
		t.Contract.InProgress.Signature, t.Contract.Fingerprint.Signature = conflict, conflict
		t.Contract.Existing = contract.Existing{}
	})
	existsToo := terms(func(t *checker.Terms) {
		t.Contract.InProgress.Signature = contract.Signature{}
		t.Contract.Existing.Signature, t.Contract.Fingerprint.Signature = conflict, conflict
	})
	either := terms(naturalKey, func(t *checker.Terms) {
		t.Contract.InProgress.Signature, t.Contract.Existing.Signature = conflict, conflict
	})
	a := rejected(409)
	require.Equal(t, checker.InProgress, inProgressToo.Classify(a), "an equal body cannot be a mismatch")
	require.Equal(t, checker.Rejected, inProgressToo.Classify(altered(a)), "an altered body is a mismatch")
	require.Equal(t, checker.Exists, existsToo.Classify(a), "an equal body cannot be a mismatch")
	require.Equal(t, checker.Rejected, existsToo.Classify(altered(a)), "an altered body is a mismatch")
	require.Equal(t, checker.InProgress, either.Classify(a), "the weaker of two readings")

	lost := story(unknown(history.Timeout), keyed("k2", a)).rows(1).probe(acknowledged(201, "o1"), keyed("k2", a))
	judge(t, scene(lost), either, nil, "")
}

func TestARefusalIsKnownByItsMembersWhateverItsStatus(t *testing.T) {
	t.Parallel()
	code := func(text string) contract.Signature {
		return contract.Signature{Statuses: []int{200}, Where: map[string]any{"/errors/0/extensions/code": text}}
	}
	graphQL := terms(func(t *checker.Terms) {
		t.Contract.Ack.Signature = contract.Signature{Statuses: []int{200}, Where: map[string]any{"/errors": nil}}
		t.Contract.Fingerprint.Signature, t.Contract.MissingKey, t.Contract.Expiry.Signature = code("REUSED"), code("NO_KEY"), code("EXPIRED")
	})
	says := func(text string) history.Attempt { return answer(200, text) }
	require.Equal(t, checker.Acknowledged, graphQL.Classify(says(`{"data":{"id":1}}`)))
	require.Equal(t, checker.Acknowledged, graphQL.Classify(says(`{"data":{"id":1},"errors":null}`)))
	for _, text := range []string{"REUSED", "NO_KEY", "EXPIRED"} {
		require.Equal(t, checker.Rejected, graphQL.Classify(says(`{"errors":[{"extensions":{"code":"`+text+`"}}]}`)), text)
	}
	require.Equal(t, checker.Unknown, graphQL.Classify(says(`{"errors":[{"extensions":{"code":"INTERNAL"}}]}`)), "nobody said that it is definite")
	require.Equal(t, checker.Unknown, terms().Classify(says(`[`)))
}

func TestSignaturePredicates(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name    string
		where   map[string]any
		content string
		want    checker.Outcome
	}{
		{"a text", map[string]any{"/status": "done"}, `{"status":"done"}`, checker.Acknowledged},
		{"another text", map[string]any{"/status": "done"}, `{"status":"failed"}`, checker.Unknown},
		{"a number, however it is spelled", map[string]any{"/code": 100}, `{"code":1e2}`, checker.Acknowledged},
		{"a large exponent that is not made exact", map[string]any{"/code": 1}, `{"code":1e99999}`, checker.Unknown},
		{"a truth value", map[string]any{"/ok": true}, `{"ok":true}`, checker.Acknowledged},
		{"an absent member where null is wanted", map[string]any{"/errors": nil}, `{"data":1}`, checker.Acknowledged},
		{"a null member where null is wanted", map[string]any{"/errors": nil}, `{"errors":null}`, checker.Acknowledged},
		{"a member where null is wanted, as in an error envelope", map[string]any{"/errors": nil}, `{"errors":["no"]}`, checker.Unknown},
		{"an empty list", map[string]any{"/userErrors": []any{}}, `{"userErrors":[]}`, checker.Acknowledged},
		{"a list with something in it", map[string]any{"/userErrors": []any{}}, `{"userErrors":[{}]}`, checker.Unknown},
		{"an element of a list", map[string]any{"/list/1": "b"}, `{"list":["a","b"]}`, checker.Acknowledged},
		{"an element beyond a list", map[string]any{"/list/2": "b"}, `{"list":["a","b"]}`, checker.Unknown},
		{"a member of something that has none", map[string]any{"/list/x": "b"}, `{"list":"a"}`, checker.Unknown},
		{"a name with a slash and a tilde", map[string]any{"/a~1b~0c": 1}, `{"a/b~c":1}`, checker.Acknowledged},
		{"an object", map[string]any{"/of": map[string]any{"a": 1}}, `{"of":{"a":1.0}}`, checker.Acknowledged},
		{"an object with more in it", map[string]any{"/of": map[string]any{"a": 1}}, `{"of":{"a":1,"b":2}}`, checker.Unknown},
		{"the whole body", map[string]any{"": "done"}, `"done"`, checker.Acknowledged},
		{"no JSON at all", map[string]any{"/status": "done"}, ``, checker.Unknown},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			terms := terms(func(t *checker.Terms) { t.Contract.Ack.Where = r.where })
			require.Equal(t, r.want, terms.Classify(answer(200, r.content)))
		})
	}
}

func TestSettled(t *testing.T) {
	t.Parallel()
	for _, a := range []history.Attempt{acknowledged(201, "o1"), exists("o1"), rejected(400)} {
		require.True(t, terms().Settled(a), "%d is final", a.Status)
	}
	for _, a := range []history.Attempt{inProgress(), throttled(), serverError(), refused(), unknown(history.Timeout), answer(429, "")} {
		require.False(t, terms().Settled(a), "%d is not final", a.Status)
	}
}

func TestKeyless(t *testing.T) {
	t.Parallel()
	require.True(t, terms(naturalKey).Keyless())
	require.False(t, terms().Keyless())
}

func TestNamesSurviveTheRoundTrip(t *testing.T) {
	t.Parallel()
	for v := checker.Inconclusive; v <= checker.Broken; v++ {
		text, err := v.MarshalText()
		require.NoError(t, err)
		got := checker.Verdict(99)
		require.NoError(t, got.UnmarshalText(text))
		require.Equal(t, v, got)
	}
	for o := checker.Unknown; o <= checker.NotSent; o++ {
		text, err := o.MarshalText()
		require.NoError(t, err)
		got := checker.Outcome(99)
		require.NoError(t, got.UnmarshalText(text))
		require.Equal(t, o, got)
	}
	require.Equal(t, "verdict(99)", checker.Verdict(99).String())
	require.Equal(t, "outcome(-1)", checker.Outcome(-1).String())
	v, o := checker.Pass, checker.Acknowledged
	require.Error(t, v.UnmarshalText([]byte("green")))
	require.Equal(t, checker.Inconclusive, v, "what is not understood is inconclusive")
	require.Error(t, o.UnmarshalText([]byte("fine")))
	require.Equal(t, checker.Unknown, o)
}
