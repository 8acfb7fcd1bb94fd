package main

import (
	"net/http"
	"testing"

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
