package checker_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// afterwards is the second of a sweep's requests, let go in front of the lane.
func afterwards(at float64) history.Attempt {
	a := before(at)
	a.After = ms(7)
	return a
}

// pair is one intent of a sweep: the second request was answered so, such a time after the first.
func pair(id string, after float64, second history.Attempt) *draft {
	return story(leads(10, acknowledged(201, "o1")), follows(10+after, second)).named(id).rows(1)
}

func phases(drafts ...*draft) []string {
	var all []string
	for _, p := range check(scene(drafts...), terms()).Phases {
		all = append(all, fmt.Sprintf("%v-%v %dx %s", p.From.Duration(), p.To.Duration(), p.Count, p.Answer))
	}
	return all
}

func TestPhasesAreWhatASweepSaw(t *testing.T) {
	t.Parallel()
	same, other, p := acknowledged(201, "o1"), acknowledged(201, "o2"), inProgress()
	for name, c := range map[string]struct {
		drafts []*draft
		want   []string
	}{
		"nothing without a sweep":    {[]*draft{story(member(10), member(17)).rows(1)}, nil},
		"one offset":                 {[]*draft{pair("i1", 7, same)}, []string{"7ms-7ms 1x acknowledged with the same thing"}},
		"neighbours that are alike":  {[]*draft{pair("i1", 1, p), pair("i2", 2, p), pair("i3", 3, p)}, []string{"1ms-3ms 3x in progress"}},
		"by offset, not by intent":   {[]*draft{pair("i1", 9, same), pair("i2", 2, p), pair("i3", 4, p)}, []string{"2ms-4ms 2x in progress", "9ms-9ms 1x acknowledged with the same thing"}},
		"a window in between":        {[]*draft{pair("i1", 1, p), pair("i2", 3, other), pair("i3", 5, p)}, []string{"1ms-1ms 1x in progress", "3ms-3ms 1x acknowledged with another thing", "5ms-5ms 1x in progress"}},
		"two answers at one offset":  {[]*draft{pair("i1", 3, p), pair("i2", 3, same)}, []string{"3ms-3ms 1x acknowledged with the same thing", "3ms-3ms 1x in progress"}},
		"a second without an answer": {[]*draft{pair("i1", 3, unknown(history.Reset)), pair("i2", 4, p)}, []string{"3ms-3ms 1x unknown", "4ms-4ms 1x in progress"}},
		"none that was not let go":   {[]*draft{story(leads(10, same), follows(0, same)).rows(1)}, nil},
		"in front of the lane":       {[]*draft{story(before(10), afterwards(15)).rows(1)}, []string{"5ms-5ms 1x acknowledged with the same thing"}},
		"whichever was begun first":  {[]*draft{story(follows(15, p), leads(10, same)).rows(1)}, []string{"5ms-5ms 1x in progress"}},
		"of the background as well":  {[]*draft{pair("i1", 3, same).behind()}, []string{"3ms-3ms 1x acknowledged with the same thing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, phases(c.drafts...))
		})
	}
}

func TestAPhaseIsToldInWords(t *testing.T) {
	t.Parallel()
	first := acknowledged(201, "o1")
	quoting := terms(quotes)
	for name, c := range map[string]struct {
		terms         checker.Terms
		operation     string
		first, second history.Attempt
		want          string
	}{
		"the same thing":                    {terms(), "", first, acknowledged(200, "o1"), "acknowledged with the same thing"},
		"another thing":                     {terms(), "", first, acknowledged(201, "o2"), "acknowledged with another thing"},
		"the first names nothing":           {terms(), "", unknown(history.Reset), acknowledged(201, "o2"), "acknowledged"},
		"the second names nothing":          {terms(), "", first, acknowledged(204, ""), "acknowledged"},
		"told exists":                       {terms(), "", first, exists("o1"), "exists with the same thing"},
		"told of another":                   {terms(), "", first, exists("o2"), "exists with another thing"},
		"met a running request":             {terms(), "", first, inProgress(), "in progress"},
		"throttled":                         {terms(), "", first, throttled(), "throttled"},
		"refused":                           {terms(), "", first, rejected(400), "rejected (status 400)"},
		"refused with another status":       {terms(), "", first, rejected(412), "rejected (status 412)"},
		"an error of the server":            {terms(), "", first, serverError(), "unknown (status 500)"},
		"no answer":                         {terms(), "", first, unknown(history.Timeout), "unknown"},
		"no connection":                     {terms(), "", first, refused(), "not sent"},
		"of another operation":              {quoting, "quote", answer(201, `{"number":"n1"}`), answer(201, `{"number":"n1"}`), "acknowledged with the same thing"},
		"with names of another operation":   {quoting, "quote", answer(201, `{"id":"o1"}`), answer(201, `{"id":"o1"}`), "acknowledged"},
		"accepted, and nobody has followed": {terms(accepting), "", first, answer(202, "{}"), "accepted"},
	} {
		require.Equal(t, c.want, c.terms.Phase(c.operation, c.first, c.second), name)
	}
}

// A driver asks while a run goes on, so it must see the phases that the report will show.
func TestADriverSeesThePhasesOfTheReport(t *testing.T) {
	t.Parallel()
	for _, second := range []history.Attempt{acknowledged(201, "o1"), acknowledged(201, "o2"), inProgress(), rejected(400), serverError(), unknown(history.Reset)} {
		h := scene(pair("i1", 5, second))
		require.Equal(t, check(h, terms()).Phases[0].Answer, terms().Phase("", h.Attempts[0], h.Attempts[1]))
	}
}

func TestASweepIsNoBurst(t *testing.T) {
	t.Parallel()
	require.Nil(t, check(scene(pair("i1", 5, acknowledged(201, "o1"))), terms()).Bursts)
	both := check(scene(pair("i1", 5, acknowledged(201, "o1")), story(member(10), member(12)).named("i2").rows(1)), terms())
	require.Equal(t, 1, both.Bursts.Count)
	require.Equal(t, ms(2), both.Bursts.Most)
	require.Len(t, both.Phases, 1)
}

func TestWhoStoodInLine(t *testing.T) {
	t.Parallel()
	h := right()
	require.Nil(t, check(h, terms()).Writers)
	line := func(n int) *int { return &n }
	h.Holdings = []history.Holding{
		{Intent: "i1", Table: "orders", Shut: ms(1), Opened: ms(9), Waiting: line(9)},
		{Intent: "i1", Table: "keys", Shut: ms(2), Opened: ms(9), Waiting: line(0)},
		{Intent: "i1", Table: "orders", Shut: ms(3), Opened: ms(9)},
		{Intent: "i1", Table: "other", Error: "refused"},
		{Intent: "i1", Table: "orders", Shut: ms(4), Opened: ms(9), Waiting: line(3), Error: "lost"},
	}
	require.Equal(t, &checker.Writers{Held: 4, Of: 5, Tables: []string{"orders", "keys"}, Waiting: []int{0, 3, 9}}, check(h, terms()).Writers)
	require.Empty(t, check(h, terms()).Findings, "that all stand in line is no finding")
	h.Holdings = h.Holdings[3:4]
	require.Equal(t, &checker.Writers{Of: 1}, check(h, terms()).Writers)
}
