package checker_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/stretchr/testify/require"
)

func TestAlteredBodiesAreNotJudgedByOneMarker(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	first := scene(story(a, altered(mismatch())).rows(1))
	judge(t, unasked(first, "dti1"), terms(), nil, "lacks intent i1")
	second := scene(story(mismatch(), altered(a)).and("o1"))
	judge(t, unasked(second, "dti1changed"), terms(), nil, "lacks intent i1")
}

func TestContentOfAlteredBodies(t *testing.T) {
	t.Parallel()
	want := []string{"altered-body-violation/content"}
	second := scene(story(mismatch(), altered(acknowledged(201, "o1"))).and("o1"))
	judge(t, amounts(second, "dti1changed", 1), terms(), want, "")
	apart := scene(story(acknowledged(201, "o1"), keyed("k2", altered(acknowledged(201, "o2")))).rows(1).and("o2"))
	judge(t, amounts(apart, "dti1changed", 1), terms(), want, "")
}

func TestAlteredBodiesBesideEachOther(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	runCells(t, []cell{
		{name: "an acknowledgement of the losing body, where rows name nothing, is undetected", terms: terms(nameless),
			story: story(a, altered(acknowledged(201, "o2"))).rows(1), want: []string{"altered-body-violation/undetected"}},
		{name: "one body refused and the other told exists, and nothing there, is a false conflict",
			story: story(rejected(400), altered(exists("o1"))), want: []string{"false-conflict"}},
		{name: "unequal answers to the altered body are an unequal replay",
			story: story(mismatch(), altered(a), altered(saying(`{"id":"o1","late":true}`, a))).and("o1"), want: []string{"replay-mismatch/body"}},
	})
}

func TestRejectionsAtTheEntryAreNotStored(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	for _, status := range []int{401, 403, 404, 405, 407, 415} {
		judge(t, scene(story(rejected(status), a).rows(1).probe(a)), terms(store4xx), nil, "")
	}
	judge(t, scene(story(rejected(400), a).rows(1).probe(a)), terms(store4xx), []string{"replay-mismatch/status"}, "")
}

// Decision table 3: one key with two bodies. W is the body that was acknowledged first, L the other.
func TestAlteredBody(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	said := func(l history.Attempt) *draft { return story(a, altered(l)) }
	newID, echo := acknowledged(201, "o2"), answer(201, `{"id":"o1","note":"{altered}"}`)
	u, p := unknown(history.Timeout), inProgress()
	runCells(t, []cell{
		{name: "refused, with W's row, is right", story: said(mismatch()).rows(1).probe(a, altered(mismatch()))},
		{name: "refused, with both rows, is a phantom row", story: said(mismatch()).rows(1).and("o2"), want: []string{"phantom-row/rejected-yet-applied"}},
		{name: "refused, with L's row only, overwrote and lost", story: said(mismatch()).and("o1"), want: []string{"lost-acknowledged-write", "altered-body-violation/overwrote"}},
		{name: "refused, with no row, is a lost write", story: said(mismatch()), want: []string{"lost-acknowledged-write"}},
		{name: "refused after a lost answer, with no row, is as in table 1", story: story(u, altered(rejected(400))).rows(0).probe(rejected(400), altered(rejected(400)))},

		{name: "W's answer, with W's row, is right where that is declared", terms: terms(replayFirst), story: said(a).rows(1).probe(a, altered(a))},
		{name: "W's answer, with W's row, is right where nothing is declared", terms: terms(undeclared), story: said(a).rows(1).probe(a, altered(a))},
		{name: "W's answer, with W's row, was not detected where refusal is declared", story: said(a).rows(1), want: []string{"altered-body-violation/undetected"}},
		{name: "W's answer that names nothing was not detected either", terms: terms(anyBody), story: said(saying("", a)).rows(1), want: []string{"altered-body-violation/undetected"}},
		{name: "W's answer that names nothing is right where replay is declared", terms: terms(replayFirst, anyBody), story: said(saying("", a)).rows(1)},
		{name: "W's answer, marked as a replay, is right where replay is declared", terms: terms(replayFirst, replayMarked), story: said(replayed(a)).rows(1).probe(replayed(a), altered(replayed(a)))},
		{name: "W's answer, with both rows, is a duplicate", terms: terms(replayFirst), story: said(a).rows(1).and("o2"), want: []string{"duplicate/altered-body-accepted"}},
		{name: "W's answer, with L's row only, overwrote", terms: terms(replayFirst), story: said(a).and("o1"), want: []string{"altered-body-violation/overwrote"}},
		{name: "W's answer, with no row, is a lost write", terms: terms(replayFirst), story: said(a), want: []string{"lost-acknowledged-write"}},

		{name: "a new identity, with W's row, is lost: there is no row for it", story: said(newID).rows(1), want: []string{"lost-acknowledged-write"}},
		{name: "a new identity, with both rows, is a duplicate", story: said(newID).rows(1).and("o2"), want: []string{"duplicate/altered-body-accepted"}},
		{name: "a new identity, with L's row only, overwrote", story: said(newID).and("o2"), want: []string{"altered-body-violation/overwrote"}},
		{name: "a new identity, with no row, is a lost write", story: said(newID), want: []string{"lost-acknowledged-write"}},

		{name: "L's content under W's identity, with W's row, is an echo", terms: terms(replayFirst), story: said(echo).rows(1), want: []string{"replay-mismatch/replay-echoes-request"}},
		{name: "L's content under W's identity is an echo where refusal is declared", story: said(echo).rows(1), want: []string{"replay-mismatch/replay-echoes-request"}},
		{name: "L's content under W's identity is no matter of one effect only", terms: terms(replayFirst, dedupOnly), story: said(echo).rows(1)},
		{name: "other content under W's identity is an unequal replay", terms: terms(replayFirst), story: said(answer(201, `{"id":"o1","amount":9900}`)).rows(1), want: []string{"replay-mismatch/body"}},
		{name: "L's content under W's identity, with both rows, is a duplicate", terms: terms(replayFirst), story: said(echo).rows(1).and("o1"), want: []string{"duplicate/altered-body-accepted"}},
		{name: "L's content under W's identity, with L's row only, overwrote", terms: terms(replayFirst), story: said(echo).and("o1"), want: []string{"altered-body-violation/overwrote"}},
		{name: "L's content under W's identity, with no row, is a lost write", terms: terms(replayFirst), story: said(echo), want: []string{"lost-acknowledged-write"}},

		{name: "in progress, then refused, with W's row, is right", story: said(p).rows(1).probe(a, altered(mismatch()))},
		{name: "in progress, then replayed as declared, with W's row, is right", terms: terms(replayFirst), story: said(p).rows(1).probe(a, altered(a))},
		{name: "in progress to the end, with W's row, is unavailable", story: said(p).rows(1).probe(a, altered(p)), want: []string{"unavailable"}},
		{name: "in progress, with both rows, is a duplicate", story: said(p).rows(1).and("o2"), want: []string{"duplicate/altered-body-accepted"}},
		{name: "in progress, with L's row only, overwrote", story: said(p).and("o1"), want: []string{"altered-body-violation/overwrote"}},
		{name: "both in progress to the end, with no row, is a stuck key", story: story(p, altered(p)).probe(p, altered(p)), want: []string{"stuck-key"}},
		{name: "in progress and one row of it is a phantom row", story: story(u, altered(p)).and("o1").probe(mismatch(), altered(a)), want: []string{"phantom-row"}},

		{name: "lost, then refused, with W's row, is right", story: said(u).rows(1).probe(a, altered(mismatch()))},
		{name: "lost, then W's answer, with W's row, was not detected", story: said(u).rows(1).probe(a, altered(a)), want: []string{"altered-body-violation/undetected"}},
		{name: "lost, with both rows, is a duplicate", story: said(u).rows(1).and("o2"), want: []string{"duplicate/altered-body-accepted"}},
		{name: "lost, with L's row only, overwrote", story: said(u).and("o1"), want: []string{"altered-body-violation/overwrote"}},
		{name: "both lost and no row is resolved by the probe", story: story(u, altered(u)).rows(0).later("o1").probe(a, altered(mismatch()))},
		{name: "both lost and server errors to the end are unavailable", story: story(u, altered(u)).probe(serverError(), altered(serverError())), want: []string{"unavailable"}},
	})
}

// Either body may win a race, but exactly one, and what is there at T1 stays.
func TestAlteredBodyRaces(t *testing.T) {
	t.Parallel()
	a, x := acknowledged(201, "o1"), exists("o1")
	race := func(one, other history.Attempt) *draft {
		return story(during(10, 90, one), during(11, 91, altered(other)))
	}
	runCells(t, []cell{
		{name: "the altered body may win", story: race(mismatch(), a).and("o1").probe(mismatch(), altered(a))},
		{name: "two rows of one body are a duplicate", story: race(mismatch(), a).and("o1", "o2"), want: []string{"duplicate"}},
		{name: "a row that changes its body after T1 was overwritten", terms: terms(replayFirst),
			story: race(a, a).holding("o1").and().later().laterOf(history.Altered, "o1"), want: []string{"altered-body-violation/overwrote"}},
		{name: "a body that was refused before the key was taken lets the other through", story: story(rejected(400), altered(a)).and("o1")},
		{name: "a body that was refused takes the key where refusals are stored", terms: terms(store4xx), story: story(rejected(400), altered(a)).and("o1"), want: []string{"altered-body-violation/refusal-forgotten"}},
		{name: "a body that was refused takes the key also where the other's answer is lost", terms: terms(store4xx), story: story(rejected(400), altered(unknown(history.Reset))).and("o1"), want: []string{"altered-body-violation/refusal-forgotten"}},
		{name: "a body that was refused meanwhile takes no key", terms: terms(store4xx), story: race(rejected(400), a).and("o1")},
		{name: "a body whose key stays refused is right", terms: terms(store4xx), story: story(rejected(400), altered(mismatch())).and()},
		{name: "both refused as the repetition of another is a false conflict", story: story(mismatch(), altered(mismatch())).and(), want: []string{"false-conflict"}},
		{name: "both told that nothing exists already is a false conflict", story: story(x, altered(x)).and(), want: []string{"false-conflict"}},
		{name: "told exists after a lost answer with no row is a lost write", story: story(unknown(history.Reset), altered(x)).and(), want: []string{"lost-acknowledged-write"}},
		{name: "the winner's content under its marker must be its own", story: story(a, altered(mismatch())).holding("o1").and().blended(9900), want: []string{"altered-body-violation/content"}},
	})
}

// A body whose row is there was acknowledged, or its answer was lost.
func TestABodyThatIsAppliedAndToldThatItExists(t *testing.T) {
	t.Parallel()
	x, none, u := answer(409, `{"error":"exists"}`), rejected(400), unknown(history.Reset)
	told := []string{"phantom-row/creator-told-exists"}
	race := func(one, other history.Attempt) *draft {
		return story(during(10, 90, one), during(11, 91, altered(other)))
	}
	runCells(t, []cell{
		{name: "both told that it exists", terms: terms(naturalKey, dedupOnly), story: race(x, x).rows(1).and().probe(x, altered(x)), want: told},
		{name: "both told that it exists, and the altered one is there", terms: terms(naturalKey), story: race(x, x).rows(0).and("o1"), want: told},
		{name: "the other's answer was lost, which explains no row of this one", story: race(x, u).rows(1).and().probe(x, altered(mismatch())), want: told},
		{name: "the other was acknowledged and has no row", terms: terms(undeclared), story: race(x, acknowledged(201, "o1")).rows(1).and(), want: told},
		{name: "this one's answer was lost", story: story(u, x, altered(mismatch())).rows(1).and().probe(x, altered(mismatch()))},
		{name: "this one was acknowledged", story: story(during(10, 90, acknowledged(201, "o1")), during(11, 91, exists("o1")), during(11, 91, altered(x))).rows(1).and()},
		{name: "this one was refused and the other told that it exists", story: race(none, x).rows(1).and(), want: told},
		{name: "this one was refused, and the other's answer was lost", story: race(none, u).rows(1).and().probe(none, altered(mismatch())), want: []string{"phantom-row", "refused-though-done"}},
	})
}

// Who is told by one answer that it exists and that another body came first knows as much as there is to know.
func TestOneAnswerForARepeatAndAnotherBody(t *testing.T) {
	t.Parallel()
	said, lost := mismatch(), altered(unknown(history.Reset))
	one := terms(func(t *checker.Terms) { t.Contract.Existing.Signature = t.Contract.Fingerprint.Signature })
	runCells(t, []cell{
		{name: "the altered body won and its answer was lost", terms: one, story: story(lost, said).and("o1").probe(said, altered(said))},
		{name: "with an answer of each their own it is a refusal", story: story(lost, said).and("o1").probe(said, altered(said)), want: []string{"refused-though-done"}},
	})
}

// Where the two bodies do not meet under one key, only numbers count.
func TestAlteredBodyWithItsOwnKey(t *testing.T) {
	t.Parallel()
	a, b := acknowledged(201, "o1"), altered(keyed("k2", acknowledged(201, "o2")))
	runCells(t, []cell{
		{name: "two keys, two bodies and two rows are right", story: story(a, b).rows(1).and("o2").probe(a, b)},
		{name: "two keys, two bodies and three rows are a duplicate", story: story(a, b).rows(2).and("o3"), want: []string{"duplicate"}},
		{name: "two keys, two bodies and one row lost a write", story: story(a, b).rows(1).and(), want: []string{"lost-acknowledged-write"}},
		{name: "two keys, one refused, and two rows are a phantom row", story: story(a, altered(keyed("k2", rejected(400)))).rows(1).and("o2"), want: []string{"phantom-row"}},
		{name: "one natural key joins them, and two rows are a duplicate", terms: terms(naturalKey), story: story(a, b).rows(1).and("o2"), want: []string{"duplicate/altered-body-accepted"}},
	})
	t.Run("twins that are both altered are judged by their sum", func(t *testing.T) {
		t.Parallel()
		one := story(a, altered(mismatch())).named("t1").twinOf("dtwin").rows(1).and()
		two := story(a, altered(mismatch())).named("t2").twinOf("dtwin").holding("o2").and()
		two.attempts[0] = acknowledged(201, "o2")
		judge(t, scene(one, two), terms(), nil, "")
		judge(t, scene(one, two.holding("o2", "o3")), terms(), []string{string(checker.Duplicate)}, "")
	})
	t.Run("rows that are unknown are not judged", func(t *testing.T) {
		t.Parallel()
		h := scene(story(a, b).rows(1).and())
		delete(h.T1.Rows, "dti1changed")
		delete(h.T2.Rows, "dti1changed")
		judge(t, h, terms(), nil, "lacks intent i1")
		h = scene(story(a, altered(a)).and())
		h.T1.Error, h.T2.Error = "gone", "gone"
		judge(t, h, terms(), []string{"altered-body-violation/undetected"}, "") // which the answers show
	})
}

// blended gives the original body's rows another amount.
func (d *draft) blended(amount float64) *draft {
	for _, row := range d.before[history.Original] {
		row["amount"] = amount
	}
	return d
}

// An altered body whose natural key differs is another intent.
func TestAlteredBodyWithAnotherNaturalKey(t *testing.T) {
	t.Parallel()
	ofTheNote := func(t *checker.Terms) {
		t.Contract.NaturalKey = []string{"/note"}
		t.Contract.Fingerprint = contract.Fingerprint{}
	}
	joined := func(t *checker.Terms) { t.Contract.NaturalKey = []string{"/note"} }
	a, b := acknowledged(201, "o1"), altered(acknowledged(201, "o2"))
	cells := []cell{
		{name: "two rows are right", story: story(a, b).rows(1).and("o2").probe(a, b)},
		{name: "the second told that it exists is a false conflict", story: story(a, altered(exists("o1"))).rows(1).and(), want: []string{"false-conflict"}},
		{name: "two rows of one body are a duplicate", story: story(a, b).rows(1).and("o2", "o3"), want: []string{"duplicate"}},
		{name: "a row that is missing is lost", story: story(a, b).rows(1).and(), want: []string{"lost-acknowledged-write"}},
		{name: "a row of what was only rejected is a phantom", story: story(a, altered(rejected(400))).rows(1).and("o2"), want: []string{"phantom-row"}},
	}
	for i := range cells {
		cells[i].terms = terms(ofTheNote)
	}
	runCells(t, append(cells, cell{
		name:  "one key that belongs to one body joins them",
		terms: terms(joined), story: story(a, b).rows(1).and("o2"), want: []string{"duplicate/altered-body-accepted"},
	}))
}

// together is a scene in which both bodies of the first intent are asked for with one text.
func together(d *draft, rows ...float64) *history.History {
	h := scene(d)
	i := &h.Intents[0]
	original, other := i.Bodies[history.Original], i.Bodies[history.Altered]
	delete(h.T1.Rows, other.Marker)
	delete(h.T2.Rows, other.Marker)
	other.Marker = original.Marker
	i.Bodies[history.Altered] = other
	var all []history.Row
	for n, amount := range rows {
		all = append(all, history.Row{"id": fmt.Sprint("o", n+1), "amount": amount})
	}
	h.T1.Rows[original.Marker], h.T2.Rows[original.Marker] = all, all
	return h
}

// Nothing in a row says which body it is of, as in a record of keys: it is that of the body that was acknowledged.
func TestBothBodiesAreFoundByOneKey(t *testing.T) {
	t.Parallel()
	nothingSaid := terms(func(t *checker.Terms) {
		t.Operation.Rows = contract.Rows{}
	})
	a := acknowledged(201, "o1")
	judge(t, together(story(a, altered(mismatch())).probe(a, altered(mismatch())), 1), nothingSaid, nil, "")
	judge(t, together(story(mismatch(), altered(a)).probe(mismatch(), altered(a)), 1), nothingSaid, nil, "")
	judge(t, together(story(a, altered(a)), 1), nothingSaid, []string{"altered-body-violation/undetected"}, "")
	judge(t, together(story(a, altered(mismatch())), 1, 1), nothingSaid, []string{"duplicate"}, "")
	judge(t, together(story(mismatch(), altered(a))), nothingSaid, []string{"lost-acknowledged-write"}, "")
}

// Both bodies are found by one reference: what a row holds says whose it is.
func TestBothBodiesAreFoundByOneReference(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	refused := story(a, altered(mismatch())).probe(a, altered(mismatch()))
	sent := together(refused).Intents[0].Bodies
	original, other := amountOf(t, sent[history.Original]), amountOf(t, sent[history.Altered])
	judge(t, together(refused, original), terms(), nil, "")
	judge(t, together(refused, original, original), terms(), []string{"duplicate"}, "")
	judge(t, together(refused, original, other), terms(), []string{"phantom-row/rejected-yet-applied", "refused-though-done"}, "")
	both := story(a, altered(acknowledged(201, "o2")))
	judge(t, together(both, original, other), terms(), []string{"duplicate/altered-body-accepted"}, "")
}

func amountOf(t *testing.T, b history.Body) float64 {
	t.Helper()
	var said struct{ Amount float64 }
	require.NoError(t, json.Unmarshal([]byte(b.Content), &said))
	return said.Amount
}

func TestAnAlteredBodyIsCaughtByTheAnswersAlone(t *testing.T) {
	t.Parallel()
	blind := func(d *draft) *history.History {
		h := scenes([]*draft{d})
		for _, s := range []*history.Snapshot{h.T1, h.T2} {
			s.Rows, s.Error = nil, "the target file names no database"
		}
		return h
	}
	for _, test := range []struct {
		name   string
		story  *draft
		change func(*contract.Contract)
		found  bool
	}{
		{"acknowledged one after the other", story(acknowledged(201, "o1"), altered(acknowledged(201, "o1"))), nil, true},
		{"at the same time", story(during(1, 50, acknowledged(201, "o1")), during(2, 40, altered(acknowledged(201, "o1")))), nil, false},
		{"under keys of their own", story(acknowledged(201, "o1"), keyed("other", altered(acknowledged(201, "o2")))), nil, false},
		{"rejected", story(acknowledged(201, "o1"), altered(rejected(422))), nil, false},
		{"replayed, as promised", story(acknowledged(201, "o1"), altered(acknowledged(201, "o1"))), func(c *contract.Contract) {
			c.Fingerprint = contract.Fingerprint{OnMismatch: contract.MismatchReplayOriginal}
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			terms := terms()
			if test.change != nil {
				test.change(&terms.Contract)
			}
			r := check(blind(test.story), terms)
			require.Equal(t, test.found, len(r.Findings) > 0, "%+v", r.Findings)
			for _, f := range r.Findings {
				require.Equal(t, checker.AlteredBody, f.Kind)
			}
		})
	}
}
