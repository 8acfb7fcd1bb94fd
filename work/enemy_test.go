package work

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
)

// archived is an archive as a worker may bring it in.
func archived(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var text bytes.Buffer
	compressed := gzip.NewWriter(&text)
	archive := tar.NewWriter(compressed)
	for _, h := range headers {
		require.NoError(t, archive.WriteHeader(&h))
		_, err := archive.Write(make([]byte, h.Size))
		require.NoError(t, err)
	}
	require.NoError(t, errors.Join(archive.Close(), compressed.Close()))
	return text.Bytes()
}

func TestAnArchiveCannotFillTheDisk(t *testing.T) {
	t.Parallel()
	const room = 1 << 20
	deep := strings.Repeat("a/", 400) + rundir.ManifestName
	for name, c := range map[string]struct {
		headers []tar.Header
		says    string
	}{
		"one large file":          {[]tar.Header{{Name: rundir.ManifestName, Size: room + 1}}, "more than 4 GiB"},
		"several that are larger": {[]tar.Header{{Name: "a/" + rundir.HistoryName, Size: room}, {Name: "b/" + rundir.HistoryName, Size: 1}}, "more than 4 GiB"},
		"a deep folder":           {[]tar.Header{{Name: deep}}, "it is no file of a run"},
		"a long name":             {[]tar.Header{{Name: strings.Repeat("a", 100_000) + "/" + rundir.ManifestName}}, "it is no file of a run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			into := filepath.Join(t.TempDir(), "into")
			err := unpack(bytes.NewReader(archived(t, c.headers...)), into, room)
			require.ErrorContains(t, err, c.says)
			require.ErrorAs(t, err, new(unfit), "it is not fetched again")
			require.Less(t, len(err.Error()), 300)
			require.LessOrEqual(t, size(t, into), int64(room))
		})
	}
	endless := make([]byte, 0, 1<<20)
	endless = append(endless, archived(t, tar.Header{Name: rundir.ManifestName})...)
	var behind bytes.Buffer
	compressed := gzip.NewWriter(&behind) // a second member, which a reader of gzip takes for more of the first
	_, err := compressed.Write(make([]byte, 2*room))
	require.NoError(t, err)
	require.NoError(t, compressed.Close())
	require.ErrorAs(t, unpack(bytes.NewReader(append(endless, behind.Bytes()...)), filepath.Join(t.TempDir(), "into"), room), new(unfit), "what is behind the end")
}

// size is how many bytes the files below a folder hold.
func size(t *testing.T, folder string) (sum int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			info, err := entry.Info()
			require.NoError(t, err)
			sum += info.Size()
		}
		return err
	}))
	return sum
}

// FuzzUnpack holds that what comes of an archive is small, and in its folder.
func FuzzUnpack(f *testing.F) {
	header := func(h tar.Header) []byte {
		var text bytes.Buffer
		archive := tar.NewWriter(&text)
		_ = archive.WriteHeader(&h)
		_, _ = archive.Write(make([]byte, h.Size))
		_ = archive.Close()
		return text.Bytes()
	}
	for _, h := range []tar.Header{
		{Name: rundir.ManifestName, Size: 3}, {Name: "a/" + rundir.HistoryName, Size: 700}, {Name: "../" + rundir.ManifestName},
		{Name: "x/" + rundir.PlanName, Typeflag: tar.TypeSymlink, Linkname: "/etc"}, {Name: "x", Typeflag: tar.TypeDir}, {Name: rundir.FindingName, Typeflag: tar.TypeLink, Linkname: "../x"},
		{Name: strings.Repeat("a", 200) + "/" + rundir.TargetName, PAXRecords: map[string]string{"DOUBLETAP.x": "y"}},
	} {
		f.Add(header(h))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const room = 64 << 10
		outside := t.TempDir()
		var packed bytes.Buffer
		compressed, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
		require.NoError(t, err)
		_, err = compressed.Write(text)
		require.NoError(t, errors.Join(err, compressed.Close()))
		_ = unpack(&packed, filepath.Join(outside, "into"), room)
		require.LessOrEqual(t, size(t, outside), int64(room))
		entries, err := os.ReadDir(outside)
		require.NoError(t, err)
		require.Len(t, entries, 1, "the folder itself")
		require.NoError(t, filepath.WalkDir(outside, func(path string, entry fs.DirEntry, err error) error {
			require.True(t, entry.IsDir() || entry.Type().IsRegular(), path)
			return err
		}))
	})
}

// TestAnArchiveOfAnEnemyIsAShardThatIsMissing has a worker bring in what cannot be read. The other shard is taken all the same.
func TestAnArchiveOfAnEnemyIsAShardThatIsMissing(t *testing.T) {
	t.Parallel()
	var given []string
	lead, into := begin(t, "enemy", 2, func(e Event) {
		if e.Kind == GivenUp {
			given = append(given, e.Why)
		}
	}), t.TempDir()
	defer lead.Close()
	m := join(t, "enemy")
	objects, err := m.link.js.ObjectStore(m.link.place.bucket())
	require.NoError(t, err)
	bring := func(shard int, content []byte) {
		name := objectOf(shard, 1, m.Name)
		_, err := objects.PutBytes(name, content)
		require.NoError(t, err)
		_, err = m.store(t.Context(), shard, result{Run: "enemy", Worker: m.Name, Attempt: 1, Object: name})
		require.NoError(t, err)
	}
	bring(1, archived(t, tar.Header{Name: "../../" + rundir.ManifestName}))
	bring(2, archived(t, tar.Header{Name: rundir.ManifestName, Size: 1}))
	began := time.Now()
	dirs, err := lead.Collect(t.Context(), into)
	require.NoError(t, err)
	require.Less(t, time.Since(began), insistFor, "it is not fetched again")
	require.Equal(t, []string{filepath.Join(into, "2")}, dirs)
	require.Len(t, given, 1)
	require.Contains(t, given[0], "cannot be read")
	require.NoDirExists(t, filepath.Join(into, "1"))
}

// TestAWorkerDoesNotDoWhateverACoordinatorAsks is about runs that no coordinator of ours begins: a lease of nothing was a crash.
func TestAWorkerDoesNotDoWhateverACoordinatorAsks(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Run){
		"no-lease": func(r *Run) { r.Lease = 0 }, "negative": func(r *Run) { r.Lease = -time.Hour },
		"no-shards": func(r *Run) { r.Shards = 0 }, "shards": func(r *Run) { r.Shards = 1 << 60 },
	} {
		lead := begin(t, name, 1, nothing)
		lead.stop()
		lead.stop = func() {}
		change(&lead.run)
		kv, err := lead.link.js.KeyValue(lead.link.place.bucket())
		require.NoError(t, err)
		require.NoError(t, lead.beat(kv))
		_, err = Join(t.Context(), at(t, name), time.Minute)
		require.ErrorContains(t, err, "its coordinator asks for", name)
		require.NoError(t, lead.Close())
	}
}

func TestAWorkerPlaysNoShardThatTheRunDoesNotHave(t *testing.T) {
	t.Parallel()
	lead, into := begin(t, "numbers", 1, nothing), t.TempDir()
	for _, n := range []int{-1, 0, 2, 1 << 60} {
		_, err := lead.link.js.Publish(lead.link.place.subject(), text(order{"numbers", n}), nats.MsgId(strings.Repeat("x", 10+n%7)))
		require.NoError(t, err)
	}
	m := join(t, "numbers")
	worked := make(chan error, 1)
	var played []int
	dir := ran(t)
	go func() {
		_, err := m.Work(t.Context(), func(_ context.Context, shard, _ int) (string, error) { played = append(played, shard); return dir, nil }, nothing)
		worked <- err
	}()
	_, err := lead.Collect(t.Context(), into)
	require.NoError(t, err)
	for { // until the others are off the list as well
		info, err := lead.link.js.StreamInfo(lead.link.place.stream())
		require.NoError(t, err)
		if info.State.Msgs == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	require.NoError(t, lead.Close())
	require.NoError(t, <-worked)
	require.Equal(t, []int{1}, played)
}

func TestAFullDiskIsNotInsistedOn(t *testing.T) {
	t.Parallel()
	tries := 0
	err := insist(t.Context(), func() error {
		tries++
		return fmt.Errorf("unpack: %w", &fs.PathError{Op: "write", Path: "history.jsonl", Err: syscall.ENOSPC})
	})
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, 1, tries)
}
