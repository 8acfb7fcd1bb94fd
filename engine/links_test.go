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
	passed := func(asked ...int) map[string]scenarios.Passing {
		traffic := history.Traffic{Link: scenarios.Dependency}
		for _, at := range asked {
			traffic.Exchanges = append(traffic.Exchanges, history.Exchange{Asked: ms(at), Answered: ms(at + 1)})
		}
		return passingOf(&history.History{
			Attempts: []history.Attempt{{Start: ms(10), End: ms(20), Complete: true, Status: 201}, {Start: ms(30), End: ms(40), Complete: true, Status: 201}},
			Traffic:  []history.Traffic{traffic},
		})
	}
	cut := scenarios.Scenario{Steps: []scenarios.Step{{Send: &scenarios.Send{Cut: &scenarios.LinkCut{Link: scenarios.Dependency}}}}}
	require.Contains(t, notInside(passed(22, 42), cut), "only after its answers")
	require.Contains(t, notInside(passed(32), cut), "only after its answers", "what comes while the second is inside belongs to the first")
	require.Empty(t, notInside(passed(12, 35, 42), cut), "it is asked inside, too")
	require.Empty(t, notInside(passed(), cut), "it is never asked: a mistake in the file, and not a reason to leave it out")
	require.Empty(t, notInside(passed(5), cut), "nor before the first answer only")
}
