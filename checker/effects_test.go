package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// totalled sets a total at the three moments.
func totalled(h *history.History, before, t1, t2 float64) *history.History {
	for s, n := range map[*history.Snapshot]float64{h.Before: before, h.T1: t1, h.T2: t2} {
		s.Effects = map[string]map[string]float64{"stock": {"": n}}
	}
	return h
}

func TestTotalsOfAnUnusedOperation(t *testing.T) {
	t.Parallel()
	elsewhere := func(t *checker.Terms) {
		x := -1.0
		other := t.Operation
		other.Effects = []contract.Effect{{Name: "stock", Delta: &x}}
		t.Others = map[string]contract.Operation{"quote": other}
	}
	h := func() *history.History { return totalled(scene(story(acknowledged(201, "o1")).rows(1)), 10, 5, 5) }
	judge(t, h(), terms(elsewhere), []string{"effect-mismatch/stock"}, "")
	failed := h()
	failed.T1.Error, failed.T2.Error = "gone", "gone"
	require.Empty(t, check(failed, terms(elsewhere)).Findings, "a snapshot that failed says nothing")
}

func TestATotalThatWasNotAskedForIsADoubt(t *testing.T) {
	t.Parallel()
	h := totalled(scene(story(acknowledged(201, "o1")).rows(1)), 10, 8, 8)
	delete(h.Before.Effects, "stock")
	judge(t, h, terms(stock), nil, "the effect stock was not asked for")
}

func TestATotalMayComeLate(t *testing.T) {
	t.Parallel()
	h := func() *history.History { return scene(story(acknowledged(201, "o1")).rows(1)) }
	judge(t, totalled(h(), 10, 9, 8), terms(stock), nil, "")
	judge(t, totalled(h(), 10, 11, 8), terms(stock), []string{"effect-mismatch/stock"}, "")
}

func TestAnEffectMayComeLaterThanItsRow(t *testing.T) {
	t.Parallel()
	h := scene(story(acknowledged(201, "o1")).rows(1).with("lines", 2).with("sum", 12.5))
	h.T1.Effects["lines"]["dti1"] = 1
	judge(t, h, terms(lines), nil, "")
	h.T1.Effects["lines"]["dti1"] = 3
	require.Equal(t, []string{"effect-mismatch/lines"}, found(check(h, terms(lines))), "too much never goes away")
	h.T1.Effects["lines"]["dti1"], h.T2.Effects["lines"]["dti1"] = 2, 1
	require.Equal(t, []string{"effect-mismatch/lines"}, found(check(h, terms(lines))), "it never came")
	require.Equal(t, checker.Clues{Own: true, Unrepeated: true}, check(h, terms(lines)).Findings[0].Clues, "a repetition makes no line go away")
}

// lines and sums are effects by marker: two lines and a sum of 12.5 for each row.
func lines(t *checker.Terms) {
	n, x := 2, 12.5
	t.Operation.Effects = []contract.Effect{{Name: "lines", Rows: &n}, {Name: "sum", Value: &x}}
}

// stock goes down by 1 with each row.
func stock(t *checker.Terms) {
	x := -1.0
	t.Operation.Effects = append(t.Operation.Effects, contract.Effect{Name: "stock", Delta: &x})
}

func TestEffectsBelongToTheirRows(t *testing.T) {
	t.Parallel()
	of := func(rows int, lines, sum float64) *draft {
		return story(acknowledged(201, "o1")).rows(rows).with("lines", lines).with("sum", sum)
	}
	runCells(t, []cell{
		{name: "all there", terms: terms(lines), story: of(1, 2, 12.5)},
		{name: "lines twice", terms: terms(lines), story: of(1, 4, 12.5), want: []string{"effect-mismatch/lines"}},
		{name: "a line missing", terms: terms(lines), story: of(1, 1, 12.5), want: []string{"effect-mismatch/lines"}},
		{name: "the sum twice", terms: terms(lines), story: of(1, 2, 25), want: []string{"effect-mismatch/sum"}},
		{name: "lines without a row", terms: terms(lines), story: of(0, 2, 0), want: []string{"lost-acknowledged-write", "effect-mismatch/lines"}},
		{name: "nothing at all", terms: terms(lines), story: story(rejected(400)).with("lines", 0).with("sum", 0)},
		{name: "two rows with everything twice", terms: terms(lines), story: of(2, 4, 25), want: []string{"duplicate"}},
		{name: "not asked for", terms: terms(lines), story: story(acknowledged(201, "o1")).rows(1), doubt: "the effect lines was not asked for"},
		{name: "summed up with rounding", terms: terms(lines), story: of(1, 2, 12.5+1e-10)},
	})
}

func TestTotalsChangeOnceForEachEffect(t *testing.T) {
	t.Parallel()
	total := func(before, t1, t2 float64, drafts ...*draft) *history.History {
		h := scene(drafts...)
		for s, n := range map[*history.Snapshot]float64{h.Before: before, h.T1: t1, h.T2: t2} {
			s.Effects = map[string]map[string]float64{"stock": {"": n}}
		}
		return h
	}
	two := func() *draft { return story(acknowledged(201, "o1"), acknowledged(201, "o1")).rows(1) } // and the healthy one
	judge(t, total(10, 8, 8, two()), terms(stock), nil, "")
	judge(t, total(10, 7, 7, two()), terms(stock), []string{"effect-mismatch/stock"}, "")
	judge(t, total(10, 9, 9, two()), terms(stock), []string{"effect-mismatch/stock"}, "")
	judge(t, total(10, 9, 8, story(unknown(history.Reset)).later("o1").probe(acknowledged(201, "o1"))), terms(stock), nil, "")
	judge(t, total(10, 9, 7, story(unknown(history.Reset)).later("o1").probe(acknowledged(201, "o1"))), terms(stock), []string{"effect-mismatch/stock"}, "")

	r := check(total(10, 7, 6, two()), terms(stock))
	require.Len(t, r.Findings, 1, "at T1, and not again at T2")
	f := r.Findings[0]
	require.Equal(t, checker.EveryIntent, f.Intent)
	require.Equal(t, "T1", f.Moment)
	require.Equal(t, "a change by -2: -1 for each row", f.Expected)
	require.Equal(t, "a change by -3, from 10 to 7", f.Observed)
	require.Equal(t, r.Intents, r.Failed)
	require.Equal(t, "i1", f.Typical, "the intent with the most answers")
	require.Len(t, f.Attempts, 2)
	require.NotEmpty(t, f.Requests)
	require.Len(t, f.Rows[0].Rows, 1)

	unknownRows := total(10, 7, 7, two())
	delete(unknownRows.T1.Rows, "dti1")
	delete(unknownRows.T2.Rows, "dti1")
	require.Empty(t, check(unknownRows, terms(stock)).Findings)
	unasked := total(10, 7, 7, two())
	unasked.Before.Error = "gone"
	require.Empty(t, check(unasked, terms(stock)).Findings)
}

// What changes while nothing is sent is changed by others as well: no finding rests on it.
func TestATotalThatChangesWhileNothingIsSent(t *testing.T) {
	t.Parallel()
	h := func(idle ...history.Idle) *history.History {
		h := totalled(scene(story(acknowledged(201, "o1")).rows(1)), 10, 7, 7)
		h.T2.Idle = idle
		return h
	}
	judge(t, h(history.Idle{Effect: "stock", From: ms(3000), To: ms(3600), Was: 7, Is: 6}), terms(stock), nil,
		"the effect stock tells nothing: it changed by -3 in this scenario and not by -2, and from 7 to 6 while nothing was sent, between 3s and 3.6s after the beginning. ")
	judge(t, h(history.Idle{Effect: "stock", Scenario: "sweep", From: ms(3000), To: ms(3600), Was: 17, Is: 15}), terms(stock), nil, "from 17 to 15 while nothing was sent, between 3s and 3.6s after the beginning of sweep. ")
	other, rest := history.Idle{Effect: "balance", From: ms(3000), To: ms(3600), Was: 7, Is: 6}, history.Idle{Effect: "stock", From: ms(3000), To: ms(5000), Was: 7, Is: 7}
	judge(t, h(other, rest), terms(stock), []string{"effect-mismatch/stock"}, "")
	require.Equal(t, "a change by -3, from 10 to 7; it stayed so for 2s in which nothing was sent", check(h(rest), terms(stock)).Findings[0].Observed)
	require.Equal(t, "a change by -3, from 10 to 7", check(h(), terms(stock)).Findings[0].Observed, "nobody looked")
	right := totalled(h(), 10, 8, 8)
	right.T2.Idle = []history.Idle{other, {Effect: "stock", From: ms(3000), To: ms(3600), Was: 8, Is: 7}}
	judge(t, right, terms(stock), nil, "")

	require.Equal(t, []string{"stock"}, checker.WrongTotals(terms(stock), h()))
	require.Empty(t, checker.WrongTotals(terms(stock), right))
	require.Empty(t, checker.WrongTotals(terms(lines), h()))
}

func TestATotalThatNoRepetitionExplains(t *testing.T) {
	t.Parallel()
	of := func(scenario string, t1, t2 float64) checker.Finding {
		h := totalled(scene(story(acknowledged(201, "o1")).rows(1)), 10, t1, t2)
		h.Run.Scenario = scenario
		return check(h, terms(stock)).Findings[0]
	}
	require.True(t, of("sweep", 9, 9).Unrepeated, "too little")
	require.False(t, of("sweep", 7, 7).Unrepeated)
	require.True(t, of("plain-create", 7, 7).Unrepeated, "nothing was sent twice before")
	require.False(t, of("plain-create", 8, 7).Unrepeated, "the final retry did it")
	require.True(t, of("sweep", 9, 9).Own, "it is in the target's own database")
}

func TestRowsThatNoRepetitionExplains(t *testing.T) {
	t.Parallel()
	for scenario, want := range map[string]bool{"plain-create": true, "sweep": false} {
		h := scene(story(acknowledged(201, "o1")).rows(1).with("lines", 3))
		h.Run.Scenario = scenario
		require.Equal(t, want, check(h, terms(lines)).Findings[0].Unrepeated, scenario)
	}
}

func TestOperationsThatChangeOneTotalAreAddedUp(t *testing.T) {
	t.Parallel()
	x := -2.0
	both := func(t *checker.Terms) {
		stock(t)
		t.Operation.Effects[0].Query = "select n from stock"
		quotes(t)
		quote := t.Others["quote"]
		quote.Effects = []contract.Effect{{Name: "stock by quote", Delta: &x, Query: "select n from stock"}}
		t.Others["quote"] = quote
	}
	after := func(n float64) *history.History {
		h := scene(story(acknowledged(201, "o1")).rows(1), story(answer(201, `{"number":"n1"}`)).named("q1").at("quote"))
		h.T1.Rows["dtq1"] = []history.Row{{"number": "n1", "sum": 1200.0}}
		h.T2.Rows["dtq1"] = h.T1.Rows["dtq1"]
		for s, n := range map[*history.Snapshot]float64{h.Before: 10, h.T1: n, h.T2: n} {
			s.Effects = map[string]map[string]float64{"stock": {"": n}, "stock by quote": {"": n}}
		}
		return h
	}
	judge(t, after(6), terms(both), nil, "")
	require.ElementsMatch(t, []string{"effect-mismatch/stock", "effect-mismatch/stock by quote"}, found(check(after(7), terms(both))))
}

func TestATotalIsThatOfTheOperationsThatHaveIt(t *testing.T) {
	t.Parallel()
	terms := terms(quotes, stock)
	h := scene(story(acknowledged(201, "o1")).rows(1), story(answer(201, `{"number":"n1"}`)).named("q1").at("quote"))
	h.T1.Rows["dtq1"] = []history.Row{{"number": "n1", "sum": 1200.0}}
	h.T2.Rows["dtq1"] = h.T1.Rows["dtq1"]
	for s, n := range map[*history.Snapshot]float64{h.Before: 10, h.T1: 8, h.T2: 8} {
		s.Effects = map[string]map[string]float64{"stock": {"": n}}
	}
	judge(t, h, terms, nil, "")
}

// everywhere sets an effect at all moments.
func everywhere(h *history.History, effect, marker string, n float64) *history.History {
	for _, s := range []*history.Snapshot{h.Before, h.T1, h.T2} {
		if s.Effects == nil {
			s.Effects = map[string]map[string]float64{}
		}
		if s.Effects[effect] == nil {
			s.Effects[effect] = map[string]float64{}
		}
		s.Effects[effect][marker] = n
	}
	return h
}

func TestTheRowsOfBothBodiesCount(t *testing.T) {
	t.Parallel()
	race := func() *history.History {
		h := scene(story(during(1, 20, mismatch()), altered(during(2, 15, acknowledged(201, "o1")))).rows(0).and("o1"))
		return everywhere(h, "sum", "", 0)
	}
	judge(t, everywhere(race(), "lines", "dti1changed", 2), terms(lines), nil, "")
	judge(t, everywhere(race(), "lines", "dti1changed", 4), terms(lines), []string{"effect-mismatch/lines"}, "")
	fewer := everywhere(race(), "stock", "", 10)
	fewer.T1.Effects["stock"], fewer.T2.Effects["stock"] = map[string]float64{"": 8}, map[string]float64{"": 8}
	judge(t, fewer, terms(stock), nil, "")
}

func TestEffectsOfUnknownRowsAreNotJudged(t *testing.T) {
	t.Parallel()
	h := everywhere(scene(story(acknowledged(201, "o1")).rows(1)), "lines", "dti1", 4)
	delete(h.T1.Rows, "dti1")
	delete(h.T2.Rows, "dti1")
	require.Empty(t, check(h, terms(lines)).Findings)
}

func TestTotalsThatWereNotAskedForAreNotJudged(t *testing.T) {
	t.Parallel()
	changed := func() *history.History {
		h := everywhere(scene(story(acknowledged(201, "o1")).rows(1)), "stock", "", 10)
		h.T1.Effects["stock"], h.T2.Effects["stock"] = map[string]float64{"": 5}, map[string]float64{"": 5}
		return h
	}
	require.NotEmpty(t, check(changed(), terms(stock)).Findings)
	for name, spoil := range map[string]func(*history.History){
		"not before":       func(h *history.History) { delete(h.Before.Effects, "stock") },
		"not afterwards":   func(h *history.History) { delete(h.T1.Effects, "stock"); delete(h.T2.Effects, "stock") },
		"failed snapshots": func(h *history.History) { h.T1.Error, h.T2.Error = "gone", "gone" },
	} {
		h := changed()
		spoil(h)
		require.Empty(t, check(h, terms(stock)).Findings, name)
	}
}

func TestTotalsWithDifferentQueriesAreNotAddedUp(t *testing.T) {
	t.Parallel()
	sold := func(t *checker.Terms) {
		stock(t)
		x := 1.0
		t.Operation.Effects[0].Query = "select n from stock"
		t.Operation.Effects = append(t.Operation.Effects, contract.Effect{Name: "sold", Delta: &x, Query: "select n from sold"})
	}
	h := everywhere(everywhere(scene(story(acknowledged(201, "o1")).rows(1)), "stock", "", 10), "sold", "", 0)
	for _, s := range []*history.Snapshot{h.T1, h.T2} {
		s.Effects = map[string]map[string]float64{"stock": {"": 8}, "sold": {"": 2}}
	}
	judge(t, h, terms(sold), nil, "")
}

// A wallet and what was paid from it stay the same together, whatever was paid.
func TestATotalThatNothingChanges(t *testing.T) {
	t.Parallel()
	same := func(t *checker.Terms) {
		none := 0.0
		t.Operation.Effects = []contract.Effect{{Name: "balance", Delta: &none, Query: "select n from wallet"}}
	}
	h := everywhere(scene(story(acknowledged(201, "o1")).rows(1)), "balance", "", 25000000)
	judge(t, h, terms(same), nil, "")
	h.T1.Effects["balance"], h.T2.Effects["balance"] = map[string]float64{"": 24998800.5}, map[string]float64{"": 24998800.5}
	f := check(h, terms(same)).Findings
	require.Len(t, f, 1)
	require.Equal(t, "a change by 0: 0 for each row", f[0].Expected)
	require.Equal(t, "a change by -1199.5, from 25000000 to 24998800.5", f[0].Observed)
	require.Equal(t, []string{"balance"}, checker.OwedEffects(terms(same), h, *h.T2), "the one may come after the other")
	h.T2.Effects["balance"] = map[string]float64{"": 25000000}
	judge(t, h, terms(same), nil, "")
	require.Empty(t, checker.OwedEffects(terms(same), h, *h.T2))
	h.T2 = nil
	require.NotEmpty(t, check(h, terms(same)).Findings, "nothing was looked at later")
}

// A history may hold numbers where none belong: they are nobody's.
func TestNumbersThatNobodyAskedForAreNotJudged(t *testing.T) {
	t.Parallel()
	h := everywhere(scene(story(acknowledged(201, "o1")).rows(1)), "stock", "dti1", 5)
	require.Empty(t, check(h, terms(stock)).Findings)
	h = everywhere(scene(story(acknowledged(201, "o1")).rows(1)), "lines", "", 5)
	h.T1.Effects["lines"] = map[string]float64{"": 7}
	require.Empty(t, check(h, terms(lines)).Findings)
}

// TestAnEffectAtMostOnceMayBeMissing holds that what may be taken away is never missed, and that one too many is found at any moment.
func TestAnEffectAtMostOnceMayBeMissing(t *testing.T) {
	t.Parallel()
	most := func(t *checker.Terms) {
		lines(t)
		for n := range t.Operation.Effects {
			t.Operation.Effects[n].Delivery = contract.SentAtMostOnce
		}
	}
	h := scene(story(acknowledged(201, "o1")).rows(1).with("lines", 2).with("sum", 12.5))
	h.T1.Effects["lines"]["dti1"], h.T2.Effects["lines"]["dti1"], h.T2.Effects["sum"]["dti1"] = 2, 0, 0
	judge(t, h, terms(most), nil, "")
	require.NotEmpty(t, checker.OwedEffects(terms(most), h, *h.T2), "what is to come is waited for, as there may be too many of it")
	h.T2.Effects["lines"]["dti1"] = 3
	judge(t, h, terms(most), []string{"effect-mismatch/lines"}, "")
}
