package driver_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
)

// step is an upstream tap that holds what it is told to, in front of a target that is not there: it notes
// the order of things.
type step struct {
	ledger
	refuse bool // no request can be held
}

// standing is one connection at an upstream tap.
type standing struct {
	*step
	mu     sync.Mutex
	size   int64
	arrive func(func())
	leave  func()
}

func (s *standing) Over() bool { return false }

func (s *standing) LeaveAfter(time.Duration) {}

func (s *standing) Facts() history.Passage { return history.Passage{Opened: 1} }

func (s *standing) Hold(size int64, arrive func(func()), leave func(), _ func() <-chan struct{}) bool {
	if s.refuse {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size, s.arrive, s.leave = size, arrive, leave
	return true
}

// serve reads one request. It answers when the request is released.
func (s *standing) serve(conn net.Conn) {
	defer conn.Close()
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		s.leave()
		return
	}
	_, _ = io.Copy(io.Discard, request.Body)
	s.add("came")
	s.mu.Lock()
	arrive := s.arrive
	s.mu.Unlock()
	if arrive == nil {
		arrive = func(release func()) { release() }
	}
	left, gone := make(chan struct{}), make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, conn)
		close(left)
	}()
	arrive(func() { s.add("went"); close(gone) })
	select {
	case <-gone:
	case <-left:
	}
	_, _ = conn.Write([]byte("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"))
}

func (s *step) road(_ context.Context, _ string) (net.Conn, driver.Tap, error) {
	client, server := net.Pipe()
	standing := &standing{step: s}
	go standing.serve(server)
	return client, standing, nil
}

func TestABurstIsHeldAtTheDoorstepWhereThereIsOne(t *testing.T) {
	t.Parallel()
	s := &step{}
	r := newRig(t, "", burst(members))
	r.Dialers[0] = s.road
	for _, a := range r.drive(t).Attempts {
		require.Equal(t, 201, a.Status, a.Error)
		require.NotZero(t, a.Wrote)
	}
	seen := s.all()
	require.Len(t, seen, 2*members)
	for n, what := range seen {
		require.Equal(t, map[bool]string{true: "came", false: "went"}[n < members], what, seen)
	}
}

func TestARequestThatTheLaneLosesDoesNotHoldTheBurst(t *testing.T) {
	t.Parallel()
	s := &step{}
	r := newRig(t, "", burst(members))
	var dials int
	var mu sync.Mutex
	r.Dialers[0] = func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
		mu.Lock()
		dials++
		lost := dials == 3
		mu.Unlock()
		conn, passage, err := s.road(ctx, lane)
		if lost {
			return &losing{Conn: conn}, passage, err
		}
		return conn, passage, err
	}
	broken := 0
	for _, a := range r.drive(t).Attempts {
		if a.ErrorKind != "" {
			broken++
		}
	}
	require.Equal(t, 1, broken)
	require.Equal(t, map[string]int{"came": members - 1, "went": members - 1}, s.tally())
}

// losing is a connection that breaks when something is written to it.
type losing struct{ net.Conn }

func (l *losing) Write([]byte) (int, error) {
	_ = l.Close()
	return 0, errors.New("lost on the way")
}

func TestWhereADoorstepCannotHoldTheBurstIsHeldInFrontOfTheLane(t *testing.T) {
	t.Parallel()
	s := &step{refuse: true}
	r := newRig(t, "", burst(members))
	r.Dialers[0] = s.road
	for _, a := range r.drive(t).Attempts {
		require.Equal(t, 201, a.Status, a.Error)
	}
	require.Equal(t, map[string]int{"came": members, "went": members}, s.tally())
}

func TestABurstThatIsCalledOffIsNotReleasedAtTheTap(t *testing.T) {
	t.Parallel()
	s := &step{}
	r := newRig(t, "", burst(members))
	ctx, cancel := context.WithCancel(t.Context())
	r.Dialers[0] = s.road
	r.hold(3, func(ctx context.Context) error {
		require.Eventually(t, func() bool { return s.tally()["came"] == members-1 }, long, time.Millisecond)
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	require.Error(t, r.Drive(ctx))
	require.Zero(t, s.tally()["went"])
	for _, a := range r.history(t).Attempts {
		require.Equal(t, history.Interrupted, a.ErrorKind)
	}
}
