package cmd

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
)

// requireEveryRequestOnRecord holds a run's histories against what the built-in target counted: each
// request that reached it whole is an attempt or a preparation on record, and between the scenarios nobody sent any.
func requireEveryRequestOnRecord(t *testing.T, run string) {
	t.Helper()
	all := histories(t, run)
	slices.SortFunc(all, func(a, b *history.History) int { return a.Run.Started.Compare(b.Run.Started) })
	total, end := 0, int64(0)
	for _, h := range all {
		require.NotNil(t, h.Received, h.Run.Scenario)
		for _, s := range h.Steps {
			if s.For == history.Prepare {
				end++
				total++
			}
		}
		require.Equal(t, end, h.Received.Before, "requests before %s that are in no history", h.Run.Scenario)
		arrived := 0
		for _, a := range h.Attempts {
			if a.Passage != nil && a.Sent > 0 && a.Passage.Up >= a.Sent {
				arrived++
			}
		}
		require.EqualValues(t, arrived, h.Received.After-h.Received.Before, "requests of %s", h.Run.Scenario)
		end = h.Received.After
		total += arrived
	}
	require.EqualValues(t, total, end, "of the whole run")
	require.Positive(t, total)
}

func TestARequestThatIsNotOnRecordIsNoticed(t *testing.T) {
	t.Parallel()
	x := newShop(t, nil).trial(t, "plain-create", "sequential-replay")
	count, url := countingTwice(t, x.env["SHOP_URL"])
	x.env["SHOP_URL"] = url
	x.file = shopFile + "received: {path: /-/received, pointer: /received}\n"
	got := x.run(t)
	require.Equal(t, exitSurroundings, got.code, "%s", got)
	require.Contains(t, got.err, "somebody sends requests that are not on record")
	require.EqualValues(t, 2, count.Load(), "it was asked once")
	x.checked(t, got)
}
