package checker_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// One key, two principals (XTEN) or two operations (XEND): p got through, and q sent the same key.
func TestOneKeyOfTwo(t *testing.T) {
	t.Parallel()
	const separate, reject, shared = contract.ScopeSeparate, contract.ScopeReject, contract.ScopeShared
	key := func(x history.Attempt) history.Attempt { return keyed("k", x) }
	p := func(x ...history.Attempt) *draft { return story(x...).named("p1").beside("p1").rows(1) }
	q := func(x history.Attempt) *draft { return story(key(x)).named("q1").beside("p1") }
	busy := story(key(inProgress()), key(rejected(400))).named("q1").beside("p1")
	rows := []struct {
		name      string
		story     *draft
		principal contract.KeyScope // of the contract, where two principals send
		operation contract.KeyScope // where two operations are sent to
		want      []string
	}{
		{"each has its own", q(acknowledged(201, "o2")).holding("o2"), separate, separate, nil},
		{"refused for the other's body", q(mismatch()), separate, separate, []string{"false-conflict"}},
		{"told that it exists", q(answer(409, `{"error":"exists"}`)), separate, separate, []string{"false-conflict"}},
		{"refused without a reason", q(rejected(409)), separate, separate, []string{"false-conflict"}},
		{"refused after being told that it runs", busy, separate, separate, nil},
		{"refused where the second is refused", q(mismatch()), reject, reject, nil},
		{"told that it exists where the second is refused", q(answer(409, `{"error":"exists"}`)), reject, reject, nil},
		{"refused where nothing is declared", q(mismatch()), "", "", nil},
		{"acknowledged where nothing is declared", q(acknowledged(201, "o2")).holding("o2"), "", "", nil},
		{"acknowledged without a row where nothing is declared", q(acknowledged(201, "o2")), "", "", []string{"lost-acknowledged-write"}},
		{"refused, and there is a row", q(rejected(409)).holding("o2"), reject, reject, []string{"phantom-row"}},
	}
	for _, c := range rows {
		first := func() *draft { return p(key(acknowledged(201, "o1"))) }
		copied := func() *draft { d := *c.story; return &d }
		t.Run("two principals: "+c.name, func(t *testing.T) {
			t.Parallel()
			judge(t, scene(first().of("p"), copied().of("q")), terms(scoped(c.principal, "")), c.want, "")
		})
		t.Run("two operations: "+c.name, func(t *testing.T) {
			t.Parallel()
			h := scene(first(), copied().at("quote"))
			judge(t, h, terms(scoped("", c.operation), alike), c.want, "")
		})
	}
	for name, c := range map[string]struct {
		story *draft
		scope contract.KeyScope
		want  []string
	}{
		"the other's answer is a leak":                          {q(acknowledged(201, "o1")), reject, []string{"leak", "lost-acknowledged-write"}},
		"the other's marker in a refusal is a leak":             {q(answer(409, `{"error":"exists","of":"dtp1"}`)), reject, []string{"leak"}},
		"the other's answer is none where keys are shared":      {q(answer(201, `{"id":"o1","note":"dtp1"}`)).holding("o1"), shared, nil},
		"a row of one's own is asked for where keys are shared": {q(acknowledged(201, "o1")), shared, []string{"lost-acknowledged-write"}},
	} {
		t.Run("two principals: "+name, func(t *testing.T) {
			t.Parallel()
			judge(t, scene(p(key(acknowledged(201, "o1"))).of("p"), c.story.of("q")), terms(scoped(c.scope, "")), c.want, "")
		})
	}
}

// The name of another's thing is a leak wherever it stands, if it is long enough to be nothing else (I7).
func TestTheNameOfAnothersThingIsShownToNobodyElse(t *testing.T) {
	t.Parallel()
	const id = "7f3c2a90b1d84e55"
	refusal := func(content string) history.Attempt { return keyed("k", answer(422, content)) }
	for name, c := range map[string]struct {
		id   string
		told history.Attempt
		want []string
	}{
		"in a refusal":          {id, refusal(`{"error":"key used","resource_id":"` + id + `"}`), []string{"leak"}},
		"in a location":         {id, bearing("Location", "/orders/"+id, refusal(`{"error":"key used"}`)), []string{"leak"}},
		"in part":               {id, refusal(`{"trace":"` + id + `0"}`), nil},
		"in part, after a dash": {id, refusal(`{"trace":"0-` + id + `"}`), nil},
		"of fifteen letters":    {id[1:], refusal(`{"trace":"` + id[1:] + `"}`), nil},
		"that is the key":       {"kkkkkkkkkkkkkkkk", keyed("kkkkkkkkkkkkkkkk", answer(422, `{"used":"kkkkkkkkkkkkkkkk"}`)), nil},
		"that the body said":    {"lampsandmorelamps", refusal(`{"used":"lampsandmorelamps"}`), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := story(keyed(c.told.Key, acknowledged(201, c.id))).named("p1").beside("p1").of("p").holding(c.id)
			h := scene(p, story(c.told).named("q1").beside("p1").of("q"))
			body := h.Intents[1].Bodies[history.Original]
			body.Content = strings.Replace(body.Content, "{", `{"item":"lampsandmorelamps",`, 1)
			h.Intents[1].Bodies[history.Original] = body
			for _, scope := range []contract.KeyScope{contract.ScopeReject, ""} {
				judge(t, h, terms(scoped(scope, "")), c.want, "")
			}
			judge(t, h, terms(scoped(contract.ScopeShared, "")), nil, "")
		})
	}
	p := story(keyed("k", acknowledged(201, id))).named("p1").beside("p1").of("alice").holding(id)
	q := story(refusal(`{"resource_id":"` + id + `"}`)).named("q1").beside("p1").of("bob")
	f := checker.Check(scene(p, q), terms()).Findings[0]
	require.Equal(t, "attempt q1.1 was answered with "+id+", which is alice's", f.Observed)
}

// alike is a second operation that is like the first.
func alike(t *checker.Terms) { t.Others = map[string]contract.Operation{"quote": t.Operation} }

// A finding about neighbours shows what all of them were told, and whose things they are.
func TestALeakShowsBothSides(t *testing.T) {
	t.Parallel()
	again := keyed("k", during(70, 80, acknowledged(201, "o1")))
	p := story(keyed("k", acknowledged(201, "o1")), again).named("p1").beside("p1").of("alice").rows(1)
	q := story(keyed("k", during(50, 60, answer(201, `{"id":"o1","note":"dtp1"}`)))).named("q1").beside("p1").of("bob")
	f := checker.Check(scene(p, q), terms()).Findings[0]
	require.Equal(t, checker.Leak, f.Kind)
	require.Equal(t, "q1", f.Intent)
	require.Equal(t, "attempt q1.1 was answered with the marker dtp1 of alice", f.Observed)
	require.Equal(t, []string{"p1.1", "q1.1", "p1.2"}, []string{f.Attempts[0].ID, f.Attempts[1].ID, f.Attempts[2].ID})
	require.Len(t, f.Outcomes, 3)
	require.Equal(t, map[string]string{"p1": "alice", "q1": "bob"}, f.Who)
	require.Len(t, f.Rows, 1)
}

func TestThingsWithoutANameAreNobodys(t *testing.T) {
	t.Parallel()
	nameless := func(id, who string) *draft {
		d := story(answer(201, `{}`)).named(id).of(who)
		d.before[history.Original] = []history.Row{{"amount": 1200.0}}
		return d
	}
	noIdentity := func(t *checker.Terms) { t.Operation.Identity = contract.Identity{} }
	judge(t, scene(nameless("p1", "alice"), nameless("q1", "bob")), terms(noIdentity), nil, "")
}

func TestWhatNobodyInParticularSentIsForeignToo(t *testing.T) {
	t.Parallel()
	q := story(answer(201, `{"id":"o2","note":"dtp1"}`)).named("q1").of("bob").holding("o2")
	f := checker.Check(scene(story(acknowledged(201, "o1")).named("p1").rows(1), q), terms()).Findings[0]
	require.Equal(t, "attempt q1.1 was answered with the marker dtp1 of nobody in particular", f.Observed)
}

// Things of twins are counted where there are the most of them, and where they are known.
func TestThingsOfTwinsAreCountedAtBothMoments(t *testing.T) {
	t.Parallel()
	told := func(before, after []string) *history.History {
		one := story(keyed("k", acknowledged(201, "o1"))).named("t1").of("p").twinOf("dtwin").holding(before...).later(after...)
		return scene(one, story(keyed("k", acknowledged(201, "o1"))).named("t2").of("q").twinOf("dtwin"))
	}
	kinds := func(h *history.History) []string { return found(checker.Check(h, terms())) }
	require.Contains(t, kinds(told([]string{"o1"}, nil)), "leak", "at T1 only")
	require.Contains(t, kinds(told(nil, []string{"o1"})), "leak", "at T2 only")
	require.NotContains(t, kinds(told([]string{"o1"}, []string{"o1", "o1"})), "leak", "two of them in the end")
	require.NotContains(t, kinds(told([]string{"o1", "o1"}, []string{"o1"})), "leak", "two of them at first")
}

// quotes is a second operation with other names for everything.
func quotes(t *checker.Terms) {
	t.Others = map[string]contract.Operation{"quote": {
		Key: contract.Key{In: contract.KeyInHeader, Name: "Idempotency-Key", Required: true}, Identity: contract.Identity{JSON: "/number"},
		Rows: contract.Rows{Identity: "number", Content: map[string]string{"sum": "/amount"}},
	}}
}

func TestEachOperationIsReadInItsOwnWay(t *testing.T) {
	t.Parallel()
	quote := func(x history.Attempt, row history.Row) *draft {
		d := story(x).named("q1").at("quote")
		d.before[history.Original] = []history.Row{row}
		return d
	}
	right := history.Row{"number": "n1", "sum": 1200.0}
	one := answer(201, `{"number":"n1"}`)
	judge(t, scene(quote(one, right)), terms(quotes), nil, "")
	judge(t, scene(quote(answer(201, `{"number":"n2"}`), right)), terms(quotes), []string{"replay-mismatch/identity"}, "")
	judge(t, scene(quote(one, history.Row{"number": "n1", "sum": 9.0})), terms(quotes), []string{"altered-body-violation/content"}, "")
	judge(t, scene(quote(keyed(noKey, one), right)), terms(quotes), []string{"missing-key-accepted"}, "")
	judge(t, scene(story(acknowledged(201, "n1")).of("p").rows(1).holding("n1"), quote(one, right).of("q")), terms(quotes), nil, "")
}

// Two principals who send the same form under the same key.
func TestTwinsOfTwoPrincipals(t *testing.T) {
	t.Parallel()
	one := func() *draft {
		return story(keyed("k", acknowledged(201, "o1"))).named("t1").of("p").twinOf("dtwin").beside("t1")
	}
	two := func(x history.Attempt) *draft {
		return story(keyed("k", x)).named("t2").of("q").twinOf("dtwin").beside("t1")
	}
	for name, c := range map[string]struct {
		rows  []string
		story *draft
		want  []string
	}{
		"each has its own":                     {[]string{"o1", "o2"}, two(acknowledged(201, "o2")), nil},
		"each has its own of one number":       {[]string{"o1", "o1"}, two(acknowledged(201, "o1")), nil},
		"both are told of the one thing":       {[]string{"o1"}, two(acknowledged(201, "o1")), []string{"leak", "lost-acknowledged-write"}},
		"both are told of one thing of two":    {[]string{"o1", "o2"}, two(acknowledged(201, "o1")), []string{"leak"}},
		"the second is refused":                {[]string{"o1"}, two(rejected(403)), []string{"false-conflict"}},
		"the second is told of nothing at all": {[]string{"o1"}, two(acknowledged(201, "o9")), []string{"lost-acknowledged-write"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judge(t, scene(one().holding(c.rows...), c.story), terms(scoped(contract.ScopeSeparate, "")), c.want, "")
		})
	}
	judge(t, scene(one().rows(1), two(rejected(403))), terms(scoped(contract.ScopeReject, "")), nil, "")
}

// A blank key is no key (KEYFMT).
func TestBlankKeys(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	runCells(t, []cell{
		{name: "refused where a key is required", terms: terms(keyRequired), story: story(blank(rejected(400)))},
		{name: "accepted where a key is required", terms: terms(keyRequired), story: story(blank(a)).rows(1), want: []string{"missing-key-accepted"}},
		{name: "a wish each where no key is required", story: story(blank(a), blank(acknowledged(201, "o2"))).rows(2)},
		{name: "swallowed where no key is required", story: story(blank(a), blank(acknowledged(201, "o1"))).rows(1), want: []string{"lost-acknowledged-write"}},
		{name: "refused as used with another body", story: story(blank(mismatch())), want: []string{"false-conflict"}},
		{name: "refused as a blank key", story: story(blank(rejected(422)))},
	})
	r := checker.Check(scene(story(blank(a)).rows(1)), terms(keyRequired))
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
	judge(t, scene(story(no).beside("i1")), bare, conflict, "")
	both := func(key string) *draft { return story(keyed(key, no), keyed(key, altered(no))).beside("k1") }
	judge(t, scene(both("xx0").named("k1"), both("xx1").named("k2")), bare, nil, "")
}

// headed is a contract in which a mismatch is known by a header.
func headed() checker.Terms {
	return terms(func(t *checker.Terms) {
		t.Contract.Fingerprint.Where = nil
		t.Contract.Fingerprint.Headers = map[string]string{"Content-Type": "json"}
	})
}

// A respelled request is the same request (CANON).
func TestOtherSpellings(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	again := func(x history.Attempt) *draft { return story(a, reordered(x)).rows(1) }
	bytes := func(t *checker.Terms) { t.Contract.Fingerprint.Mode = contract.FingerprintBytes }
	fields := func(t *checker.Terms) { t.Contract.Fingerprint.Mode = contract.FingerprintFields }
	runCells(t, []cell{
		{name: "answered as a repetition", terms: terms(sameJSON), story: again(a)},
		{name: "answered as a repetition where fields count", terms: terms(fields), story: again(a)},
		{name: "refused as another", terms: terms(sameJSON), story: again(mismatch()), want: []string{"false-conflict/respelled"}},
		{name: "refused as another where fields count", terms: terms(fields), story: again(mismatch()), want: []string{"false-conflict/respelled"}},
		{name: "told that it exists", terms: terms(sameJSON), story: again(exists("o1"))},
		{name: "refused as another where bytes count", terms: terms(bytes), story: again(mismatch())},
		{name: "refused as another where nothing is declared", story: again(mismatch())},
		{name: "refused for its form", terms: terms(sameJSON), story: again(rejected(400))},
		{name: "executed again", terms: terms(sameJSON), story: story(a, reordered(acknowledged(201, "o2"))).rows(2), want: []string{"duplicate"}},
		{name: "executed again where bytes count", terms: terms(bytes), story: story(a, reordered(acknowledged(201, "o2"))).rows(2), want: []string{"duplicate"}},
		{name: "answered with something else", terms: terms(sameJSON), story: again(saying(`{"id":"o1","x":1}`, a)), want: []string{"replay-mismatch/body"}},
		{name: "an altered body is still refused", terms: terms(sameJSON), story: story(a, altered(mismatch()), reordered(a)).rows(1)},
	})
}
