package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	client "github.com/Shopify/toxiproxy/v2/client"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/servers"
)

// places are servers of a user, and what runs have on them.
type places struct {
	database, store, toxiproxy, folder string
}

// newPlaces are servers of their own: other tests have runs on those that all share.
func newPlaces(t *testing.T) places {
	t.Helper()
	database, err := servers.Postgres(t.Context(), servers.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = database.Stop() })
	store, err := servers.Redis(t.Context(), servers.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Stop() })
	return places{database.URL(), store.URL(), toxiproxyServer(t), openFolder(t)}
}

// there lists what doubletap has made: schemas, prefixes of keys, proxies and folders.
func (p places) there(t *testing.T) []string {
	t.Helper()
	db, err := sql.Open("pgx", p.database)
	require.NoError(t, err)
	defer db.Close()
	rows, err := db.Query(`select nspname from pg_namespace where nspname like 'doubletap%'`)
	require.NoError(t, err)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		all = append(all, "schema "+name)
	}
	require.NoError(t, rows.Err())
	link, err := redis.ParseURL(p.store)
	require.NoError(t, err)
	memory := redis.NewClient(link)
	defer memory.Close()
	keys, err := memory.Keys(t.Context(), "doubletap*").Result()
	require.NoError(t, err)
	for _, key := range keys {
		prefix, _, _ := strings.Cut(key, ":")
		all = append(all, "keys "+prefix)
	}
	proxies, err := client.NewClient(p.toxiproxy).Proxies()
	require.NoError(t, err)
	for name := range proxies {
		all = append(all, "proxy "+name)
	}
	folders, err := filepath.Glob(filepath.Join(p.folder, "doubletap-*"))
	require.NoError(t, err)
	for _, name := range folders {
		all = append(all, "folder "+name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// run starts a run that is on all of them, and waits until it is under way.
func (p places) run(t *testing.T) *process {
	t.Helper()
	reports := t.TempDir()
	run := start(t, []string{"TMPDIR=" + p.folder}, "run", "--reports", reports, "--target", "builtin:redis-claim-and-record", "--database", p.database, "--store", p.store,
		"--toxiproxy", p.toxiproxy, writeFile(t, "long.yaml", long))
	eventually(t, "the run is under way", busyWith(reports, "long", 20))
	return run
}

func (p places) clean(t *testing.T) string {
	t.Helper()
	got := callWith(t.Context(), map[string]string{}, "clean", "--database", p.database, "--store", p.store, "--toxiproxy", p.toxiproxy)
	require.Equal(t, exitPass, got.code, "%s", got)
	return got.out
}

// It has a folder for temporary files of its own, so it is not parallel.
func TestWhatAKilledRunHasLeftIsRemoved(t *testing.T) {
	p := newPlaces(t)
	t.Setenv("TMPDIR", p.folder)
	alive := p.run(t)
	itsOwn := p.there(t)
	require.Len(t, itsOwn, 3, "a schema, keys and proxies: %v", itsOwn)

	killed := p.run(t)
	theirs := filepath.Join(p.folder, "doubletap-notes")
	require.NoError(t, os.Mkdir(theirs, 0o700))
	require.NoError(t, killed.cmd.Process.Kill())
	killed.wait(t)
	require.Greater(t, len(p.there(t)), len(itsOwn)+1, "the killed run has left something")

	said := p.clean(t)
	require.Regexp(t, `removed schema doubletap_\w{19}\n`, said)
	require.Regexp(t, `removed \d+ Redis keys\n`, said)
	require.Regexp(t, `removed proxy doubletap-\S+-clean\n`, said)
	require.Equal(t, append([]string{"folder " + theirs}, itsOwn...), p.there(t), "what is alive stays, and what is not ours")
	require.Equal(t, "nothing was left behind\n", p.clean(t))

	require.NoError(t, alive.cmd.Process.Kill())
	alive.wait(t)
	last := p.run(t)
	require.NotSubset(t, p.there(t), itsOwn, "the next run removes what is left")
	require.Len(t, p.there(t), 4)
	require.NoError(t, last.cmd.Process.Signal(os.Interrupt))
	require.Equal(t, exitInterrupted, last.wait(t), "%s", last.out)
	require.Equal(t, []string{"folder " + theirs}, p.there(t))
}

func TestCleanTouchesServersOfThisMachineOnly(t *testing.T) {
	t.Parallel()
	for flag, address := range map[string]string{
		"--database": "postgres://me@db.example.com/shop", "--store": "redis://cache.example.com:6379/0", "--toxiproxy": "http://proxy.example.com:8474",
	} {
		got := callWith(t.Context(), nil, "clean", flag, address)
		require.Equal(t, exitConfig, got.code, "%s", got)
		require.Contains(t, got.err, "is not this machine")
	}
	require.Equal(t, exitConfig, callWith(t.Context(), nil, "clean", "--database", "http://127.0.0.1").code)
}

func TestCleanKeepsAsManyRunsAsItIsTold(t *testing.T) {
	t.Parallel()
	runs := t.TempDir()
	play := func() []os.DirEntry {
		require.Equal(t, exitPass, callWith(t.Context(), nil, "run", "--target", "builtin:unique-key", "--reports", runs, "plain-create").code)
		there, err := os.ReadDir(runs)
		require.NoError(t, err)
		return there
	}
	before := play()
	require.Len(t, play(), 2)
	require.Equal(t, exitConfig, callWith(t.Context(), nil, "clean", "--reports", runs, "--keep", "0").code)
	got := callWith(t.Context(), nil, "clean", "--reports", runs, "--keep", "1")
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, got.out, "removed run "+filepath.Join(runs, before[0].Name())+"\n", "the older one")
	after, err := os.ReadDir(runs)
	require.NoError(t, err)
	require.Len(t, after, 1)
}
