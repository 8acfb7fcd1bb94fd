package checker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

// Decision table 4: several groups. Endpoints (XEND), expiry (TTL), counters and child rows are not
// in yet, nor is a scope that rejects another principal's key.
func TestSeveralGroups(t *testing.T) {
	t.Parallel()
	a, u := acknowledged(201, "o1"), unknown(history.Timeout)
	tab := func(x history.Attempt) history.Attempt { return keyed("k2", x) }
	bare := func(x history.Attempt) history.Attempt { return keyed(noKey, x) }
	runCells(t, []cell{
		{name: "two tabs of a natural key and one row are right", terms: terms(naturalKey), story: story(a, tab(acknowledged(200, "o1")), tab(exists("o1"))).rows(1).probe(a, keyed("k3", rejected(400)))},
		{name: "two tabs without any key and a natural key are one intent", terms: terms(naturalKey), story: story(bare(a), bare(acknowledged(200, "o1"))).rows(1).probe(bare(exists("o1")))},
		{name: "two tabs of a natural key and two rows are a duplicate", terms: terms(naturalKey), story: story(a, tab(acknowledged(201, "o2"))).rows(2), want: []string{"duplicate"}},
		{name: "two tabs of a natural key must be told of one thing", terms: terms(naturalKey), story: story(a, tab(acknowledged(200, "o2"))).rows(1), want: []string{"replay-mismatch/identity"}},
		{name: "two tabs of a natural key, one acknowledged, and no row is a lost write", terms: terms(naturalKey), story: story(a, tab(u)), want: []string{"lost-acknowledged-write"}},
		{name: "two tabs of a natural key, one told exists, and no row is a lost write", terms: terms(naturalKey), story: story(u, tab(exists("o1"))), want: []string{"lost-acknowledged-write"}},
		{name: "two tabs with two keys and no natural key may make two rows", story: story(a, tab(acknowledged(201, "o2"))).rows(2).probe(a, tab(acknowledged(201, "o2")))},
		{name: "two tabs with two keys and no natural key, and three rows, are a duplicate", story: story(a, tab(acknowledged(201, "o2"))).rows(3), want: []string{"duplicate"}},
		{name: "two tabs with two keys and no natural key, one lost, may make one row", story: story(a, tab(u)).rows(1).later("o1", "o2").probe(a, tab(acknowledged(201, "o2")))},
		{name: "two tabs with two keys, one refused, and two rows are a phantom row", story: story(a, tab(rejected(400))).rows(2), want: []string{"phantom-row"}},

		{name: "the key was missing and the request was refused", terms: terms(keyRequired), story: story(bare(rejected(400)))},
		{name: "the key was missing and the request was accepted", terms: terms(keyRequired), story: story(bare(a), bare(acknowledged(201, "o2"))).rows(2), want: []string{"missing-key-accepted"}},
		{name: "the key was missing, the request was refused, and there is a row", terms: terms(keyRequired), story: story(bare(rejected(400))).rows(1), want: []string{"phantom-row"}},
		{name: "requests without a key are an intent each, but an equal body may be a repetition for a while", terms: terms(contentWindow), story: story(bare(a), bare(a)).rows(1)},
		{name: "an equal body is a repetition for a while whatever its key", terms: terms(contentWindow), story: story(a, keyed("k2", a)).rows(1)},
		{name: "what is told of two things within a content window are two", terms: terms(contentWindow), story: story(bare(a), bare(acknowledged(201, "o2"))).rows(1), want: []string{"lost-acknowledged-write"}},
		{name: "what was acknowledged within a content window is there", terms: terms(contentWindow), story: story(bare(a), bare(a)).rows(0), want: []string{"lost-acknowledged-write"}},
		{name: "requests without a key are an intent each", story: story(bare(a), bare(acknowledged(201, "o2"))).rows(2)},
		{name: "a request without a key may be refused with the status of a mismatch", terms: terms(keyRequired), story: story(bare(mismatch())).rows(0)},
		{name: "requests without a key promise no replay", terms: terms(replayMarked), story: story(bare(a), bare(acknowledged(200, "o2"))).rows(2)},
		{name: "a request without a key may have been lost", story: story(bare(a), bare(u)).rows(1)},
		{name: "a request without a key may have got through", story: story(bare(a), bare(u)).rows(2)},
		{name: "more rows than requests without a key that got through are a duplicate", story: story(bare(a), bare(u), bare(rejected(400))).rows(3), want: []string{"duplicate"}},
		{name: "fewer rows than acknowledged requests without a key are a lost write", story: story(bare(a), bare(acknowledged(201, "o2")), bare(u)).rows(1), want: []string{"lost-acknowledged-write"}},
		{name: "a single request without a key is told of its row", story: story(bare(acknowledged(201, "o9"))).rows(1), want: []string{"replay-mismatch/identity"}},

		{name: "a fresh intent that is refused as another is a false conflict", story: story(mismatch()).probe(mismatch()), want: []string{"false-conflict"}},
		{name: "a fresh intent that is told it exists is a false conflict", story: story(exists("o9")), want: []string{"false-conflict"}},
		{name: "an acknowledged intent without a row was lost to another", story: story(acknowledged(201, "o9")), want: []string{"lost-acknowledged-write"}},
	})
}

// Twins are distinct intents with equal bodies: their rows cannot be told apart.
func TestTwins(t *testing.T) {
	t.Parallel()
	a, b := acknowledged(201, "o1"), acknowledged(201, "o2")
	cases := []struct {
		name     string
		one, two *draft
		rows     []string
		want     []string
	}{
		{"both acknowledged and two rows are right", story(a), story(b), []string{"o1", "o2"}, nil},
		{"both acknowledged and one row is a lost write", story(a), story(b), []string{"o1"}, []string{"lost-acknowledged-write"}},
		{"both acknowledged and three rows are a duplicate", story(a), story(b), []string{"o1", "o2", "o3"}, []string{"duplicate"}},
		{"one told exists is a false conflict", story(a), story(exists("o1")), []string{"o1"}, []string{"false-conflict"}},
		{"one told exists although both rows are there is a phantom row", story(a), story(exists("o1")), []string{"o1", "o2"}, []string{"phantom-row/creator-told-exists"}},
		{"one refused as another is a false conflict", story(a), story(mismatch()), []string{"o1"}, []string{"false-conflict"}},
		{"one refused while the other got through is a false conflict", story(a), story(rejected(409)), []string{"o1"}, []string{"false-conflict"}},
		{"both refused is nobody's conflict", story(rejected(400)), story(rejected(400)), nil, nil},
		{"one refused and both rows are there is a phantom row", story(rejected(400)), story(b), []string{"o1", "o2"}, []string{"phantom-row"}},
		{"one lost and one row is right", story(a), story(unknown(history.Reset)), []string{"o1"}, nil},
		{"one lost and two rows are right", story(a), story(unknown(history.Reset)), []string{"o1", "o2"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			one, two := c.one.named("t1").twinOf("dtwin").holding(c.rows...), c.two.named("t2").twinOf("dtwin")
			judge(t, scene(one, two), terms(), c.want, "")
		})
	}
	t.Run("a false conflict is found on the twin that was refused", func(t *testing.T) {
		t.Parallel()
		r := check(scene(story(a).named("t1").twinOf("dtwin").rows(1), story(exists("o1")).named("t2").twinOf("dtwin")), terms())
		require.Equal(t, []string{"false-conflict"}, found(r))
		require.Equal(t, "t2", r.Findings[0].Intent)
	})
}

// Tenants: the scope of a key is its principal.
func TestTenants(t *testing.T) {
	t.Parallel()
	p := func() *draft { return story(acknowledged(201, "o1")).named("p1").of("p").rows(1) }
	q := func(x history.Attempt) *draft { return story(x).named("q1").of("q") }
	r := func(d ...*draft) []*draft { return append(d, p()) }
	cases := []struct {
		name  string
		story *draft
		want  []string
	}{
		{"each has its own row", q(acknowledged(201, "o2")).holding("o2"), nil},
		{"each has its own row with an identity of its tenant", q(acknowledged(201, "o1")).holding("o1"), nil},
		{"another's marker is a leak", q(answer(201, `{"id":"o2","note":"dtp1"}`)).holding("o2"), []string{"leak"}},
		{"another's marker in a refusal is a leak", q(answer(422, `{"error":"mismatch","of":"dtp1"}`)), []string{"leak", "false-conflict"}},
		{"another's marker in a location is a leak", q(bearing("Location", "/orders/dtp1", acknowledged(201, "o2"))).holding("o2"), []string{"leak"}},
		{"another's identity is a leak", q(acknowledged(201, "o1")), []string{"leak", "lost-acknowledged-write"}},
		{"told that another's thing exists is a leak and a false conflict", q(exists("o1")), []string{"leak", "false-conflict"}},
		{"told that it exists, with nothing of another, is a false conflict", q(answer(409, `{"error":"exists"}`)), []string{"false-conflict"}},
		{"refused for another's body is a false conflict", q(mismatch()), []string{"false-conflict"}},
		{"acknowledged without a row is a lost write", q(acknowledged(201, "o9")), []string{"lost-acknowledged-write"}},
		{"one's own other marker is no leak", q(answer(201, `{"id":"o2","before":"dtq0"}`)).holding("o2"), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			other := story(acknowledged(201, "o8")).named("q0").of("q").holding("o8")
			judge(t, scene(append(r(c.story), other)...), terms(), c.want, "")
		})
	}
	t.Run("a leak to the probe shows at T2", func(t *testing.T) {
		t.Parallel()
		one := q(unknown(history.Reset)).holding("o2").probe(answer(201, `{"id":"o2","note":"dtp1"}`))
		res := check(scene(p(), one), terms())
		require.Equal(t, []string{"leak"}, found(res))
		require.Equal(t, "T2", res.Findings[0].Moment)
	})
	t.Run("two principals may send the same marker", func(t *testing.T) {
		t.Parallel()
		one := story(answer(201, `{"id":"o1","note":"dtwin"}`)).named("t1").of("p").twinOf("dtwin").rows(2)
		two := story(answer(201, `{"id":"o2","note":"dtwin"}`)).named("t2").of("q").twinOf("dtwin")
		judge(t, scene(one, two), terms(), nil, "")
	})
}

// contentWindow takes an equal body for a repetition for a minute.
func contentWindow(t *checker.Terms) { t.Contract.ContentWindow = contract.Duration(time.Minute) }
