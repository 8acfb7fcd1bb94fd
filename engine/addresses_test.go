package engine

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// farAway is an address of a server from which all bytes take so long, each way.
func farAway(t *testing.T, server string, delay time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				there, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer there.Close()
				var both sync.WaitGroup
				both.Go(func() { carry(there, client, delay) })
				both.Go(func() { carry(client, there, delay) })
				both.Wait()
			}()
		}
	}()
	return l.Addr().String()
}

// carry copies bytes, each so long after it came.
func carry(to, from net.Conn, delay time.Duration) {
	type piece struct {
		at   time.Time
		text []byte
	}
	pieces := make(chan piece, 100)
	go func() {
		defer close(pieces)
		for {
			text := make([]byte, 4096)
			n, err := from.Read(text)
			if n > 0 {
				pieces <- piece{time.Now().Add(delay), text[:n]}
			}
			if err != nil {
				pieces <- piece{at: time.Now().Add(delay)}
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.at))
		if len(p.text) == 0 {
			_ = to.(*net.TCPConn).CloseWrite()
			continue
		}
		_, _ = to.Write(p.text)
	}
}

// register is a service of notes that remembers when requests came, by key, and the hosts that they named.
type register struct {
	notebook
	came  map[string][]time.Time
	hosts map[string]bool
}

func (r *register) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if q.Method == http.MethodPost {
		body, _ := io.ReadAll(q.Body)
		q.Body = io.NopCloser(strings.NewReader(string(body)))
		r.mu.Lock()
		key := q.Header.Get("Idempotency-Key")
		r.came[key], r.hosts[q.Host] = append(r.came[key], time.Now()), true
		r.mu.Unlock()
	}
	r.notebook.ServeHTTP(w, q)
}

// severalAddresses is a target file of a server with three addresses.
func severalAddresses(base string, places [3]string) string {
	return fmt.Sprintf(`name: notes
base_url: http://%s
instances: {a-near: "http://%s", b-far: {base_url: "http://%s"}, c-farthest: "http://%s"}
contract: {preset: ietf}
operations:
  create:
    request: {path: /notes, body: {note: "{{.Intent.Marker}}"}}
    key: {in: header}
    rows: {http: {path: "/notes?note={{.Intent.Marker}}"}, items: "", identity: id}
`, base, places[0], places[1], places[2])
}

// Of three addresses, the farthest is 240 ms away and back. Requests that were released together would come 120 ms apart.
func TestABurstArrivesTogetherAtSeveralAddresses(t *testing.T) {
	t.Parallel()
	r := &register{notebook: notebook{notes: map[string]string{}}, came: map[string][]time.Time{}, hosts: map[string]bool{}}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	base := server.Listener.Addr().String()
	places := [3]string{farAway(t, base, 0), farAway(t, base, 200*time.Millisecond), farAway(t, base, 400*time.Millisecond)}
	source := []byte("name: race\nsummary: Three at once.\nintents: 5\nconcurrency: 1\nsteps: [burst: {copies: 3}]\nexercised: [{proof: several-instances, at_least: 100%}]\n")
	f, err := scenarios.Load("race.yaml", source)
	require.NoError(t, err)
	s, err := Open(t.Context(), Config{
		Reports: t.TempDir(), Seed: 1, Scenarios: []scenarios.File{{Path: "race.yaml", Source: source, Scenario: f}},
		SUT: sut.Options{Target: "target.yaml", Source: []byte(severalAddresses(base, places))},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	addresses := Addresses(s)
	require.Len(t, addresses, 3)
	require.Equal(t, []string{"a-near", "b-far", "c-farthest"}, []string{addresses[0].Name, addresses[1].Name, addresses[2].Name})
	require.GreaterOrEqual(t, addresses[2].Trip.Duration(), 800*time.Millisecond)
	require.NoError(t, s.PlayAll(t.Context()))
	report, err := s.Report(nil)
	require.NoError(t, err)
	require.Equal(t, checker.Pass, report.Verdict, "%+v", report.Results[0].Reasons)
	require.NotNil(t, report.Results[0].Bursts.Aimed)
	require.Equal(t, 3, report.Results[0].Bursts.Aimed.Addresses)

	h, err := s.History("race")
	require.NoError(t, err)
	require.Equal(t, addresses, h.Run.Addresses)
	var apart []time.Duration
	for _, i := range h.Intents {
		went, key := map[int]bool{}, ""
		for _, a := range h.Attempts {
			if a.Intent == i.ID && !a.Probe {
				went[a.Instance], key = true, a.Key
			}
		}
		require.Len(t, went, 3, "each of them gets one")
		came := r.came[key][:3]
		apart = append(apart, slices.MaxFunc(came, time.Time.Compare).Sub(slices.MinFunc(came, time.Time.Compare)))
	}
	require.Less(t, slices.Min(apart), 300*time.Millisecond, "400 ms where they are not aimed: %v", apart)
	for _, place := range places {
		require.True(t, r.hosts[place], "requests name the host that they go to")
	}
}

func TestAddressesElsewhereHaveToBeAllowed(t *testing.T) {
	t.Parallel()
	source := severalAddresses("127.0.0.1:1", [3]string{"127.0.0.1:1", "eu.orders.example", "us.orders.example"})
	_, err := Run(t.Context(), Config{Reports: t.TempDir(), SUT: sut.Options{Target: "target.yaml", Source: []byte(source)}})
	require.True(t, runerror.IsConfig(err))
	require.ErrorContains(t, err, "instances.b-far points to eu.orders.example, which is not this machine")
	require.ErrorContains(t, err, "allow_hosts: [eu.orders.example, us.orders.example]")

	source = `name: orders
base_url: http://127.0.0.1:1
instances: {eu: "http://127.0.0.1:1", us: {base_url: "http://127.0.0.1:2", database: "postgres://me:hunter22@us.orders.example/orders"}}
database: {url: "sqlite:x"}
contract: {preset: ietf, converged: 30s}
operations:
  create: {request: {path: /orders, body: {note: "{{.Intent.Marker}}"}}, key: {in: header}, rows: {query: "select 1 where :marker = ''"}}
`
	_, err = Run(t.Context(), Config{Reports: t.TempDir(), SUT: sut.Options{Target: "target.yaml", Source: []byte(source)}})
	require.ErrorContains(t, err, "instances.us.database points to us.orders.example, which is not this machine")
	require.NotContains(t, err.Error(), "hunter22")
	system, err := sut.Open(t.Context(), sut.Options{Target: "target.yaml", Source: []byte(source)}, nil)
	require.NoError(t, err)
	require.Nil(t, system.FileWithoutSecrets(), "a password stands in it")
}

func TestARequestToANearAddressIsReleasedLater(t *testing.T) {
	t.Parallel()
	system, err := sut.Load(t.Context(), sut.Options{Target: "target.yaml", Source: []byte(severalAddresses("127.0.0.1:1", [3]string{"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"}))})
	require.NoError(t, err)
	s := &Session{System: system}
	for _, p := range aims(s) {
		require.Zero(t, p.Aim, "the pilot has not measured it")
	}
	attempt := func(instance int, took history.Offset) history.Attempt {
		return history.Attempt{Instance: instance, Passage: &history.Passage{Arrived: 1000, Answered: 1000 + took}}
	}
	s.addresses = measured(s, []history.Attempt{
		attempt(1, 2e6), attempt(2, 42e6), attempt(1, 5e6), attempt(2, 40e6), {Instance: 3, Wrote: 1000, Replied: 1000 + 100e6},
	})
	require.Equal(t, []history.Address{{Name: "a-near", Trip: 2e6, Varied: 3e6}, {Name: "b-far", Trip: 40e6, Varied: 2e6}, {Name: "c-farthest", Trip: 100e6}}, s.addresses)
	all := aims(s)
	require.Equal(t, "127.0.0.1:2", all[1].Host)
	require.Equal(t, []time.Duration{49e6, 30e6, 0}, []time.Duration{all[0].Aim, all[1].Aim, all[2].Aim})
}
