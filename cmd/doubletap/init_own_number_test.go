package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// consignments is a service in which clients give each thing its number, and where one is there already, is told which. The broken one reads
// numbers as JavaScript does, so that neighbours above 2^53 are one, or names what came last.
func consignments(t *testing.T, rounded, last bool) (address, database string) {
	t.Helper()
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table consignments (id integer primary key, seq integer, goods text, kilos integer, email text unique)")
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			ID    json.Number
			Goods string
			Kilos int
			Email *string
		}
		if json.NewDecoder(r.Body).Decode(&body) != nil || body.Goods == "" {
			says(w, http.StatusUnprocessableEntity, `{"error":"invalid"}`)
			return
		}
		var id *int64
		if number, err := body.ID.Int64(); err == nil {
			if rounded {
				number = int64(float64(number))
			}
			id = &number
		}
		made := int64(0)
		err := db.QueryRow("insert into consignments (id, goods, kilos, email) values (?, ?, ?, ?) returning id", id, body.Goods, body.Kilos, body.Email).Scan(&made)
		if err == nil {
			says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, made))
			return
		}
		where, value := "id = ?", any(id)
		if body.Email != nil {
			where, value = "email = ?", *body.Email
		}
		if last {
			where, value = "? is not null order by rowid desc limit 1", 1
		}
		_ = db.QueryRow("select id from consignments where "+where, value).Scan(&made)
		says(w, http.StatusConflict, fmt.Sprintf(`{"error":"exists","existingId":%d}`, made))
	})), "sqlite://" + path
}

// TestInitOfANumberThatTheClientGives holds that the number which a client gives a thing is another one in each create, of the same size, and has to be
// in the row to its last digit.
func TestInitOfANumberThatTheClientGives(t *testing.T) {
	t.Parallel()
	for number, template := range map[string]string{
		"9007199254740993": `id: '{{printf "9%s" (unique "number") | json}}'`,
		"4100":             `id: '{{unique "int" | json}}'`,
	} {
		for rounded, want := range map[bool]int{false: exitPass, true: exitFinding} {
			if rounded && len(number) < 16 {
				continue
			}
			t.Run(fmt.Sprint(number, ", rounded: ", rounded), func(t *testing.T) {
				t.Parallel()
				address, database := consignments(t, rounded, false)
				env := map[string]string{"DATABASE_URL": database}
				file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"id": `+number+`, "goods": "bolts", "kilos": 40}' `+address+"/consignments", "--db", database)
				text := readFile(t, file)
				require.Contains(t, text, template, said)
				require.Contains(t, text, "natural_key: [/id]", said)
				if len(number) >= 16 {
					require.Contains(t, text, "content: {id: /id, kilos: /kilos}")
				}
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "double-click")
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			})
		}
	}
}

// TestInitOfARefusalThatNamesWhatIsThere holds that the id in a refusal of what is there already has to be that of the thing.
func TestInitOfARefusalThatNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	for last, want := range map[bool]int{false: exitPass, true: exitFinding} {
		t.Run(fmt.Sprint("the last one: ", last), func(t *testing.T) {
			t.Parallel()
			address, database := consignments(t, false, last)
			env := map[string]string{"DATABASE_URL": database}
			file, said := initiated(t, env, exitPass, "--curl", `curl -d '{"email": "ada@example.org", "goods": "bolts", "kilos": 40}' `+address+"/consignments", "--db", database)
			text := readFile(t, file)
			require.Contains(t, text, "where: {/error: exists}, identity: /existingId}", said)
			got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "double-click")
			require.Equal(t, want, got.code, "%s\n%s", text, got)
		})
	}
}
