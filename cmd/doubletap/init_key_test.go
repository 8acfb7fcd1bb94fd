package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// picky is choosy, and refuses requests without its key where it says what it lacks.
type picky struct {
	*choosy
	refusal string // to a request without a key; empty: it is executed
}

func (p *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.refusal != "" && r.Header.Get(p.header) == "" {
		says(w, http.StatusBadRequest, p.refusal)
		return
	}
	p.choosy.ServeHTTP(w, r)
}

// TestInitFindsTheHeaderOfTheKey holds that a source that names no key does not hide the one that the target knows.
func TestInitFindsTheHeaderOfTheKey(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header, refusal string
		learns, not     []string
	}{
		"the usual header":     {"Idempotency-Key", "", []string{"key: {in: header, name: Idempotency-Key}", "without this header the same request again made a second row"}, []string{"dedup-only"}},
		"another one":          {"X-Request-Id", "", []string{"key: {in: header, name: X-Request-Id}", "level: idempotent"}, []string{"dedup-only"}},
		"one that is required": {"X-Idempotency-Key", `{"error": "missing x-idempotency-key"}`, []string{"key: {in: header, name: X-Idempotency-Key, required: true}", "refused, with an answer that names it", "missing_key: {statuses: [400]"}, []string{"dedup-only"}},
		"one that is unusual":  {"X-Client-Ref", `{"error": "X-Client-Ref is required"}`, []string{"key: {in: header, name: X-Client-Ref, required: true}", "refused, with an answer that names it"}, []string{"dedup-only"}},
		"none":                 {"X-Nobody-Guesses-This", "", []string{"preset: dedup-only", "X-Dedup-Key, and"}, []string{"key: {"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)", "create table things (number integer primary key, name text, invoice text)")
			service := &picky{&choosy{by: "nothing", keyed: true, header: c.header, db: db, known: map[string]bool{}, answers: map[string]choice{}}, c.refusal}
			address := serveBoth(t, service)
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"name": "Jane", "amount": 3}' `+address+"/things", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			for _, line := range c.learns {
				require.Contains(t, text, line, said)
			}
			for _, line := range c.not {
				require.NotContains(t, text, line)
			}
		})
	}
}

// gateway is choosy, and has the gateway in front that many have: of two requests with one id, it lets the second through when the first
// has been answered.
type gateway struct {
	*choosy
	slow  time.Duration
	under sync.Map
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("X-Request-Id")
	if _, runs := g.under.LoadOrStore(id, true); runs && id != "" {
		says(w, http.StatusConflict, `{"error": "this request is under way"}`)
		return
	}
	defer g.under.Delete(id)
	time.Sleep(g.slow)
	g.choosy.ServeHTTP(w, r)
}

// TestInitDrawsTheIDOfARequestAnew holds that a run does not call all of its requests by the id of the one that the user had.
func TestInitDrawsTheIDOfARequestAnew(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)", "create table things (number integer primary key, name text, invoice text)")
	service := &gateway{choosy: &choosy{by: "nothing", keyed: true, db: db, known: map[string]bool{}, answers: map[string]choice{}}, slow: 50 * time.Millisecond}
	address := serveBoth(t, service)
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, said := initiated(t, env, exitPass, "--curl", `curl -H 'X-Request-Id: 5e0f6f6e-0d5c-4b41-9a43-1f0b2a7f3b11' -H 'X-Tenant-Id: 0d0f6f6e-0d5c-4b41-9a43-1f0b2a7f3b22'
		-H 'Idempotency-Key: 1' -d '{"name": "Jane", "amount": 3}' `+address+"/things", "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.Contains(t, text, `X-Request-Id: "{{.Attempt.ID}}"`, said)
	require.Contains(t, text, "X-Tenant-Id: 0d0f6f6e-0d5c-4b41-9a43-1f0b2a7f3b22")
	require.Contains(t, text, "level: idempotent")
}

// TestInitLeavesAHeaderThatSaysWhoAsks holds that a header stays which has the address that the body has, too, where nobody else may ask, and that
// it goes with the body where the target wants that.
func TestInitLeavesAHeaderThatSaysWhoAsks(t *testing.T) {
	t.Parallel()
	const ada = "ada@example.com"
	for name, c := range map[string]struct {
		may   func(asks, email string) bool
		wants string
	}{
		"who asks": {func(asks, _ string) bool { return asks == ada }, "X-User: " + ada},
		"the same": {func(asks, email string) bool { return asks == email }, `X-User: "{{.Intent.Reference}}@example.com"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)", "create table things (number integer primary key, name text, invoice text)")
			service := &choosy{by: "nothing", keyed: true, db: db, known: map[string]bool{}, answers: map[string]choice{}}
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(sent))
				var body struct{ Email string }
				_ = json.Unmarshal(sent, &body)
				if !c.may(r.Header.Get("X-User"), body.Email) {
					says(w, http.StatusUnauthorized, `{"error": "nobody knows you"}`)
					return
				}
				service.ServeHTTP(w, r)
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'X-User: `+ada+`' -H 'Idempotency-Key: 1' -d '{"name": "Jane", "email": "`+ada+`", "amount": 3}' `+address+"/things", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, c.wants, said)
			require.Contains(t, text, "level: idempotent")
		})
	}
}

// TestInitOfACreateThatSaysNothingButItsKey holds that a request without a body gets a file, whose rows are those that have its key, and that runs
// see a second one.
func TestInitOfACreateThatSaysNothingButItsKey(t *testing.T) {
	t.Parallel()
	for unique, exit := range map[string]int{"unique": exitPass, "": exitFinding} {
		t.Run("key text "+unique, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table uploads (id integer primary key, request text "+unique+", size integer)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				key, id := r.Header.Get("Idempotency-Key"), 0
				if db.QueryRow("select id from uploads where request = ?", key).Scan(&id) != nil {
					time.Sleep(50 * time.Millisecond)
					_, _ = db.Exec("insert into uploads (request, size) values (?, ?) on conflict do nothing", key, r.Header.Get("Upload-Length"))
					_ = db.QueryRow("select id from uploads where request = ?", key).Scan(&id)
				}
				says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", "curl -X POST -H 'Idempotency-Key: 7b2f' -H 'Upload-Length: 100' "+address+"/uploads", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, "uploads.request = :key", said)
			require.NotContains(t, text, "query: {}")
			require.NotContains(t, said.err, "another body")
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "burst-same-key")
			require.Equal(t, exit, got.code, "%s\n%s", text, got)
		})
	}
}
