package driver_test

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// What the benchmark's target is like: a request takes so long, and a second one is told that the first is
// being worked on, until a window opens at an unknown moment in which it is worked on as well.
const (
	sweptLife   = 300 * time.Millisecond
	sweptWindow = 2 * time.Millisecond
	sweptSeeds  = 100
	sweptAtOnce = 10
	sweptTries  = 60
)

// leaky is such a target.
type leaky struct {
	opens time.Duration // after the first request of a key came
	mu    sync.Mutex
	first map[string]time.Time
	hits  []bool // of every second request: it came inside the window
}

func (l *leaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	now, key := time.Now(), r.Header.Get("Idempotency-Key")
	l.mu.Lock()
	first, again := l.first[key]
	if !again {
		l.first[key] = now
	}
	since := now.Sub(first)
	hit := again && since >= l.opens && since < l.opens+sweptWindow
	if again {
		l.hits = append(l.hits, hit)
	}
	l.mu.Unlock()
	switch {
	case !again:
		time.Sleep(sweptLife)
		w.WriteHeader(http.StatusCreated)
	case hit:
		w.WriteHeader(http.StatusAccepted)
	case since < l.opens:
		w.WriteHeader(http.StatusConflict)
	default:
		w.WriteHeader(http.StatusOK)
	}
}

// BenchmarkSweep says in how many of 100 seeds a sweep of 60 intents hits a window of 2 ms that opens at an
// unknown moment of a request of 300 ms, and how many tries offsets take that are drawn evenly.
func BenchmarkSweep(b *testing.B) {
	for b.Loop() {
		var found atomic.Int64
		var mu sync.Mutex
		var tries []int
		b.Log("each seed sends", sweptTries, "pairs")
		room := make(chan struct{}, sweptAtOnce)
		var sweeping sync.WaitGroup
		for seed := range uint64(sweptSeeds) {
			room <- struct{}{}
			sweeping.Go(func() {
				defer func() { <-room }()
				hits := sweepOnce(b, seed, 1, nil)
				if i := slices.Index(hits, true); i >= 0 {
					found.Add(1)
					mu.Lock()
					tries = append(tries, i+1)
					mu.Unlock()
				}
			})
		}
		sweeping.Wait()
		slices.Sort(tries)
		b.ReportMetric(float64(found.Load()), "seeds-of-100")
		b.ReportMetric(float64(tries[len(tries)/2]), "tries-p50")
		b.ReportMetric(float64(tries[len(tries)*95/100]), "tries-p95")

		draw := rand.New(rand.NewPCG(1, 1))
		evenly := map[string]time.Duration{}
		const many = 3000
		for n := 1; n <= many; n++ {
			evenly[scenarios.IntentID(n)] = time.Duration(draw.Float64() * float64(sweptLife))
		}
		hits := sweepOnce(b, 1, 20, evenly)
		rate := 0.0
		for _, hit := range hits {
			if hit {
				rate += 1 / float64(len(hits))
			}
		}
		b.ReportMetric(math.Log(0.5)/math.Log(1-rate), "even-tries-p50")
		b.ReportMetric(math.Log(0.05)/math.Log(1-rate), "even-tries-p95")
	}
}

// sweepOnce sweeps a target of its own, at given offsets if there are any, and says which of the second
// requests came inside the window.
func sweepOnce(b *testing.B, seed uint64, atOnce int, offsets map[string]time.Duration) []bool {
	draw := rand.New(rand.NewPCG(seed, 99))
	l := &leaky{opens: time.Duration(draw.Float64() * float64(sweptLife-sweptWindow)), first: map[string]time.Time{}}
	address := serve(b, l.ServeHTTP)
	lanes, err := proxy.Open(b.Context(), nil, proxy.Options{Upstream: address, Base: time.Now()})
	require.NoError(b, err)
	defer lanes.Close()
	s := scenarios.Scenario{Name: "sweep", Intents: max(sweptTries, len(offsets)), Concurrency: atOnce}
	s.Steps = []scenarios.Step{{Sweep: &scenarios.Sweep{To: scenarios.Span{Fixed: sweptLife}, Send: scenarios.Send{Lane: scenarios.Clean, Timeout: scenarios.Span{Fixed: long}}}}}
	r := newRigFor(b, address, s)
	r.Plan = scenarios.NewPlan(s, seed)
	r.Repeat.Offsets, r.Record = offsets, history.NewWriter(io.Discard)
	r.Dialers[0] = func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) { return lanes.Dial(ctx, lane) }
	require.NoError(b, r.Drive(b.Context()))
	return l.hits
}
