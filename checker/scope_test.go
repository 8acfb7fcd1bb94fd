package checker_test

import (
	"testing"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

func TestAKeyThatIsTakenIsRefused(t *testing.T) {
	t.Parallel()
	p := func() *draft {
		return story(keyed("k", acknowledged(201, "o1"))).named("p1").beside("p1").of("p").rows(1)
	}
	q := func(at float64) *draft {
		return story(keyed("k", during(at, at+9, acknowledged(201, "o2")))).named("q1").beside("p1").of("q").holding("o2")
	}
	judge(t, scene(p(), q(50)), terms(scoped(contract.ScopeReject, "")), []string{"altered-body-violation/scope"}, "")
	judge(t, scene(p(), q(12)), terms(scoped(contract.ScopeReject, "")), nil, "") // at once: nobody knows who was first
	judge(t, scene(p(), q(50)), terms(scoped(contract.ScopeSeparate, "")), nil, "")
	operation := q(50).of("p").at("quote")
	judge(t, scene(p(), operation), terms(alike, scoped("", contract.ScopeReject)), []string{"altered-body-violation/scope"}, "")
	path := func(t *checker.Terms) { t.Contract.Scope.Path = contract.ScopeReject }
	judge(t, scene(p().under("/1"), q(50).of("p").under("/2")), terms(path), []string{"altered-body-violation/scope"}, "")
}

func TestAKeyThatNeverArrivedWasNotUsed(t *testing.T) {
	t.Parallel()
	p := story(keyed("k", refused())).named("p1").beside("p1").of("p")
	q := story(keyed("k", mismatch())).named("q1").beside("p1").of("q")
	judge(t, scene(p, q), terms(), []string{"false-conflict"}, "")
}

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
		t.Run("two parents: "+c.name, func(t *testing.T) {
			t.Parallel()
			path := func(t *checker.Terms) { t.Contract.Scope.Path = c.operation }
			judge(t, scene(first().under("/orders/1/payments"), copied().under("/orders/2/payments")), terms(path), c.want, "")
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

// alike is a second operation that is like the first.
func alike(t *checker.Terms) { t.Others = map[string]contract.Operation{"quote": t.Operation} }

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
