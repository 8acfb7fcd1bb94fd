package checker_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

// declines says that 402 is a final no.
func declines(t *checker.Terms) {
	t.Contract.Errors.Declined = contract.Signature{Statuses: []int{402}, Where: says("declined")}
}

func declined() history.Attempt { return answer(402, `{"error":"declined"}`) }

func TestWhatWasDeclined(t *testing.T) {
	t.Parallel()
	again := saying(`{"error":"declined","try":2}`, declined())
	runCells(t, []cell{
		{"with a row of the attempt", story(declined(), declined()).rows(1), terms(declines), nil, ""},
		{"without a row", story(declined(), declined()), terms(declines), nil, ""},
		{"and a second row", story(declined(), declined()).rows(2), terms(declines), []string{"duplicate"}, ""},
		{"the final retry makes a second row", story(declined()).rows(1).probe(declined()).later("o1", "o2"), terms(declines), []string{"duplicate"}, ""},
		{"then acknowledged", story(declined(), acknowledged(201, "o1")).rows(1), terms(declines), []string{"replay-mismatch/status"}, ""},
		{"then said to exist", story(declined(), exists("o1")).rows(1), terms(declines), []string{"replay-mismatch/status"}, ""},
		{"after an acknowledgement", story(acknowledged(201, "o1"), declined()).rows(1), terms(declines), []string{"replay-mismatch/status"}, ""},
		{"with another body than before", story(declined(), again).rows(1), terms(declines), []string{"replay-mismatch/body"}, ""},
		{"of which bodies are not compared", story(declined(), again).rows(1), terms(declines, anyBody), nil, ""},
		{"after a lost answer", story(unknown(history.Timeout), declined()).rows(1), terms(declines), nil, ""},
		{"while another ran", story(inProgress(), declined()).rows(1), terms(declines), nil, ""},
		{"in the final retry", story(unknown(history.Timeout)).probe(declined()), terms(declines), nil, ""},
		{"and not declared", story(declined(), declined()).rows(1), terms(), nil, ""},
		{"and not declared, then acknowledged", story(declined(), acknowledged(201, "o1")).rows(1), terms(), nil, ""},
		{"and not declared, with another body than before", story(declined(), again).rows(1), terms(), nil, ""},
		{"and not declared, and a second row", story(declined(), declined()).rows(2), terms(), []string{"duplicate"}, ""},
		{"and not declared, after an acknowledgement", story(acknowledged(201, "o1"), declined()).rows(1), terms(), []string{"replay-mismatch/status"}, ""},
		{"where the contract gives 402 another meaning", story(declined()).rows(1), terms(func(t *checker.Terms) { t.Contract.MissingKey.Statuses = []int{402} }), []string{"phantom-row"}, ""},
		{"by another answer of its status", story(rejected(402)).rows(1), terms(declines), []string{"phantom-row"}, ""},
		{"and another body is refused", story(declined(), altered(mismatch())).rows(1), terms(declines), nil, ""},
		{"one of two equal requests", story(declined()).twinOf("dttwin").rows(1), terms(declines), nil, ""},
	})
}

func TestEffectsOfWhatWasDeclinedMayBeMissing(t *testing.T) {
	t.Parallel()
	one, delta := 1, 1.0
	lines := func(t *checker.Terms) {
		t.Operation.Effects = []contract.Effect{{Name: "lines", Query: "q", Rows: &one}}
	}
	counter := func(t *checker.Terms) {
		t.Operation.Effects = []contract.Effect{{Name: "counter", Query: "q", Delta: &delta}}
	}
	for n, want := range map[float64]checker.Verdict{0: checker.Pass, 1: checker.Pass, 2: checker.Fail} {
		h := scene(story(declined(), declined()).rows(1).with("lines", n))
		for _, s := range []*history.Snapshot{h.T1, h.T2} {
			s.Effects["lines"]["dti0"] = 1
		}
		require.Equal(t, want, check(h, terms(declines, lines)).Verdict, "%g lines", n)
	}
	for n, want := range map[float64]checker.Verdict{0: checker.Fail, 1: checker.Pass, 2: checker.Pass, 3: checker.Fail} {
		h := scene(story(declined(), declined()).rows(1))
		for s, now := range map[*history.Snapshot]float64{h.Before: 0, h.T1: n, h.T2: n} {
			s.Effects = map[string]map[string]float64{"counter": {"": now}}
		}
		require.Equal(t, want, check(h, terms(declines, counter)).Verdict, "a change by %g", n)
	}
}

func TestEffectsThatAJobBringsAreOwed(t *testing.T) {
	t.Parallel()
	one, delta := 1, -1.0
	lines := func(t *checker.Terms) {
		t.Operation.Effects = []contract.Effect{{Name: "lines", Query: "q", Rows: &one}}
	}
	stock := func(t *checker.Terms) {
		t.Operation.Effects = []contract.Effect{{Name: "stock", Query: "q", Delta: &delta}}
	}
	for n, want := range [][]string{{"dti1"}, nil, nil} {
		h := alone(story(acknowledged(201, "o1")).rows(1).with("lines", float64(n)))
		require.Equal(t, want, checker.OwedEffects(terms(lines), h, *h.T2), "%d lines", n)
		h = alone(story(declined()).rows(1).with("lines", float64(n)))
		require.Empty(t, checker.OwedEffects(terms(lines, declines), h, *h.T2), "what was declined may have none")
	}
	for now, want := range map[float64][]string{7: {"stock"}, 6: nil, 5: nil} {
		h := alone(story(acknowledged(201, "o1")).rows(1))
		h.Before.Effects = map[string]map[string]float64{"stock": {"": 7}}
		h.T2.Effects = map[string]map[string]float64{"stock": {"": now}}
		require.Equal(t, want, checker.OwedEffects(terms(stock), h, *h.T2), "from 7 to %g", now)
	}
}

func TestDeclinesAndFailuresNowAndThenProveNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		some []history.Attempt // the first answer of each intent
		want checker.Verdict
	}{
		{"one declined", []history.Attempt{declined(), acknowledged(201, "o1"), acknowledged(201, "o1")}, checker.Pass},
		{"most declined", []history.Attempt{declined(), declined(), declined()}, checker.Pass},
		{"one failed", []history.Attempt{serverError(), acknowledged(201, "o1"), acknowledged(201, "o1")}, checker.Pass},
		{"half failed", []history.Attempt{serverError(), serverError(), acknowledged(201, "o1")}, checker.Inconclusive},
		{"one was lost", []history.Attempt{unknown(history.Timeout), acknowledged(201, "o1"), acknowledged(201, "o1")}, checker.Inconclusive},
	} {
		var drafts []*draft
		for i, a := range c.some {
			id := "i" + string(rune('1'+i))
			d := story(a).named(id)
			switch {
			case a.Status == 201:
				d.holding("o1")
			case a.Status != 402:
				d.probe(acknowledged(201, "late")).later("late")
			}
			drafts = append(drafts, d)
		}
		h := scene(drafts...)
		h.Run.Exercised = []history.Proof{{Name: string(proofs.Acknowledged), AtLeast: 1}}
		r := check(h, terms(declines))
		require.Equal(t, c.want, r.Verdict, "%s: %v %v", c.name, r.Reasons, found(r))
	}
	all := scenes([]*draft{story(declined()), story(declined()).named("i2")})
	require.Equal(t, checker.Inconclusive, check(all, terms(declines)).Verdict, "nothing was done")
}

// A refusal beside a twin is business, and no conflict, where one is refused alike that equals no earlier one.
func TestARefusalBesideATwinIsBusinessWhereOthersAreRefusedAlike(t *testing.T) {
	t.Parallel()
	twins := func() []*draft {
		return []*draft{story(during(10, 12, acknowledged(201, "o1"))).twinOf("dttwin").holding("o1"), story(during(20, 22, rejected(412))).named("i2").twinOf("dttwin")}
	}
	early := func() []*draft {
		return []*draft{story(during(10, 12, rejected(412))).twinOf("dttwin"), story(during(20, 22, acknowledged(201, "o1"))).named("i2").twinOf("dttwin").holding("o1")}
	}
	alone := func(a history.Attempt) *draft { return story(during(30, 31, a)).named("i3").fresh() }
	for _, c := range []struct {
		name   string
		drafts []*draft
		want   []string
		reason string
	}{
		{"only the second of two", twins(), []string{"false-conflict"}, ""},
		{"a fresh one got through", append(twins(), alone(acknowledged(201, "o3")).holding("o3")), []string{"false-conflict"}, ""},
		{"a fresh one was refused otherwise", append(twins(), alone(rejected(400))), []string{"false-conflict"}, ""},
		{"a fresh one was refused alike", append(twins(), alone(rejected(412))), nil, "intent i2 was refused with 412 beside another with the same body, and so was i3"},
		{"before the other came", early(), nil, ""},
	} {
		r := check(scene(c.drafts...), terms())
		require.ElementsMatch(t, c.want, found(r), c.name)
		require.Equal(t, 3, r.Intents, "%s: with the one of every scene; those that were sent for comparison are none of the scenario's", c.name)
		if c.reason != "" {
			require.Equal(t, checker.Inconclusive, r.Verdict, c.name)
			require.Contains(t, strings.Join(r.Reasons, "\n"), c.reason, c.name)
		}
	}
}

func TestTheReasonNamesTheLineForWhatMayBeBusiness(t *testing.T) {
	t.Parallel()
	h := scene(story(acknowledged(201, "o1")).named("i1").holding("o1"), story(rejected(412)).named("i2"))
	h.Run.Exercised = []history.Proof{{Name: string(proofs.Acknowledged), AtLeast: 1}}
	r := check(h, terms())
	require.Equal(t, checker.Inconclusive, r.Verdict)
	require.Contains(t, strings.Join(r.Reasons, "\n"), "1 new request was refused (attempt i2.1 with 412), and others like them were done: where the target declines some by business, contract.errors.declined has to name the answer")
}

func TestTheReasonNamesTheLineForAKeyThatMayBeRequired(t *testing.T) {
	t.Parallel()
	r := check(scenes([]*draft{story(keyed(noKey, serverError()))}), terms())
	require.Contains(t, strings.Join(r.Reasons, "\n"), "none of 1 requests without a key was done: if the target requires a key, key.required has to say so")
	r = check(scenes([]*draft{story(keyed(noKey, serverError()))}), terms(keyRequired))
	require.Contains(t, strings.Join(r.Reasons, "\n"), "1 request without the required key, and no refusal")
	r = check(scenes([]*draft{story(serverError())}), terms())
	require.NotContains(t, strings.Join(r.Reasons, "\n"), "key.required")
}

func TestNoEvidenceSaysNoRowBesideARow(t *testing.T) {
	t.Parallel()
	h := scene(story(acknowledged(201, "o1")).twinOf("dttwin").holding("o1"), story(rejected(400)).named("i2").twinOf("dttwin"))
	r := check(h, terms())
	require.Equal(t, []string{"false-conflict"}, found(r))
	require.NotContains(t, r.Findings[0].Observed, "no row")
	require.True(t, strings.HasPrefix(r.Findings[0].Observed, "a refusal, and 1 row"))
}
