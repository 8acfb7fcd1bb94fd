package proxy

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// exhausted is a listener for which there are too many open files, so many times.
type exhausted struct {
	net.Listener
	times atomic.Int64
}

func (l *exhausted) Accept() (net.Conn, error) {
	if l.times.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

func TestABalancerOutlivesTooManyOpenFiles(t *testing.T) {
	behind, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer behind.Close()
	go func() {
		if c, err := behind.Accept(); err == nil {
			_, _ = io.WriteString(c, "here")
			_ = c.Close()
		}
	}()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listener := &exhausted{Listener: front}
	listener.times.Store(3)
	ctx, stop := context.WithCancel(t.Context())
	b := &Balancer{listener: listener, instances: []string{behind.Addr().String()}, stop: stop}
	b.busy.Go(func() { b.accept(ctx) })

	c, err := net.Dial("tcp", front.Addr().String())
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
	said, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Equal(t, "here", string(said))
	require.NoError(t, b.Close())
}

func TestABalancerThatTakesNothingCanBeClosed(t *testing.T) {
	front, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listener := &exhausted{Listener: front}
	listener.times.Store(1 << 40)
	ctx, stop := context.WithCancel(t.Context())
	b := &Balancer{listener: listener, instances: []string{"127.0.0.1:1"}, stop: stop}
	b.busy.Go(func() { b.accept(ctx) })
	require.NoError(t, b.Close())
}
