package driver_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// It is alone while it counts what the process allocates, so it is not parallel.
func TestALargeBodyDoesNotGoToMemory(t *testing.T) {
	const parts, most = 800, 8 << 20
	part := bytes.Repeat([]byte("0123456789abcdef"), 4<<10)
	address := serveRaw(t, func(p *peer) {
		p.request()
		p.say("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", parts*len(part))
		for range parts {
			_, _ = p.Write(part)
		}
	})
	r := newRig(t, address, send())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a := r.only(t)
	runtime.ReadMemStats(&after)

	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(most))
	require.Equal(t, int64(50<<20), a.Length)
	require.Len(t, a.Content, driver.DefaultKeepBody)
	require.True(t, a.Complete)
	digest := sha256.New()
	for range parts {
		digest.Write(part)
	}
	require.Equal(t, hex.EncodeToString(digest.Sum(nil)), a.Digest)
}

func serveTLS(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%s %s %s", r.Proto, r.Host, r.TLS.ServerName)
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func TestAnHTTPSTargetIsSpokenToInTLS(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]func() scenarios.Step{"alone": send, "in a burst": func() scenarios.Step { return burst(3) }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serveTLS(t)
			r := newRig(t, server.Listener.Addr().String(), step())
			r.Target.BaseURL = "https://example.com:8443/"
			r.Target.TLS = trusting(server)
			for _, a := range r.drive(t).Attempts {
				require.Equal(t, "HTTP/1.1 example.com:8443 example.com", a.Content, a.Error)
				require.True(t, a.Complete)
			}
		})
	}
}

func TestACertificateIsVerified(t *testing.T) {
	t.Parallel()
	server := serveTLS(t)
	roots := trusting(server)
	for name, row := range map[string]struct {
		base string
		tls  *targets.TLS
	}{
		"of an unknown authority": {"https://example.com", nil},
		"of another name":         {"https://orders.test", roots},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, server.Listener.Addr().String(), send())
			r.Target.BaseURL, r.Target.TLS = row.base, row.tls
			a := r.only(t)
			require.Equal(t, history.OtherError, a.ErrorKind)
			require.Contains(t, a.Error, "certificate")
			require.Zero(t, a.Status)
		})
	}
}

func TestAConnectionThatClosesInTheHandshakeIsClosed(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{"without a word": "", "inside a word": "\x16\x03"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, serveRaw(t, func(p *peer) {
				_, _ = p.in.ReadByte()
				_, _ = p.in.Discard(p.in.Buffered())
				p.say("%s", said)
			}), send())
			r.Target.BaseURL = "https://example.com"
			require.Equal(t, history.Closed, r.only(t).ErrorKind)
		})
	}
}
