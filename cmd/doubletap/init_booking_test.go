package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bookings is a service without a key that books a place once for each value of some members. The broken one looks whether it is booked, and
// takes its time until it books it. The catalogue of the database need not tell: a constraint of some rows is not in it.
func bookings(t *testing.T, by []string, partial, broken bool) (address, database string) {
	t.Helper()
	schema := "create table bookings (id integer primary key, place integer, starts_at text, seat_no integer, guest text, people integer, cancelled integer)"
	columns := map[string]string{"place": "place", "startsAt": "starts_at", "seatNo": "seat_no"}
	var unique []string
	for _, member := range by {
		unique = append(unique, columns[member])
	}
	if !broken {
		schema += "; create unique index slot on bookings (" + strings.Join(unique, ", ") + ")"
	}
	if partial && !broken {
		schema += " where cancelled is null"
	}
	db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", schema)
	where := "where " + strings.Join(unique, " = ? and ") + " = ?"
	return serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		var values []any
		for _, member := range by {
			values = append(values, body[member])
		}
		id := 0
		if db.QueryRow("select id from bookings "+where, values...).Scan(&id) == nil {
			says(w, http.StatusConflict, `{"error":"taken"}`)
			return
		}
		if broken {
			time.Sleep(2 * time.Millisecond)
		}
		if _, err := db.Exec("insert into bookings (place, starts_at, seat_no, guest, people) values (?, ?, ?, ?, ?)", body["place"], body["startsAt"], body["seatNo"], body["guest"], body["people"]); err != nil {
			says(w, http.StatusConflict, `{"error":"taken"}`)
			return
		}
		_ = db.QueryRow("select id from bookings "+where+" and guest = ?", append(values, body["guest"])...).Scan(&id)
		says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
	})), "sqlite://" + path
}

// TestInitOfWhatIsBookedOnce holds that a time or a number which is booked once differs from create to create, in its form.
func TestInitOfWhatIsBookedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by      []string
		partial bool
		body    string
		learns  []string
	}{
		"a time":               {[]string{"startsAt"}, false, `{"startsAt": "2026-12-24T18:00:00Z", "guest": "Ann", "people": 4}`, []string{`startsAt: '{{unique "time" "2006-01-02T15:04:05Z"}}'`, "natural_key: [/startsAt]", "existing: {statuses: [409]", "alter: {people: 5}"}},
		"a time, not told":     {[]string{"startsAt"}, true, `{"startsAt": "2026-12-24 18:00:00.000+01:00", "guest": "Ann", "people": 4}`, []string{`startsAt: '{{unique "time" "2006-01-02 15:04:05.000"}}+01:00'`, "natural_key: [/startsAt]"}},
		"a number":             {[]string{"seatNo"}, false, `{"seatNo": 12, "guest": "Ann"}`, []string{`seatNo: '{{unique "int" | json}}'`, "natural_key: [/seatNo]"}},
		"a number, not told":   {[]string{"seatNo"}, true, `{"seatNo": 12, "guest": "Ann"}`, []string{`seatNo: '{{unique "int" | json}}'`, "natural_key: [/seatNo]"}},
		"a place and a time":   {[]string{"place", "startsAt"}, false, `{"place": 3, "startsAt": "2026-12-24T18:00", "guest": "Ann", "people": 4}`, []string{`startsAt: '{{unique "time" "2006-01-02T15:04"}}'`, "natural_key: [/startsAt", "place: 3\n", "alter: {people: 5}"}},
		"both of them, untold": {[]string{"place", "startsAt"}, true, `{"place": 3, "startsAt": "2026-12-24T18:00:00Z", "guest": "Ann"}`, []string{"natural_key: [/startsAt, /place]", "place: 3\n", "it did, with another value in /place"}},
	} {
		for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
			t.Run(fmt.Sprint(name, ", broken: ", broken), func(t *testing.T) {
				t.Parallel()
				address, database := bookings(t, c.by, c.partial, broken)
				env := map[string]string{"DATABASE_URL": database}
				file, said := initiated(t, env, exitPass, "--curl", "curl -d '"+c.body+"' "+address+"/bookings", "--db", database)
				text := readFile(t, file)
				if !broken && !c.partial && len(c.by) > 1 { // the database says that they name it together
					require.Contains(t, text, "natural_key: [/startsAt, /place]")
				}
				for _, learnt := range append(c.learns, "each create needs another one") {
					require.Contains(t, strings.ReplaceAll(text, "\n#", ""), learnt, said)
				}
				got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "altered-after"}, racing[broken]...)...)
				require.Equal(t, want, got.code, "%s\n%s", text, got)
			})
		}
	}
}
