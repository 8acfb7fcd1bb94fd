package main

import (
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What the doctor's own requests have shown is judged as a run judges it.
func TestTheDoctorJudgesItsOwnBurst(t *testing.T) {
	t.Parallel()
	for target, says := range map[string][]string{
		"builtin:check-then-insert":      {"✓ repetition answered as the contract says", "✗ burst duplicate: expected at most 1 row for this marker, observed"},
		"served:dies-on-overlap":         {"✓ repetition answered as the contract says", "✗ burst target-died: expected a process that runs until it is asked to end", "panic: close of closed channel"},
		"builtin:duplicate-told-nothing": {"✗ repetition undeclared-answer", "✗ burst undeclared-answer: expected the first answer again"},
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			p := start(t, nil, "doctor", "--target", target)
			require.Equal(t, exitFinding, p.wait(t), "%s", p.out)
			text := strings.Join(strings.Fields(p.out.String()), " ")
			for _, words := range append(says, "ready; the target does not do what its contract says") {
				require.Contains(t, text, words, "%s", p.out)
			}
			require.NotContains(t, text, "✓ burst", "%s", p.out)
		})
	}
}

func TestTheDoctorSeesThatItsBurstEndedAProcessOfSomebodyElse(t *testing.T) {
	t.Parallel()
	_, env := serving(t, "dies-on-overlap")
	source, err := os.ReadFile("../../docs/examples/orders.yaml")
	require.NoError(t, err)
	got := callWith(t.Context(), env, "doctor", "--target", writeFile(t, "orders.yaml", string(source)))
	require.NotContains(t, got.out, "✓ burst", "%s", got)
	require.Contains(t, got.out, "✗ burst", "%s", got)
	require.Contains(t, got.out, "not ready: the target did not survive the examination", "%s", got)
	require.Equal(t, exitEnvironment, got.code, "%s", got)
}

// A shop whose contract says nothing about requests in progress tells those that come meanwhile something of its own.
func TestTheDoctorNamesAnswersOfItsBurstThatTheContractDoesNotName(t *testing.T) {
	t.Parallel()
	var inside atomic.Int64
	met := make(chan struct{}, 1)
	x := newShop(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer inside.Add(-1)
			if inside.Add(1) > 1 {
				select {
				case met <- struct{}{}:
				default:
				}
				w.WriteHeader(http.StatusAccepted)
				return
			}
			awaitOther(r, met)
			next.ServeHTTP(w, r)
		})
	}).trial(t)
	x.examined(t, exitFinding, "✓ repetition answered as the contract says", "✗ burst", "such as 202 to attempt", "no line of the contract names that")
}

// awaitOther gives another request time to come meanwhile.
func awaitOther(r *http.Request, came <-chan struct{}) {
	select {
	case <-came:
	case <-time.After(time.Second):
	case <-r.Context().Done():
	}
}
