package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/servers"
	"github.com/doubletap-harness/doubletap/rundir"
)

// broker starts a private NATS server, and returns its URL, which has a password.
func broker(t *testing.T) string {
	t.Helper()
	server, err := servers.NATS(t.Context(), servers.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { server.Stop() })
	return server.URL()
}

// streams names what is left on a NATS server.
func streamsOn(t *testing.T, address string) []string {
	t.Helper()
	conn, err := nats.Connect(address)
	require.NoError(t, err)
	defer conn.Close()
	js, err := conn.JetStream()
	require.NoError(t, err)
	var names []string
	for name := range js.StreamNames() {
		names = append(names, name)
	}
	return names
}

// called is a command line that is being executed in this process.
type called struct {
	out  *text
	done chan int
}

func callAside(ctx context.Context, env map[string]string, args ...string) *called {
	c := &called{out: &text{}, done: make(chan int, 1)}
	go func() {
		c.done <- execute(ctx, patient(args), streams{out: c.out, err: c.out, getenv: func(name string) (string, bool) {
			value, set := env[name]
			return value, set
		}})
	}()
	return c
}

// sameResults holds that two runs of a plan came to the same.
func sameResults(t *testing.T, want, got checker.Report) {
	t.Helper()
	require.Equal(t, want.Verdict, got.Verdict)
	require.Len(t, got.Results, len(want.Results))
	for i, r := range want.Results {
		require.Equal(t, r.Scenario, got.Results[i].Scenario)
		require.Equal(t, r.Verdict, got.Results[i].Verdict, r.Scenario)
		require.Equal(t, r.Intents, got.Results[i].Intents, r.Scenario)
		require.Equal(t, r.Exercise, got.Results[i].Exercise, r.Scenario)
		require.Len(t, got.Results[i].Findings, len(r.Findings), r.Scenario)
	}
}

// TestAShardOfAKilledWorkerIsPlayedAgain kills one of three workers while the target has a request of its second scenario in hand.
func TestAShardOfAKilledWorkerIsPlayedAgain(t *testing.T) {
	t.Parallel()
	address := broker(t)
	shop := newShop(t, nil)
	target := writeFile(t, "orders.yaml", shopFile)
	env := func(url string) map[string]string {
		return map[string]string{"SHOP_URL": url, "SHOP_DATABASE": "sqlite://" + shop.path, "SHOP_TOKEN": "of-this-machine", placeVariable: address + "/nightly"}
	}
	reports := t.TempDir()
	lead := callAside(t.Context(), nil, "run", "--target", target, "--reports", reports, "--seed", "7", "--workers", address+"/nightly", "--shards", "3", "--lease", "2s",
		"plain-create", "sequential-replay")
	held, release := make(chan bool, 100), make(chan bool)
	defer close(release)
	victims := t.TempDir()
	front := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if found, _ := filepath.Glob(filepath.Join(victims, "*", "sequential-replay", rundir.HistoryName)); len(found) > 0 {
			shop.create(httpDiscard{}, r) // the row is there, and nobody will ask for it
			held <- true
			<-release
		}
		shop.create(w, r)
	}))
	var pairs []string
	for name, value := range env(front) {
		pairs = append(pairs, name+"="+value)
	}
	victim := start(t, pairs, "work", "--target", target, "--reports", victims)
	select {
	case <-held:
	case code := <-lead.done:
		t.Fatalf("the run ended: %d\n%s\n%s", code, lead.out, victim.out)
	}
	require.NoError(t, victim.cmd.Process.Kill())
	var others []*called
	for range 2 {
		others = append(others, callAside(t.Context(), env(shop.url), "work", "--target", target, "--reports", t.TempDir()))
	}
	require.Equal(t, exitPass, <-lead.done, "%s", lead.out)
	for _, o := range others {
		require.Equal(t, exitPass, <-o.done, "%s", o.out)
		require.Contains(t, o.out.String(), "the run is over")
	}
	require.Regexp(t, `shard 1/3 is in, from \S+ \(attempt [2-9]\)`, lead.out.String())
	require.NotContains(t, lead.out.String(), strings.Split(address, ":")[2], "the password of the server")
	require.Empty(t, streamsOn(t, address))

	dir := mergedRun(t, reports)
	requireNowhere(t, dir, "of-this-machine")
	alone := shop.trial(t, "--seed", "7", "plain-create", "sequential-replay")
	got := alone.run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
	sameResults(t, readReport(t, onlyRun(t, alone.reports)), readReport(t, dir))
}

// mergedRun returns the only run in a directory that has a report.
func mergedRun(t *testing.T, reports string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(reports, "*", "report.json"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return filepath.Dir(found[0])
}

// httpDiscard takes an answer that nobody gets.
type httpDiscard struct{}

func (httpDiscard) Header() http.Header         { return http.Header{} }
func (httpDiscard) Write(p []byte) (int, error) { return len(p), nil }
func (httpDiscard) WriteHeader(int)             {}

// TestWhatWorkersFindIsReportedAsOne has one worker play all shards against a design that is broken. Another one does not fit.
func TestWhatWorkersFindIsReportedAsOne(t *testing.T) {
	t.Parallel()
	address, reports := broker(t), t.TempDir()
	lead := callAside(t.Context(), nil, "run", "--target", "builtin:check-then-insert", "--reports", reports, "--seed", "7", "--workers", address+"/broken", "--shards", "2", "long-work")
	other := callWith(t.Context(), nil, "work", "--join", address+"/broken", "--target", "builtin:unique-key")
	require.Equal(t, exitConfig, other.code, "%s", other)
	require.Contains(t, other.err, "builtin:unique-key is not the run's target file")
	second := callWith(t.Context(), nil, "run", "--target", "builtin:unique-key", "--reports", t.TempDir(), "--workers", address+"/broken")
	require.Equal(t, exitConfig, second.code, "%s", second)
	require.Contains(t, second.err, "/broken has a run already")
	worker := callAside(t.Context(), nil, "work", "--join", address+"/broken", "--target", "builtin:check-then-insert", "--reports", t.TempDir())
	require.Equal(t, exitFinding, <-lead.done, "%s", lead.out)
	require.Equal(t, exitPass, <-worker.done, "%s", worker.out)
	require.Contains(t, worker.out.String(), "the run is over: 2 of its 2 shards came from here")
	require.Regexp(t, `worker \S+ has left: builtin:unique-key is not`, lead.out.String())
	require.Regexp(t, `long-work +fail.* 3 of 3 intents.*worked-long 3/3`, lead.out.String())
	require.Empty(t, streamsOn(t, address))

	dir := mergedRun(t, reports)
	report := readReport(t, dir)
	require.Contains(t, report.Replay, dir)
	require.NotContains(t, report.Again, "nats:")
	f, err := rundir.ReadFinding(filepath.Join(dir, rundir.FindingsName, "F3"))
	require.NoError(t, err)
	require.Equal(t, "builtin:check-then-insert", f.Target)
	require.Equal(t, 3, f.Of)

	requireJudgedAgain(t, dir)
	moved := filepath.Join(t.TempDir(), filepath.Base(dir))
	require.NoError(t, os.Rename(dir, moved))
	again := callWith(t.Context(), nil, "check", moved)
	require.Equal(t, exitFinding, again.code, "its shards are in it: %s", again)
	require.NoError(t, os.Remove(filepath.Join(moved, rundir.ManifestName)))
	again = callWith(t.Context(), nil, "check", moved)
	require.Equal(t, exitConfig, again.code, "%s", again)
	require.Contains(t, again.err, "doubletap merge "+filepath.Join(moved, rundir.ShardsName, "*"))
}

// TestASharedRunIsInterrupted stops the coordinator and the worker while a shard is played: nothing is left on the server.
func TestASharedRunIsInterrupted(t *testing.T) {
	t.Parallel()
	address, busy := broker(t), t.TempDir()
	ctx, stop := context.WithCancelCause(t.Context())
	scenario := writeFile(t, "long.yaml", long)
	lead := callAside(ctx, nil, "run", "--target", "builtin:unique-key", "--reports", t.TempDir(), "--workers", address+"/long", "--shards", "1", scenario)
	leaving, leave := context.WithCancelCause(t.Context())
	worker := callAside(leaving, nil, "work", "--join", address+"/long", "--target", "builtin:unique-key", "--reports", busy)
	eventually(t, "the shard is played", busyWith(busy, "long", 1))
	leave(stopped{os.Interrupt})
	require.Equal(t, exitInterrupted, <-worker.done, "%s", worker.out)

	again := t.TempDir()
	worker = callAside(t.Context(), nil, "work", "--join", address+"/long", "--target", "builtin:unique-key", "--reports", again)
	eventually(t, "the shard is played again", busyWith(again, "long", 1))
	stop(stopped{syscall.SIGTERM})
	require.Equal(t, exitTerminated, <-lead.done, "%s", lead.out)
	require.Equal(t, exitPass, <-worker.done, "the run is over: %s", worker.out)
	require.Empty(t, streamsOn(t, address))
}

func TestWhatHasNoPlaceBesideWorkers(t *testing.T) {
	t.Parallel()
	const at = "--workers=nats://127.0.0.1:1/x"
	for want, args := range map[string][]string{
		"--shard has no place":          {at, "--seed=1", "--shard=1/2"},
		"--dry-run has no place":        {at, "--dry-run"},
		"--instances is for":            {at, "--instances=2"},
		"--shards is 0":                 {at, "--shards=0"},
		"--lease is 1ms":                {at, "--lease=1ms"},
		"expected a name of letters":    {"--workers=nats://127.0.0.1:1"},
		"expected a NATS server":        {"--workers=http://127.0.0.1:1/x"},
		"no NATS server takes us":       {at},
		"nats://127.0.0.1:1/x: nats: n": {"--workers=nats://user:hidden@127.0.0.1:1/x"},
	} {
		got := callWith(t.Context(), nil, append([]string{"run", "--target", "builtin:unique-key", "plain-create", "--reports", t.TempDir()}, args...)...)
		require.Contains(t, []int{exitConfig, exitEnvironment}, got.code, "%s", got)
		require.Contains(t, got.err, want)
		require.NotContains(t, got.err, "hidden")
	}
	got := callWith(t.Context(), nil, "work", "--target", "builtin:unique-key")
	require.Equal(t, exitConfig, got.code, "%s", got)
	require.Contains(t, got.err, "there is no --join")
}

// TestTheDiskOfACoordinatorIsFull has no room for what workers bring in.
func TestTheDiskOfACoordinatorIsFull(t *testing.T) {
	t.Parallel()
	for _, kib := range []int{16, 160} {
		t.Run(fmt.Sprintf("%d KiB", kib), func(t *testing.T) {
			t.Parallel()
			disk := t.TempDir()
			if err := syscall.Mount("none", disk, "tmpfs", 0, fmt.Sprintf("size=%dk", kib)); err != nil {
				cannot(t, "no disk to fill here: mount: %v", err)
			}
			t.Cleanup(func() { syscall.Unmount(disk, 0) })
			address := broker(t)
			lead := callAside(t.Context(), nil, "run", "--target", "builtin:unique-key", "--reports", filepath.Join(disk, "runs"), "--seed", "7", "--workers", address+"/full", "--shards", "2", "plain-create", "sequential-replay")
			worker := callAside(t.Context(), nil, "work", "--join", address+"/full", "--target", "builtin:unique-key", "--reports", t.TempDir())
			require.Equal(t, exitEnvironment, <-lead.done, "%s", lead.out)
			require.Regexp(t, `/shards/[12]/\S+: no space left on device`, lead.out.String())
			require.Equal(t, exitPass, <-worker.done, "%s", worker.out)
			require.Empty(t, streamsOn(t, address))
		})
	}
}

// TestTheDiskOfAWorkerIsFull has another worker play what the first one had no room for.
func TestTheDiskOfAWorkerIsFull(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=40k"); err != nil {
		cannot(t, "no disk to fill here: mount: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, 0) })
	address := broker(t)
	lead := callAside(t.Context(), nil, "run", "--target", "builtin:unique-key", "--reports", t.TempDir(), "--seed", "7", "--workers", address+"/small", "--shards", "1", "plain-create")
	small := callAside(t.Context(), nil, "work", "--join", address+"/small", "--target", "builtin:unique-key", "--reports", filepath.Join(disk, "runs"))
	require.Equal(t, exitEnvironment, <-small.done, "%s", small.out)
	require.Contains(t, small.out.String(), "no space left on device")
	other := callAside(t.Context(), nil, "work", "--join", address+"/small", "--target", "builtin:unique-key", "--reports", t.TempDir())
	require.Equal(t, exitPass, <-lead.done, "%s", lead.out)
	require.Regexp(t, `worker \S+ has left: .*no space left on device`, lead.out.String())
	require.Equal(t, exitPass, <-other.done, "%s", other.out)
}
