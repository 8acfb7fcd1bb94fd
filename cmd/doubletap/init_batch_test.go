package main

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitOfABatch holds that each element of a list is another one in each create where those of the source differ from each other, and that all
// of them are counted: the broken service knows the first one again, and makes the others once more.
func TestInitOfABatch(t *testing.T) {
	t.Parallel()
	const first, second = `{"number": "crm-1001", "name": "Ada Lovelace", "city": "town-1"}`, `{"number": "crm-1002", "name": "Grace Hopper", "city": "town-1"}`
	for name, c := range map[string]struct {
		unique bool // by the database's own constraint
		before bool // the request of the source was sent before
	}{"a constraint": {true, false}, "no constraint": {false, false}, "sent before": {true, true}} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			if broken && c.before { // the create then makes a row for what it is known by, and that looks as if nothing were known
				continue
			}
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				unique := ""
				if c.unique && !broken {
					unique = " unique"
				}
				db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
					"create table contacts (id integer primary key, number text"+unique+", name text, city text)")
				address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					var body struct {
						Contacts []struct{ Number, Name, City string }
					}
					_ = json.NewDecoder(r.Body).Decode(&body)
					var ids []string
					if inTransaction(w, db, func(tx *sql.Tx) (err error) {
						for n, contact := range body.Contacts {
							id := int64(0)
							if broken && n > 0 || tx.QueryRow("select id from contacts where number = ?", contact.Number).Scan(&id) != nil {
								err = cmp.Or(err, tx.QueryRow("insert into contacts (number, name, city) values (?, ?, ?) returning id", contact.Number, contact.Name, contact.City).Scan(&id))
							}
							ids = append(ids, fmt.Sprintf(`{"number":%q,"id":%d}`, contact.Number, id))
						}
						return err
					}) {
						says(w, http.StatusOK, fmt.Sprintf(`{"results":[%s]}`, strings.Join(ids, ",")))
					}
				}))
				const body = `{"contacts": [` + first + `, ` + second + `]}`
				if c.before {
					answer, err := http.Post(address+"/contacts", "application/json", strings.NewReader(body))
					require.NoError(t, err)
					require.NoError(t, answer.Body.Close())
				}
				env := map[string]string{"DATABASE_URL": "sqlite://" + path}
				file, said := initiated(t, env, exitPass, "--curl", `curl -d '`+body+`' `+address+"/contacts", "--db", env["DATABASE_URL"])
				text := readFile(t, file)
				numbers := []string{"number: crm-{{.Intent.Reference}}\n", "number: crm-{{.Intent.Reference}}2\n"}
				if c.before {
					numbers = []string{"number: '{{.Intent.Marker}}'\n", "number: '{{.Intent.Reference}}2'\n"}
				}
				for _, line := range append(numbers, "natural_key: [/contacts/0/number]", "query: select count(*) from contacts\n", "delta: 2\n") {
					require.Contains(t, text, line, said)
				}
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			})
		}
	}
}

// TestInitLeavesOneRowForAListAsItIs holds that nothing is counted as a whole where a list makes one row.
func TestInitLeavesOneRowForAListAsItIs(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table orders (id integer primary key, k text unique, label text)")
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Lines []struct{ Label string } }
		_ = json.NewDecoder(r.Body).Decode(&body)
		id, key := int64(0), r.Header.Get("Idempotency-Key")
		_, _ = db.Exec("insert into orders (k, label) values (?, ?) on conflict do nothing", key, body.Lines[0].Label)
		_ = db.QueryRow("select id from orders where k = ?", key).Scan(&id)
		says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
	}))
	env := map[string]string{"DATABASE_URL": "sqlite://" + path}
	file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"lines": [{"label": "lamp for the hall"}, {"label": "lamp for the desk"}]}' `+address+"/orders", "--db", env["DATABASE_URL"])
	require.NotContains(t, readFile(t, file), "count(*)", said)
}
