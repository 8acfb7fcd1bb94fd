package driver_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/doubletap-harness/doubletap/driver"
)

// policies notes the scheduling of all threads of this process at each write to a connection.
type policies struct {
	mu   sync.Mutex
	seen []string
}

func (p *policies) note(t testing.TB) {
	threads, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		require.NoError(t, err)
		attr, err := unix.SchedGetAttr(id, 0)
		if err != nil {
			continue // the thread has ended since
		}
		said := strconv.Itoa(int(attr.Policy)) + " nice " + strconv.Itoa(int(attr.Nice))
		if !slices.Contains(p.seen, said) {
			p.seen = append(p.seen, said)
		}
	}
}

// all returns each policy that was seen, once.
func (p *policies) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(slices.Values(p.seen))
}

// notingConn notes the scheduling of all threads while it writes.
type notingConn struct {
	net.Conn
	note func()
}

func (c notingConn) Write(b []byte) (int, error) {
	c.note()
	return c.Conn.Write(b)
}

// policiesOfABurst sends bursts of four and returns the scheduling policies of the threads meanwhile.
func policiesOfABurst(t *testing.T, realTime bool) []string {
	t.Helper()
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) })
	r := newRig(t, address, burst(4), burst(4))
	seen := &policies{}
	r.RealTime = realTime
	r.Dialers[0] = func(ctx context.Context, _ string) (net.Conn, driver.Tap, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		return notingConn{Conn: conn, note: func() { seen.note(t) }}, nil, err
	}
	require.Len(t, r.drive(t).Attempts, 8)
	return seen.all()
}

func TestTheZeroValueLeavesTheSchedulingOfEveryThreadAlone(t *testing.T) { // not parallel: it looks at all threads
	before := &policies{}
	before.note(t)
	require.Equal(t, before.all(), policiesOfABurst(t, false))
}

func TestRealTimeReleasesAtRealTimePriority(t *testing.T) { // not parallel: as above
	if !mayRunInRealTime() {
		t.Skip("this system does not permit real-time priority (CAP_SYS_NICE)")
	}
	require.True(t, slices.ContainsFunc(policiesOfABurst(t, true), func(policy string) bool { return strings.HasPrefix(policy, "1 ") }))
	after := &policies{}
	after.note(t)
	require.False(t, slices.ContainsFunc(after.all(), func(policy string) bool { return strings.HasPrefix(policy, "1 ") }), "the threads have their policy back")
}

// mayRunInRealTime tries it on a thread of its own, and gives the thread its policy back.
func mayRunInRealTime() bool {
	answer := make(chan bool)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		usual, err := unix.SchedGetAttr(0, 0)
		permitted := err == nil && unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: 1, Priority: 1}, 0) == nil
		answer <- permitted && unix.SchedSetAttr(0, usual, 0) == nil
	}()
	return <-answer
}
