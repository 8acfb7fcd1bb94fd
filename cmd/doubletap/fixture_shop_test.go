package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
)

// shop is a small API of a user's own, over a SQLite file: it creates one thing per key, and gives
// a client that repeats a key the same answer.
type shop struct {
	db   *sql.DB
	path string // of the SQLite file
	url  string
}

// newShop starts a shop behind what wrap makes of it; nil leaves it as it is.
func newShop(t *testing.T, wrap func(http.Handler) http.Handler) *shop {
	t.Helper()
	s := &shop{path: filepath.Join(t.TempDir(), "shop.db")}
	db, err := sql.Open("sqlite", "file:"+s.path+"?_pragma=journal_mode(wal)")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	_, err = db.Exec("create table things (id integer primary key, key text unique, note text, body text)")
	require.NoError(t, err)
	s.db = db
	var handler http.Handler = http.HandlerFunc(s.create)
	if wrap != nil {
		handler = wrap(handler)
	}
	s.url = serveBoth(t, handler)
	return s
}

// serveBoth serves HTTP/1.1 and HTTP/2 in clear text, and returns its URL.
func serveBoth(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func (s *shop) create(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	var order struct{ Note, Key string }
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	key := r.Header.Get("Idempotency-Key")
	s.db.Exec("insert or ignore into things(key, note, body) values (?, ?, ?)", key, order.Note, order.Note)
	id := 0
	if err := s.db.QueryRow("select id from things where key = ?", key).Scan(&id); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"id":%d}`, id)
}

// things counts what the shop has created.
func (s *shop) things(t *testing.T) int {
	n := 0
	require.NoError(t, s.db.QueryRow("select count(*) from things").Scan(&n))
	return n
}

// shopFile is a target file for a shop.
const shopFile = `name: shop
base_url: ${SHOP_URL}
database: {url: "${SHOP_DATABASE}"}
operations:
  create:
    request:
      path: /things
      headers: {Authorization: "Bearer ${SHOP_TOKEN:-none}"}
      body: {note: "{{.Intent.Marker}}"}
    key: {in: header}
    identity: /id
    rows: {query: select id from things where note = :marker, identity: id}
`

// trial is one command line against a target file.
type trial struct {
	file    string // the target file's text
	env     map[string]string
	args    []string // besides run, --target and --reports
	reports string   // directory
	folder  string   // of the target file; empty: a new one
}

// trial makes a trial of the shop.
func (s *shop) trial(t *testing.T, args ...string) trial {
	if len(args) == 0 {
		args = []string{"plain-create"}
	}
	return trial{
		file: shopFile, args: args, reports: t.TempDir(),
		env: map[string]string{"SHOP_URL": s.url, "SHOP_DATABASE": "sqlite://" + s.path},
	}
}

// outcome is what a command line came to.
type outcome struct {
	code     int
	out, err string
}

// String shows all of it, for failing tests.
func (o outcome) String() string { return fmt.Sprintf("exit %d\n%s\n%s", o.code, o.out, o.err) }

// run runs the trial in this process.
func (x trial) run(t *testing.T) outcome {
	t.Helper()
	return x.runUntil(t, t.Context())
}

func (x trial) runUntil(t *testing.T, ctx context.Context) outcome {
	t.Helper()
	if x.folder == "" {
		x.folder = t.TempDir()
	}
	path := filepath.Join(x.folder, "target.yaml")
	require.NoError(t, os.WriteFile(path, []byte(x.file), 0o644))
	args := append([]string{"run", "--target", path, "--reports", x.reports}, x.args...)
	return callWith(ctx, x.env, args...)
}

// racing is what shows a broken twin that is right as long as requests come one after the other.
var racing = map[bool][]string{true: {"burst-same-key"}}

// callWith runs one command line in this process, with an environment of its own.
func callWith(ctx context.Context, env map[string]string, args ...string) outcome {
	var out, err bytes.Buffer
	code := execute(ctx, patient(args), streams{out: &out, err: &err, getenv: func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}})
	return outcome{code: code, out: out.String(), err: err.String()}
}

// patient gives the target of a run half a minute for its first answer, unless the test says how long: a busy machine may
// take that long.
func patient(args []string) []string {
	if len(args) == 0 || args[0] != "run" && args[0] != "demo" || slices.Contains(args, "--pilot-timeout") {
		return args
	}
	return append(slices.Clone(args), "--pilot-timeout", "30s")
}

// onlyRun returns the only run in the reports directory.
func onlyRun(t *testing.T, reports string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(reports, "*", rundir.ManifestName))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return filepath.Dir(found[0])
}

// checked judges the only run again, and holds that check and run agree.
func (x trial) checked(t *testing.T, ran outcome) {
	t.Helper()
	again := callWith(t.Context(), nil, "check", onlyRun(t, x.reports))
	require.Equal(t, ran.code, again.code, "check gives the exit code of the run\nrun: %s\ncheck: %s", ran, again)
}

// requireNowhere holds that no file below a directory has a text in it. What a killed run had started may still take its own away.
func requireNowhere(t *testing.T, dir, secret string) {
	t.Helper()
	require.DirExists(t, dir)
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !entry.Type().IsRegular() { // latest is a link to what is read anyway
			return err
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		at := strings.Index(string(text), secret)
		require.Negative(t, at, "%s: ...%s", path, text[max(at-200, 0):min(max(at, 0)+len(secret)+60, len(text))])
		return err
	}))
}

func lines(text string) int { return len(strings.Split(strings.TrimSpace(text), "\n")) }
