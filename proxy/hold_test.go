package proxy_test

import (
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/proxy"
)

// message is what every test here sends.
var message = request("/orders", 50)

// held dials a lane and has its request held. Arrived gets what lets it go.
func held(t *testing.T, lanes *proxy.Lanes, lane string, arrived chan<- func(), left *atomic.Int64) (net.Conn, *proxy.Tap) {
	t.Helper()
	conn, passage, err := lanes.Dial(t.Context(), lane)
	require.NoError(t, err)
	require.True(t, passage.Hold(int64(len(message)), func(release func()) { arrived <- release }, func() { left.Add(1) }, nil))
	return conn, passage
}

func TestRequestsAreHeldBehindTheWeatherUntilAllHaveCome(t *testing.T) {
	t.Parallel()
	const members = 6
	s := newTarget(t, 20)
	weather := map[string][]faults.Fault{
		"rough": {{Latency: &faults.Latency{Delay: faults.Duration(30 * time.Millisecond), Jitter: faults.Duration(25 * time.Millisecond)}}},
		"slow":  {{Slice: &faults.Slice{Size: 16, Delay: faults.Duration(time.Millisecond), Way: faults.RequestWay}}},
	}
	lanes := open(t, s.addr(), weather)
	for _, lane := range []string{faults.Clean, "rough", "slow"} {
		before := s.started.Load()
		arrived, left := make(chan func(), members), &atomic.Int64{}
		var conns []net.Conn
		var passages []*proxy.Tap
		for range members {
			conn, passage := held(t, lanes, lane, arrived, left)
			conns, passages = append(conns, conn), append(passages, passage)
			_, err := io.WriteString(conn, message)
			require.NoError(t, err)
		}
		var releases []func()
		for range members {
			releases = append(releases, <-arrived)
		}
		time.Sleep(20 * time.Millisecond)
		require.Equal(t, before, s.started.Load(), "%s: nothing was let through", lane)
		for _, release := range releases {
			release()
		}
		for n, conn := range conns {
			require.Equal(t, 201, receive(conn).status)
			require.NoError(t, conn.Close())
			facts := settled(t, passages[n])
			require.EqualValues(t, len(message), facts.Up)
			require.NotZero(t, facts.Held)
			require.Greater(t, facts.Arrived, facts.Held)
		}
		require.EqualValues(t, members, s.started.Load()-before)
	}
}

func TestARequestThatDoesNotComeLeavesTheGate(t *testing.T) {
	t.Parallel()
	s := newTarget(t, 20)
	lanes := open(t, s.addr(), map[string][]faults.Fault{"lost": {{Lose: faults.LoseRequest}}})
	for lane, send := range map[string]string{"lost": message, faults.Clean: message[:len(message)-1]} {
		arrived, left := make(chan func(), 1), &atomic.Int64{}
		conn, passage := held(t, lanes, lane, arrived, left)
		_, _ = io.WriteString(conn, send)
		_ = conn.Close()
		require.Eventually(t, func() bool { return left.Load() > 0 }, long, time.Millisecond, lane)
		require.Empty(t, arrived)
		require.Less(t, passage.Facts().Up, int64(len(message)))
	}
}

func TestAClientThatLeavesTheBarrierTakesItsRequestWithIt(t *testing.T) {
	t.Parallel()
	s := newTarget(t, 20)
	lanes := open(t, s.addr(), nil)
	arrived, left := make(chan func(), 1), &atomic.Int64{}
	conn, passage := held(t, lanes, faults.Clean, arrived, left)
	_, err := io.WriteString(conn, message)
	require.NoError(t, err)
	release := <-arrived
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool { return passage.Facts().Closed != 0 }, long, time.Millisecond)
	release()
	require.EqualValues(t, len(message)-1, passage.Facts().Up)
}

func TestATargetThatRefusesOrClosesEndsTheWaiting(t *testing.T) {
	t.Parallel()
	closing := rawTarget(t, func(c *net.TCPConn) { _ = c.Close() })
	for name, upstream := range map[string]string{"refuses": refusing(t), "closes": closing} {
		lanes := open(t, upstream, nil)
		arrived, left := make(chan func(), 1), &atomic.Int64{}
		conn, _ := held(t, lanes, faults.Clean, arrived, left)
		_, _ = io.WriteString(conn, message[:len(message)-1])
		require.Eventually(t, func() bool { return left.Load() > 0 }, long, time.Millisecond, name)
		_ = conn.Close()
	}
}

func TestWithoutADoorstepNothingIsHeld(t *testing.T) {
	t.Parallel()
	require.False(t, new(proxy.Tap).Hold(10, func(func()) {}, func() {}, nil))
}

// A client that waits no longer has left while the target works, and sees nothing of how that was done.
func TestTheTargetIsLeftAfterTheRelease(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	came := make(chan string, 1)
	go func() {
		conn, err := silent.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		all, _ := io.ReadAll(conn) // until the client is gone
		came <- string(all)
	}()
	lanes := open(t, silent.Addr().String(), nil)
	conn, tap, err := lanes.Dial(t.Context(), faults.Clean)
	require.NoError(t, err)
	defer conn.Close()
	tap.LeaveAfter(time.Millisecond)
	arrived := make(chan func(), 1)
	require.True(t, tap.Hold(int64(len(message)), func(release func()) { arrived <- release }, func() {}, nil))
	_, err = io.WriteString(conn, message)
	require.NoError(t, err)
	(<-arrived)()
	require.Equal(t, message, <-came)
	facts := tap.Facts()
	require.Zero(t, facts.Answered)
	require.GreaterOrEqual(t, (facts.Left - facts.Released).Duration(), time.Millisecond)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
	_, err = conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "its own clock is what ends it")
}
