package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// Balancer is one address for several instances of a target: each connection goes to the
// next instance in turn. It knows TCP only. A close, half of one or a reset by one side is
// the same for the other side. If an instance takes no connection, the client's is reset:
// a balancer that tried elsewhere would send a request twice and hide it. Lanes go past
// it, see Options.Instances. Safe for concurrent use.
type Balancer struct {
	listener  net.Listener
	instances []string // host:port
	stop      context.CancelFunc
	busy      sync.WaitGroup // the accepting goroutine and the relays
}

// OpenBalancer listens on an address, host:port, for the instances at the others. Port 0
// is a free one. The context bounds the opening only; Close ends the balancer.
func OpenBalancer(ctx context.Context, listen string, instances []string) (*Balancer, error) {
	if len(instances) == 0 {
		return nil, errors.New("open balancer: there is no instance")
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("open balancer: %w", err)
	}
	b := &Balancer{listener: listener, instances: slices.Clone(instances)}
	staying, stop := context.WithCancel(context.Background())
	b.stop = stop
	b.busy.Go(func() { b.accept(staying) })
	return b, nil
}

// Port is the one on which the balancer listens: the true one if it was given as 0.
func (b *Balancer) Port() int { return b.listener.Addr().(*net.TCPAddr).Port }

// Close ends the balancer and all connections through it. Closing again does nothing.
func (b *Balancer) Close() error {
	b.stop()
	err := b.listener.Close()
	b.busy.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// betweenAccepts is the pause after a failed accept, as where there are too many open
// files. Without it the loop would take a whole processor until one is closed.
const betweenAccepts = 5 * time.Millisecond

// accept gives each connection to the next instance. The turn is counted by one goroutine.
func (b *Balancer) accept(ctx context.Context) {
	turn := 0
	acceptAll(ctx, b.listener, func(near *net.TCPConn) {
		to := b.instances[turn%len(b.instances)]
		b.busy.Go(func() { through(ctx, near, to) })
		turn++
	})
}

// acceptAll has each connection served that comes, one after the other, until the listener
// is closed or the context ends. Serve must return soon: it starts a goroutine for the
// rest.
func acceptAll(ctx context.Context, listener net.Listener, serve func(*net.TCPConn)) {
	for ctx.Err() == nil {
		conn, err := listener.Accept()
		switch {
		case err == nil:
			serve(conn.(*net.TCPConn))
		case errors.Is(err, net.ErrClosed):
			return
		default:
			time.Sleep(betweenAccepts)
		}
	}
}

// through relays one connection until both sides are done with it, or the context ends.
func through(ctx context.Context, near *net.TCPConn, to string) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", to)
	if err != nil {
		resetConn(near)
		return
	}
	far := conn.(*net.TCPConn)
	defer context.AfterFunc(ctx, func() { resetConn(near); resetConn(far) })()
	var answering sync.WaitGroup
	answering.Go(func() { oneWay(near, far) })
	oneWay(far, near)
	answering.Wait()
	_ = near.Close()
	_ = far.Close()
}

// oneWay passes on what comes from one side until its end, which is passed on too. What breaks resets both.
func oneWay(to, from *net.TCPConn) {
	if _, err := io.Copy(to, from); err != nil {
		resetConn(to)
		resetConn(from)
		return
	}
	_ = to.CloseWrite()
}
