package doubletap_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// TestACorrectDesign is what a user's own test looks like: an API that listens, a target file, scenarios.
func TestACorrectDesign(t *testing.T) {
	t.Parallel()
	server, err := orders.Start(t.Context(), orders.Options{Design: "unique-key"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	dir := t.TempDir()
	doubletap.Test(t, doubletap.Options{
		Target:    "docs/examples/orders.yaml",
		Env:       map[string]string{"ORDERS_URL": server.URL(), "DATABASE_URL": server.DatabaseURL()},
		Scenarios: []string{"plain-create", "burst-same-key", "tabs-natural-key"},
		Seed:      7,
		Reports:   dir,
	})
	runs, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, runs, 3, "one run each")
}

func TestAScenarioOfOnesOwn(t *testing.T) {
	t.Parallel()
	doubletap.Test(t, doubletap.Options{Target: "builtin:unique-key", Operation: "create_order", Source: `
name: twice
summary: Sent twice.
intents: 2
steps: [{send: {}}, {send: {}}]
exercised: [replayed]
`})
}
