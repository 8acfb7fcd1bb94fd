package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/proxy"
)

// balanced opens a balancer and returns where it listens.
func balanced(t *testing.T, instances ...string) string {
	t.Helper()
	b, err := proxy.OpenBalancer(t.Context(), "127.0.0.1:0", instances)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, b.Close())
		require.NoError(t, b.Close(), "closing again does nothing")
	})
	return fmt.Sprintf("127.0.0.1:%d", b.Port())
}

// named is the address of an HTTP server that answers with its name.
func named(t *testing.T, name string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, name) }))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func dialTCP(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(long)))
	return c.(*net.TCPConn)
}

func TestABalancerTakesTurns(t *testing.T) {
	address := balanced(t, named(t, "a"), named(t, "b"), named(t, "c"))
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: long}
	var heard strings.Builder
	for range 6 {
		answer, err := client.Get("http://" + address)
		require.NoError(t, err)
		_, err = io.Copy(&heard, answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
	}
	require.Equal(t, "abcabc", heard.String())
}

func TestWhatABalancerPassesOnMayBeTLS(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) }))
	defer secure.Close()
	address := balanced(t, named(t, "plain"), secure.Listener.Addr().String())
	client := secure.Client()
	_, err := client.Get("https://" + address)
	require.ErrorContains(t, err, "HTTP response to HTTPS client", "each for itself")
	answer, err := client.Get("https://" + address)
	require.NoError(t, err)
	defer answer.Body.Close()
	host, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, address, string(host))
}

func TestABalancerPassesOnHowAConnectionEnds(t *testing.T) {
	// The one answers when its client has sent all that it will, the other resets, the third closes in the middle.
	polite := rawTarget(t, func(c *net.TCPConn) {
		defer c.Close()
		heard, err := io.ReadAll(c)
		if err == nil {
			_, _ = c.Write([]byte("heard " + string(heard)))
		}
	})
	rude := rawTarget(t, func(c *net.TCPConn) {
		_, _ = io.ReadFull(c, make([]byte, 5))
		_ = c.SetLinger(0)
		_ = c.Close()
	})
	address := balanced(t, polite, rude, refusing(t), polite)

	c := dialTCP(t, address)
	_, err := c.Write([]byte("hello"))
	require.NoError(t, err)
	require.NoError(t, c.CloseWrite())
	heard, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Equal(t, "heard hello", string(heard))

	c = dialTCP(t, address)
	_, err = c.Write([]byte("hello"))
	require.NoError(t, err)
	_, err = io.ReadAll(c)
	require.True(t, errors.Is(err, syscall.ECONNRESET), "%v", err)

	var early net.Conn
	if early, err = net.Dial("tcp", address); err == nil { // the reset may come before the dial returns
		_, err = io.ReadAll(early)
		_ = early.Close()
	}
	require.True(t, errors.Is(err, syscall.ECONNRESET), "an instance that is not there is not replaced by another: %v", err)

	c = dialTCP(t, address)
	require.NoError(t, c.CloseWrite())
	heard, err = io.ReadAll(c)
	require.NoError(t, err)
	require.Equal(t, "heard ", string(heard), "and the next one's turn comes all the same")
}

func TestABalancerTellsAnInstanceThatItsClientReset(t *testing.T) {
	ended := make(chan error, 1)
	address := balanced(t, rawTarget(t, func(c *net.TCPConn) {
		defer c.Close()
		_, err := io.Copy(io.Discard, c)
		ended <- err
	}))
	c := dialTCP(t, address)
	_, err := c.Write([]byte("hello"))
	require.NoError(t, err)
	require.NoError(t, c.SetLinger(0))
	require.NoError(t, c.Close())
	select {
	case err := <-ended:
		require.True(t, errors.Is(err, syscall.ECONNRESET), "%v", err)
	case <-time.After(long):
		t.Fatal("the instance was told nothing")
	}
}

func TestABalancerThatClosesEndsItsConnections(t *testing.T) {
	b, err := proxy.OpenBalancer(t.Context(), "127.0.0.1:0", []string{rawTarget(t, func(c *net.TCPConn) {
		defer c.Close()
		_, _ = io.Copy(c, c)
	})})
	require.NoError(t, err)
	c := dialTCP(t, fmt.Sprintf("127.0.0.1:%d", b.Port()))
	_, err = c.Write([]byte("x"))
	require.NoError(t, err)
	_, err = io.ReadFull(c, make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, b.Close())
	_, err = c.Read(make([]byte, 1))
	require.Error(t, err)
	_, err = proxy.OpenBalancer(t.Context(), "127.0.0.1:0", nil)
	require.ErrorContains(t, err, "there is no instance")
}

func TestALaneLeadsToTheInstanceThatIsAskedFor(t *testing.T) {
	lanes, err := proxy.Open(t.Context(), map[string][]faults.Fault{"slow": {{Latency: &faults.Latency{Delay: faults.Duration(time.Millisecond)}}}},
		proxy.Options{Upstream: named(t, "upstream"), Instances: []string{named(t, "a"), named(t, "b"), refusing(t)}})
	require.NoError(t, err)
	defer func() { require.NoError(t, lanes.Close()) }()
	for _, lane := range []string{faults.Clean, "slow"} {
		for instance, name := range []string{"upstream", "a", "b"} {
			c, _, err := lanes.DialInstance(t.Context(), lane, instance)
			require.NoError(t, err)
			require.Equal(t, name, ask(t, c))
			require.Equal(t, instance, c.(interface{ Instance() int }).Instance())
		}
	}
	c, p, err := lanes.DialInstance(t.Context(), faults.Clean, 3)
	require.NoError(t, err)
	_, err = io.ReadAll(c)
	require.NoError(t, err)
	require.True(t, p.Facts().Refused, "no other instance is tried")
	require.NoError(t, c.Close())
	_, _, err = lanes.DialInstance(t.Context(), faults.Clean, 4)
	require.ErrorContains(t, err, "there is no instance 4 of the target, only 3")
}

// ask sends a GET on a connection and returns what the answer says.
func ask(t *testing.T, c net.Conn) string {
	t.Helper()
	client := http.Client{Timeout: long, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return c, nil },
	}}
	answer, err := client.Get("http://any")
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(text)
}
