package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/orders"
)

// TestSeveralAddressesOnTheCommandLine plays a target that has two addresses, and sends its finding again.
func TestSeveralAddressesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	at := func(design string) trial {
		server, err := orders.Start(t.Context(), orders.Options{Design: design})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, server.Close()) })
		base, database := server.Target().BaseURL, server.Target().Database.URL
		return trial{reports: t.TempDir(), folder: t.TempDir(), args: []string{"burst-same-key"}, file: `name: orders
base_url: ` + base + `
instances: {eu: "` + base + `", us: "` + base + `"}
database: {url: "` + database + `"}
contract: {preset: ietf, in_progress: {mode: wait}}
operations:
  create_order:
    request: {path: /orders, headers: {Authorization: Bearer alice}, body: {note: "{{.Intent.Marker}}", reference: "{{.Intent.Reference}}", item: lamp, amount: 1200}}
    key: {in: header, required: true}
    identity: /id
    rows: {query: select id from orders where note = :marker, identity: id}
`}
	}
	at("unique-key").examined(t, exitPass, "✓ address eu at 127.0.0.1:", "✓ address us at 127.0.0.1:", ": a plain create takes ")
	x := at("check-then-insert")
	got := x.run(t)
	require.Equal(t, exitFinding, got.code, "%s", got)
	text := strings.Join(strings.Fields(got.out), " ")
	require.Contains(t, text, "requests in turn to eu at 127.0.0.1:")
	require.Contains(t, text, "aimed to arrive at 2 addresses within ")
	require.Contains(t, text, "instance 2")
	x.checked(t, got)
	again := callWith(t.Context(), nil, "replay", onlyRun(t, x.reports)+"/findings/F1", "--reports", t.TempDir())
	require.Equal(t, exitFinding, again.code, "%s", again)
	require.Equal(t, exitConfig, callWith(t.Context(), nil, "run", "--target", x.folder+"/target.yaml", "--instances", "2", "plain-create").code)
}
