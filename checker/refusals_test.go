package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

// oneStatus says that a mismatch, a running request and what exists already look the same.
func oneStatus(t *checker.Terms) {
	same := contract.Signature{Statuses: []int{422}}
	t.Contract.Fingerprint.Signature, t.Contract.InProgress.Signature, t.Contract.Existing.Signature = same, same, same
}

// corrected is a mistake that is refused twice, and then what comes of the corrected body.
func corrected(then ...history.Attempt) *draft {
	return story(append([]history.Attempt{invalid(rejected(400)), invalid(rejected(400))}, then...)...)
}

func TestACorrectedBody(t *testing.T) {
	t.Parallel()
	a, no, other := acknowledged(201, "o1"), rejected(400), mismatch()
	stored, forgotten := []string{"stored-error/refusal"}, []string{"altered-body-violation/refusal-forgotten"}
	runCells(t, []cell{
		{"gets through", corrected(a, a).rows(1).probe(a), terms(forgets4xx), nil, ""},
		{"is refused for good with the stored refusal", corrected(no, no).probe(no), terms(forgets4xx), stored, ""},
		{"is refused for good as another body", corrected(other, other).probe(other), terms(forgets4xx), stored, ""},
		{"is refused at first", corrected(no, a).rows(1).probe(a), terms(forgets4xx), nil, ""},
		{"is refused until the final retry", corrected(other, other).later("o1").probe(a), terms(forgets4xx), nil, ""},
		{"is refused before any handling", corrected(rejected(403)).probe(rejected(403)), terms(forgets4xx), nil, ""},
		{"is refused, and what it corrects was not handled", story(invalid(rejected(403)), no).probe(no), terms(forgets4xx), nil, ""},
		{"is refused, and no mistake came before", story(no).probe(no), terms(forgets4xx), nil, ""},
		{"is refused beside its mistake", story(during(10, 90, invalid(no)), during(11, 91, no)), terms(forgets4xx), nil, ""},
		{"is refused with another key", story(invalid(no), keyed("other", no)), terms(forgets4xx), nil, ""},
		{"is refused once the key may be forgotten", story(invalid(no), during(2000, 2001, no)), terms(forgets4xx, expiring(1000, "")), nil, ""},
		{"fails for good", corrected(serverError()).probe(serverError(), serverError()), terms(forgets4xx), []string{"unavailable"}, ""},
		{"stays refused", corrected(other, other).probe(other), terms(store4xx), nil, ""},
		{"gets the stored refusal", corrected(no, no).probe(no), terms(store4xx, replayFirst), nil, ""},
		{"gets through, though the refusal is stored", corrected(a, a).rows(1).probe(a), terms(store4xx), forgotten, ""},
		{"gets through without an answer, though the refusal is stored", corrected(unknown(history.Reset)).rows(1).probe(other), terms(store4xx), append(forgotten, "refused-though-done"), ""},
		{"is acknowledged without a row, though the refusal is stored", corrected(a, a).probe(a), terms(store4xx), append([]string{"lost-acknowledged-write"}, forgotten...), ""},
		{"fails, though nothing is stored of that", corrected(serverError()).probe(other), terms(store4xx), nil, ""},
		{"gets through beside its mistake", story(during(10, 90, invalid(no)), during(11, 91, a)).rows(1).probe(a), terms(store4xx), nil, ""},
		{"gets through once the key may be forgotten", story(invalid(no), during(2000, 2001, a)).rows(1), terms(store4xx, expiring(1000, "")), nil, ""},
		{"gets through after what was not handled", story(invalid(rejected(401)), a).rows(1).probe(a), terms(store4xx), nil, ""},
		{"gets through, and nothing is declared", corrected(a, a).rows(1).probe(a), terms(), nil, ""},
		{"is refused as another body, and nothing is declared", corrected(other, other).probe(other), terms(), nil, ""},
		{"is refused, and nothing is declared", corrected(no).probe(no), terms(), nil, ""},
		{"is acknowledged without a row", corrected(a, a).probe(a), terms(), []string{"lost-acknowledged-write"}, ""},
		{"makes two rows", corrected(a, a).rows(2).probe(a), terms(), []string{"duplicate"}, ""},
		{"is acknowledged and then refused", corrected(a, other).rows(1).probe(a), terms(), []string{"replay-mismatch/status"}, ""},
		{"is told that it exists", corrected(exists("o1")), terms(), []string{"false-conflict"}, ""},
		{"is taken for another beside its mistake", story(during(10, 90, invalid(no)), during(11, 91, other)).probe(other), terms(), nil, ""},
		{"is taken for another before its mistake came", story(other, invalid(no)), terms(), []string{"false-conflict"}, ""},
		{"is refused by an answer that may mean that it runs", corrected(other).probe(other), terms(oneStatus), nil, ""},
		{"is refused for good by an answer that may mean that it runs", corrected(other).probe(other), terms(oneStatus, forgets4xx), stored, ""},
		{"runs, by an answer that may mean that it is another body", story(invalid(rejected(403)), keyed("other", other)).probe(keyed("other", other)), terms(oneStatus), nil, ""},
	})
}

func TestWhatTheRefusalOfABodyLeaves(t *testing.T) {
	t.Parallel()
	a, no, u := acknowledged(201, "o1"), rejected(400), unknown(history.Reset)
	other := saying(`{"error":"invalid","try":2}`, no)
	phantom := []string{"phantom-row/rejected-yet-applied"}
	runCells(t, []cell{
		{"a row of it", corrected(a).rows(1).leaving("o2").probe(a), terms(), phantom, ""},
		{"a row of what was throttled", story(invalid(throttled()), a).rows(1).leaving("o2").probe(a), terms(), phantom, ""},
		{"nothing, as it was throttled before", story(invalid(throttled()), invalid(no), a).rows(1).probe(a), terms(store4xx), []string{"altered-body-violation/refusal-forgotten"}, ""},
		{"a row of what was never sent", story(invalid(refused()), a).rows(1).leaving("o2").probe(a), terms(), nil, "another client writes its marker"},
		{"another refusal", story(invalid(no), invalid(rejected(409)), no).probe(no), terms(store4xx), []string{"replay-mismatch/status"}, ""},
		{"another refusal, which is not stored", story(invalid(no), invalid(rejected(409)), a).rows(1).probe(a), terms(forgets4xx), nil, ""},
		{"a refusal with another body", story(invalid(no), invalid(other), no).probe(no), terms(store4xx), []string{"replay-mismatch/body"}, ""},
		{"a refusal with another header", story(invalid(no), invalid(bearing("Location", "/x", no)), no).probe(no), terms(store4xx), []string{"replay-mismatch/header"}, ""},
		{"a refusal whose body is not compared", story(invalid(no), invalid(other), no).probe(no), terms(store4xx, anyBody), nil, ""},
		{"another refusal at the level that compares none", story(invalid(no), invalid(other), no).probe(no), terms(store4xx, dedupOnly), nil, ""},
		{"another refusal to another key", story(invalid(no), invalid(keyed("other", rejected(409))), no).probe(no), terms(store4xx), nil, ""},
		{"another refusal once the key may be forgotten", story(invalid(no), during(2000, 2001, invalid(other)), during(2010, 2011, no)), terms(store4xx, expiring(1000, "")), nil, ""},
		// What is not refused is another body, and is judged as one.
		{"an acknowledgement, and then it is another body", story(invalid(a), mismatch()).leaving("o1").probe(mismatch()), terms(), nil, ""},
		{"an acknowledgement of it, and one of the other body", story(invalid(a), acknowledged(201, "o2")).rows(1).leaving("o2").probe(a), terms(), []string{"duplicate/altered-body-accepted"}, ""},
		{"no answer, and then it is another body", story(invalid(u), mismatch()).leaving("o1").probe(mismatch()), terms(), nil, ""},
		{"an acknowledgement after a refusal", story(invalid(no), invalid(a), mismatch()).leaving("o1").probe(mismatch()), terms(store4xx), []string{"replay-mismatch/status"}, ""},
	})
}

func TestWithANaturalKeyARefusalLeavesTheKeyFreeToo(t *testing.T) {
	t.Parallel()
	no := keyed(noKey, rejected(400))
	draft := story(invalid(no), no).probe(no)
	require.Equal(t, []string{"stored-error/refusal"}, found(check(scene(draft), terms(forgets4xx, naturalKey))))
	require.Empty(t, found(check(scene(draft), terms(forgets4xx))), "without any key each request is an intent of its own")
	amount := func(t *checker.Terms) { t.Contract.NaturalKey = []string{"/amount"} }
	require.Empty(t, found(check(scene(draft), terms(forgets4xx, amount))), "another natural key is another intent")
}

// byReference asks for the rows with what all bodies of an intent have.
func byReference(h *history.History) *history.History {
	for i, intent := range h.Intents {
		if b, sent := intent.Bodies[history.Invalid]; sent {
			marker := intent.Bodies[history.Original].Marker
			for _, s := range []*history.Snapshot{h.T1, h.T2} {
				s.Rows[marker] = append(s.Rows[marker], s.Rows[b.Marker]...)
				delete(s.Rows, b.Marker)
			}
			b.Marker = marker
			h.Intents[i].Bodies[history.Invalid] = b
		}
	}
	return h
}

func TestARowOfAnInvalidBodyIsToldByWhatItHolds(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	refused := scene(corrected(a).rows(1).leaving("o2").probe(a))
	judge(t, byReference(refused), terms(), []string{"phantom-row/rejected-yet-applied"}, "")
	taken := scene(story(invalid(a), mismatch()).leaving("o1").probe(mismatch()))
	judge(t, byReference(taken), terms(), nil, "")
}

// What is not refused is another body of the intent that was sent with it, and not of its twin.
func TestATwinOfATakenBodyKeepsItsOwn(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	twins := scene(story(a).rows(3), story(invalid(acknowledged(201, "o9")), mismatch()).named("i2").twinOf("dti1").leaving("o9"))
	require.Contains(t, found(check(twins, terms())), "duplicate")
}

func TestACorrectionIsExercisedOnlyByARefusal(t *testing.T) {
	t.Parallel()
	a, no := acknowledged(201, "o1"), rejected(400)
	exercise := func(d *draft, changes ...func(*checker.Terms)) checker.Result {
		h := scenes([]*draft{d})
		h.Run.Exercised = []history.Proof{{Name: string(proofs.Corrected), AtLeast: 1}}
		return check(h, terms(changes...))
	}
	require.Equal(t, checker.Pass, exercise(corrected(a).rows(1).probe(a)).Verdict)
	require.Equal(t, checker.Pass, exercise(corrected(mismatch()).probe(mismatch()), store4xx).Verdict, "all was refused, by right")
	for name, d := range map[string]*draft{
		"refused before any handling": story(invalid(rejected(404)), a).rows(1).probe(a),
		"never corrected":             story(a, invalid(no)).rows(1).probe(a),
		"corrected under another key": story(invalid(no), keyed("other", a)).rows(1).probe(keyed("other", a)),
		"throttled":                   story(invalid(throttled()), a).rows(1).probe(a),
	} {
		r := exercise(d)
		require.Equal(t, checker.Inconclusive, r.Verdict, name)
		require.Contains(t, r.Reasons[0], "not exercised: the invalid body was refused", name)
	}
	taken := exercise(story(invalid(a), mismatch()).leaving("o1").probe(mismatch()))
	require.Contains(t, taken.Reasons, "the target did not refuse the invalid body: attempt i1.1 of intent i1 was answered 201 (acknowledged): let invalid, of the operation, make a body that the target refuses with a 4xx")
	require.Empty(t, check(scene(story(invalid(a), mismatch()).leaving("o1").probe(mismatch())), terms()).Reasons, "only a scenario that corrects says so")
}
