package main

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// manners are how a correct service answers. A status of 0: it does not tell such requests from others.
type manners struct {
	created, again, running, mismatch, keyless int
	natural                                    int                                       // the body's reference is the key, and this is the answer to one that is taken
	later                                      time.Duration                             // the row comes so long after the answer
	done                                       int                                       // status of a repetition when the row is there; 0: as before
	leads                                      bool                                      // answers name the order in Location, and a repetition has nothing else
	takes                                      func(r *http.Request, body []byte) string // the key, where that is no header
	wants                                      string                                    // refuses, with 422, a body without this
}

// mannered is a correct service over a SQLite file: one order for each key, or for each reference.
type mannered struct {
	manners
	db *sql.DB

	mu      sync.Mutex
	busy    map[string]chan struct{}
	working sync.WaitGroup
}

// newMannered starts a service, and returns its URL and that of its database.
func newMannered(t *testing.T, m manners) (address, database string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "orders.db")
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(wal)")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	_, err = db.Exec("create table orders (id text primary key, note text, reference text, amount int); create table records (key text primary key, body text, answer text)")
	if err == nil && m.natural != 0 {
		_, err = db.Exec("create unique index one on orders (reference)")
	}
	require.NoError(t, err)
	s := &mannered{manners: m, db: db, busy: map[string]chan struct{}{}}
	t.Cleanup(func() { s.working.Wait(); db.Close() })
	return serveBoth(t, s), "sqlite://" + file
}

func (s *mannered) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key := r.Header.Get("Idempotency-Key")
	if !bytes.Contains(body, []byte(s.wants)) {
		says(w, http.StatusUnprocessableEntity, `{"code":"currency"}`)
		return
	}
	if s.takes != nil {
		key = s.takes(r, body)
	}
	if s.natural != 0 {
		var order struct{ Reference string }
		json.Unmarshal(body, &order)
		key = order.Reference
	}
	if key == "" {
		if s.keyless != 0 {
			says(w, s.keyless, `{"code":"key_missing"}`)
		} else {
			says(w, s.created, s.place(body, ""))
		}
		return
	}
	for {
		s.mu.Lock()
		running, is := s.busy[key]
		if !is {
			s.busy[key] = make(chan struct{})
		}
		s.mu.Unlock()
		if !is {
			break
		}
		if s.running != 0 {
			says(w, s.running, `{"code":"in_progress"}`)
			return
		}
		<-running
	}
	defer func() {
		s.mu.Lock()
		close(s.busy[key])
		delete(s.busy, key)
		s.mu.Unlock()
	}()
	var known, answer string
	switch err := s.db.QueryRow("select body, answer from records where key = ?", key).Scan(&known, &answer); {
	case err != nil:
		time.Sleep(5 * time.Millisecond) // work
		made := s.place(body, key)
		if s.leads {
			w.Header().Set("Location", made)
			made = fmt.Sprintf(`{"id":%q}`, path.Base(made))
		}
		says(w, s.created, made)
	case s.natural != 0:
		says(w, s.natural, `{"code":"reference_taken"}`)
	case s.mismatch != 0 && known != string(bytes.TrimSpace(body)):
		says(w, s.mismatch, `{"code":"key_reused"}`)
	case s.leads:
		w.Header().Set("Location", answer)
		w.WriteHeader(s.again)
	case s.done != 0 && s.placed(known):
		says(w, s.done, `{"state":"done"}`)
	default:
		says(w, s.again, answer)
	}
}

// placed reports that the order of a body is there.
func (s *mannered) placed(body string) bool {
	var order struct{ Note string }
	json.Unmarshal([]byte(body), &order)
	return s.db.QueryRow("select 1 from orders where note = ?", order.Note).Scan(new(int)) == nil
}

// place writes an order and, where there is a key, what its repetitions are answered.
func (s *mannered) place(body []byte, key string) string {
	var order struct {
		Note, Reference string
		Amount          int
	}
	json.Unmarshal(body, &order)
	answer, id := fmt.Sprintf(`{"note":%q}`, order.Note), rand.Text()
	if s.leads {
		answer = "/orders/" + id
	}
	write := func() {
		s.db.Exec("insert into orders values (?, ?, ?, ?)", id, order.Note, order.Reference, order.Amount)
	}
	if key != "" {
		s.db.Exec("insert into records values (?, ?, ?)", key, string(bytes.TrimSpace(body)), answer)
	}
	if s.later == 0 {
		write()
	} else {
		s.working.Go(func() { time.Sleep(s.later); write() })
	}
	return answer
}

func says(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// TestInitLearnsTheContract holds that what init promises in a service's name is what the service does, so that the first
// run against a correct one has nothing to say.
func TestInitLearnsTheContract(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		manners
		learns, not []string
	}{
		"409 in progress":     {manners{created: 201, again: 201, running: 409, mismatch: 422}, []string{"in_progress: {mode: reject, statuses: [409], where: {/code: in_progress}}", "on_mismatch: reject, statuses: [422]"}, []string{"missing_key"}},
		"200 on a replay":     {manners{created: 201, again: 200, mismatch: 422, keyless: 400}, []string{"replay: {status: {201: [200]}}", "missing_key: {statuses: [400]", "required: true"}, []string{"in_progress"}},
		"417 on a mismatch":   {manners{created: 201, again: 201, mismatch: 417}, []string{"on_mismatch: reject, statuses: [417], where: {/code: key_reused}"}, []string{"[422"}},
		"202, done later":     {manners{created: 202, again: 202, later: 100 * time.Millisecond}, []string{"ack: {accepted: {statuses: [202], within: 10s}}", "from orders where orders.note"}, []string{"on_mismatch: reject"}},
		"202, 200 when done":  {manners{created: 202, again: 202, done: 200, later: 700 * time.Millisecond}, []string{"replay: {status: {202: [200]}, body: none}", "ack: {accepted: {statuses: [202], within: 10s}}"}, nil},
		"202, 303 when done":  {manners{created: 202, again: 202, done: 303, later: 700 * time.Millisecond}, []string{"replay: {status: {202: [303]}, body: none}", "ack: {statuses: [200, 201, 204, 303], accepted: {statuses: [202], within: 10s}}"}, nil},
		"202, 409 until done": {manners{created: 202, again: 409, done: 202, later: 700 * time.Millisecond}, []string{"in_progress: {mode: reject, statuses: [409]}", "replay: {body: none}"}, []string{"existing"}},
		"303 on a replay":     {manners{created: 201, again: 303, mismatch: 422, leads: true}, []string{"replay: {status: {201: [303]}, body: identity}", "statuses: [200, 201, 204, 303]", "identity: {header: Location"}, nil},
		"400, a natural key":  {manners{created: 201, natural: 400}, []string{"natural_key: [/reference]", "existing: {statuses: [400], where: {/code: reference_taken}}"}, []string{"key: {in:"}},
		"no fingerprint":      {manners{created: 200, again: 200}, []string{"fingerprint: {on_mismatch: replay-original}"}, []string{"reject"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, database := newMannered(t, c.manners)
			key := "-H 'Idempotency-Key: 1' "
			if c.natural != 0 {
				key = ""
			}
			env := map[string]string{"DATABASE_URL": database}
			file, _ := initiated(t, env, exitPass, "--curl", "curl "+key+`-d '{"note": "lamp", "reference": "R-1", "amount": 1200}' `+address+"/orders", "--db", database)
			text := readFile(t, file)
			for _, line := range c.learns {
				require.Contains(t, text, line, "%s", text)
			}
			for _, line := range c.not {
				require.NotContains(t, text, line)
			}
			got := callWith(t.Context(), env, append([]string{"run", "--target", file, "--reports", t.TempDir(), "--seed", "1"}, firstRun...)...)
			require.Contains(t, []int{exitPass, exitInconclusive}, got.code, "%s\n%s", text, got) // a busy machine may leave a race untried
		})
	}
}

// firstRun are the scenarios that hold a contract against the answers.
var firstRun = []string{"plain-create", "sequential-replay", "burst-same-key", "double-click", "altered-after", "altered-race", "distinct-twins", "withheld-answer", "impatient-retry"}
