package proxy_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proxy"
)

// toxiproxyServer is a real toxiproxy server on a free port; it must be empty in the end.
func toxiproxyServer(t *testing.T) (url string, api *toxiproxy.ApiServer) {
	api = toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	server := httptest.NewServer(api.Routes())
	t.Cleanup(func() {
		server.Close()
		require.Empty(t, api.Collection.Proxies())
	})
	return server.URL, api
}

func TestLanesOnAServer(t *testing.T) {
	t.Parallel()
	target := newTarget(t, 1<<20)
	url, api := toxiproxyServer(t)
	l := openWith(t, proxy.Options{Upstream: target.addr(), Toxiproxy: url}, map[string][]faults.Fault{
		"lossy answer/1": {loseResponse},
		"withheld":       {withhold},
	})
	require.Equal(t, history.Lane{
		Name: "lossy answer/1", Faults: []string{"lose response"}, Proxy: url, Doorstep: true,
	}, l.Facts()[1])
	require.Len(t, api.Collection.Proxies(), 3)
	for name := range api.Collection.Proxies() {
		require.True(t, strings.HasPrefix(name, "doubletap-20"), name)
	}

	c, p := dial(t, l, "lossy answer/1")
	require.Equal(t, history.Reset, exchange(c, request("/orders", 2)).kind())
	require.Equal(t, 201, settled(t, p).Status)
	c, p = dial(t, l, faults.Clean)
	require.Equal(t, 201, exchange(c, request("/orders", 2)).status)
	require.Equal(t, 201, settled(t, p).Status)
	c, p = dial(t, l, "withheld")
	_, err := io.WriteString(c, request("/orders", 2))
	require.NoError(t, err)
	require.Equal(t, 201, settled(t, p).Status)

	require.NoError(t, l.RemoveFaults(t.Context()))
	require.Len(t, api.Collection.Proxies(), 1)
	require.NoError(t, l.Close())
	require.Empty(t, api.Collection.Proxies())
	require.NoError(t, l.Close(), "again")
}

func TestTwoRunsOnOneServerDoNotCollide(t *testing.T) {
	t.Parallel()
	target := newTarget(t, 10)
	url, api := toxiproxyServer(t)
	o := proxy.Options{Upstream: target.addr(), Toxiproxy: url}
	one, other := openWith(t, o, nil), openWith(t, o, nil)
	require.Len(t, api.Collection.Proxies(), 2)
	require.NoError(t, one.Close())
	c, _ := dial(t, other, faults.Clean)
	require.Equal(t, 201, exchange(c, request("/orders", 2)).status)
}

func TestAProxyThatSomebodyElseDeletedIsNoProblem(t *testing.T) {
	t.Parallel()
	url, api := toxiproxyServer(t)
	l, err := proxy.Open(t.Context(), map[string][]faults.Fault{"w": {withhold}}, proxy.Options{
		Upstream: "127.0.0.1:1", Toxiproxy: url,
	})
	require.NoError(t, err)
	require.NoError(t, api.Collection.Clear())
	_, _, err = l.Dial(t.Context(), faults.Clean)
	require.ErrorContains(t, err, `dial lane "clean": `)
	require.NoError(t, l.Close())
}

func TestAServerThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	url := "http://" + refusing(t)
	_, err := proxy.Open(t.Context(), nil, proxy.Options{Upstream: "127.0.0.1:1", Toxiproxy: url})
	require.ErrorContains(t, err, "open lanes: reach toxiproxy server at "+url+": ")
	_, err = proxy.OpenLink(t.Context(), proxy.Link{Name: "db"}, proxy.Options{Toxiproxy: url})
	require.ErrorContains(t, err, `open link "db": reach toxiproxy server at `+url)
	_, err = proxy.Open(t.Context(), nil, proxy.Options{Toxiproxy: "http://bad host"})
	require.ErrorContains(t, err, "toxiproxy server: ")
}

func TestAnOpenThatFailsHalfWayLeavesNothing(t *testing.T) {
	t.Parallel()
	url, api := toxiproxyServer(t)
	_, err := proxy.Open(t.Context(), map[string][]faults.Fault{"w": {withhold}, "z": {{}}}, proxy.Options{
		Upstream: "127.0.0.1:1", Toxiproxy: url,
	})
	require.ErrorContains(t, err, `open lane "z"`)
	require.Empty(t, api.Collection.Proxies())
}

// A connection at the upstream tap that was not dialled: from then on it is unknown which is whose.
func TestAStrangerAtTheDoorstepMakesTheLaneDoubtful(t *testing.T) {
	t.Parallel()
	target := newTarget(t, 10)
	url, api := toxiproxyServer(t)
	l := openWith(t, proxy.Options{Upstream: target.addr(), Toxiproxy: url}, nil)
	c, p := dial(t, l, faults.Clean)
	require.Equal(t, 201, exchange(c, request("/orders", 2)).status)
	require.Equal(t, 201, settled(t, p).Status)
	for _, road := range api.Collection.Proxies() {
		stranger, err := net.Dial("tcp", road.Upstream)
		require.NoError(t, err)
		require.Equal(t, 201, exchange(stranger, request("/orders", 2)).status)
		require.NoError(t, stranger.Close())
	}
	require.Zero(t, p.Facts())
	c, p = dial(t, l, faults.Clean)
	require.Equal(t, 201, exchange(c, request("/orders", 2)).status)
	require.Zero(t, p.Facts())
}

// A connection that does not come out may yet do so, in the place of another.
func TestAConnectionThatDoesNotComeOutMakesTheLaneDoubtful(t *testing.T) {
	t.Parallel()
	target := newTarget(t, 10)
	url, api := toxiproxyServer(t)
	l := openWith(t, proxy.Options{Upstream: target.addr(), Toxiproxy: url}, nil)
	c, p := dial(t, l, faults.Clean)
	require.Equal(t, 201, exchange(c, request("/orders", 2)).status)
	require.Equal(t, 201, settled(t, p).Status)
	for _, road := range api.Collection.Proxies() {
		elsewhere := &toxiproxy.Proxy{Listen: road.Listen, Upstream: target.addr(), Enabled: true}
		require.NoError(t, road.Update(elsewhere))
	}
	_, _, err := l.Dial(t.Context(), faults.Clean)
	require.ErrorContains(t, err, `dial lane "clean": toxiproxy did not pass the connection on`)
	require.Zero(t, p.Facts())
}

func TestAnInterruptedDialDoesNotMakeTheLaneDoubtful(t *testing.T) {
	t.Parallel()
	target := newTarget(t, 10)
	l := faulty(t, target.addr(), withhold)
	c, p := dial(t, l, "faulty")
	_, err := io.WriteString(c, request("/orders", 2))
	require.NoError(t, err)
	require.Equal(t, 201, settled(t, p).Status)
	var clients sync.WaitGroup
	for range 10 {
		clients.Go(func() {
			for err := error(nil); err == nil; {
				_, _, err = l.Dial(context.Background(), "faulty")
			}
		})
	}
	eventually(t, "there is traffic", func() bool { return target.connections.Load() > 10 })
	require.NoError(t, l.RemoveFaults(t.Context()))
	clients.Wait()
	require.Equal(t, 201, p.Facts().Status)
}

// A server under a name that is not a loopback address could not reach an upstream tap of ours.
func TestLanesOnADistantServerHaveNoDoorstep(t *testing.T) {
	t.Parallel()
	address := distantAddress(t)
	target := newTarget(t, 10)
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(api.Routes())
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)

	l := openWith(t, proxy.Options{Upstream: target.addr(), Toxiproxy: server.URL}, map[string][]faults.Fault{
		"lossy": {loseRequest},
	})
	require.False(t, l.Facts()[0].Doorstep)
	c, p := dial(t, l, faults.Clean)
	require.Equal(t, 201, exchange(c, request("/orders", 2)).status)
	require.Zero(t, p.Facts())
	c, _ = dial(t, l, "lossy")
	require.Equal(t, history.Reset, exchange(c, request("/orders", 1<<20)).kind())
	require.EqualValues(t, 1, target.committed.Load())
	require.Zero(t, l.InFlight())
	require.NoError(t, l.RemoveFaults(t.Context()))
	require.NoError(t, l.Close())
	require.Empty(t, api.Collection.Proxies())
}

// distantAddress is an address of this machine that is not a loopback one.
func distantAddress(t *testing.T) string {
	addresses, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	t.Skip("this machine has only loopback addresses")
	return ""
}

func TestLinks(t *testing.T) {
	t.Parallel()
	url, _ := toxiproxyServer(t)
	for place, o := range map[string]proxy.Options{"in-process": {}, url: {Toxiproxy: url}} {
		t.Run(place, func(t *testing.T) {
			target := newTarget(t, 10)
			link, err := proxy.OpenLink(t.Context(), proxy.Link{
				Name:     "db",
				Listen:   "127.0.0.1:0",
				Upstream: target.addr(),
				Faults:   []faults.Fault{{Latency: &faults.Latency{Delay: ms(1)}}, {SlowClose: &faults.SlowClose{Delay: ms(3_600_000)}}},
			}, o)
			require.NoError(t, err)
			require.Equal(t, history.Lane{
				Name:   "db",
				Faults: []string{"latency 1ms, both ways", "slow close 1h0m0s, both ways"},
				Delay:  2_000_000,
				Proxy:  place,
			}, link.Facts())

			_, err = proxy.OpenLink(t.Context(), proxy.Link{Name: "db2", Listen: link.Address(), Upstream: target.addr()}, o)
			require.ErrorContains(t, err, `open link "db2": `)
			require.ErrorContains(t, err, link.Address())
			require.ErrorContains(t, err, "address already in use")

			var idle sync.WaitGroup
			c, err := net.Dial("tcp", link.Address())
			require.NoError(t, err)
			require.Equal(t, 201, exchange(c, request("/orders", 2)).status)
			idle.Go(func() { _, _ = io.Copy(io.Discard, c) })
			require.NoError(t, link.Close())
			require.NoError(t, link.Close(), "again")
			idle.Wait()
			require.NoError(t, c.Close())
		})
	}
}

func TestALinkWithAMistake(t *testing.T) {
	t.Parallel()
	_, err := proxy.OpenLink(t.Context(), proxy.Link{Name: "db", Faults: []faults.Fault{{}}}, proxy.Options{})
	require.ErrorContains(t, err, `open link "db": a fault is exactly one thing`)
}

func TestATargetOnASocketTakesADoorstep(t *testing.T) {
	t.Parallel()
	address := distantAddress(t)
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(api.Routes())
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	_, err = proxy.Open(t.Context(), nil, proxy.Options{Socket: "/run/shop.sock", Toxiproxy: server.URL})
	require.ErrorContains(t, err, "the target listens on a Unix domain socket, to which a toxiproxy server on another machine does not get through")
	require.Empty(t, api.Collection.Proxies())
}

// hostile is a server that answers each question of the API as it likes.
func hostile(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL
}

// Neither a redirect nor the address that a server announces leads a run to another host.
func TestAServerLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	elsewhere := hostile(t, func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		_, _ = io.WriteString(w, `{"version":"2.12.0"}`)
	})
	redirects := hostile(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere+r.URL.Path, http.StatusTemporaryRedirect)
	})
	_, err := proxy.Open(t.Context(), nil, proxy.Options{Upstream: "127.0.0.1:1", Toxiproxy: redirects})
	require.ErrorContains(t, err, "it redirects (HTTP 307), which is not followed")
	require.Zero(t, reached.Load())

	for listen, want := range map[string]string{
		"db.example.com:5432": "it says that it listens at db.example.com:5432, which is neither the server nor what was asked for",
		"192.0.2.7:80":        "it says that it listens at 192.0.2.7:80",
		"here":                `it says that it listens at "here"`,
	} {
		var removed atomic.Int64
		announces := hostile(t, func(w http.ResponseWriter, r *http.Request) {
			switch r.Method {
			case http.MethodPost:
				_, _ = io.WriteString(w, `{"name":"a","listen":"`+listen+`"}`)
			case http.MethodDelete:
				removed.Add(1)
			default:
				_, _ = io.WriteString(w, `{}`)
			}
		})
		_, err := proxy.Open(t.Context(), nil, proxy.Options{Upstream: "127.0.0.1:1", Toxiproxy: announces})
		require.ErrorContains(t, err, want)
		require.Positive(t, removed.Load(), "the proxy is not left there")
	}
	talks := hostile(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
	_, err = proxy.Sweep(talks)
	require.ErrorContains(t, err, "its answer is not that of a toxiproxy server")
}

func TestAServerThatWasEmptiedIsNamed(t *testing.T) {
	t.Parallel()
	target := newTarget(t, 10)
	url, api := toxiproxyServer(t)
	l := openWith(t, proxy.Options{Upstream: target.addr(), Toxiproxy: url}, nil)
	require.NoError(t, api.Collection.Clear())
	_, _, err := l.Dial(t.Context(), faults.Clean)
	var lost *proxy.LostError
	require.ErrorAs(t, err, &lost)
	require.True(t, lost.Ours())
	require.Contains(t, err.Error(), "the toxiproxy server at "+url+" does not have the proxy doubletap-")
	require.Contains(t, err.Error(), "any more: it was started again, or emptied")
}
