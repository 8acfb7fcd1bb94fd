package proxy_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/proxy"
)

const wholeRequest = "POST / HTTP/1.1\r\nHost: shop\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

// openTo opens a lane without faults and one that withholds to a server in TLS. Without an authority, no certificate is trusted.
func openTo(t *testing.T, server *httptest.Server, authority *x509.Certificate) *proxy.Lanes {
	pool := x509.NewCertPool()
	if authority != nil {
		pool.AddCert(authority)
	}
	lanes, err := proxy.Open(t.Context(), map[string][]faults.Fault{"silent": {{Withhold: &faults.Withhold{}}}}, proxy.Options{
		Upstream: server.Listener.Addr().String(),
		TLS:      func(int) *tls.Config { return &tls.Config{RootCAs: pool, ServerName: "example.com"} },
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, lanes.Close()) })
	return lanes
}

func sealed(t *testing.T, c net.Conn) bool {
	s, knows := c.(interface{ Sealed() bool })
	require.True(t, knows)
	return s.Sealed()
}

func TestFaultsStrikeTheRequestAndNotTheHandshakeOfTLS(t *testing.T) {
	t.Parallel()
	created := make(chan bool, 2)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		created <- true
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(server.Close)
	lanes := openTo(t, server, server.Certificate())
	for _, lane := range []string{faults.Clean, "silent"} {
		conn, tap, err := lanes.Dial(t.Context(), lane)
		require.NoError(t, err)
		require.True(t, sealed(t, conn))
		_, err = io.WriteString(conn, wholeRequest)
		require.NoError(t, err)
		select {
		case <-created:
		case <-time.After(time.Minute):
			t.Fatal("the request did not arrive through " + lane)
		}
		if lane == faults.Clean {
			answer, err := io.ReadAll(conn)
			require.NoError(t, err)
			require.Contains(t, string(answer), "HTTP/1.1 201 Created")
		}
		require.Eventually(t, func() bool { return tap.Facts().Status == http.StatusCreated }, time.Minute, time.Millisecond)
		require.EqualValues(t, len(wholeRequest), tap.Facts().Up)
		require.NoError(t, conn.Close())
	}
}

func TestAHandshakeThatFailsIsToldToTheClient(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	conn, tap, err := openTo(t, server, nil).Dial(t.Context(), faults.Clean)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.ReadAll(conn)
	var untrusted x509.UnknownAuthorityError
	require.ErrorAs(t, err, &untrusted)
	var network net.Error
	require.ErrorAs(t, err, &network)
	require.Zero(t, tap.Facts().Up)
	require.False(t, tap.Facts().Refused, "the target takes connections")
}
