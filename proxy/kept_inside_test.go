package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
)

// answering serves connections with empty answers, and reports each connection. When leave is closed, it leaves them after an answer.
func answering(t *testing.T, leave chan struct{}) (address string, connections *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	connections = &atomic.Int64{}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			defer context.AfterFunc(t.Context(), func() { _ = c.Close() })()
			serving.Go(func() {
				defer c.Close()
				for in := bufio.NewReader(c); ; {
					if _, err := http.ReadRequest(in); err != nil {
						return
					}
					_, _ = io.WriteString(c, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
					if leave != nil {
						<-leave
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
	return listener.Addr().String(), connections
}

// keeping opens lanes whose connections are kept for longer than a test takes.
func keeping(t *testing.T, upstream string) *Lanes {
	t.Helper()
	lanes, err := Open(t.Context(), nil, Options{Upstream: upstream})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, lanes.Close()) })
	lanes.byName[faults.Clean].keptFor = time.Hour
	return lanes
}

// ask sends a request on a connection of the clean lane, and keeps the connection.
func ask(t *testing.T, lanes *Lanes) *Tap {
	t.Helper()
	c, tap, err := lanes.Dial(t.Context(), faults.Clean)
	require.NoError(t, err)
	_, err = io.WriteString(c, "GET / HTTP/1.1\r\nHost: target\r\n\r\n")
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.True(t, c.(*conn).Keep())
	return tap
}

func TestTheNextExchangeIsOnTheKeptConnection(t *testing.T) {
	t.Parallel()
	address, connections := answering(t, nil)
	lanes := keeping(t, address)
	for range 5 {
		require.Equal(t, http.StatusCreated, ask(t, lanes).Facts().Status)
	}
	require.EqualValues(t, 1, connections.Load())
}

// Whether a connection is used again or its time is over is decided once, whoever comes first.
func TestTheTimeOfAKeptConnectionEndsWhileItIsUsedAgain(t *testing.T) {
	t.Parallel()
	address, _ := answering(t, nil)
	lanes := keeping(t, address)
	lanes.byName[faults.Clean].keptFor = 200 * time.Microsecond
	for range 300 {
		require.Equal(t, http.StatusCreated, ask(t, lanes).Facts().Status)
	}
}

func TestAConnectionThatIsClosedWhileItIsKeptIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	leave := make(chan struct{})
	address, _ := answering(t, leave)
	lanes := keeping(t, address)
	tap := ask(t, lanes)
	close(leave)
	require.Eventually(t, func() bool { return tap.relay.ended.Load() }, time.Minute, time.Millisecond)
	require.Nil(t, lanes.byName[faults.Clean].reuse(0))
	require.Zero(t, tap.Facts().Closed, "which is nothing of the exchange that was on it")
}
