package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitKnowsAMismatchByItsSentence holds that a sentence by which another body is refused, and nothing else, tells it from other refusals of
// its status, so that a key which is taken for another one by the case of its letters is seen. One that says the key, or that is said of keys
// of another form, too, tells nothing.
func TestInitKnowsAMismatchByItsSentence(t *testing.T) {
	t.Parallel()
	const sentence = "another request has this key"
	plain := func(string) string { return sentence }
	for name, c := range map[string]struct {
		collation string
		says      func(key string) string
		form      string // sentence of a refusal of a key with a quotation mark
		where     string
		run       []string
		code      int
	}{
		"case counts":            {"binary", plain, "this is no key", "{/error: another request has this key}", []string{"key-case", "key-quote"}, exitPass},
		"case does not":          {"nocase", plain, "this is no key", "{/error: another request has this key}", []string{"key-case"}, exitFinding},
		"it says the key":        {"binary", func(key string) string { return "another request has " + key }, "this is no key", "", []string{"key-case"}, exitPass},
		"it is said of no keys":  {"binary", plain, sentence, "", []string{"key-case", "key-long"}, exitPass},
		"it says what is stored": {"binary", func(string) string { return "lamps were ordered with this key" }, "this is no key", "", []string{"key-case"}, exitPass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table parcels (id integer primary key, remark text, kind text, grams integer, k text collate "+c.collation+" unique)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					Remark, Kind string
					Grams        int
				}
				_ = json.NewDecoder(r.Body).Decode(&body)
				refuses := func(status int, why string) {
					answer, _ := json.Marshal(map[string]string{"error": why})
					says(w, status, string(answer))
				}
				key := r.Header.Get("Idempotency-Key")
				switch {
				case key == "":
					refuses(http.StatusBadRequest, "a key is missing")
					return
				case strings.Contains(key, `"`):
					refuses(http.StatusUnprocessableEntity, c.form)
					return
				case body.Remark == "" || body.Grams <= 0:
					refuses(http.StatusUnprocessableEntity, "this is no parcel")
					return
				}
				status, id := http.StatusCreated, int64(0)
				made, err := db.Exec("insert into parcels (remark, kind, grams, k) values (?, ?, ?, ?)", body.Remark, body.Kind, body.Grams, key)
				if err == nil {
					id, _ = made.LastInsertId()
				} else if status = http.StatusOK; db.QueryRow("select id from parcels where k = ? and remark = ? and grams = ?", key, body.Remark, body.Grams).Scan(&id) != nil {
					refuses(http.StatusUnprocessableEntity, c.says(key))
					return
				}
				says(w, status, fmt.Sprintf(`{"id": %d}`, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"remark": "quick please", "kind": "lamps", "grams": 700}' `+address+"/parcels", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			want := "fingerprint: {on_mismatch: reject, statuses: [422]}"
			if c.where != "" {
				want = "fingerprint: {on_mismatch: reject, statuses: [422], where: " + c.where + "}"
			}
			require.Contains(t, text, want, said)
			got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1"}, c.run...)...)
			require.Equal(t, c.code, got.code, "%s\n%s", text, got)
			if c.code == exitFinding {
				require.Contains(t, got.out, "false-conflict")
			}
		})
	}
}
