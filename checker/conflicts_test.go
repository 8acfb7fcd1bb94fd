package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

func TestTheScopeThatAFalseConflictBreaks(t *testing.T) {
	t.Parallel()
	p := func() *draft {
		return story(keyed("k", acknowledged(201, "o1"))).named("p1").beside("p1").of("alice").rows(1)
	}
	q := func() *draft { return story(keyed("k", mismatch())).named("q1").beside("p1").of("alice") }
	separate := terms(scoped(contract.ScopeSeparate, contract.ScopeSeparate), alike)
	for _, c := range []struct {
		h                  *history.History
		contract, expected string
	}{
		{scene(p(), q().of("bob")), "scope.principal: separate", "an acknowledgement: bob had not used this key before"},
		{scene(p(), q().at("quote")), "scope.operation: separate", "an acknowledgement: this operation had not seen this key before"},
	} {
		f := check(c.h, separate).Findings[0]
		require.Equal(t, checker.FalseConflict, f.Kind)
		require.Equal(t, c.contract, f.Contract)
		require.Equal(t, c.expected, f.Expected)
	}
}

// A blank key is no key (KEYFMT).
func TestBlankKeys(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	runCells(t, []cell{
		{name: "refused where a key is required", terms: terms(keyRequired), story: story(blank(rejected(400)))},
		{name: "accepted where a key is required", terms: terms(keyRequired), story: story(blank(a)).rows(1), want: []string{"missing-key-accepted"}},
		{name: "an intent each where no key is required", story: story(blank(a), blank(acknowledged(201, "o2"))).rows(2)},
		{name: "swallowed where no key is required", story: story(blank(a), blank(acknowledged(201, "o1"))).rows(1), want: []string{"lost-acknowledged-write"}},
		{name: "refused as used with another body", story: story(blank(mismatch())), want: []string{"false-conflict"}},
		{name: "refused as a blank key", story: story(blank(rejected(422)))},
	})
	r := check(scene(story(blank(a)).rows(1)), terms(keyRequired))
	require.Contains(t, r.Findings[0].Observed, "a blank key")
}

// A target may refuse a key for its form. Where a mismatch is known by its status alone, that looks the same.
func TestKeysThatMayBeRefusedForTheirForm(t *testing.T) {
	t.Parallel()
	bare := terms(func(t *checker.Terms) { t.Contract.Fingerprint.Where = nil })
	a, no := acknowledged(201, "o1"), mismatch()
	conflict := []string{"false-conflict"}
	const doubt = "it may have been refused for its key, which has the same status as a mismatch: fingerprint.where tells them apart"
	lost := unknown(history.Reset)
	for name, c := range map[string]struct {
		terms    checker.Terms
		one, two *draft
		want     []string
		doubt    string
	}{
		"both long ones refused":                           {bare, story(keyed("xx0", no)).probe(keyed("xx0", no)), story(keyed("xx1", no)).probe(keyed("xx1", no)), nil, ""},
		"both blank ones refused":                          {bare, story(blank(no)), story(blank(no)), nil, ""},
		"both refused as a mismatch by name":               {terms(), story(keyed("xx0", no)), story(keyed("xx1", no)), conflict, ""},
		"both refused by a header":                         {headed(), story(keyed("xx0", no)), story(keyed("xx1", no)), conflict, ""},
		"one throttled and one refused":                    {bare, story(keyed("xx0", limited())), story(keyed("xx1", no)), nil, ""},
		"a long one refused beside its like":               {bare, story(keyed("xx0", a)).rows(1), story(keyed("xx1", no)), conflict, ""},
		"a long one refused beside its lost like":          {bare, story(keyed("xx0", lost)).rows(1).probe(keyed("xx0", a)), story(keyed("xx1", no)), conflict, ""},
		"a blank one refused beside its like":              {bare, story(blank(a)).rows(1), story(blank(no)), conflict, ""},
		"one with a quote refused beside one with none":    {bare, story(keyed("xx", a)).rows(1), story(keyed(`xx"`, no)), nil, doubt},
		"one with a capital refused beside one with none":  {bare, story(keyed("xx", a)).rows(1), story(keyed("xX", no)), nil, doubt},
		"one with a quote refused by name":                 {terms(), story(keyed("xx", a)).rows(1), story(keyed(`xx"`, no)), conflict, ""},
		"one with a quote told that it exists":             {bare, story(keyed("xx", a)).rows(1), story(keyed(`xx"`, exists("o1"))), conflict, ""},
		"both of plain keys refused":                       {bare, story(keyed("3f9ac2d1", no)), story(keyed("b07e5a44", no)), conflict, ""},
		"a plain one refused beside another":               {bare, story(keyed("3f9ac2d1", a)).rows(1), story(keyed("b07e5a44", no)), conflict, ""},
		"one with a small letter refused beside a capital": {bare, story(keyed("XX", a)).rows(1), story(keyed("xx", no)), nil, doubt},
		"both of one key refused":                          {bare, story(keyed("k", no)), story(keyed("k", no)), conflict, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judge(t, scene(c.one.named("k1").beside("k1"), c.two.named("k2").beside("k1")), c.terms, c.want, c.doubt)
		})
	}
	four := func(second, third, fourth *draft) *history.History {
		return scene(story(keyed("xx1", a)).rows(1).named("k1").beside("k1"), second.named("k2").beside("k1"), third.named("k3").beside("k1"), fourth.named("k4").beside("k1"))
	}
	judge(t, four(story(keyed("Xx1", no)), story(keyed("Xx2", acknowledged(201, "o3"))).holding("o3"), story(keyed("xx2", no))), bare, conflict, "")
	judge(t, four(story(keyed("Xx1", no)), story(keyed("Xx2", no)), story(keyed("xx2", acknowledged(201, "o4"))).holding("o4")), bare, nil, doubt)
	judge(t, scene(story(no).beside("i1")), bare, conflict, "")
	both := func(key string) *draft { return story(keyed(key, no), keyed(key, altered(no))).beside("k1") }
	judge(t, scene(both("xx0").named("k1"), both("xx1").named("k2")), bare, nil, "")
}
