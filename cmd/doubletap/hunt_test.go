package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/engine"
)

// TestAHuntOnTheCommandLine finds what races, with commands that show it again, and bounds what does not.
func TestAHuntOnTheCommandLine(t *testing.T) {
	t.Parallel()
	reports := t.TempDir()
	found := callWith(t.Context(), nil, "hunt", "--target", "builtin:check-then-insert", "--seed", "7", "--reports", reports, "burst-same-key")
	require.Equal(t, exitFinding, found.code, "%s", found)
	text := strings.Join(strings.Fields(found.out), " ")
	require.Contains(t, text, "a hunt with ")
	require.Contains(t, text, "for at most 5m0s")
	require.Contains(t, text, "The hunt ended with the first finding, after ")
	require.Contains(t, text, "doubletap hunt burst-same-key --target builtin:check-then-insert")
	require.Contains(t, text, "--for 5m0s --seed 7")
	run := onlyRun(t, reports)
	require.Equal(t, exitFinding, callWith(t.Context(), nil, "check", run).code)
	again := callWith(t.Context(), nil, "replay", filepath.Join(run, "findings", "F1"), "--reports", t.TempDir())
	require.Equal(t, exitFinding, again.code, "%s", again)

	clean := []string{"hunt", "--target", "builtin:unique-key", "--reports", t.TempDir(), "burst-same-key", "--until", "20%"}
	none := callWith(t.Context(), nil, clean...)
	require.Equal(t, exitPass, none.code, "%s", none)
	text = strings.Join(strings.Fields(none.out), " ")
	require.Contains(t, text, "The hunt found nothing new in 1")
	require.Contains(t, text, "of such rounds fail. That is the bound that was asked for.")

	short := callWith(t.Context(), nil, append(clean, "--for", "1ns")...)
	require.Equal(t, exitInconclusive, short.code, "%s", short)
	require.Contains(t, strings.Join(strings.Fields(short.out), " "), "The bound that was asked for, 20%, is not reached.")

	for _, wrong := range [][]string{{"plain-create"}, {"--for", "-1s"}, {"--until", "2"}} {
		require.Equal(t, exitConfig, callWith(t.Context(), nil, append([]string{"hunt", "--target", "builtin:unique-key", "--reports", t.TempDir()}, wrong...)...).code, "%v", wrong)
	}
}

func TestTheLineOfAHunt(t *testing.T) {
	t.Parallel()
	require.Equal(t, "3000 rounds · 300 a second · so far less than 0.1% break (until 0.05%) · most signs of trouble: sweep · 10s of 5m0s",
		huntProgress(engine.Hunting{Rounds: 3000, Took: 10 * time.Second, For: 5 * time.Minute, Bound: 0.001, Until: 0.0005, Best: "sweep"}))
	require.Equal(t, "0 rounds · 0 a second · 1s", huntProgress(engine.Hunting{Took: time.Second, Bound: 1}))
}
