package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfANaturalKeyInAnotherSpelling holds that what of a natural key's spelling makes no difference is learnt where it was seen to
// make none, and that runs then send it so.
func TestInitOfANaturalKeyInAnotherSpelling(t *testing.T) {
	t.Parallel()
	const ignores = "natural_key_ignores: "
	for name, c := range map[string]struct {
		spelled func(email string) (known string, valid bool) // by what a user is known, and whether the address is taken at all
		again   int                                           // status of a repetition
		learns  string                                        // empty: nothing is ignored
	}{
		"as it is":         {func(email string) (string, bool) { return email, true }, http.StatusOK, ""},
		"in lower case":    {func(email string) (string, bool) { return strings.ToLower(email), true }, http.StatusOK, ignores + "[case]"},
		"trimmed, and 409": {func(email string) (string, bool) { return strings.ToLower(strings.TrimSpace(email)), true }, http.StatusConflict, ignores + "[case, blanks]"},
		"refused":          {inSmallLetters, http.StatusConflict, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table users (id integer primary key, known text unique, email text, name text)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var user struct{ Email, Name string }
				_ = json.NewDecoder(r.Body).Decode(&user)
				known, valid := c.spelled(user.Email)
				if !valid {
					says(w, http.StatusConflict, `{"code": "invalid"}`)
					return
				}
				made, err := db.Exec("insert into users (known, email, name) values (?, ?, ?)", known, user.Email, user.Name)
				status, id := http.StatusCreated, int64(0)
				if err == nil {
					id, _ = made.LastInsertId()
				} else {
					status = c.again
					require.NoError(t, db.QueryRow("select id, email from users where known = ?", known).Scan(&id, &user.Email))
				}
				says(w, status, fmt.Sprintf(`{"code": %q, "id": %d}`, http.StatusText(status), id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"email": "ada@example.org", "name": "Ada"}' `+address+"/users", "--db", "sqlite://"+path)
			text := readFile(t, file)
			require.Contains(t, text, "natural_key: [/email]", said)
			played := []string{"plain-create", "sequential-replay"}
			if c.learns == "" {
				require.NotContains(t, text, ignores)
			} else {
				require.Contains(t, text, c.learns)
				played = append(played, "natural-key-spelling")
			}
			got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1"}, played...)...)
			require.Equal(t, exitPass, got.code, got)
		})
	}
}

// inSmallLetters takes nothing else for a value.
func inSmallLetters(email string) (known string, valid bool) {
	return email, email == strings.ToLower(strings.TrimSpace(email))
}

// TestInitTellsAnotherSpellingFromAWrongOne holds that a spelling is no name of the same thing where it is refused for its form, in words that the target
// has for a taken value as well, nor where something else in the request makes the two one.
func TestInitTellsAnotherSpellingFromAWrongOne(t *testing.T) {
	t.Parallel()
	const ignores = "natural_key_ignores: "
	for name, c := range map[string]struct {
		spelled func(login string) (known string, valid bool)
		learns  string
	}{
		"the case makes no difference": {func(login string) (string, bool) { return strings.ToLower(login), true }, ignores + "[case]"},
		"it is all the difference":     {func(login string) (string, bool) { return login, true }, ""},
		"capitals are refused":         {inSmallLetters, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table users (id integer primary key, login text, known text unique, mail text unique, name text)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var user struct{ Login, Mail, Name string }
				_ = json.NewDecoder(r.Body).Decode(&user)
				known, valid := c.spelled(user.Login)
				if !valid {
					says(w, http.StatusBadRequest, `{"message": "The user was not created."}`)
					return
				}
				made, err := db.Exec("insert into users (login, known, mail, name) values (?, ?, ?, ?)", user.Login, known, user.Mail, user.Name)
				if err != nil {
					says(w, http.StatusBadRequest, `{"message": "The user was not created."}`)
					return
				}
				id, _ := made.LastInsertId()
				says(w, http.StatusCreated, fmt.Sprintf(`{"id": %d}`, id))
			}))
			curl := `curl -d '{"login": "ada-1", "mail": "ada@example.org", "name": "Ada"}' ` + address + "/users"
			file, said := initiated(t, map[string]string{"DATABASE_URL": "sqlite://" + path}, exitPass, "--curl", curl, "--db", "sqlite://"+path)
			text := readFile(t, file)
			require.Contains(t, text, "natural_key: [/login]", said)
			if c.learns == "" {
				require.NotContains(t, text, ignores)
				return
			}
			require.Contains(t, text, c.learns)
		})
	}
}
