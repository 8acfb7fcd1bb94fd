package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

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

// TestInitOfANameInAnotherCase holds that a name is sent in another case where rows are found by it alone. The broken service looks whether the name is
// there in any case, and its constraint is about one case only.
func TestInitOfANameInAnotherCase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		index, known, slug string
		learns             bool
		code               int
	}{
		"broken: the constraint is about one case": {"name", "lower(name) = lower(?)", "lower(?)", true, exitFinding},
		"correct: it is about all":                 {"lower(name)", "lower(name) = lower(?)", "lower(?)", true, exitPass},
		"correct: another case is another name":    {"name", "name = ?", "?", false, exitPass},
		"two names have one slug":                  {"name", "name = ?", "replace(lower(?), ' ', '-')", false, exitPass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table tags (id integer primary key, name text not null, colour text not null, slug text not null); create unique index one on tags ("+c.index+
				"); create table marks (id integer primary key, tag_id integer not null references tags (id))")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var tag struct{ Name, Colour string }
				_ = json.NewDecoder(r.Body).Decode(&tag)
				if len(tag.Name) < 3 || tag.Colour == "" {
					says(w, http.StatusBadRequest, `{"error": "name and colour are needed"}`)
					return
				}
				known := func() (id int64, err error) {
					return id, db.QueryRow("select id from tags where "+c.known, tag.Name).Scan(&id)
				}
				if id, err := known(); err == nil {
					says(w, http.StatusOK, fmt.Sprintf(`{"id": %d}`, id))
					return
				}
				time.Sleep(20 * time.Millisecond)
				if !inTransaction(w, db, func(tx *sql.Tx) error {
					made, err := tx.Exec("insert into tags (name, colour, slug) values (?, ?, "+c.slug+") on conflict do nothing", tag.Name, tag.Colour, tag.Name)
					if err != nil {
						return err
					}
					if n, _ := made.RowsAffected(); n == 0 {
						return nil
					}
					id, _ := made.LastInsertId()
					_, err = tx.Exec("insert into marks (tag_id) values (?)", id)
					return err
				}) {
					return
				}
				id, err := known()
				require.NoError(t, err)
				says(w, http.StatusOK, fmt.Sprintf(`{"id": %d}`, id))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"name": "Garden lamps", "colour": "green"}' `+address+"/tags", "--db", env["DATABASE_URL"])
			text := readFile(t, file)
			require.Contains(t, text, "natural_key: [/name]", said.err)
			require.Equal(t, c.learns, strings.Contains(text, "\n  natural_key_ignores: [case]"), "%s\n%s", text, said.err)
			require.Equal(t, c.learns, strings.Contains(text, "where lower(tags.name) = lower(:reference)"), text)
			require.Equal(t, name == "two names have one slug", strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " "), "both rows have the same slug"), text)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "natural-key-spelling", "fresh-key-retry", "tabs-natural-key", "plain-create")
			require.Equal(t, c.code, got.code, "%s\n%s", text, got)
			require.Equal(t, name == "two names have one slug", strings.Contains(strings.Join(strings.Fields(got.out), " "), "lists a thing that init was unsure of: this verdict rests on it"), got)
			if c.learns {
				require.Regexp(t, `[✓✗] natural-key-spelling`, got.out)
				return
			}
			told := strings.NewReplacer("  natural_key: [/name]", "  natural_key_ignores: [case]\n  natural_key: [/name]", "tags.name = :reference", "lower(tags.name) = lower(:reference)").Replace(text)
			got = callWith(t.Context(), env, "run", "--target", writeFile(t, "told.yaml", told), "--reports", t.TempDir(), "--seed", "1", "natural-key-spelling")
			require.Equal(t, exitFinding, got.code, "%s\n%s", told, got)
		})
	}
}

// TestInitReadsNoLargeTableForASpelling holds that the row query of a table with many rows goes by an index, and not by an expression that has none.
func TestInitReadsNoLargeTableForASpelling(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)&_pragma=synchronous(off)", `
		create table teams (id integer primary key, name text not null unique, size int);
		with recursive n(i) as (select 1 union all select i + 1 from n where i < 100001) insert into teams (name, size) select 'team ' || i || ' of them all', i from n`)
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var team struct {
			Name string
			Size int
		}
		_ = json.NewDecoder(r.Body).Decode(&team)
		status, id := http.StatusCreated, int64(0)
		made, err := db.Exec("insert into teams (name, size) values (?, ?)", strings.ToLower(team.Name), team.Size)
		if err == nil {
			id, _ = made.LastInsertId()
		} else {
			status = http.StatusOK
			require.NoError(t, db.QueryRow("select id from teams where name = ?", strings.ToLower(team.Name)).Scan(&id))
		}
		says(w, status, fmt.Sprintf(`{"id": %d}`, id))
	}))
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"name": "Blue Team", "size": 3}' `+address+"/teams", "--db", "sqlite://"+path)
	text := readFile(t, file)
	require.Contains(t, text, "natural_key: [/name]", said)
	require.NotContains(t, text, "lower(")
	require.Contains(t, strings.Join(strings.Fields(strings.ReplaceAll(text, "\n#", " ")), " "), "Whether another spelling of /name is the same")
}
