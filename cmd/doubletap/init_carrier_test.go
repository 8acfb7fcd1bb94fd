package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInitFindsTheMemberThatTakesAMarker holds that a member which takes a few words only does not keep a create from being proven.
func TestInitFindsTheMemberThatTakesAMarker(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body, column string
		refusal      int
	}{
		"a code of three letters beside a name": {`{"customer": "Ann", "tender": "EUR"}`, "customer", 500},
		"a title is a word of a list":           {`{"title": "Ms", "surname": "Lee"}`, "surname", 422},
		"two likely members, of which one is":   {`{"name": "Ann", "title": "Ms"}`, "name", 400},
		"it fails where it should refuse":       {`{"label": "red", "name": "Ann", "subject": "lamps"}`, "subject", 500},
		"only an address is free":               {`{"title": "Ms", "mail": "ann@example.com"}`, "mail", 422},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table things (id integer primary key, key text unique, "+c.column+" text)")
			var given map[string]any
			require.NoError(t, json.Unmarshal([]byte(c.body), &given))
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body map[string]any
				_ = json.NewDecoder(r.Body).Decode(&body)
				for member := range given {
					if member != c.column && body[member] != given[member] {
						says(w, c.refusal, `{"error": "unknown value"}`)
						return
					}
				}
				_, _ = db.Exec("insert into things (key, "+c.column+") values (?, ?) on conflict do nothing", r.Header.Get("Idempotency-Key"), body[c.column])
				says(w, http.StatusCreated, `{"done": true}`)
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 1' -d '`+c.body+`' `+address+"/things", "--db", env["DATABASE_URL"])
			require.Contains(t, readFile(t, file), "from things where things."+c.column, said)
		})
	}
}

// TestInitFindsTheMemberThatNamesAmongOthers holds that a member which must not differ does not hide the one that makes two creates one.
func TestInitFindsTheMemberThatNamesAmongOthers(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table transfers (id integer primary key, ref text, amount text, note text)")
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Ref, Amount, Batch, Note string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		if body.Batch != "B2" || !regexp.MustCompile(`^\d+\.\d\d$`).MatchString(body.Amount) {
			says(w, http.StatusBadRequest, `{"error": "format"}`)
			return
		}
		_, _ = db.Exec("insert into transfers (ref, amount, note) select ?, ?, ? where not exists (select 1 from transfers where ref = ?)", body.Ref, body.Amount, body.Note, body.Ref)
		says(w, http.StatusOK, `{"done": true}`)
	}))
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"amount": "12.50", "batch": "B2", "ref": "E-1", "note": "rent of march"}' `+address+"/transfers", "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.Contains(t, text, "natural_key: [/ref]", said)
	require.Contains(t, text, `alter: {amount: "13.50"}`)
	require.Contains(t, text, "batch: B2")
}

// TestInitFindsATokenThatNames holds that a member which is called like a secret may be what makes two creates one.
func TestInitFindsATokenThatNames(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table devices (device text unique, label text)")
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]string
		_ = json.NewDecoder(r.Body).Decode(&body)
		_, _ = db.Exec("insert into devices values (?, ?) on conflict do nothing", body["device_token"], body["label"])
		w.WriteHeader(http.StatusNoContent)
	}))
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"device_token": "d8f0aa17c2", "label": "my phone"}' `+address+"/devices", "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.Contains(t, text, "natural_key: [/device_token]", said)
	require.Contains(t, said.err, "the file takes from the environment: DATABASE_URL")
	require.NotContains(t, text+said.err, "d8f0aa17c2")
	got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "plain-create", "sequential-replay", "burst-same-key")
	require.Equal(t, exitPass, got.code, got)
}

// TestInitSaysHowBasicCredentialsAreSet holds that who sets them as curl has them is told what they are: base64, and never what they were.
func TestInitSaysHowBasicCredentialsAreSet(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table notes (id integer primary key, title text unique)")
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "admin" || password != "correct horse" {
			says(w, http.StatusUnauthorized, `{"error": "who are you"}`)
			return
		}
		var body map[string]string
		_ = json.NewDecoder(r.Body).Decode(&body)
		_, _ = db.Exec("insert into notes (title) values (?) on conflict do nothing", body["title"])
		says(w, http.StatusCreated, `{"done": true}`)
	}))
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, said := initiated(t, env, exitPass, "--curl", `curl -u 'admin:correct horse' -d '{"title": "blue mugs"}' `+address+"/notes", "--db", env["DATABASE_URL"])
	require.Contains(t, said.err, "the file takes from the environment: API_BASIC (USER:PASSWORD in base64), DATABASE_URL")
	for given, told := range map[string]bool{"admin:correct horse": true, "YWRtaW4=": true, "YWRtaW46d3Jvbmc=": false} {
		env["API_BASIC"] = given
		got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "plain-create")
		require.Equal(t, exitConfig, got.code, got)
		require.Equal(t, told, strings.Contains(got.err, "Basic credentials are USER:PASSWORD in base64, and these are not"), got)
		require.NotContains(t, got.out+got.err, given)
	}
}

// TestInitSaysWhatAServerErrorForATakenValueMeans holds that init says what runs make of it, and that what it proposes for one with a code is right.
func TestInitSaysWhatAServerErrorForATakenValueMeans(t *testing.T) {
	t.Parallel()
	const declared = `existing: {statuses: [500], where: {/code: name_taken}}`
	for name, c := range map[string]struct{ answer, says string }{
		"a code":    {`{"code": "name_taken", "message": "Sorry, that name is taken"}`, "declare " + declared},
		"breakdown": {`{"message": "Internal Server Error"}`, "catch what the database refuses"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table members (id integer primary key, login text unique, story text, age integer)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct {
					Login, Story string
					Age          int
				}
				_ = json.NewDecoder(r.Body).Decode(&body)
				made, err := db.Exec("insert into members (login, story, age) values (?, ?, ?)", body.Login, body.Story, body.Age)
				if err != nil {
					says(w, http.StatusInternalServerError, c.answer)
					return
				}
				id, _ := made.LastInsertId()
				says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"login": "ada.lovelace", "story": "from the north", "age": 41}' `+address+"/members", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			words := strings.Join(strings.Fields(strings.ReplaceAll(text, "\n#", "\n")), " ")
			require.Contains(t, words, c.says, said)
			require.Contains(t, words, "another body with the same /login means", said)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "plain-create")
			require.Equal(t, exitFinding, got.code, got)
			if name == "breakdown" {
				return
			}
			text = strings.Replace(strings.Replace(text, "  natural_key:", "  "+declared+"\n  natural_key:", 1), "level: idempotent", "level: dedup-only", 1)
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			got = callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "plain-create", "sequential-replay", "burst-same-key")
			require.Equal(t, exitPass, got.code, "%s\n%s", text, got)
		})
	}
}

// TestInitSeesThatAnotherBodyReplaces holds that a PUT under an id of the client which replaces what is there is no broken promise.
func TestInitSeesThatAnotherBodyReplaces(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table inventory (sku text primary key, label text, quantity int)")
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Label    string `json:"label"`
			Quantity int    `json:"quantity"`
			SKU      string `json:"sku"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		body.SKU = strings.TrimPrefix(r.URL.Path, "/inventory/")
		_, err := db.Exec("insert into inventory values (?, ?, ?) on conflict (sku) do update set label = excluded.label, quantity = excluded.quantity", body.SKU, body.Label, body.Quantity)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		said, _ := json.Marshal(body)
		says(w, http.StatusOK, string(said))
	}))
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, said := initiated(t, env, exitPass, "--curl", `curl -X PUT -d '{"label": "desk lamp", "quantity": 5}' `+address+"/inventory/LAMP-2024-0017", "--db", env["DATABASE_URL"])
	text := readFile(t, file)
	require.NotContains(t, text, "replay-original", said)
	require.NotContains(t, text, "\n    alter:")
	require.Contains(t, strings.ReplaceAll(text, "\n#", ""), "another body with the same key may replace the first one")
	got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1"}, firstRun...)...)
	require.Contains(t, []int{exitPass, exitInconclusive}, got.code, "%s\n%s", text, got)
}

// TestInitSeesThatAnotherBodyReplacesAPart holds that a create which is found by one member, and takes another one over from what comes later, is no
// broken promise, though the row keeps the marker of the first.
func TestInitSeesThatAnotherBodyReplacesAPart(t *testing.T) {
	t.Parallel()
	for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("broken: ", broken), func(t *testing.T) {
			t.Parallel()
			schema := "create table pages (id integer primary key, url text, title text, words text)"
			if !broken {
				schema += "; create unique index one_of_each on pages (url)"
			}
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", schema)
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct{ URL, Title, Words string }
				_ = json.NewDecoder(r.Body).Decode(&body)
				id := 0
				if db.QueryRow("select id from pages where url = ?", body.URL).Scan(&id) != nil {
					time.Sleep(2 * time.Millisecond)
					_, _ = db.Exec("insert into pages (url, title) values (?, ?)", body.URL, body.Title)
				}
				if _, err := db.Exec("update pages set words = ? where url = ?", body.Words, body.URL); err != nil {
					says(w, http.StatusInternalServerError, `{"error": "database"}`)
					return
				}
				says(w, http.StatusOK, `{"content": {"status": "OK"}}`)
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"title": "A page", "url": "http://example.org/a/page", "words": "what it says"}' `+address+"/share", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, "natural_key: [/url]", said)
			require.Contains(t, text, "Whether another body with the same /url may replace the first one", said)
			require.NotContains(t, text, "replay-original", said)
			got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay"}, racing[broken]...)...)
			require.Equal(t, want, got.code, "%s\n%s", text, got)
		})
	}
}

// TestInitKeepsTheTypeOfAnID holds that a marker stands behind the type of an id that has one, as in document:budget-2026: nothing else is taken.
func TestInitKeepsTheTypeOfAnID(t *testing.T) {
	t.Parallel()
	typed := regexp.MustCompile(`^(user|document):([^:\s]+)$`)
	for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("broken: ", broken), func(t *testing.T) {
			t.Parallel()
			schema := "create table grants (id integer primary key, subject text, object text"
			if !broken {
				schema += ", unique (subject, object)"
			}
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", schema+")")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct{ User, Object string }
				_ = json.NewDecoder(r.Body).Decode(&body)
				user, object, found := typed.FindStringSubmatch(body.User), typed.FindStringSubmatch(body.Object), 0
				if user == nil || object == nil {
					says(w, http.StatusBadRequest, `{"error": "an id has a type"}`)
					return
				}
				taken := db.QueryRow("select 1 from grants where subject = ? and object = ?", user[2], object[2]).Scan(&found) == nil
				if !taken {
					time.Sleep(2 * time.Millisecond)
					_, err := db.Exec("insert into grants (subject, object) values (?, ?)", user[2], object[2])
					taken = err != nil
				}
				if taken {
					says(w, http.StatusConflict, `{"error": "exists"}`)
					return
				}
				says(w, http.StatusCreated, fmt.Sprintf(`{"object":%q}`, body.Object))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"user": "user:anne", "object": "document:budget-2026"}' `+address+"/grants", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, "document:{{.Intent.Marker}}", said)
			got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay"}, racing[broken]...)...)
			require.Equal(t, want, got.code, "%s\n%s", text, got)
		})
	}
}
