package driver_test

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

const benchWorkers = 16

func creating(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte(`{"id":"0190","state":"created"}`))
}

// driven sends n attempts, each of its own intent, and returns how long that took.
func driven(b testing.TB, address string, n int) time.Duration {
	r := newRigFor(b, address, scenarios.Scenario{Name: "bench", Intents: n, Concurrency: benchWorkers, Steps: []scenarios.Step{send()}})
	r.Record = history.NewWriter(io.Discard)
	r.RealTime = true
	begun := time.Now()
	require.NoError(b, r.Drive(b.Context()))
	return time.Since(begun)
}

// attacked sends n requests with vegeta alone, each on a connection of its own as the driver does.
func attacked(b testing.TB, address string, n int) time.Duration {
	target := vegeta.Target{
		Method: "POST", URL: "http://" + address + "/orders?x=1", Body: []byte(`{"amount":1200,"note":"dtxt4xkwd4eoyiq7ns"}`),
		Header: http.Header{"Idempotency-Key": {"05e246f1-b810-44b0-8e1e-7b4e87459deb"}, "Content-Type": {"application/json"}},
	}
	attacker := vegeta.NewAttacker(vegeta.KeepAlive(false), vegeta.Workers(benchWorkers), vegeta.MaxWorkers(benchWorkers))
	begun := time.Now()
	for result := range attacker.Attack(vegeta.NewStaticTargeter(target), hits(n), 0, "") {
		require.Empty(b, result.Error)
	}
	return time.Since(begun)
}

// hits is a pacer that stops after so many.
type hits uint64

func (h hits) Pace(_ time.Duration, n uint64) (time.Duration, bool) { return 0, n >= uint64(h) }
func (h hits) Rate(time.Duration) float64                           { return 0 }

func BenchmarkAttempts(b *testing.B) {
	address := serve(b, creating)
	b.ReportAllocs()
	took := driven(b, address, b.N)
	b.ReportMetric(float64(b.N)/took.Seconds(), "attempts/s")
}

func BenchmarkVegetaAlone(b *testing.B) {
	address := serve(b, creating)
	b.ReportAllocs()
	took := attacked(b, address, b.N)
	b.ReportMetric(float64(b.N)/took.Seconds(), "attempts/s")
}

// BenchmarkAgainstVegeta takes turns on one server: 1 is as fast as vegeta alone, 2 half as fast.
func BenchmarkAgainstVegeta(b *testing.B) {
	address := serve(b, creating)
	var ours, theirs time.Duration
	for b.Loop() {
		ours += driven(b, address, 500)
		theirs += attacked(b, address, 500)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "times-vegeta")
}

// BenchmarkBurst is one intent whose copies are released together.
func BenchmarkBurst(b *testing.B) {
	var received atomic.Int64
	address := serve(b, func(w http.ResponseWriter, r *http.Request) {
		received.Add(1)
		creating(w, r)
	})
	for b.Loop() {
		r := newRig(b, address, burst(20))
		r.Record = history.NewWriter(io.Discard)
		r.RealTime = true
		require.NoError(b, r.Drive(b.Context()))
	}
	require.Zero(b, received.Load()%20)
}
