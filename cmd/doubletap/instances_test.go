package main

import (
	"net/http/httptest"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/proofs"
)

func TestInstancesBehindAToxiproxyServer(t *testing.T) {
	t.Parallel()
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	server := httptest.NewServer(api.Routes())
	defer server.Close()
	file, _ := serviceFile(t, "unique-key", "sqlite")
	x := trial{reports: t.TempDir()}
	got := callWith(t.Context(), nil, "run", "--target", file, "--instances", "2", "--toxiproxy", server.URL, "--reports", x.reports, "other-instance", "withheld-answer")
	require.Equal(t, exitPass, got.code, "%s", got)
	x.checked(t, got)
	for _, h := range histories(t, onlyRun(t, x.reports)) {
		require.Equal(t, 2, h.Run.Instances)
		went := map[int]int{}
		for _, a := range h.Attempts {
			went[a.Instance]++
		}
		require.Zero(t, went[0], "of each attempt it is known where it went: %v", went)
		require.Len(t, went, min(2, len(h.Attempts)))
	}
	spread := onlyReport(t, x.reports).Results[0].Exercise[0]
	require.Equal(t, string(proofs.Instances), spread.Proof)
	require.Equal(t, spread.Of, spread.Held)
	require.Empty(t, api.Collection.Proxies(), "nothing is left on the server")
}
