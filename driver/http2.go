package driver

import (
	"cmp"
	"context"
	"errors"
	"net"
	"time"

	"github.com/doubletap-harness/doubletap/driver/h2"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// poolFor is a pool for one exchange, if the target speaks HTTP/2; nil: it does not.
func poolFor(t targets.Target) *h2.Pool {
	if t.Protocol != targets.HTTP2 {
		return nil
	}
	return h2.NewPool()
}

// shares makes an exchange in HTTP/2 share the connections of a pool.
func (x *exchange) shares(p *h2.Pool) {
	if x.pool != nil {
		x.pool, x.shared = p, true
	}
}

// runStream runs the exchange as one stream of a connection of the pool. The package h2
// knows nothing of histories, so its result is copied here.
func (x *exchange) runStream(ctx context.Context, dial func(context.Context) (net.Conn, error)) {
	body := newRecordedBody(x.keep)
	stream := h2.Exchange{
		Request: x.http, Dial: dial, TLS: x.tlsOn, Body: body, Shared: x.shared, DialTimeout: max(x.timeout, leastDial), Timeout: x.timeout,
		Now: func() time.Duration { return x.now().Duration() },
	}
	if x.member != nil { // an interface that holds a nil pointer is not nil
		stream.Member = x.member
	}
	result, err := x.pool.Do(ctx, stream)
	x.raw = result.Conn
	x.record.Sent, x.record.Status = result.Sent, result.Status
	x.record.Wrote, x.record.Replied = history.Offset(result.Wrote), history.Offset(result.Replied)
	if result.Header != nil {
		x.record.Header, x.cookies = flatten(result.Header), result.Header.Values("Set-Cookie")
	}
	err = cmp.Or(err, x.keepBody(body, result.Complete))
	var undialled *h2.DialError
	switch {
	case errors.As(err, &undialled):
		x.fail(ctx, err, history.Refused)
	case err != nil:
		x.fail(ctx, err, history.Garbage)
	}
}
