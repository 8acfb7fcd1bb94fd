package h2_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/doubletap-harness/doubletap/driver/h2"
)

// long is longer than anything that is waited for should take.
const long = time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is net/http's server for HTTP/2 in cleartext, which counts its connections.
type server struct {
	*httptest.Server
	connections atomic.Int64
}

func serve(t *testing.T, streams int, handler http.HandlerFunc) *server {
	t.Helper()
	s := &server{Server: httptest.NewUnstartedServer(handler)}
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: streams}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// to is an exchange with a server; what its answer holds is written to body.
func (s *server) to(t *testing.T, text string, body io.Writer) h2.Exchange {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/orders?x=1", strings.NewReader(text))
	require.NoError(t, err)
	request.Header.Set("Idempotency-Key", "k1")
	begun := time.Now()
	return h2.Exchange{
		Request: request, Body: body, DialTimeout: long, Timeout: long, Now: func() time.Duration { return time.Since(begun) },
		Dial: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", s.Listener.Addr().String())
		},
	}
}

// echo answers with what it got.
func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Seen", r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Idempotency-Key"))
	w.WriteHeader(http.StatusCreated)
	_, _ = io.Copy(w, r.Body)
}

func TestARequestIsAnsweredOnItsStream(t *testing.T) {
	t.Parallel()
	s := serve(t, 10, echo)
	var body bytes.Buffer
	result, err := h2.NewPool().Do(t.Context(), s.to(t, `{"amount":1200}`, &body))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, result.Status)
	require.Equal(t, "POST /orders?x=1 k1", result.Header.Get("Seen"))
	require.Equal(t, `{"amount":1200}`, body.String())
	require.True(t, result.Complete)
	require.NotNil(t, result.Conn)
	require.Greater(t, result.Sent, int64(len(`{"amount":1200}`)))
	require.LessOrEqual(t, result.Wrote, result.Replied)
	require.NotZero(t, result.Wrote)
}

// burst is the members of a burst, which are released when all of them have arrived.
type burst struct {
	mu      sync.Mutex
	missing int
	release []func()
	due     atomic.Bool
	gone    chan struct{}
}

func (b *burst) Arrive(release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.release = append(b.release, release)
	if b.missing--; b.missing > 0 {
		return
	}
	b.due.Store(true)
	for _, release := range b.release {
		release()
	}
	close(b.gone)
}

func (b *burst) Wait() error { <-b.gone; return nil }
func (b *burst) Due() bool   { return b.due.Load() }

// together sends a burst over one pool and returns the results.
func together(t *testing.T, s *server, members int) []h2.Result {
	t.Helper()
	pool, b := h2.NewPool(), &burst{missing: members, gone: make(chan struct{})}
	results, failed := make([]h2.Result, members), make([]error, members)
	var sending sync.WaitGroup
	for n := range members {
		x := s.to(t, "{}", io.Discard)
		x.Member, x.Shared = b, true
		sending.Go(func() { results[n], failed[n] = pool.Do(t.Context(), x) })
	}
	sending.Wait()
	require.NoError(t, errors.Join(failed...))
	return results
}

func TestTheMembersOfABurstShareAConnectionAndAreReleasedTogether(t *testing.T) {
	t.Parallel()
	var whole atomic.Int64
	s := serve(t, 100, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		whole.Add(1)
		w.WriteHeader(http.StatusCreated)
	})
	for _, r := range together(t, s, 8) {
		require.Equal(t, http.StatusCreated, r.Status)
	}
	require.EqualValues(t, 8, whole.Load())
	require.EqualValues(t, 1, s.connections.Load())
}

func TestAFullConnectionLeadsToAnother(t *testing.T) {
	t.Parallel()
	var served atomic.Int64
	s := serve(t, 2, func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		echo(w, r)
	})
	for _, r := range together(t, s, 6) {
		require.Equal(t, http.StatusCreated, r.Status)
	}
	require.EqualValues(t, 6, served.Load(), "none is sent twice")
	require.GreaterOrEqual(t, s.connections.Load(), int64(3))
}

func TestWhereNoConnectionOpensNothingWasSent(t *testing.T) {
	t.Parallel()
	s := serve(t, 2, echo)
	x := s.to(t, "{}", io.Discard)
	x.Dial = func(context.Context) (net.Conn, error) { return nil, syscall.ECONNREFUSED }
	result, err := h2.NewPool().Do(t.Context(), x)
	var undialled *h2.DialError
	require.ErrorAs(t, err, &undialled)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.Zero(t, result)
}

func TestAStreamThatTheServerResetsHasNoAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, 2, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	result, err := h2.NewPool().Do(t.Context(), s.to(t, "{}", io.Discard))
	require.ErrorIs(t, err, h2.ErrStreamReset)
	require.Zero(t, result.Status)
	require.False(t, result.Complete)
	require.NotZero(t, result.Wrote, "it was sent, and may have been executed")
}

func TestAnAnswerThatDoesNotComeTimesOut(t *testing.T) {
	t.Parallel()
	s := serve(t, 2, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	x := s.to(t, "{}", io.Discard)
	x.Timeout = 50 * time.Millisecond
	_, err := h2.NewPool().Do(t.Context(), x)
	require.ErrorContains(t, err, "i/o timeout")
	var timeout net.Error
	require.ErrorAs(t, err, &timeout)
	require.True(t, timeout.Timeout())
}
