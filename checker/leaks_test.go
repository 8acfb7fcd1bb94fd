package checker_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
)

func TestALeakIsFoundWhereverItStands(t *testing.T) {
	t.Parallel()
	for name, shown := range map[string]*draft{
		"escaped":              story(answer(201, `{"id":"o2","note":"hello\ndtp1"}`)),
		"in a header":          story(bearing("X-Original", "dtp1", acknowledged(201, "o2"))),
		"in a path":            story(bearing("Location", "/orders%2fdtp1", acknowledged(201, "o2"))),
		"in a status resource": story(answer(202, `{}`)).named("q1").then(history.Followup{Status: 200, Content: `{"state":"done","thing":"o2","note":"dtp1"}`, Complete: true}),
	} {
		p := story(acknowledged(201, "o1")).named("p1").of("p").rows(1)
		require.Contains(t, found(check(scene(p, shown.named("q1").of("q").holding("o2")), terms(accepting))), "leak", name)
	}
}

// The name of another's thing is a leak wherever it stands, if it is long enough to be nothing else (I7).
func TestAnotherPrincipalsIdentityIsALeak(t *testing.T) {
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
	f := check(scene(p, q), terms()).Findings[0]
	require.Equal(t, "attempt q1.1 was answered with "+id+", which is alice's", f.Observed)
}

// A finding about neighbours shows what all of them were told, and whose things they are.
func TestALeakShowsBothSides(t *testing.T) {
	t.Parallel()
	again := keyed("k", during(70, 80, acknowledged(201, "o1")))
	p := story(keyed("k", acknowledged(201, "o1")), again).named("p1").beside("p1").of("alice").rows(1)
	q := story(keyed("k", during(50, 60, answer(201, `{"id":"o1","note":"dtp1"}`)))).named("q1").beside("p1").of("bob")
	f := check(scene(p, q), terms()).Findings[0]
	require.Equal(t, checker.Leak, f.Kind)
	require.Equal(t, "q1", f.Intent)
	require.Equal(t, "attempt q1.1 was answered with the marker dtp1 of alice", f.Observed)
	require.Equal(t, []string{"p1.1", "q1.1", "p1.2"}, []string{f.Attempts[0].ID, f.Attempts[1].ID, f.Attempts[2].ID})
	require.Len(t, f.Outcomes, 3)
	require.Equal(t, map[string]string{"p1": "alice", "q1": "bob"}, f.Who)
	require.Len(t, f.Rows, 1)
}

func TestRowsWithoutAnIdentityAreNotForeign(t *testing.T) {
	t.Parallel()
	nameless := func(id, who string) *draft {
		d := story(answer(201, `{}`)).named(id).of(who)
		d.before[history.Original] = []history.Row{{"amount": 1200.0}}
		return d
	}
	noIdentity := func(t *checker.Terms) { t.Operation.Identity = contract.Identity{} }
	judge(t, scene(nameless("p1", "alice"), nameless("q1", "bob")), terms(noIdentity), nil, "")
}

func TestAnUnnamedPrincipalIsAPrincipal(t *testing.T) {
	t.Parallel()
	q := story(answer(201, `{"id":"o2","note":"dtp1"}`)).named("q1").of("bob").holding("o2")
	f := check(scene(story(acknowledged(201, "o1")).named("p1").rows(1), q), terms()).Findings[0]
	require.Equal(t, "attempt q1.1 was answered with the marker dtp1 of an unnamed principal", f.Observed)
}

// Things of twins are counted where there are the most of them, and where they are known.
func TestThingsOfTwinsAreCountedAtBothMoments(t *testing.T) {
	t.Parallel()
	told := func(before, after []string) *history.History {
		one := story(keyed("k", acknowledged(201, "o1"))).named("t1").of("p").twinOf("dtwin").holding(before...).later(after...)
		return scene(one, story(keyed("k", acknowledged(201, "o1"))).named("t2").of("q").twinOf("dtwin"))
	}
	kinds := func(h *history.History) []string { return found(check(h, terms())) }
	require.Contains(t, kinds(told([]string{"o1"}, nil)), "leak", "at T1 only")
	require.Contains(t, kinds(told(nil, []string{"o1"})), "leak", "at T2 only")
	require.NotContains(t, kinds(told([]string{"o1"}, []string{"o1", "o1"})), "leak", "two of them in the end")
	require.NotContains(t, kinds(told([]string{"o1", "o1"}, []string{"o1"})), "leak", "two of them at first")
}
