package driver_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
)

// keeper is a connection that is kept when it is asked to.
type keeper struct {
	net.Conn
	kept *atomic.Int64
}

func (k keeper) Keep() bool {
	k.kept.Add(1)
	_ = k.Close()
	return true
}

// lasting is a rig of one burst that keeps its connections, and counts how many it kept.
func lasting(t *testing.T, address string, copies int) (*rig, *atomic.Int64) {
	t.Helper()
	r, kept := newRig(t, address, burst(copies)), &atomic.Int64{}
	dial := r.Dialers[0]
	r.Lasting = true
	r.Dialers[0] = func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
		conn, tap, err := dial(ctx, lane)
		if err != nil {
			return nil, nil, err
		}
		return keeper{conn, kept}, tap, nil
	}
	return r, kept
}

func TestConnectionsAreKeptWhereTheTargetLeavesThemOpen(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, answer string
		kept         int64
	}{
		{"left open", "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}", 1},
		{"in chunks", "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 1},
		{"without a body", "HTTP/1.1 204 No Content\r\n\r\n", 1},
		{"to be closed", "HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", 0},
		{"HTTP/1.0", "HTTP/1.0 201 Created\r\nContent-Length: 2\r\n\r\n{}", 0},
		{"more than an answer", "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1", 0},
		{"another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			address := serveRaw(t, func(p *peer) {
				for p.request() != "" {
					p.say("%s", test.answer)
				}
			})
			r, kept := lasting(t, address, 1)
			r.drive(t)
			require.Equal(t, test.kept, kept.Load())
		})
	}
}

func TestConnectionsAreNotKeptUnlessThatIsWanted(t *testing.T) {
	t.Parallel()
	r, kept := lasting(t, serveRaw(t, func(p *peer) {
		p.request()
		p.created()
		p.stay()
	}), 3)
	r.Lasting = false
	r.drive(t)
	require.Zero(t, kept.Load())
}

// A server with one worker for all connections answers the next only when the one before is gone.
func TestAConnectionIsNotKeptWhileOthersOfItsBurstWait(t *testing.T) {
	t.Parallel()
	worker := make(chan struct{}, 1)
	r, kept := lasting(t, serveRaw(t, func(p *peer) {
		worker <- struct{}{}
		defer func() { <-worker }()
		if p.request() != "" {
			p.created()
			p.stay()
		}
	}), 3)
	for _, a := range r.drive(t).Attempts {
		require.True(t, a.Complete, a.Error)
	}
	require.EqualValues(t, 1, kept.Load(), "that of the last one")
}
