package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// A service that asks another one behind its answers, as an outbox does, has no call that breaks while a request is inside.
func TestALinkThatIsUsedAfterTheAnswersIsNotBrokenInside(t *testing.T) {
	t.Parallel()
	ms := func(n int) history.Offset { return history.Offset(n) * history.Offset(time.Millisecond) }
	pilot := func(creates int, asked ...int) map[string]scenarios.Passing {
		h := &history.History{Traffic: []history.Traffic{{Link: scenarios.Dependency}}}
		for n := range creates {
			h.Attempts = append(h.Attempts, history.Attempt{Start: ms(20*n + 10), End: ms(20*n + 20), Complete: true, Status: 201})
		}
		for _, at := range asked {
			h.Traffic[0].Exchanges = append(h.Traffic[0].Exchanges, history.Exchange{Asked: ms(at), Answered: ms(at + 1)})
		}
		return passingOf(h)
	}
	passed := func(asked ...int) map[string]scenarios.Passing { return pilot(2, asked...) }
	cut := scenarios.Scenario{Steps: []scenarios.Step{{Send: &scenarios.Send{Cut: &scenarios.LinkCut{Link: scenarios.Dependency}}}}}
	require.Contains(t, notInside(passed(22, 42), cut), "only after its answers")
	require.Contains(t, notInside(passed(32), cut), "only after its answers", "what comes while the second is inside belongs to the first")
	require.Contains(t, notInside(pilot(4, 12, 42, 62, 82), cut), "only after its answers", "on a busy machine one overtakes its answer")
	require.Contains(t, notInside(pilot(4, 22, 23, 42, 43, 62, 63, 82), cut), "only after its answers", "two calls for each create")
	require.Empty(t, notInside(pilot(4, 12, 72), cut), "some creates need no call")
	require.Empty(t, notInside(passed(12, 35, 42), cut), "it is asked inside, too")
	require.Empty(t, notInside(passed(), cut), "it is never asked: a mistake in the file, and not a reason to leave it out")
	require.Empty(t, notInside(passed(5), cut), "nor before the first answer only")
}
