package driver_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// archive is a server that answers each line with a line.
func archive(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for in := bufio.NewScanner(c); in.Scan(); {
					fmt.Fprintln(c, "done")
				}
			}()
		}
	}()
	return l.Addr().String()
}

// asking is a target that asks the archive these questions for each request, by the wire.
func asking(t *testing.T, w *proxy.LinkProxy, questions ...string) string {
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		c, err := net.Dial("tcp", w.Address())
		if err != nil {
			http.Error(out, err.Error(), http.StatusInternalServerError)
			return
		}
		defer c.Close()
		in := bufio.NewReader(c)
		for _, question := range questions {
			fmt.Fprintln(c, question)
			if _, err := in.ReadString('\n'); err != nil {
				http.Error(out, question, http.StatusInternalServerError)
				return
			}
		}
		out.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// cuts drives so many intents, whose link breaks, and returns what came of it.
func cuts(t *testing.T, intents int, change func(*driver.Repeat, *scenarios.LinkCut), questions ...string) []history.Attempt {
	t.Helper()
	w, err := proxy.OpenLinkProxy(t.Context(), "database", "127.0.0.1:0", archive(t), proxy.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	passing := scenarios.Passing{Moments: 2 * len(questions), Commits: 1}
	cut := scenarios.LinkCut{Link: "database", For: new(faults.Duration(time.Millisecond))}
	link := driver.Link{Passing: passing, Strike: func(base time.Time, moment faults.Moment, pause time.Duration, words []string) func() history.Cut {
		return w.Strike(base, moment, pause, words...).Over
	}}
	send := plain()
	send.Cut = &cut
	pause := scenarios.Step{Wait: &scenarios.Wait{Pause: fixed(10 * time.Millisecond)}}
	var changed driver.Repeat
	change(&changed, &cut)
	r := newRigFor(t, asking(t, w, questions...), scenarios.Scenario{
		Name: "trial", Intents: intents, Concurrency: 1, Steps: []scenarios.Step{{Send: &send}, pause, {Send: ptr(plain())}},
	})
	r.Controls.Links, r.Repeat.Moments = map[string]driver.Link{"database": link}, changed.Moments
	var first []history.Attempt
	for _, a := range r.drive(t).Attempts {
		if a.Step == 0 {
			first = append(first, a)
			continue
		}
		require.Nil(t, a.Cut)
		require.Equal(t, http.StatusCreated, a.Status)
	}
	require.Len(t, first, intents)
	return first
}

func ptr[T any](v T) *T { return &v }

func TestALinkBreaksWhileARequestIsUnderWay(t *testing.T) {
	t.Parallel()
	for moment, lost := range map[faults.Moment]string{"1": "begin", "4": "insert", faults.AtCommit: "commit", faults.AtCommitted: "commit"} {
		for _, a := range cuts(t, 2, func(_ *driver.Repeat, c *scenarios.LinkCut) { c.Moment = moment }, "begin", "insert", "commit") {
			require.Equal(t, http.StatusInternalServerError, a.Status)
			require.Equal(t, lost, strings.TrimSpace(a.Content))
			require.Equal(t, string(moment), a.Cut.Moment)
			require.Positive(t, a.Cut.Connections)
			require.Greater(t, a.Cut.At, a.Start)
			require.Less(t, a.Cut.At, a.End)
		}
	}
}

func TestTheIntentsTakeTheMomentsInTurn(t *testing.T) {
	t.Parallel()
	moments := map[string]int{}
	for _, a := range cuts(t, 36, func(*driver.Repeat, *scenarios.LinkCut) {}, "begin", "insert", "commit") {
		moments[a.Cut.Moment]++
		require.Equal(t, a.Cut.At == 0, a.Status == http.StatusCreated, "%+v", a.Cut)
	}
	require.Equal(t, map[string]int{"commit": 6, "committed": 6, "1": 2, "2": 3, "3": 2, "4": 4, "5": 2, "6": 3, "7": 2, "8": 3, "9": 2, "10": 1}, moments)
}

func TestATargetThatNeverAsksForACommitHasItsOtherMoments(t *testing.T) {
	t.Parallel()
	words := 0
	for _, a := range cuts(t, 16, func(*driver.Repeat, *scenarios.LinkCut) {}, "insert") {
		if a.Cut.Moment == "commit" || a.Cut.Moment == "committed" {
			words++
			require.Zero(t, a.Cut.At)
		}
	}
	require.Equal(t, 4, words, "each of the two is tried twice")
}

func TestALinkBreaksAgainWhenItDidBefore(t *testing.T) {
	t.Parallel()
	all := cuts(t, 2, func(d *driver.Repeat, _ *scenarios.LinkCut) { d.Moments = map[string]faults.Moment{"i002": "3"} }, "begin", "insert", "commit")
	require.Equal(t, "committed", all[0].Cut.Moment)
	require.Equal(t, "3", all[1].Cut.Moment)
}

// retriesAfterABreak drives three intents whose link breaks, at a target that fails so many requests after each break, and
// returns the last status and the number of retries of each.
func retriesAfterABreak(t *testing.T, fails int, recovery time.Duration) (statuses, retries []int) {
	t.Helper()
	w, err := proxy.OpenLinkProxy(t.Context(), "database", "127.0.0.1:0", archive(t), proxy.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	well := asking(t, w, "insert")
	left := 0 // requests come one after the other
	address := serve(t, func(out http.ResponseWriter, r *http.Request) {
		if left > 0 {
			left--
			out.WriteHeader(http.StatusInternalServerError)
			return
		}
		reply, err := http.Post("http://"+well, "text/plain", nil)
		if err != nil {
			panic(err)
		}
		defer reply.Body.Close()
		if reply.StatusCode >= 500 {
			left = fails
		}
		out.WriteHeader(reply.StatusCode)
	})
	broken, again := plain(), plain()
	broken.Cut = &scenarios.LinkCut{Link: "database", Moment: "1", For: new(faults.Duration)}
	again.Retry = &scenarios.Retry{Max: 1, Backoff: fixed(time.Millisecond)}
	r := newRigFor(t, address, scenarios.Scenario{
		Name: "trial", Intents: 3, Concurrency: 1, Steps: []scenarios.Step{{Send: &broken}, {Send: &again}},
	})
	link := driver.Link{Passing: scenarios.Passing{Moments: 2}, Strike: func(base time.Time, moment faults.Moment, pause time.Duration, words []string) func() history.Cut {
		return w.Strike(base, moment, pause, words...).Over
	}}
	r.Controls.Links, r.Recovery = map[string]driver.Link{"database": link}, recovery
	statuses, retries = make([]int, 3), make([]int, 3)
	for _, a := range r.drive(t).Attempts {
		i := int(a.Intent[len(a.Intent)-1] - '1')
		statuses[i], retries[i] = a.Status, a.Retry
	}
	return statuses, retries
}

func TestAClientRetriesUntilTheTargetHasRecoveredFromABreak(t *testing.T) {
	t.Parallel()
	statuses, retries := retriesAfterABreak(t, 4, time.Minute)
	require.Equal(t, []int{201, 201, 201}, statuses)
	require.Equal(t, []int{4, 4, 4}, retries, "each break strikes a target that is well")
}

func TestATargetThatDoesNotRecoverFromABreakIsAwaitedOnce(t *testing.T) {
	t.Parallel()
	statuses, retries := retriesAfterABreak(t, 1<<30, 5*time.Second)
	require.Equal(t, []int{500, 500, 500}, statuses)
	require.Greater(t, retries[0], 1)
	require.Equal(t, []int{1, 1}, retries[1:])
}
