package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/orders"
)

// TestInitWritesHowTheTargetIsStarted holds that a first run kills the service where init was told how to start it, and that init says
// what is not played where it was not.
func TestInitWritesHowTheTargetIsStarted(t *testing.T) {
	t.Parallel()
	database := "sqlite://" + filepath.ToSlash(filepath.Join(t.TempDir(), "orders.db"))
	s, err := orders.Start(t.Context(), orders.Options{Design: "unique-key", Database: database, Keep: true, Work: -1})
	require.NoError(t, err)
	defer s.Close()
	curl := `curl -H 'Authorization: Bearer alice-token' -H 'Idempotency-Key: k-1' -d '{"note": "hello", "reference": "r-1", "item": "lamp", "amount": 1200}' ` + s.URL() + "/orders"
	env := map[string]string{"DATABASE_URL": database, "API_TOKEN": "alice-token"}
	_, alone := initiated(t, env, exitPass, "--curl", curl, "--db", database)
	require.Contains(t, alone.err, "runs will not kill the service or break its connections")
	file, got := initiated(t, env, exitPass, "--curl", curl, "--db", database,
		"--start", "doubletap targets serve unique-key --listen "+s.URL()[len("http://"):]+" --database "+database+" --keep")
	require.NotContains(t, got.err, "runs will not kill")
	text := readFile(t, file)
	require.Contains(t, text, `base_url: http://127.0.0.1:0`)
	require.Contains(t, text, `"127.0.0.1:{{.Port}}", --database, "{{.Database.URL}}"`)
	run := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "crash-between")
	require.Equal(t, exitPass, run.code, run)
	require.Regexp(t, "✓ crash-between +pass", run.out)
}
