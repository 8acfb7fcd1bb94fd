package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// A session that ends in the middle is no broken promise, and a target that turns away repetitions alone breaks one.
func TestASessionThatEnds(t *testing.T) {
	t.Parallel()
	a, out := acknowledged(201, "o1"), rejected(401)
	early := func(d *draft) *draft { return d.rows(1) }
	late := func(attempts ...history.Attempt) *draft {
		for i, a := range attempts {
			attempts[i] = during(float64(500+10*i), float64(505+10*i), a)
		}
		return story(attempts...).named("i2")
	}
	const ended = "the login was rejected after 2 requests that succeeded, and every time from then on (status 401): did the session expire?"
	for _, c := range []struct {
		name  string
		terms checker.Terms
		all   []*draft
		want  []string
		doubt string
	}{
		{name: "everything of all intents is turned away from some moment on", all: []*draft{early(story(a, out).probe(out)), late(out).probe(out)}, doubt: ended},
		{name: "who lost an answer and then the session is not in the dark for the target's fault",
			all: []*draft{early(story(unknown(history.Reset), out).probe(out, out)), story(during(5, 6, acknowledged(201, "o9"))).named("i3").holding("o9").probe(out), late(out).probe(out)}, doubt: "did the session expire?"},
		{name: "only repetitions are turned away", all: []*draft{early(story(a, out).probe(out)), late(acknowledged(201, "o2")).holding("o2").probe(out)}, want: []string{"replay-mismatch/status"}},
		{name: "a repetition is turned away, and others are let in later", all: []*draft{early(story(a, out)), late(out, acknowledged(201, "o2")).holding("o2")}, want: []string{"replay-mismatch/status"}},
		{name: "another principal's session says nothing of this one", all: []*draft{early(story(a, out).of("alice").probe(out)), late(out).of("bob").probe(out)}, want: []string{"replay-mismatch/status"}},
		{name: "a neighbour's key may be why it is turned away", all: []*draft{early(story(a, out).beside("i1").probe(out)), late(out).beside("i1").probe(out)}, want: []string{"replay-mismatch/status"}},
		{name: "a body that was altered is not the first request", all: []*draft{early(story(a, out).probe(out)), late(altered(out)).probe(altered(out))}, want: []string{"replay-mismatch/status"}},
		{name: "a second row before it is a duplicate all the same", all: []*draft{story(a, out).rows(2).probe(out), late(out).probe(out)}, want: []string{"duplicate"}},
		{name: "an acknowledged row that is gone is lost all the same", all: []*draft{story(a, out).rows(0).probe(out), late(out).probe(out)}, want: []string{"lost-acknowledged-write"}},
		{name: "web pages redirect an unauthenticated client to the login", terms: terms(redirecting),
			all:   []*draft{early(story(sentOn("/orders/o1"), sentOn("/users/sign_in?next=/")).probe(sentOn("/login"))), late(sentOn("/login")).probe(sentOn("/login"))},
			doubt: "(status 303): did the session expire?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			healthy := story(during(1, 2, acknowledged(201, "healthy"))).named("i0").holding("healthy")
			if c.terms.Contract.Level == "" {
				c.terms = terms()
			} else {
				healthy = story(during(1, 2, sentOn("/orders/oh"))).named("i0").holding("oh")
			}
			judge(t, scenes(append(c.all, healthy)), c.terms, c.want, c.doubt)
		})
	}
}

// That a session ended is said once, and not again for each intent that was asked in vain.
func TestASessionThatEndsIsOneDoubt(t *testing.T) {
	t.Parallel()
	a, out := acknowledged(201, "o1"), rejected(401)
	h := scenes([]*draft{
		story(during(1, 2, a), during(10, 15, out)).rows(1).probe(out),
		story(during(500, 505, out)).named("i2").probe(out),
	})
	reasons := check(h, terms()).Reasons
	require.Len(t, reasons, 1)
	require.Contains(t, reasons[0], "did the session expire?")
}

// A new login shows whose fault it was: who is let in with the same request had lost his session.
func TestANewLoginTellsWhoseFaultItWas(t *testing.T) {
	t.Parallel()
	a, out := acknowledged(201, "o1"), rejected(401)
	login := func(who string, at float64) history.Step {
		return history.Step{For: history.Login, Number: 1, Principal: who, Start: ms(at), End: ms(at + 1)}
	}
	for _, c := range []struct {
		name  string
		again history.Attempt
		login history.Step
		want  []string
	}{
		{name: "let in after it", again: a, login: login("", 2500)},
		{name: "turned away after it as well", again: out, login: login("", 2500), want: []string{"replay-mismatch/status"}},
		{name: "let in before it", again: a, login: login("", 2700), want: []string{"replay-mismatch/status"}},
		{name: "another one's login", again: a, login: login("bob", 2500), want: []string{"replay-mismatch/status"}},
		{name: "only the first login of all", again: a, login: login("", 0), want: []string{"replay-mismatch/status"}},
		{name: "a login that failed", again: a, login: history.Step{For: history.Login, Start: ms(2500), End: ms(2501), Error: "refused"}, want: []string{"replay-mismatch/status"}},
	} {
		h := scene(story(a).rows(1).probe(out, during(2600, 2605, c.again)))
		h.Steps = append(h.Steps, c.login)
		r := check(h, terms())
		require.Equal(t, c.want, found(r), c.name)
		if c.want == nil {
			require.Equal(t, checker.Pass, r.Verdict, c.name)
			require.Equal(t, "session-ended", r.Warnings[0].Kind)
			require.Equal(t, []string{"i1"}, r.Warnings[0].Intents)
		}
	}
}

// What the old session was let in with after a refusal shows that it was not over.
func TestASessionThatGoesOnExcusesNobody(t *testing.T) {
	t.Parallel()
	a, out := acknowledged(201, "o1"), rejected(401)
	anew := history.Step{For: history.Login, Number: 1, Start: ms(2500), End: ms(2501)}
	first := story(a, during(20, 25, out)).rows(1).probe(out, during(2600, 2605, a))
	for _, c := range []struct {
		other history.Attempt // of another intent
		want  []string
		doubt string
	}{
		{other: during(500, 505, acknowledged(201, "o2")), want: []string{"replay-mismatch/status"}},
		{other: during(5, 6, acknowledged(201, "o2")), doubt: "did the session expire?"},
	} {
		h := scenes([]*draft{first, story(c.other).named("i2").holding("o2")})
		h.Steps = append(h.Steps, anew)
		judge(t, h, terms(), c.want, c.doubt)
	}
}

// Of two equal intents the one that was turned away at the door was not taken for the other.
func TestARefusalAtTheDoorIsNoFalseConflict(t *testing.T) {
	t.Parallel()
	out := rejected(401)
	let := during(2600, 2605, acknowledged(201, "o2"))
	h := scenes([]*draft{
		story(during(1, 2, acknowledged(201, "o1"))).twinOf("twins").holding("o1"),
		story(during(50, 55, out)).named("i2").twinOf("twins").probe(out, let).later("o2"),
	})
	h.Steps = append(h.Steps, history.Step{For: history.Login, Number: 1, Start: ms(2500), End: ms(2501)})
	judge(t, h, terms(), nil, "did the session expire?")
}

// Of who logged in once and then only repeated, nobody knows whether the session ended.
func TestNobodyElseCameAfterTheSessionMayHaveEnded(t *testing.T) {
	t.Parallel()
	out := rejected(401)
	all := func() []*draft {
		return []*draft{
			story(during(1, 2, acknowledged(201, "o1"))).rows(1).probe(out),
			story(during(3, 4, acknowledged(201, "o2"))).named("i2").holding("o2").probe(out),
		}
	}
	h := scenes(all())
	h.Steps = append(h.Steps, history.Step{For: history.Login, Number: 1, Start: ms(0), End: ms(0.5)})
	judge(t, h, terms(), nil, "did the session expire?")
	judge(t, scenes(all()), terms(), []string{"replay-mismatch/status"}, "")
}

// Without a new login a copy that was let in meanwhile does not show that a session had ended.
func TestACopyThatIsLetInMeanwhileShowsNoNewLogin(t *testing.T) {
	t.Parallel()
	together := story(during(100, 140, rejected(401)), during(110, 130, acknowledged(201, "o1"))).rows(1)
	healthy := story(during(1, 2, acknowledged(201, "healthy"))).named("i0").holding("healthy")
	r := check(scenes([]*draft{healthy, together}), terms())
	for _, w := range r.Warnings {
		require.NotEqual(t, "session-ended", w.Kind)
	}
}
