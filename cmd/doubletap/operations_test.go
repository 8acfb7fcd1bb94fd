package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The second operation of this design does not look its keys up: who plays the first alone does not learn of it.
func TestEachOperationIsPlayedInTurn(t *testing.T) {
	t.Parallel()
	reports := t.TempDir()
	got := callWith(t.Context(), nil, "run", "--target", "builtin:key-ignored-on-variant", "--operation", "all", "--reports", reports, "plain-create", "sequential-replay")
	require.Equal(t, exitFinding, got.code, "the worst of both: %s", got)
	require.Contains(t, got.out, "\nOperations\n  create_order: pass\n  create_quote: fail\n")
	require.NotContains(t, got.out, "Only the operation")
	require.Equal(t, 1, strings.Count(got.out, "--operation create_quote"), "each run names its own operation for the next time")
	runs, err := os.ReadDir(reports)
	require.NoError(t, err)
	require.Len(t, runs, 2, "a run for each")

	// At a target that is named the same operation is played again, and the command that does so names both.
	got = callWith(t.Context(), nil, "replay", "last", "--reports", reports, "--target", "builtin:key-ignored-on-variant")
	require.Equal(t, exitFinding, got.code, "%s", got)
	require.Contains(t, got.out, "doubletap replay "+reports)
	require.Regexp(t, `again +doubletap replay \S+ --target builtin:key-ignored-on-variant`, got.out)

	got = callWith(t.Context(), nil, "run", "--target", "builtin:unique-key", "--operation", "all", "--reports", t.TempDir(), "plain-create")
	require.Equal(t, exitPass, got.code, "%s", got)

	got = callWith(t.Context(), nil, "run", "--target", "builtin:unique-key", "--reports", t.TempDir(), "plain-create")
	require.Contains(t, strings.Join(strings.Fields(got.out), " "), "and not create_quote: run --operation all plays each.")
}
