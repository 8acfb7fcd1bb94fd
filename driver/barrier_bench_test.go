package driver_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// bursts is how many each sender sends in one round of the benchmark.
const bursts = 100

// arrivals is a target that notes when each request of a burst had come whole.
type arrivals struct {
	mu sync.Mutex
	at map[string][]time.Time // by key: one for each burst
}

func (a *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	a.at[key] = append(a.at[key], now)
}

// spread returns a quantile of the time between the first and the last arrival of a burst.
func (a *arrivals) spread(b *testing.B, members int, quantile float64) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	var spreads []time.Duration
	for _, times := range a.at {
		require.Len(b, times, members, "a burst lost a member, or sent one twice")
		slices.SortFunc(times, time.Time.Compare)
		spreads = append(spreads, times[members-1].Sub(times[0]))
	}
	slices.Sort(spreads)
	return spreads[int(float64(len(spreads)-1)*quantile)]
}

// weathers are the lanes of the benchmark.
func weathers() map[string][]faults.Fault {
	ms := func(n int) faults.Duration { return faults.Duration(time.Duration(n) * time.Millisecond) }
	return map[string][]faults.Fault{"jitter": {{Latency: &faults.Latency{Delay: ms(100), Jitter: ms(50)}}}}
}

// BenchmarkSpread compares, on one machine and in one run, how far apart the members of a burst arrive:
// released at the upstream tap, by vegeta, and by goroutines behind a barrier, each through the same lanes.
// What counts are the ratios.
func BenchmarkSpread(b *testing.B) {
	senders := []struct {
		name string
		send func(b *testing.B, lanes *proxy.Lanes, lane, address string, members int)
	}{{"ours", sendGated}, {"vegeta", sendByVegeta}, {"barrier", sendByBarrier}}
	for _, lane := range []string{scenarios.Clean, "jitter"} {
		for _, members := range []int{2, 10, 20, 50} {
			b.Run(fmt.Sprintf("%s/members=%d", lane, members), func(b *testing.B) {
				came := map[string]*arrivals{}
				for b.Loop() {
					for _, s := range senders {
						a := &arrivals{at: map[string][]time.Time{}}
						came[s.name] = a
						address := serve(b, a.ServeHTTP)
						lanes, err := proxy.Open(b.Context(), weathers(), proxy.Options{Upstream: address, Base: time.Now()})
						require.NoError(b, err)
						s.send(b, lanes, lane, address, members)
						require.NoError(b, lanes.Close())
					}
				}
				for name, q := range map[string]float64{"p50": 0.5, "p99": 0.99} {
					ours := came["ours"].spread(b, members, q)
					b.ReportMetric(float64(ours.Microseconds()), "ours-"+name+"-µs")
					for _, other := range []string{"vegeta", "barrier"} {
						b.ReportMetric(float64(came[other].spread(b, members, q))/float64(ours), other+"/ours-"+name)
					}
				}
			})
		}
	}
}

func sendGated(b *testing.B, lanes *proxy.Lanes, lane, address string, members int) {
	step := burst(members)
	step.Burst.Lane = lane
	r := newRigFor(b, address, scenarios.Scenario{Name: "spread", Intents: bursts, Concurrency: 1, Steps: []scenarios.Step{step}})
	r.Record = history.NewWriter(io.Discard)
	r.RealTime = true
	r.Dialers[0] = func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) { return lanes.Dial(ctx, lane) }
	require.NoError(b, r.Drive(b.Context()))
}

// warm dials as many connections as a burst has members: what is compared is the release.
func warm(b *testing.B, lanes *proxy.Lanes, lane string, members int) chan net.Conn {
	conns := make(chan net.Conn, members)
	for range members {
		conn, _, err := lanes.Dial(b.Context(), lane)
		require.NoError(b, err)
		conns <- conn
	}
	return conns
}

func sendByVegeta(b *testing.B, lanes *proxy.Lanes, lane, address string, members int) {
	for n := range bursts {
		conns := warm(b, lanes, lane, members)
		transport := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return <-conns, nil }}
		attacker := vegeta.NewAttacker(
			vegeta.Client(&http.Client{Transport: transport}), vegeta.Workers(uint64(members)), vegeta.MaxWorkers(uint64(members)))
		target := vegeta.Target{Method: "POST", URL: "http://" + address + "/orders", Body: []byte(`{"amount":1200}`), Header: http.Header{"Idempotency-Key": {fmt.Sprint(n)}}}
		for result := range attacker.Attack(vegeta.NewStaticTargeter(target), hits(members), 0, "") {
			require.Empty(b, result.Error)
		}
	}
}

func sendByBarrier(b *testing.B, lanes *proxy.Lanes, lane, _ string, members int) {
	const body = `{"amount":1200}`
	for n := range bursts {
		conns := warm(b, lanes, lane, members)
		message := fmt.Sprintf("POST /orders HTTP/1.1\r\nHost: t\r\nConnection: close\r\nIdempotency-Key: %d\r\nContent-Length: %d\r\n\r\n%s", n, len(body), body)
		start := make(chan struct{})
		var sending sync.WaitGroup
		for range members {
			sending.Go(func() {
				conn := <-conns
				defer conn.Close()
				<-start
				_, _ = io.Copy(conn, strings.NewReader(message))
				_, _ = io.Copy(io.Discard, conn)
			})
		}
		close(start)
		sending.Wait()
	}
}
