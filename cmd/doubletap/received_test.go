package main

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
)

// requireEveryRequestOnRecord holds a run's histories against what the built-in target counted: each
// request that reached it whole is an attempt or a preparation on record, and between the scenarios nobody sent any. Scenarios that
// were played beside each other are not counted each by itself: those after them show what they sent.
func requireEveryRequestOnRecord(t *testing.T, run string) {
	t.Helper()
	all := histories(t, run)
	slices.SortFunc(all, func(a, b *history.History) int { return a.Run.Started.Compare(b.Run.Started) })
	total, end := 0, int64(0)
	for _, h := range all {
		late, fresh := 0, map[string]bool{}
		for _, i := range h.Intents {
			fresh[i.ID] = i.Fresh
		}
		for _, s := range h.Steps {
			if s.For == history.Prepare && fresh[s.Intent] {
				late++
			} else if s.For == history.Prepare {
				end++
				total++
			}
		}
		if h.Received != nil {
			require.Equal(t, end, h.Received.Before, "requests before %s that are in no history", h.Run.Scenario)
		}
		arrived := late
		for _, a := range h.Attempts {
			if a.Passage != nil && a.Sent > 0 && a.Passage.Up >= a.Sent {
				arrived++
			}
		}
		if h.Received != nil {
			require.EqualValues(t, arrived, h.Received.After-h.Received.Before, "requests of %s", h.Run.Scenario)
		}
		end += int64(arrived)
		total += arrived
	}
	require.EqualValues(t, total, end, "of the whole run")
	require.Positive(t, total)
}

func TestARequestThatIsNotOnRecordIsNoticed(t *testing.T) {
	t.Parallel()
	x := newShop(t, nil).trial(t, "plain-create", "sequential-replay")
	count, url := counting(t, 2, x.env["SHOP_URL"])
	x.env["SHOP_URL"] = url
	x.file = shopFile + "received: {path: /-/received, pointer: /received}\n"
	got := x.run(t)
	require.Equal(t, exitEnvironment, got.code, "%s", got)
	require.Contains(t, got.err, "some requests are not on record")
	require.EqualValues(t, 2, count.Load(), "it was asked once")
	x.checked(t, got)
}

// Without the last count, a request that is not on record would not be noticed.
func TestATargetThatCannotCountInTheEndPassesNothing(t *testing.T) {
	t.Parallel()
	var posts atomic.Int64
	x := newShop(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			const inTheScenario = 15
			switch n := posts.Load(); {
			case r.Method == http.MethodPost:
				posts.Add(1)
				next.ServeHTTP(w, r)
			case r.URL.Path == "/received" && n > inTheScenario:
				http.Error(w, "too many to count", http.StatusInternalServerError)
			default:
				fmt.Fprintf(w, `{"n":%d}`, n)
			}
		})
	}).trial(t, "sequential-replay")
	x.file += "received: {path: /received, pointer: /n}\n"
	got := x.run(t)
	require.Equal(t, exitEnvironment, got.code, "%s", got)
	require.Contains(t, onlyReport(t, x.reports).Results[0].Reasons[0], "ask the target for its count")
	x.checked(t, got)
}
