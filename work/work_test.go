package work

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/internal/servers"
	"github.com/doubletap-harness/doubletap/rundir"
)

var address string // of a private server

func TestMain(m *testing.M) {
	if err := servers.Install(context.Background(), os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server, err := servers.NATS(context.Background(), servers.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	address = server.URL()
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

func at(t *testing.T, name string) Place {
	t.Helper()
	p, err := ParsePlace(address + "/" + name)
	require.NoError(t, err)
	return p
}

func begin(t *testing.T, name string, shards int, tell func(Event)) *Lead {
	t.Helper()
	lead, err := Begin(t.Context(), at(t, name), LeadOptions{
		Run: Run{ID: name, Shards: shards, Lease: 30 * time.Second}, Task: []byte("a task"), Wait: time.Minute, Tell: tell,
	})
	require.NoError(t, err)
	return lead
}

func join(t *testing.T, name string) *Member {
	t.Helper()
	m, err := Join(t.Context(), at(t, name), time.Minute)
	require.NoError(t, err)
	return m
}

func nothing(Event) {}

// ran is the directory of a run with a manifest, a report and a log.
func ran(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "plain"), 0o755))
	for _, name := range []string{rundir.ManifestName, "report.json", "target.log", "plain/" + rundir.HistoryName} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("what is in "+name), 0o644))
	}
	return dir
}

func TestShardsComeInWithWhatItTakesToJudgeThem(t *testing.T) {
	t.Parallel()
	lead, into := begin(t, "usual", 3, nothing), t.TempDir()
	m := join(t, "usual")
	require.Equal(t, "a task", string(m.Task))
	worked := make(chan int, 1)
	go func() {
		n, err := m.Work(t.Context(), func(_ context.Context, shard, attempt int) (string, error) { return ran(t), nil }, nothing)
		if err == nil {
			worked <- n
		}
		close(worked)
	}()
	dirs, err := lead.Collect(t.Context(), into)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(into, "1"), filepath.Join(into, "2"), filepath.Join(into, "3")}, dirs)
	require.NoError(t, lead.Close())
	require.Equal(t, 3, <-worked)
	require.FileExists(t, filepath.Join(into, "2", rundir.ManifestName))
	require.FileExists(t, filepath.Join(into, "2", "plain", rundir.HistoryName))
	require.NoFileExists(t, filepath.Join(into, "2", "target.log"), "it may hold secrets")
	require.NoFileExists(t, filepath.Join(into, "2", "report.json"))
}

func TestTheFirstResultOfAShardStays(t *testing.T) {
	t.Parallel()
	lead := begin(t, "twice", 1, nothing)
	defer lead.Close()
	first, second := join(t, "twice"), join(t, "twice")
	store := func(m *Member, attempt int) bool {
		mine, err := m.store(t.Context(), 1, result{Run: "twice", Worker: m.Name, Attempt: attempt, Object: objectOf(1, attempt, m.Name)})
		require.NoError(t, err)
		return mine
	}
	require.True(t, store(first, 1))
	require.False(t, store(second, 2), "the first one stays")
	require.True(t, store(first, 1), "it was ours all the same, if the answer was lost")
}

func TestAShardThatEndsItsWorkersIsGivenUp(t *testing.T) {
	t.Parallel()
	given := make(chan Event, 100)
	lead := begin(t, "deadly", 1, func(e Event) { given <- e })
	defer lead.Close()
	for attempt := 1; attempt <= mostAttempts; attempt++ {
		_, err := join(t, "deadly").Work(t.Context(), func(_ context.Context, _, now int) (string, error) {
			require.Equal(t, attempt, now)
			return "", runerror.Environment(errors.New("the target is away"))
		}, nothing)
		require.ErrorContains(t, err, "the target is away")
	}
	ctx, done := context.WithCancel(t.Context())
	over := make(chan bool)
	go func() {
		defer close(over)
		_, _ = join(t, "deadly").Work(ctx, func(context.Context, int, int) (string, error) { panic("it is not played again") }, nothing)
	}()
	dirs, err := lead.Collect(t.Context(), t.TempDir())
	require.NoError(t, err)
	require.Empty(t, dirs)
	done()
	<-over
	close(given)
	said := ""
	for e := range given {
		if e.Kind == GivenUp {
			said = e.Why
		}
	}
	require.Equal(t, "5 workers began it, and none came to its end", said)
}

func TestWhatAKilledCoordinatorLeftIsRemoved(t *testing.T) {
	server, err := servers.NATS(t.Context(), servers.Options{})
	require.NoError(t, err)
	defer server.Stop()
	there, err := ParsePlace(server.URL() + "/there")
	require.NoError(t, err)
	lead, err := Begin(t.Context(), there, LeadOptions{Run: Run{ID: "there", Shards: 1, Lease: time.Minute}, Tell: nothing})
	require.NoError(t, err)
	defer lead.Close()
	_, err = lead.link.js.AddStream(&nats.StreamConfig{Name: prefix + "shards-killed", Subjects: []string{"killed"}})
	require.NoError(t, err)
	_, err = lead.link.js.AddStream(&nats.StreamConfig{Name: "ORDERS", Subjects: []string{"orders"}})
	require.NoError(t, err)
	on, err := ParseServer(server.URL())
	require.NoError(t, err)
	removed, err := Sweep(on)
	require.NoError(t, err)
	require.Equal(t, []string{"killed"}, removed, "a run that goes on stays, and so does what is no run")
	_, err = Begin(t.Context(), there, LeadOptions{Run: Run{ID: "second", Shards: 1, Lease: time.Minute}, Tell: nothing})
	require.ErrorContains(t, err, "has a run already, there of")
	require.True(t, runerror.IsConfig(err))
	require.NotContains(t, err.Error(), "doubletap:")
}

func TestAnArchiveWritesNothingOutsideOfItsDirectory(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]byte{
		"../run.json": tar.TypeReg, "/run.json": tar.TypeReg, "report.html": tar.TypeReg, "x/run.json": tar.TypeSymlink, "run.json": tar.TypeFifo,
	} {
		var text bytes.Buffer
		compressed := gzip.NewWriter(&text)
		archive := tar.NewWriter(compressed)
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: name, Typeflag: kind, Linkname: "/etc/passwd", Mode: 0o600}))
		require.NoError(t, errors.Join(archive.Close(), compressed.Close()))
		into := filepath.Join(t.TempDir(), "into")
		require.ErrorContains(t, unpack(&text, into, mostUnpacked), "it is no file of a run", name)
	}
	require.Error(t, unpack(bytes.NewReader([]byte("no archive")), t.TempDir(), mostUnpacked))
}

func TestAPlaceShowsNoPassword(t *testing.T) {
	t.Parallel()
	for text, shown := range map[string]string{
		"nats://me:hidden@10.0.0.5:4222/nightly": "nats://10.0.0.5:4222/nightly",
		"tls://hidden@host/a_b-C":                "tls://host/a_b-C",
	} {
		p, err := ParsePlace(text)
		require.NoError(t, err)
		require.Equal(t, shown, p.String())
		require.True(t, p.Secret())
	}
	for _, text := range []string{"", "nats://", "http://h/a", "nats://h", "nats://h/a/b", "nats://hidden@h/a b", "nats://h/a?x=1", "nats://hidden@h:x/a"} {
		_, err := ParsePlace(text)
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), "hidden")
	}
}
