package driver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// mixed sends the original and the altered body under one key, then the original under a fresh key,
// then without any, on a lane that the probe must not take.
func mixed() []scenarios.Step {
	altered, fresh, none := plain(), plain(), plain()
	fresh.Key, none.Key, fresh.Lane = scenarios.FreshKey, scenarios.NoKey, "side"
	return []scenarios.Step{send(), burst(3), {Alter: &altered}, {Send: &fresh}, {Send: &none}}
}

type asked struct{ key, body string }

// probes returns what was asked in the final probe, in order, by intent.
func probes(t *testing.T, h *history.History) map[string][]asked {
	t.Helper()
	all := map[string][]asked{}
	for _, a := range h.Attempts {
		if !a.Probe {
			continue
		}
		require.Equal(t, scenarios.Clean, a.Lane)
		require.Equal(t, -1, a.Step)
		all[a.Intent] = append(all[a.Intent], asked{a.Key, a.Body})
		require.Equal(t, fmt.Sprintf("%s.p%d", a.Intent, len(all[a.Intent])), a.ID)
	}
	return all
}

// A client that was refused corrects its request, and does not send it as it was.
func TestTheProbeAsksNothingOfAnInvalidBody(t *testing.T) {
	t.Parallel()
	address := serve(t, func(http.ResponseWriter, *http.Request) {})
	mistaken := plain()
	r := newRig(t, address, scenarios.Step{Invalid: &mistaken}, send())
	r.drive(t)
	require.NoError(t, r.Probe(t.Context(), driver.Probing{}, false, func(history.Attempt) bool { return true }))
	h := r.history(t)
	for _, i := range h.Intents {
		require.Contains(t, i.Bodies[history.Invalid].Content, `"amount":-1`)
		require.NotEqual(t, i.Bodies[history.Original].Marker, i.Bodies[history.Invalid].Marker)
		require.Equal(t, []asked{{r.Names.Key(i.ID, "own"), history.Original}}, probes(t, h)[i.ID])
	}
	require.Equal(t, history.Invalid, h.Attempts[0].Body)
}

func TestTheProbeAsksEveryKeyWithEveryBodyOnce(t *testing.T) {
	t.Parallel()
	for name, keyless := range map[string]bool{"keyed requests": false, "and those without": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := serve(t, func(http.ResponseWriter, *http.Request) {})
			r := newRigFor(t, address, scenarios.Scenario{Name: "trial", Intents: 3, Concurrency: 2, Steps: mixed()})
			r.drive(t)
			settled := func(a history.Attempt) bool { return a.Status == 200 && a.Complete && a.End != 0 }
			require.NoError(t, r.Probe(t.Context(), driver.Probing{}, keyless, settled))
			got := probes(t, r.history(t))
			require.Len(t, got, 3)
			for _, i := range r.Plan.Intents {
				own, fresh := r.Names.Key(i.ID, "own"), r.Names.Key(i.ID, "fresh1")
				want := []asked{{own, history.Original}, {own, history.Altered}, {fresh, history.Original}}
				if keyless {
					want = append(want, asked{"", history.Original})
				}
				require.Equal(t, want, got[i.ID])
			}
		})
	}
}

func TestTheProbeAsksAgainUntilItIsSettled(t *testing.T) {
	t.Parallel()
	var seen ledger
	r := newRig(t, serve(t, script(&seen, nil, 200, 409, 409, 409)), send())
	r.drive(t)
	settled := func(a history.Attempt) bool { return a.Status == 201 }
	require.NoError(t, r.Probe(t.Context(), driver.Probing{Tries: 9, Pause: 5 * time.Millisecond}, false, settled))
	attempts := r.history(t).Attempts
	require.Len(t, attempts, 1+4)
	for i, least := range []time.Duration{5, 10, 20} {
		require.GreaterOrEqual(t, pauses(attempts)[1+i], least*time.Millisecond)
		require.Equal(t, i, attempts[1+i].Retry)
	}
	require.Equal(t, 201, attempts[4].Status)
}

// A key that an execution blocks which may have died is tried for as long as that may take, and no longer.
func TestTheProbeWaitsForABlockedKey(t *testing.T) {
	t.Parallel()
	blocked := func(a history.Attempt) bool { return a.Status == 409 }
	var took time.Duration
	var outlasted bool
	probe := func(t *testing.T, p driver.Probing, answers ...int) []history.Attempt {
		var seen ledger
		r := newRig(t, serve(t, script(&seen, nil, append([]int{200}, answers...)...)), send())
		r.drive(t)
		p.Tries, p.Pause = 2, time.Millisecond
		began := time.Now()
		require.NoError(t, r.Probe(t.Context(), p, false, func(a history.Attempt) bool { return a.Status == 201 }))
		took, outlasted = time.Since(began), r.sent.Outlasted()
		return r.history(t).Attempts[1:]
	}
	ever := slices.Repeat([]int{409}, 10_000)
	require.Len(t, probe(t, driver.Probing{Blocked: blocked, Lease: long}, 409, 409, 409, 409), 5, "it is given free")
	require.False(t, outlasted)
	require.Len(t, probe(t, driver.Probing{Blocked: blocked, Lease: long}, 409, 409, 500, 500), 3, "nothing blocks it any more")
	require.False(t, outlasted)
	require.Len(t, probe(t, driver.Probing{}, ever...), 2, "nothing may have died")
	require.False(t, outlasted, "it was not waited for")
	probe(t, driver.Probing{Blocked: blocked, Lease: 30 * time.Millisecond}, ever...)
	require.GreaterOrEqual(t, took, 30*time.Millisecond)
	require.True(t, outlasted)
}

func TestTheProbeGivesUp(t *testing.T) {
	t.Parallel()
	var seen ledger
	r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) { seen.add("request") }), mixed()[:3]...)
	r.drive(t)
	before := len(seen.all())
	never := func(history.Attempt) bool { return false }
	require.NoError(t, r.Probe(t.Context(), driver.Probing{Tries: 3, Timeout: long}, false, never))
	require.Len(t, probes(t, r.history(t))["i001"], 2*3)
	require.Len(t, seen.all(), before+2*3)
}

// The pause after the last try is of no use to anybody.
func TestTheProbeDoesNotPauseAfterItsLastTry(t *testing.T) {
	t.Parallel()
	r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), send())
	r.drive(t)
	ended := make(chan error, 1)
	go func() {
		ended <- r.Probe(t.Context(), driver.Probing{Tries: 1, Pause: time.Hour}, false, func(history.Attempt) bool { return false })
	}()
	require.NoError(t, within(t, ended, "the probe's end"))
}

// An intent that waits for its next try keeps no other from being probed.
func TestThePausesOfTheProbePassAtOnce(t *testing.T) {
	t.Parallel()
	const intents = 40
	address := serve(t, func(http.ResponseWriter, *http.Request) {})
	r := newRigFor(t, address, scenarios.Scenario{Name: "trial", Intents: intents, Concurrency: 1, Steps: []scenarios.Step{send()}})
	r.drive(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	var asked atomic.Int32
	never := func(history.Attempt) bool {
		if asked.Add(1) == intents {
			cancel(stop)
		}
		return false
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Probe(ctx, driver.Probing{Tries: 2, Pause: time.Hour, Timeout: long}, false, never) }()
	require.ErrorIs(t, within(t, ended, "the probe's end"), stop)
	require.Len(t, probes(t, r.history(t)), intents)
}

// A probe is polite: few are under way at once.
func TestFewProbesAreUnderWayAtOnce(t *testing.T) {
	t.Parallel()
	var inside, most atomic.Int32
	address := serve(t, func(http.ResponseWriter, *http.Request) {
		now := inside.Add(1)
		defer inside.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		time.Sleep(time.Millisecond)
	})
	r := newRigFor(t, address, scenarios.Scenario{Name: "trial", Intents: 40, Concurrency: 1, Steps: []scenarios.Step{send()}})
	r.drive(t)
	require.NoError(t, r.Probe(t.Context(), driver.Probing{}, false, func(history.Attempt) bool { return true }))
	require.LessOrEqual(t, most.Load(), int32(4))
}

func TestAProbeThatIsStoppedAsksNothingMore(t *testing.T) {
	t.Parallel()
	r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), mixed()...)
	r.drive(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	settled := func(history.Attempt) bool { cancel(stop); return true }
	require.ErrorIs(t, r.Probe(ctx, driver.Probing{}, true, settled), stop)
	require.Len(t, probes(t, r.history(t))["i001"], 1)
}

func TestAProbeOfATargetWithoutKeysAsksByBody(t *testing.T) {
	t.Parallel()
	r := newRig(t, serve(t, func(_ http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Idempotency-Key") != "" {
			panic("a key that the operation does not take")
		}
	}), mixed()...)
	r.Operations[0].Key.In = ""
	r.drive(t)
	require.NoError(t, r.Probe(t.Context(), driver.Probing{}, true, func(a history.Attempt) bool { return a.Status == 200 }))
	want := []asked{{"", history.Original}, {"", history.Altered}}
	require.Equal(t, want, probes(t, r.history(t))["i001"])
}

// A key that is throttled for ever is told from a target that throttles every client by fresh keys, sent right behind it.
func TestFreshKeysAreSentBesideAThrottledOne(t *testing.T) {
	t.Parallel()
	var first atomic.Value
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if first.CompareAndSwap(nil, key); first.Load() == key {
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	r := newRigFor(t, address, scenarios.Scenario{Name: "trial", Intents: 2, Steps: []scenarios.Step{send()}})
	r.Hooks.Throttled = func(a history.Attempt) bool { return a.Status == 429 }
	r.drive(t)
	p := driver.Probing{Tries: 2, Pause: time.Millisecond, Rounds: []time.Duration{time.Millisecond, time.Millisecond}, Unclear: r.Hooks.Throttled}
	require.NoError(t, r.Probe(t.Context(), p, false, func(a history.Attempt) bool { return a.Status == 200 }))
	h := r.history(t)
	require.Len(t, h.Intents, 4)
	var order []string
	for _, a := range h.Attempts {
		if a.Intent != "i002" && a.Probe {
			order = append(order, fmt.Sprintf("%s %d", a.ID, a.Status))
		}
	}
	require.Equal(t, []string{"i001.p1 429", "i001.p2 429", "i001.p3 429", "i003.p1 200", "i001.p4 429", "i004.p1 200"}, order)
	require.True(t, h.Intents[2].Fresh)
	require.NotEqual(t, h.Intents[2].Bodies[history.Original].Marker, h.Intents[3].Bodies[history.Original].Marker)
	require.Contains(t, r.made().Workload().Markers()[r.Operations[0].Name], h.Intents[3].Bodies[history.Original].Marker)
}

// A target that had more to do than it got done answers when all others have their answers.
func TestAKeyThatWaitedInVainIsTriedOnceMoreAtTheEnd(t *testing.T) {
	t.Parallel()
	var sent sync.Map // how often, by key
	busy := func(r *http.Request) bool {
		n, _ := sent.LoadOrStore(r.Header.Get("Idempotency-Key"), new(atomic.Int32))
		return n.(*atomic.Int32).Add(1) == 2
	}
	address := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if busy(r) {
			_, _ = io.Copy(io.Discard, r.Body) // else the end of the connection is not seen
			<-r.Context().Done()
		}
	})
	r := newRigFor(t, address, scenarios.Scenario{Name: "trial", Intents: 4, Steps: []scenarios.Step{send()}})
	r.drive(t)
	p := driver.Probing{Tries: 2, Hung: 1, Timeout: 10 * time.Second}
	require.NoError(t, r.Probe(t.Context(), p, false, func(a history.Attempt) bool { return a.Status == 200 }))
	again := 0
	for _, a := range r.history(t).Attempts {
		if a.ID == a.Intent+".p2" {
			again++
			require.Equal(t, 200, a.Status)
		}
	}
	require.Equal(t, 3, again, "of four")
}

// A request that was refused is compared with plain creates that equal no other, until one of them is refused.
func TestPlainCreatesAreSentBesideARefusedOneUntilOneIsRefused(t *testing.T) {
	t.Parallel()
	for declined, want := range map[int]int{3: 3, 1000: 12} { // the n-th of the plain creates; those that are sent
		var creates atomic.Int64
		var refused atomic.Value
		address := serve(t, func(w http.ResponseWriter, r *http.Request) {
			key := r.Header.Get("Idempotency-Key")
			if refused.CompareAndSwap(nil, key); refused.Load() == key || creates.Add(1) == int64(declined) {
				w.WriteHeader(http.StatusPaymentRequired)
			}
		})
		r := newRigFor(t, address, scenarios.Scenario{Name: "trial", Intents: 1, Steps: []scenarios.Step{send()}})
		r.drive(t)
		p := driver.Probing{Tries: 1, Refused: func(a history.Attempt) bool { return a.Status == http.StatusPaymentRequired }}
		require.NoError(t, r.Probe(t.Context(), p, false, func(history.Attempt) bool { return true }))
		require.Len(t, r.history(t).Intents, 1+want)
	}
}

// A replay has a part of the intents: a fresh key is that of none of them.
func TestAFreshKeyBesideAPartOfThePlanIsANewIntent(t *testing.T) {
	t.Parallel()
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	r := newRigFor(t, address, scenarios.Scenario{Name: "trial", Intents: 2, Steps: []scenarios.Step{send()}})
	r.Plan = r.Plan.Only([]int{2})
	r.drive(t)
	p := driver.Probing{Tries: 1, Unclear: func(history.Attempt) bool { return true }}
	require.NoError(t, r.Probe(t.Context(), p, false, func(history.Attempt) bool { return false }))
	h := r.history(t)
	require.Len(t, h.Intents, 2)
	require.Equal(t, "i002", h.Intents[0].ID)
	require.Equal(t, "i003", h.Intents[1].ID)
}

func TestTheFinalRetryOutlastsWhatClientsHaveLeft(t *testing.T) {
	t.Parallel()
	last := func(p driver.Probing) time.Duration { return p.Pause << (p.Tries - 1) }
	require.Equal(t, driver.Patience(0, 0), driver.Patience(0, 3*time.Second))
	require.Greater(t, last(driver.Patience(0, 10*time.Second)), 10*time.Second)
	require.Equal(t, driver.Patience(0, 0).Hung, driver.Patience(0, time.Minute).Hung, "no deadline is waited out more often")
}
