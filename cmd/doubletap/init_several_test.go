package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// ofSeveral is a service of which one create makes several rows: the two legs of a transfer, as many vouchers as are ordered, or a booking
// and its seats. A broken one forgets its keys.
type ofSeveral struct {
	of     string
	broken bool

	mu    sync.Mutex
	db    *sql.DB
	known map[string]severalAsked
	made  int
}

type severalAsked struct {
	Note          string
	Count, Amount int
	id            string
}

func (p *ofSeveral) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked severalAsked
	_ = json.NewDecoder(r.Body).Decode(&asked)
	p.mu.Lock()
	defer p.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	before, again := p.known[key]
	switch {
	case key == "" || asked.Count < 1:
		says(w, http.StatusBadRequest, `{"code":"invalid"}`)
		return
	case again && (before.Note != asked.Note || before.Count != asked.Count || before.Amount != asked.Amount):
		says(w, http.StatusUnprocessableEntity, `{"code":"key_reused"}`)
		return
	case !again || p.broken:
		p.made++
		asked.id = fmt.Sprintf("made-%08d", p.made)
		p.known[key], before = asked, asked
		if err := p.create(asked); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	switch p.of {
	case "legs": // with what holds now
		says(w, http.StatusCreated, fmt.Sprintf(`{"transfer_id":%q,"balance":%d}`, before.id, 1000-p.made))
	case "vouchers":
		w.WriteHeader(http.StatusNoContent)
	default:
		says(w, http.StatusCreated, fmt.Sprintf(`{"code":%q}`, before.id))
	}
}

func (p *ofSeveral) create(asked severalAsked) error {
	tx, err := p.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	switch p.of {
	case "legs":
		for leg := range 2 {
			_, err = tx.Exec("insert into legs values (?, ?, ?, ?)", asked.id, leg, asked.Amount*(2*leg-1), asked.Note)
		}
	case "vouchers":
		for range asked.Count {
			_, err = tx.Exec("insert into vouchers (note, amount) values (?, ?)", asked.Note, asked.Amount)
		}
	default:
		_, err = tx.Exec("insert into bookings values (?, ?, ?)", asked.id, asked.Note, asked.Count)
		for seat := range asked.Count {
			_, err = tx.Exec("insert into seats values (?, ?)", asked.id, seat)
		}
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// TestInitOfSeveralRows holds that the rows of one create are no duplicates of each other, that a number of them which the body says is not
// taken for a promise, and that a balance in the answer is not.
func TestInitOfSeveralRows(t *testing.T) {
	t.Parallel()
	for of, c := range map[string]struct {
		body          string
		learns, lacks []string
	}{
		"legs": {`{"note":"rent for june","count":1,"amount":25}`, []string{"select distinct transfer_id", "name: legs-rows", "rows: 2", "body: identity"}, nil},
		"vouchers": {`{"note":"for ada","count":3,"amount":25}`,
			[]string{"- 1) % 3 = 0", "name: vouchers-rows", "rows: 3", "alter: {amount: 26}"}, []string{"alter: {count"}},
		"seats": {`{"note":"ada and others","count":3}`, []string{"alter: {count: 4}", "with another /count it made 4, and not 3", "# effects:"}, nil},
	} {
		for _, broken := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, broken: %t", of, broken), func(t *testing.T) {
				t.Parallel()
				db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
					`create table legs (transfer_id text, leg integer, amount integer, note text, primary key (transfer_id, leg));
					create table vouchers (id integer primary key, note text, amount integer);
					create table bookings (code text primary key, note text, count integer);
					create table seats (booking text references bookings (code), seat integer, primary key (booking, seat))`)
				address := serveBoth(t, &ofSeveral{of: of, db: db, broken: broken, known: map[string]severalAsked{}})
				env := map[string]string{"DATABASE_URL": "sqlite://" + path}
				file, _ := initiated(t, env, exitPass, "--curl", "curl -H 'Idempotency-Key: k-1' -d '"+c.body+"' "+address+"/"+of, "--db", env["DATABASE_URL"])
				if broken {
					requireRepeated(t, env, file, exitFinding, "duplicate in 8 of 8 intents")
					return
				}
				text := readFile(t, file)
				for _, learnt := range c.learns {
					require.Contains(t, text, learnt)
				}
				for _, absent := range c.lacks {
					require.NotContains(t, text, absent)
				}
				requireRepeated(t, env, file, exitPass, "")
				got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "altered-race", "burst-same-key")
				require.Equal(t, exitPass, got.code, got)
			})
		}
	}
}

// TestInitOfALogOfRequests holds that init says which table a repetition has left as it was, where the one that is called as the path is has a
// row for each request.
func TestInitOfALogOfRequests(t *testing.T) {
	t.Parallel()
	db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)",
		"create table calls (id integer primary key, subject text); create table letters (event text unique, subject text)")
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct{ Event, Subject string }
		_ = json.NewDecoder(r.Body).Decode(&call)
		_, _ = db.Exec("insert into calls (subject) values (?)", call.Subject)
		_, _ = db.Exec("insert into letters values (?, ?) on conflict do nothing", call.Event+call.Subject, call.Subject)
		says(w, http.StatusOK, "{}")
	}))
	database := "sqlite://" + path
	file, _ := initiated(t, map[string]string{"DATABASE_URL": database}, exitPass, "--curl", `curl -d '{"event":"e-1","subject":"hello you"}' `+address+"/calls", "--db", database)
	require.Contains(t, strings.ReplaceAll(readFile(t, file), "\n# ", " "), "made another row in calls, and none in letters. If calls is a log of requests, write the row query for letters")
}

// TestInitAltersWhatMayBeAnother holds that another body that is refused for what it says, and not for its being another one, shows nothing: then
// another member is altered, if there is one, or the marker alone.
func TestInitAltersWhatMayBeAnother(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body          string
		learns, lacks string
	}{
		"another member": {`{"note":"for ada","level":3,"weight":1.5}`, "alter: {weight: 2.5}", "on_mismatch: reject"},
		"no other":       {`{"note":"for ada","level":3}`, `alter: {note: "{{.Intent.Marker}}"}`, "on_mismatch: reject"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table things (key text unique, note text, level integer, weight real)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var thing struct {
					Note   string
					Level  int
					Weight float64
				}
				_ = json.NewDecoder(r.Body).Decode(&thing)
				if thing.Level > 3 {
					says(w, http.StatusUnprocessableEntity, `{"code":"invalid"}`)
					return
				}
				_, _ = db.Exec("insert into things values (?, ?, ?, ?) on conflict do nothing", r.Header.Get("Idempotency-Key"), thing.Note, thing.Level, thing.Weight)
				says(w, http.StatusCreated, fmt.Sprintf(`{"key":%q}`, r.Header.Get("Idempotency-Key")))
			}))
			env := map[string]string{"DATABASE_URL": "sqlite://" + path}
			file, _ := initiated(t, env, exitPass, "--curl", "curl -H 'Idempotency-Key: k' -d '"+c.body+"' "+address+"/things", "--db", env["DATABASE_URL"])
			require.Contains(t, readFile(t, file), c.learns)
			require.NotContains(t, readFile(t, file), c.lacks)
			require.NotContains(t, readFile(t, file), "not by the first one's answer")
		})
	}
}

// TestInitWithoutADatabasePromisesLittle holds that a repetition that is answered 200 after a 201 is no broken promise where nothing was seen.
func TestInitWithoutADatabasePromisesLittle(t *testing.T) {
	t.Parallel()
	var known sync.Map
	address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusCreated
		if _, again := known.LoadOrStore(r.Header.Get("Idempotency-Key"), true); again {
			status = http.StatusOK
		}
		says(w, status, `{"received":true}`)
	}))
	file, _ := initiated(t, nil, exitPass, "--curl", `curl -H 'Idempotency-Key: k' -d '{"note":"hello you"}' `+address+"/things")
	requireRepeated(t, nil, file, exitInconclusive, "")
	require.Contains(t, readFile(t, file), "rows.http")
}
