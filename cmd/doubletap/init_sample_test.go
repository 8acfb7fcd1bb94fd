package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// invitations is a service with a key that invites to a document only whom it knows. The broken one looks whether the key is known, and takes
// its time until it writes it down.
func invitations(t *testing.T, refusal int, broken bool) (address, database string) {
	t.Helper()
	unique := " unique"
	if broken {
		unique = ""
	}
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table invitations (id integer primary key, idem text"+unique+", invitee text, inviter text, message text)")
	known := map[string]bool{"ada@example.com": true, "bob@example.com": true}
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Invitee, Inviter, Message string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		if !known[body.Invitee] || body.Inviter != "" && !known[body.Inviter] {
			says(w, refusal, `{"error":"nobody has this address"}`)
			return
		}
		key, id := r.Header.Get("Idempotency-Key"), 0
		if db.QueryRow("select id from invitations where idem = ?", key).Scan(&id) != nil {
			if broken {
				time.Sleep(20 * time.Millisecond)
			}
			_, _ = db.Exec("insert into invitations (idem, invitee, inviter, message) values (?, ?, ?, ?) on conflict do nothing", key, body.Invitee, body.Inviter, body.Message)
			_ = db.QueryRow("select id from invitations where idem = ?", key).Scan(&id)
		}
		says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
	})), "sqlite://" + path
}

// TestInitNamesWhomTheSourceNames holds that an address which must be that of somebody is sent as the source has it, however another one is
// refused: one address, or all of them.
func TestInitNamesWhomTheSourceNames(t *testing.T) {
	t.Parallel()
	one, two := `{"invitee": "ada@example.com", "message": "have a look"}`, `{"invitee": "ada@example.com", "inviter": "bob@example.com", "message": "have a look"}`
	for name, c := range map[string]struct {
		refusal int
		body    string
		kept    []string
	}{
		"404":              {404, one, []string{"invitee: ada@example.com"}},
		"422":              {422, one, []string{"invitee: ada@example.com"}},
		"409":              {409, one, []string{"invitee: ada@example.com"}},
		"500":              {500, one, []string{"invitee: ada@example.com"}},
		"both of two, 404": {404, two, []string{"invitee: ada@example.com", "inviter: bob@example.com"}},
	} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				address, database := invitations(t, c.refusal, broken)
				env := map[string]string{"DATABASE_URL": database}
				file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 1' -d '`+c.body+`' `+address+"/invitations", "--db", database)
				text := readFile(t, file)
				for _, kept := range append(c.kept, "message: '{{.Intent.Marker}}'") {
					require.Contains(t, text, kept+"\n", said)
				}
				require.Contains(t, strings.ReplaceAll(text, "\n#", ""), "Whether /invitee must be as the source has it")
				got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay"}, racing[broken]...)...)
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			})
		}
	}
}

// checkouts is a service with a key that takes a coupon of limited uses. The broken one uses it up before the key is written down.
func checkouts(t *testing.T, refusal int, broken bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_txlock=immediate", `create table coupons (code text primary key, max_uses integer, used integer not null default 0);
		insert into coupons values ('WELCOME', 100000, 0);
		create table orders (id integer primary key, idem text unique, request text, email text, coupon_code text references coupons(code), total integer)`)
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Email, Coupon string
			Subtotal      int
		}
		said, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(said, &body)
		key, id, request := r.Header.Get("Idempotency-Key"), 0, ""
		use := func(do func(query string, args ...any) bool) bool {
			return do("update coupons set used = used + 1 where code = ? and used < max_uses", body.Coupon)
		}
		order := func(do func(query string, args ...any) bool) bool {
			return do("insert into orders (idem, request, email, coupon_code, total) values (?, ?, ?, ?, ?) on conflict do nothing", key, string(said), body.Email, body.Coupon, body.Subtotal)
		}
		known := func() bool {
			return db.QueryRow("select id, request from orders where idem = ?", key).Scan(&id, &request) == nil
		}
		if !known() {
			tx, err := db.Begin()
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			within := func(query string, args ...any) bool {
				result, err := tx.Exec(query, args...)
				if err != nil {
					return false
				}
				n, _ := result.RowsAffected()
				return n == 1
			}
			used := use(within)
			if broken && used {
				_ = tx.Commit()
				time.Sleep(20 * time.Millisecond)
				if tx, err = db.Begin(); err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
			}
			if used && order(within) || broken {
				_ = tx.Commit()
			} else {
				_ = tx.Rollback()
			}
			if !used && !known() {
				says(w, refusal, `{"title":"coupon is used up"}`)
				return
			}
			known()
		}
		if request != string(said) {
			says(w, http.StatusUnprocessableEntity, `{"title":"key was used for another order"}`)
			return
		}
		says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
	})), "sqlite://" + path
}

// TestInitUsesTheCouponOfTheSource holds that a word which the target knows is sent as the source has it, with the marker in an address, however
// another word is refused; and that how often it is used is watched.
func TestInitUsesTheCouponOfTheSource(t *testing.T) {
	t.Parallel()
	for _, refusal := range []int{404, 409, 422} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(refusal, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				address, database := checkouts(t, refusal, broken)
				env := map[string]string{"DATABASE_URL": database}
				file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 1' -d '{"email": "ada@example.com", "coupon": "WELCOME", "subtotal": 4000}' `+address+"/checkout", "--db", database)
				text := readFile(t, file)
				require.Contains(t, text, "coupon: WELCOME\n", said)
				require.Contains(t, text, "email: '{{.Intent.Marker}}@example.com'\n")
				require.Contains(t, text, "coupons.used")
				got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay"}, racing[broken]...)...)
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			})
		}
	}
}

// TestInitSaysThatAPathIsWrongOrANameIs holds that a 404 in JSON is followed by few more creates, and that one in a page is by none.
func TestInitSaysThatAPathIsWrongOrANameIs(t *testing.T) {
	t.Parallel()
	for media, c := range map[string]struct {
		creates int
		says    string
	}{
		"application/json": {6, "so --url or the path is wrong, or the body names what is not there."},
		"text/html":        {1, "so --url or the path is wrong."},
	} {
		t.Run(media, func(t *testing.T) {
			t.Parallel()
			body := `{"error":"not found"}`
			if media == "text/html" {
				body = "<h1>not found</h1>"
			}
			s := newShop(t, answering(404, media, body))
			_, got := initiated(t, nil, exitPass, "--curl", `curl -d '{"a": "ann@example.com", "b": "bob@example.com", "note": "x"}' `+s.url, "--db", "sqlite://"+s.path)
			require.Contains(t, got.err, c.says)
			require.Equal(t, c.creates, strings.Count(got.err, "sending one create"), got)
		})
	}
}

// imports is a service that takes a statement once, with the lines of its file. The broken one looks whether it has it, and takes its time until
// it has.
func imports(t *testing.T, broken bool) (address, database string) {
	t.Helper()
	unique := ", unique (owner, number)"
	if broken {
		unique = ""
	}
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table statements (id integer primary key, owner text, number text, file_name text, lines integer"+unique+")")
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, header, err := r.FormFile("file")
		if err != nil {
			says(w, http.StatusBadRequest, `{"error":"no file"}`)
			return
		}
		content, _ := io.ReadAll(file)
		lines := strings.Split(strings.TrimSuffix(string(content), "\r\n"), "\r\n")
		if lines[0] != "\ufeffdate,payee,amount" || len(lines) != 3 || lines[2] != `2026-11-03,"Bob's {{lamps}} $HOME",4.20` || header.Header.Get("Content-Type") != "text/csv" || !strings.HasSuffix(header.Filename, ".csv") {
			says(w, http.StatusUnprocessableEntity, `{"error":"columns"}`)
			return
		}
		owner, number, id := r.FormValue("owner"), r.FormValue("number"), 0
		if owner == "" {
			number = header.Filename
		}
		find := func() bool {
			return db.QueryRow("select id from statements where owner = ? and number = ?", owner, number).Scan(&id) == nil
		}
		status := http.StatusOK
		if !find() {
			if status = http.StatusCreated; broken {
				time.Sleep(20 * time.Millisecond)
			}
			_, _ = db.Exec("insert into statements (owner, number, file_name, lines) values (?, ?, ?, ?) on conflict do nothing", owner, number, header.Filename, len(lines)-1)
			find()
		}
		says(w, status, fmt.Sprintf(`{"id":%d}`, id))
	})), "sqlite://" + path
}

// TestInitSendsTheFileThatAFormNames holds that the file is read, and sent with its type and name; and that the marker goes into another part,
// or where there is none, into the name.
func TestInitSendsTheFileThatAFormNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ parts, marked string }{
		"beside other parts": {"-F 'number=ST-2026-0042' -F 'owner=Ada'", "owner: '{{.Intent.Marker}}'"},
		"alone":              {"", "file: '{{.Intent.Marker}}.csv'"},
	} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				address, database := imports(t, broken)
				env := map[string]string{"DATABASE_URL": database}
				statement := filepath.Join(t.TempDir(), "bank.txt")
				require.NoError(t, os.WriteFile(statement, []byte("\ufeffdate,payee,amount\r\n2026-11-01,Rent,950.00\r\n2026-11-03,\"Bob's {{lamps}} $HOME\",4.20\r\n"), 0o600))
				file, said := initiated(t, env, exitPass, "--curl", "curl "+address+"/imports "+c.parts+" -F 'file=@"+statement+";type=text/csv;filename=november.csv'", "--db", database)
				text := readFile(t, file)
				require.Contains(t, text, c.marked, said)
				require.Contains(t, text, "type: text/csv")
				got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay"}, racing[broken]...)...)
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			})
		}
	}
}

// TestInitSaysWhatItCannotSendOfAFile holds that a file which is not there, or too large, is one clear message, and that one which is no text
// is said to be replaced.
func TestInitSaysWhatItCannotSendOfAFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	put := func(name string, content []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	put("lamp.png", []byte("\x89PNG\r\n\x1a\n\x00"))
	put("large.csv", make([]byte, 2<<20))
	for name, c := range map[string]struct {
		code int
		says string
	}{
		"gone.csv":  {exitConfig, "--curl: -F photo: file " + path.Join(folder, "gone.csv") + ": file does not exist"},
		"large.csv": {exitConfig, "large.csv has 2 MiB, and at most 1 MiB are read"},
		"lamp.png":  {exitPass, "What photo holds: a target file has texts only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got := initiated(t, nil, c.code, "--url", "http://localhost:1", "--dry", "--curl", "curl localhost:1/things -F note=hello -F photo=@"+filepath.Join(folder, name))
			require.Contains(t, got.err, c.says)
		})
	}
	_, got := initiated(t, nil, exitConfig, "--dry", "--curl", "curl localhost:1/things -F photo=@-")
	require.Contains(t, got.err, "is read from standard input: name a file")
}
