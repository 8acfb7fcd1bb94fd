package main

import (
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	client "github.com/Shopify/toxiproxy/v2/client"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/sut"
)

// TestAToxiproxyServerThatRunsAlready uses another's server and leaves it as it was.
func TestAToxiproxyServerThatRunsAlready(t *testing.T) {
	t.Parallel()
	address := toxiproxyServer(t)
	api := client.NewClient(address)
	theirs, err := api.CreateProxy("theirs", "127.0.0.1:0", "127.0.0.1:1")
	require.NoError(t, err)

	for design, code := range map[string]int{"unique-key": exitPass, "check-then-insert": exitFinding} {
		x := trial{reports: t.TempDir()}
		got := callWith(t.Context(), nil, "run", "--reports", x.reports, "--target", sut.BuiltinPrefix+design, "--toxiproxy", address,
			"cut-reset", "withheld-answer", "burst-same-key")
		require.Equal(t, code, got.code, "%s", got)
		require.Contains(t, got.out, "--toxiproxy "+address)
		x.checked(t, got)
		for _, h := range histories(t, onlyRun(t, x.reports)) {
			for _, lane := range h.Run.Lanes {
				require.Equal(t, address, lane.Proxy)
			}
		}
		left, err := api.Proxies()
		require.NoError(t, err)
		require.Len(t, left, 1, "only the one that was there before")
		require.Contains(t, left, theirs.Name)
	}
}

func TestThePasswordOfAToxiproxyServerIsInNoFile(t *testing.T) {
	t.Parallel()
	address := strings.TrimPrefix(toxiproxyServer(t), "http://")
	for _, given := range []string{"http://me:hunter22@" + address, "me:hunter22@" + address} {
		reports := t.TempDir()
		got := callWith(t.Context(), nil, "run", "--reports", reports, "--target", "builtin:replay-status-changed", "--toxiproxy", given, "sequential-replay")
		require.Equal(t, exitFinding, got.code, "%s", got)
		require.NotContains(t, got.String(), "hunter22")
		requireNowhere(t, reports, "hunter22")
		finding, err := rundir.ReadFinding(filepath.Join(onlyRun(t, reports), rundir.FindingsName, "F1"))
		require.NoError(t, err)
		require.Equal(t, "http://me:xxxxx@"+address, finding.Toxiproxy)
	}
}

// toxiproxyServer starts the library's own API server and returns its URL.
func toxiproxyServer(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	server := &http.Server{Handler: api.Routes(), ReadHeaderTimeout: time.Second}
	go server.Serve(l)
	t.Cleanup(func() { server.Close(); api.Collection.Clear() })
	return "http://" + l.Addr().String()
}

// What happens to the toxiproxy server is nothing that the target did.
func TestAToxiproxyServerThatIsEmptiedInARunIsNoTargetThatIsGone(t *testing.T) {
	t.Parallel()
	address, reports := toxiproxyServer(t), t.TempDir()
	p := start(t, nil, "run", "--reports", reports, "--target", demoTarget, "--toxiproxy", address, writeFile(t, "long.yaml", long))
	eventually(t, "the run is under way", busyWith(reports, "long", 20))
	proxies, err := client.NewClient(address).Proxies()
	require.NoError(t, err)
	for _, proxy := range proxies {
		require.NoError(t, proxy.Delete())
	}
	require.Equal(t, exitEnvironment, p.wait(t), "%s", p.out)
	require.Contains(t, p.out.String(), "any more: it was started again, or emptied")
	require.Equal(t, "broken", onlyReport(t, reports).Results[0].Verdict.String())
	require.NotContains(t, p.out.String(), "target went away")
}

// A client of a server that is gone may find its port in use again, by a lane: what it does there is not taken for the run's own, nor for a fault of the
// target.
func TestAConnectionOfAnotherProgramIsSaid(t *testing.T) {
	t.Parallel()
	address := toxiproxyServer(t)
	var once sync.Once
	x := newShop(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			once.Do(func() {
				proxies, err := client.NewClient(address).Proxies()
				if err != nil {
					return
				}
				for _, proxy := range proxies {
					if conn, err := net.Dial("tcp", proxy.Upstream); err == nil {
						conn.Close()
					}
				}
			})
			next.ServeHTTP(w, r)
		})
	}).trial(t, "plain-create")
	_, x.env["SHOP_URL"] = counting(t, 1, x.env["SHOP_URL"])
	x.file = shopFile + "received: {path: /-/received, pointer: /received}\n"
	x.args = append(x.args, "--toxiproxy", address)
	got := x.run(t)
	require.Equal(t, exitEnvironment, got.code, "%s", got)
	require.Contains(t, got.err, `a connection came out of lane "clean" that was not the one expected`)
	require.NotContains(t, got.err, "some requests are not on record")
}
