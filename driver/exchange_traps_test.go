package driver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// commitThenReset answers so many requests, and commits and resets all that follow, wherever they
// come from; a client that sends again by itself is caught in the ledger.
func commitThenReset(committed *ledger, answered int) func(*peer) {
	return func(p *peer) {
		for raw := p.request(); raw != ""; raw = p.request() {
			if committed.add(headerOf(raw, "Idempotency-Key")) > answered {
				p.reset()
				return
			}
			p.created()
		}
	}
}

func TestOneAttemptIsOneRequest(t *testing.T) {
	t.Parallel()
	for _, copies := range []int{1, 20} {
		t.Run(fmt.Sprintf("%d copies on warm connections", copies), func(t *testing.T) {
			t.Parallel()
			var committed ledger
			r := newRig(t, serveRaw(t, commitThenReset(&committed, copies)), burst(copies), burst(copies))
			attempts := r.drive(t).Attempts
			require.Len(t, attempts, 2*copies)
			require.Equal(t, map[string]int{r.Names.Key("i001", "own"): 2 * copies}, committed.tally())
			for i, a := range attempts {
				if i < copies {
					require.Equal(t, 201, a.Status)
					continue
				}
				require.Equal(t, history.Reset, a.ErrorKind)
			}
		})
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			var seen ledger
			address := serve(t, func(w http.ResponseWriter, r *http.Request) {
				seen.add(r.Method + " " + r.URL.Path)
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(status)
			})
			a := newRig(t, address, send()).only(t)
			require.Equal(t, []string{"POST /orders"}, seen.all())
			require.Equal(t, status, a.Status)
			require.Equal(t, "/elsewhere", a.Header["Location"])
			require.True(t, a.Complete)
		})
	}
}

func TestResultKeepsItsIntent(t *testing.T) {
	t.Parallel()
	const batches, workers = 50, 64
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Key", r.Header.Get("Idempotency-Key"))
		_, _ = w.Write(body)
	})
	r := newRigFor(t, address, scenarios.Scenario{
		Name: "crowd", Intents: batches, Concurrency: 2, Steps: []scenarios.Step{tabs(workers, scenarios.FreshKey)},
	})
	h := r.drive(t)
	require.Len(t, h.Attempts, batches*workers)
	keys := map[string]string{}
	for _, i := range r.Plan.Intents {
		for _, a := range i.Moves[0].Batch {
			keys[a.ID] = r.Names.Key(i.ID, a.Key)
		}
	}
	markers := map[string]string{}
	for _, i := range h.Intents {
		markers[i.ID] = i.Bodies[history.Original].Marker
	}
	for _, a := range h.Attempts {
		require.Equal(t, keys[a.ID], a.Key, "attempt %s", a.ID)
		require.Equal(t, a.Key, a.Header["X-Key"], "attempt %s", a.ID)
		require.Contains(t, a.Content, markers[a.Intent], "attempt %s", a.ID)
		delete(keys, a.ID)
	}
	require.Empty(t, keys)
}

func TestNoGhostResults(t *testing.T) {
	t.Parallel()
	var seen ledger
	address := serve(t, func(_ http.ResponseWriter, r *http.Request) { seen.add(r.Header.Get("Idempotency-Key")) })
	r := newRig(t, address, tabs(5, ""), burst(7), send())
	attempts := r.drive(t).Attempts
	require.Len(t, attempts, 13)
	require.Len(t, seen.all(), 13)
	for _, a := range attempts {
		require.Equal(t, 200, a.Status, a.ID)
		require.Empty(t, a.Error, a.ID)
	}
}

func TestEveryBatchHasItsOwnAttacker(t *testing.T) {
	t.Parallel()
	var seen ledger
	address := serve(t, func(http.ResponseWriter, *http.Request) { seen.add("request") })
	r := newRig(t, address, tabs(100, ""), tabs(100, ""), tabs(100, ""))
	require.Len(t, r.drive(t).Attempts, 300)
	require.Len(t, seen.all(), 300)
	require.NoError(t, r.Probe(t.Context(), driver.Probing{Tries: 3}, false, func(history.Attempt) bool { return false }))
	require.Len(t, r.history(t).Attempts, 303)
	require.Len(t, seen.all(), 303)
}

// repeated is everything that sends one request with one key: copies, tabs, retries, probes.
func repeated() []scenarios.Step {
	again := plain()
	again.Retry = &scenarios.Retry{Max: 2}
	return []scenarios.Step{send(), burst(20), tabs(3, ""), {Send: &again}}
}

func TestNoHeaderThatMakesRetriesDiffer(t *testing.T) {
	t.Parallel()
	var seen ledger
	address := serveRaw(t, func(p *peer) {
		seen.add(p.request())
		p.say("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
	})
	r := newRig(t, address, repeated()...)
	r.drive(t)
	require.NoError(t, r.Probe(t.Context(), driver.Probing{Tries: 2}, false, func(history.Attempt) bool { return false }))
	const copies = 1 + 20 + 3 + 3 + 2
	require.Len(t, seen.all(), copies)
	require.Len(t, seen.tally(), 1, "all copies of a request are the same bytes")

	head, body, _ := strings.Cut(seen.all()[0], "\r\n\r\n")
	require.NotContains(t, strings.ToLower(head), "x-vegeta")
	require.NotContains(t, head, "#")
	require.True(t, strings.HasPrefix(head, "POST /orders?x=1 HTTP/1.1\r\n"), "the way is not a proxy's: %s", head)
	require.Equal(t, "orders.test", headerOf(head, "Host"))
	require.Equal(t, "identity", headerOf(head, "Accept-Encoding"))
	require.Equal(t, r.Names.Key("i001", "own"), headerOf(head, "Idempotency-Key"))
	require.Equal(t, "Bearer sesame-open-9", headerOf(head, "Authorization"))
	require.True(t, json.Valid([]byte(body)), body)
}

func TestWhatCannotBeSentIsRefusedBeforeAnythingIs(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"a path with a fragment": "/orders#one", "a path that is none": "/orders/%zz", "a path with a space": "/orders/\x7f",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen ledger
			r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) { seen.add("request") }), send())
			r.Operations[0].Request.Path = path
			require.ErrorContains(t, r.Drive(t.Context()), "intent i001")
			require.Empty(t, seen.all())
			require.Empty(t, r.history(t).Attempts)
		})
	}
}
