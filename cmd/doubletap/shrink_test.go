package main

import (
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/shrink"
	"github.com/doubletap-harness/doubletap/sut"
)

// keyless is a shop that knows no keys and answers so many requests, and its finding of a scenario.
func keyless(t *testing.T, left *atomic.Int64, limit string) (trial, string) {
	t.Helper()
	x := newShop(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if left.Add(-1) < 0 {
				panic(http.ErrAbortHandler)
			}
			r.Header.Set("Idempotency-Key", rand.Text())
			next.ServeHTTP(w, r)
		})
	}).trial(t, "burst-same-key", "--seed", "1")
	x.file += limit
	left.Store(1 << 30)
	got := x.run(t)
	require.Equal(t, exitFinding, got.code, "%s", got)
	return x, filepath.Join(onlyRun(t, x.reports), rundir.FindingsName, "F1")
}

func TestRoundsForWhichThereIsNoTimeDoNotCount(t *testing.T) {
	t.Parallel()
	x, finding := keyless(t, new(atomic.Int64), "rate_limit: {requests: 20, per: 200ms}\n")
	got := callWith(t.Context(), x.env, "shrink", finding, "--reports", t.TempDir(), "--budget", "1s")
	require.Equal(t, exitInconclusive, got.code, "%s", got)
	require.Equal(t, "not reproduced: the time was over before the first rounds were played\n", got.out)
}

// Who ends a shrink before its first rounds is not told that its time was over.
func TestAShrinkThatIsEndedAtOnceSaysSo(t *testing.T) {
	t.Parallel()
	var left atomic.Int64
	x, finding := keyless(t, &left, "rate_limit: {requests: 20, per: 200ms}\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := left.Load()
	go func() {
		const ofThePilot = 40 // and a few more: the first rounds have hundreds
		for left.Load() > before-ofThePilot && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	got := callWith(ctx, x.env, "shrink", finding, "--reports", t.TempDir(), "--budget", "1m")
	require.Equal(t, exitInterrupted, got.code, "%s", got)
	require.Equal(t, "interrupted before the first rounds were played\n", got.out)
}

func TestRoundsThatCouldNotBePlayedDoNotCount(t *testing.T) {
	t.Parallel()
	left := new(atomic.Int64)
	x, finding := keyless(t, left, "")
	const pilotAndFirst = 250
	left.Store(pilotAndFirst)
	got := callWith(t.Context(), x.env, "shrink", finding, "--reports", t.TempDir())
	require.Equal(t, exitEnvironment, got.code, "%s", got)
	require.Regexp(t, `undecided +0 of 0 +without .*: the rounds could not be played: `, got.out)
	require.Regexp(t, `  open   [0-9]+ things could not be tried to the end\n`, got.out)
	shrunk, err := os.ReadFile(filepath.Join(finding, shrink.FileName))
	require.NoError(t, err)
	require.Regexp(t, `# [0-9]+ things could not be tried to the end\.`, strings.Split(string(shrunk), "\n")[1])
}

// shrunk shrinks the first finding of a design, and returns the file of what is left.
func shrunk(t *testing.T, design, scenario string) string {
	t.Helper()
	finding := found(t, design, scenario)
	got := callWith(t.Context(), nil, "shrink", finding, "--reports", t.TempDir(), "--budget", "30s")
	require.Equal(t, exitPass, got.code, "%s", got)
	return filepath.Join(finding, shrink.FileName)
}

// The second request must not be left out because the final retry is one as well: a mended target could not be passed.
func TestAMendedTargetPassesWhatIsLeft(t *testing.T) {
	t.Parallel()
	file := shrunk(t, "replay-fresh-answer", "sequential-replay")
	run := filepath.Join(filepath.Dir(file), "..", "..")
	for _, name := range []string{"report.html", "report.txt", "report.md", "report.json", "junit.xml"} {
		text, err := os.ReadFile(filepath.Join(run, name))
		require.NoError(t, err)
		require.Regexp(t, `in \d+ of \d+ separate\s+runs`, string(text), name)
	}
	judged := callWith(t.Context(), nil, "check", run)
	require.Regexp(t, `in \d+ of \d+ separate\s+runs`, judged.out, "who judges it again is told as well")
	for design, want := range map[string]int{"replay-fresh-answer": exitFinding, "unique-key": exitPass} {
		got := callWith(t.Context(), nil, "run", file, "--reports", t.TempDir(), "--target", sut.BuiltinPrefix+design)
		require.Equal(t, want, got.code, "%s", got)
	}
}

// What trials leave behind, such as an empty stock, is no part of what is left.
func TestWhatIsLeftShowsAtATargetThatHasJustStarted(t *testing.T) {
	t.Parallel()
	file := shrunk(t, "insufficient-as-duplicate", "read-after-create")
	got := callWith(t.Context(), nil, "run", file, "--reports", t.TempDir(), "--target", "builtin:insufficient-as-duplicate")
	require.Equal(t, exitFinding, got.code, "%s", got)
}
