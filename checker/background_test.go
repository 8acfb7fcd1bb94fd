package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

func TestBackgroundTrafficProvesNothing(t *testing.T) {
	t.Parallel()
	a := acknowledged(201, "o1")
	h := scenes([]*draft{story(a).rows(1), story(a, a).named("b1").rows(1).behind(), story(a).named("b2").rows(1).behind()})
	h.Run.Exercised = []history.Proof{{Name: string(proofs.Replayed), AtLeast: 0.5}, {Name: string(proofs.Acknowledged), AtLeast: 1}}
	e := check(h, terms()).Exercise
	require.Equal(t, []int{0, 1}, []int{e[0].Held, e[0].Of})
	require.Equal(t, []int{1, 1}, []int{e[1].Held, e[1].Of})
	require.Equal(t, 1, e[0].Needed)
	require.Equal(t, 1, e[1].Needed, "of those that count")
}

func TestBackgroundTrafficIsJudgedAllTheSame(t *testing.T) {
	t.Parallel()
	h := func(rows int) *history.History {
		return scene(story(acknowledged(201, "o1")).rows(1), story(acknowledged(201, "o1")).named("b1").rows(rows).behind())
	}
	judge(t, h(1), terms(), nil, "")
	judge(t, h(2), terms(), []string{"duplicate"}, "")
	judge(t, h(0), terms(), []string{"lost-acknowledged-write"}, "")
	r := check(h(2), terms())
	require.Equal(t, "b1", r.Findings[0].Intent)
	require.Equal(t, 3, r.Intents)
	require.Equal(t, 1, r.Failed)
	require.Equal(t, 3, r.Of())
	a := acknowledged(201, "o1")
	r = checker.Check(scene(story(a).rows(2), story(acknowledged(201, "o2")).named("b1").holding("o2").behind()), terms())
	require.Equal(t, r.Intents-1, r.Of(), "of those that went through the steps")
	require.Equal(t, 1, r.Failed)
	require.Equal(t, r.Of(), checker.Causes([]checker.Result{r})[0].Scenarios[0].Of)
}
