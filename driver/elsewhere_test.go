package driver_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// seenRequest is a request as a server reads it.
type seenRequest struct {
	header http.Header
	body   string
}

func TestARetryFromElsewhereDiffersInNothingThatCounts(t *testing.T) {
	t.Parallel()
	seen := make(chan seenRequest, 3)
	address := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- seenRequest{r.Header, string(body)}
	})
	r := newRig(t, address, send(), respelled(scenarios.SpellingElsewhere), respelled(scenarios.SpellingElsewhere))
	r.Operations[0].Request.Header["date"] = "Mon, 06 May 2024 07:08:09 GMT"
	h := r.drive(t)
	first, second, third := <-seen, <-seen, <-seen
	for _, name := range []string{"User-Agent", "Accept-Encoding", "Forwarded", "X-Forwarded-For", "Traceparent"} {
		require.NotEqual(t, first.header.Get(name), second.header.Get(name), name)
		require.NotEmpty(t, second.header.Get(name), name)
		require.Equal(t, second.header.Get(name), h.Attempts[1].Own[name], name)
	}
	require.NotEqual(t, second.header.Get("Traceparent"), third.header.Get("Traceparent"))
	for _, one := range []seenRequest{second, third} {
		require.Equal(t, first.body, one.body)
		for _, name := range []string{"Date", "Idempotency-Key", "Content-Type", "Authorization"} {
			require.Equal(t, first.header[name], one.header[name], name)
		}
	}
	require.Empty(t, h.Attempts[0].Own)
	require.NotContains(t, h.Attempts[1].Own, "Date", "the target file names it")
	require.Equal(t, history.Original, history.Meaning(h.Attempts[1].Body))
}

func TestHeadersFromElsewhereAreInAnotherOrder(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	orders := make(chan []string, 2)
	go func() {
		for range 2 {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			in, names := bufio.NewReader(conn), []string{}
			for line, _ := in.ReadString('\n'); strings.TrimSpace(line) != ""; line, _ = in.ReadString('\n') {
				names = append(names, strings.SplitN(line, ":", 2)[0])
			}
			orders <- names
			_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
			conn.Close()
		}
	}()
	newRig(t, listener.Addr().String(), send(), respelled(scenarios.SpellingElsewhere)).drive(t)
	first, then := <-orders, <-orders
	require.Contains(t, first[0], "POST")
	require.Contains(t, then[0], "POST")
	require.Equal(t, "Host", first[1])
	require.Equal(t, "Host", then[len(then)-1])
}

func TestVolatileMembersAndHeadersAreDrawnForEveryAttempt(t *testing.T) {
	t.Parallel()
	seen := make(chan seenRequest, 12)
	address := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- seenRequest{r.Header, string(body)}
	})
	r := newRig(t, address, send(), burst(3), respelled(scenarios.SpellingElsewhere), alter())
	r.Operations[0].Request.Header["X-Request-Id"] = "{{.Attempt.ID}}"
	r.Operations[0].Request.Body["meta"] = map[string]any{"sent_at": "{{now}}", "nonce": `{{unique "uuid"}}`, "kept": `{{unique "uuid"}}`}
	r.Operations[0].Volatile = []string{"/meta/sent_at", "/meta/nonce"}
	h := r.drive(t)
	close(seen)
	ids, times, nonces, kept := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for one := range seen {
		ids[one.header.Get("X-Request-Id")] = true
		var body struct {
			Meta struct {
				Sent        string `json:"sent_at"`
				Nonce, Kept string
			}
		}
		require.NoError(t, json.Unmarshal([]byte(one.body), &body))
		times[body.Meta.Sent], nonces[body.Meta.Nonce], kept[body.Meta.Kept] = true, true, true
	}
	require.Len(t, h.Attempts, 6)
	require.Equal(t, []int{6, 6, 6, 1}, []int{len(ids), len(times), len(nonces), len(kept)})
	for _, a := range h.Attempts {
		require.True(t, ids[a.Own["X-Request-Id"]])
		require.Contains(t, a.Own, "/meta/sent_at")
	}
}

func TestNeighboursAcrossParentsHaveEachTheirOwn(t *testing.T) {
	t.Parallel()
	for _, twins := range []int{0, 2} {
		var paths ledger
		var made atomic.Int64
		address := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/shops" {
				_ = json.NewEncoder(w).Encode(map[string]int64{"id": made.Add(1)})
				return
			}
			paths.add(r.URL.Path + " " + r.Header.Get("Idempotency-Key"))
		})
		s := scenarios.Scenario{Name: "kin", Intents: 2, Concurrency: 1, Twins: twins, Steps: []scenarios.Step{send()},
			Neighbours: &scenarios.Neighbours{Of: 2, Keys: scenarios.KeysEqual, Across: scenarios.AcrossParents}}
		r := newRigFor(t, address, s)
		r.Target.BaseURL = "http://" + address // steps take no lane
		r.Operations[0].Prepare = []targets.Step{{Request: targets.Request{Path: "/shops"}, Extract: map[string]targets.Extract{"Shop": {JSON: "/id"}}}}
		r.Operations[0].Request.Path = "/shops/{{.Prepared.Shop}}/orders"
		h := r.drive(t)
		key := h.Attempts[0].Key
		require.ElementsMatch(t, []string{"/shops/1/orders " + key, "/shops/2/orders " + key}, paths.all())
	}
}

// Clients draw the boundary of a form anew for each request.
func TestAFormFromElsewhereIsDividedByAnotherBoundary(t *testing.T) {
	t.Parallel()
	for mode, differs := range map[contract.FingerprintMode]bool{contract.FingerprintUnspecified: true, contract.FingerprintJSON: true, contract.FingerprintBytes: false} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			types, notes := make(chan string, 3), make(chan string, 3)
			address := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				types <- r.Header.Get("Content-Type")
				notes <- r.FormValue("note") + r.FormValue("amount")
			})
			r := newRig(t, address, send(), respelled(scenarios.SpellingElsewhere), send())
			r.Target.Contract.Fingerprint.Mode = mode
			request := &r.Operations[0].Request
			request.Body, request.Multipart = nil, request.Body
			h := r.drive(t)
			first, second, third := <-types, <-types, <-types
			require.Equal(t, differs, first != second)
			require.Equal(t, differs, h.Attempts[1].Own["Content-Type"] == second && second != "")
			require.Equal(t, first, third)
			said := <-notes
			require.Contains(t, said, "1200")
			require.Equal(t, said, <-notes)
			require.Equal(t, said, <-notes)
		})
	}
}
