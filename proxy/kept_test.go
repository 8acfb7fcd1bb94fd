package proxy_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proxy"
)

// staying is a request after which the server is to keep the connection.
const staying = "POST /orders HTTP/1.1\r\nHost: target\r\nContent-Length: 2\r\n\r\n{}"

// keep keeps a connection, and reports whether that could be done.
func keep(c net.Conn) bool { return c.(interface{ Keep() bool }).Keep() }

func TestAKeptConnectionHasAPassageForEachExchange(t *testing.T) {
	t.Parallel()
	target := newTarget(t, 5)
	l := open(t, target.addr(), nil)
	var taps []*proxy.Tap
	for range 3 {
		c, p := dial(t, l, faults.Clean)
		require.Equal(t, http.StatusCreated, exchange(c, staying).status)
		require.True(t, keep(c))
		require.False(t, keep(c), "it is kept once")
		require.Error(t, c.Close(), "and is none of its client's any more")
		_, err := c.Write([]byte("x"))
		require.Error(t, err)
		require.True(t, p.Over())
		taps = append(taps, p)
	}
	require.Zero(t, l.InFlight())
	last := history.Offset(0)
	for _, p := range taps {
		facts := p.Facts()
		require.EqualValues(t, len(staying), facts.Up)
		require.Equal(t, http.StatusCreated, facts.Status)
		require.Zero(t, facts.Closed)
		require.Less(t, last, facts.Opened)
		require.LessOrEqual(t, facts.Opened, facts.Arrived)
		require.Less(t, facts.Arrived, facts.Answered)
		last = facts.Answered
	}
}

func TestAConnectionThatTheTargetHasClosedIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{}, 2)
	address := rawTarget(t, func(c *net.TCPConn) {
		readRequest(c)
		_, _ = io.WriteString(c, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n") // and says nothing of its leaving
		_ = c.Close()
		closed <- struct{}{}
	})
	l := open(t, address, nil)
	for range 2 {
		c, p := dial(t, l, faults.Clean)
		require.Equal(t, http.StatusCreated, exchange(c, staying).status)
		<-closed
		settled(t, p)
		require.False(t, keep(c))
		require.NoError(t, c.Close())
	}
}

func TestAConnectionIsKeptForATimeOnly(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	address := rawTarget(t, func(c *net.TCPConn) {
		defer c.Close()
		readRequest(c)
		_, _ = io.WriteString(c, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
		_, _ = io.Copy(io.Discard, c)
		close(ended)
	})
	l := open(t, address, nil)
	c, p := dial(t, l, faults.Clean)
	require.Equal(t, http.StatusCreated, exchange(c, staying).status)
	require.True(t, keep(c))
	select {
	case <-ended:
	case <-time.After(long):
		t.Fatal("the target waits on a connection that nobody uses")
	}
	require.Zero(t, p.Facts().Left, "which is nothing of the exchange that was on it")
}

func TestOnlyALaneWithoutFaultsKeepsConnections(t *testing.T) {
	t.Parallel()
	l := faulty(t, newTarget(t, 5).addr(), faults.Fault{Latency: &faults.Latency{Delay: ms(1)}})
	c, _ := dial(t, l, "faulty")
	require.Equal(t, http.StatusCreated, exchange(c, staying).status)
	require.False(t, keep(c))
	c, _ = dial(t, l, faults.Clean)
	require.False(t, keep(c), "nothing was answered on it")
}

func TestAKeptConnectionIsOfItsInstance(t *testing.T) {
	t.Parallel()
	one, two := newTarget(t, 5), newTarget(t, 5)
	l := openWith(t, proxy.Options{Upstream: one.addr(), Instances: []string{one.addr(), two.addr()}, Base: time.Now()}, nil)
	for _, instance := range []int{1, 2, 2} {
		c, _, err := l.DialInstance(context.Background(), faults.Clean, instance)
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, exchange(c, staying).status)
		require.True(t, keep(c))
	}
	require.EqualValues(t, 1, one.started.Load())
	require.EqualValues(t, 2, two.started.Load())
}
