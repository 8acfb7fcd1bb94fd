package driver_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// placed is a connection that says where it went.
type placed struct {
	net.Conn
	instance int
}

func (p placed) Instance() int { return p.instance }

// instances are roads to an address, each of which says that it leads to an instance of its own.
func instances(address string, n int) []driver.Dialer {
	var all []driver.Dialer
	for i := range n {
		all = append(all, func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
			conn, passage, err := dialerTo(address)(ctx, lane)
			return placed{Conn: conn, instance: i + 1}, passage, err
		})
	}
	return all
}

func TestEachConnectionOfAnIntentGoesToTheNextInstance(t *testing.T) {
	t.Parallel()
	address := serve(t, func(http.ResponseWriter, *http.Request) {})
	trial := scenarios.Scenario{Name: "trial", Intents: 6, Concurrency: 6, Steps: []scenarios.Step{send(), send(), burst(4), send()}}
	r := newRigFor(t, address, trial)
	r.Dialers = instances(address, 3)
	h := r.drive(t)
	for _, i := range h.Intents {
		var alone, together []int
		for _, a := range h.Attempts {
			switch {
			case a.Intent != i.ID:
			case a.Together:
				together = append(together, a.Instance)
			default:
				alone = append(alone, a.Instance)
			}
		}
		slices.Sort(together)
		place := func(turn int) int { return (i.Number-1+turn)%3 + 1 }
		require.Equal(t, []int{place(0), place(1), place(6)}, alone, "in the order of the plan, whatever other intents do")
		whole := []int{place(2), place(3), place(4), place(5)}
		slices.Sort(whole)
		require.Equal(t, whole, together)
	}
}

func TestWhereThereIsOneInstanceNoAttemptNamesIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), send())
	require.Zero(t, r.only(t).Instance)
}

func TestStreamsOfOneConnectionGoToItsInstance(t *testing.T) {
	t.Parallel()
	address := serveH2C(t, func(http.ResponseWriter, *http.Request) {}).address()
	r := newRig2(t, address, burst(3), send())
	r.Dialers = instances(address, 2)
	var went []int
	for _, a := range r.drive(t).Attempts {
		require.Equal(t, history.ErrorKind(""), a.ErrorKind, a.Error)
		went = append(went, a.Instance)
	}
	require.Equal(t, []int{1, 1, 1, 2}, went)
}

// A dial that fails for want of our own descriptors says nothing of the target.
func TestTooFewDescriptorsAreNotTheTargets(t *testing.T) {
	t.Parallel()
	r := newRig(t, "127.0.0.1:1", send())
	r.Dialers[0] = func(context.Context, string) (net.Conn, driver.Tap, error) {
		return nil, nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	}
	err := r.Drive(t.Context())
	require.ErrorContains(t, err, "doubletap has too few file descriptors for its connections, which ulimit -n says")
	require.NotErrorIs(t, err, driver.ErrTargetGone)
}
