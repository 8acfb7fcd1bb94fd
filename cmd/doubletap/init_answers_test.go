package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInitPromisesOnlyWhatAnswersKeep holds that what differs from answer to answer about one thing is no part of what is promised, nor
// what a table was made for only when it was first needed.
func TestInitPromisesOnlyWhatAnswersKeep(t *testing.T) {
	t.Parallel()
	var turn atomic.Int64
	var begun sync.Map // when the things were made whose answers tell how far they have come
	for name, c := range map[string]struct {
		content string
		answer  func(id int64) string
		learns  []string
	}{
		"the time of the answer": {"application/json", func(id int64) string {
			return fmt.Sprintf(`{"id": "ord_%d", "at": %q}`, id, time.Now().UTC().Format(time.RFC3339))
		}, []string{"body: identity", "identity: /id", "'ord_' || cast(orders.id as text) as id"}},
		"the time in seconds": {"application/json", func(id int64) string {
			return fmt.Sprintf(`{"order": {"number": "%06d"}, "at": %d}`, id, time.Now().Unix())
		}, []string{"body: identity", "identity: /order/number", "printf('%06d', orders.id) as id"}},
		"what some answers have": {"application/json", func(id int64) string {
			return fmt.Sprintf(`{"id": "h%xq", "from_cache": %t}`, id*7919, turn.Add(1)%5 == 0)
		}, []string{"body: identity", "identity: /id\n", "Which row /id names"}},
		"a page with the time": {"text/html", func(id int64) string {
			return fmt.Sprintf(`<p>order %d at %s</p>`, id, time.Now().UTC().Format(time.TimeOnly))
		}, []string{"body: none"}},
		"an answer of XML": {"text/xml", func(id int64) string {
			return fmt.Sprintf(`<Order><Id>%d</Id><At>%s</At></Order>`, id, time.Now().UTC().Format(time.RFC3339))
		}, []string{"body: identity", "identity: {pattern: \"<(?:[\\\\w.-]+:)?Id(?:", "identity: id\n"}},
		"how far it has come": {"application/json", func(id int64) string {
			made, _ := begun.LoadOrStore(id, time.Now())
			state := "PENDING"
			if time.Since(made.(time.Time)) > time.Second {
				state = "SUCCESS"
			}
			return fmt.Sprintf(`{"id": %d, "batch_status": %q}`, id, state)
		}, []string{"body: identity", "identity: /id\n"}},
		"nothing": {"application/json", func(id int64) string { return fmt.Sprintf(`{"id": %d}`, id) }, []string{"replay: {status: {201: [200]}} #", "identity: /id\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table other (id integer)")
			address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body map[string]any
				_ = json.NewDecoder(r.Body).Decode(&body)
				_, err := db.Exec("create table if not exists orders (id integer primary key, remark text, fee numeric, k text unique)")
				require.NoError(t, err)
				made, err := db.Exec("insert into orders (remark, fee, k) values (?, ?, ?)", body["remark"], body["fee"], r.Header.Get("Idempotency-Key"))
				status, id := http.StatusCreated, int64(0)
				if err != nil {
					status = http.StatusOK
					require.NoError(t, db.QueryRow("select id from orders where k = ?", r.Header.Get("Idempotency-Key")).Scan(&id))
				} else {
					id, _ = made.LastInsertId()
				}
				w.Header().Set("Content-Type", c.content)
				w.WriteHeader(status)
				fmt.Fprint(w, c.answer(id))
			}))
			file, said := initiated(t, nil, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"remark": "quick please", "fee": 12.50}' `+address+"/orders", "--db", "sqlite://"+path)
			text := readFile(t, file)
			require.Contains(t, text, "alter: {fee: 13.5}")
			require.Contains(t, text, "content: {fee: /fee}")
			for _, line := range c.learns {
				require.Contains(t, text, line, said)
			}
		})
	}
}

// TestInitKeepsTheNameOfARepetition holds that an id which is null where the first answer has one is no answer to promise: `on conflict do
// nothing returning id` returns none.
func TestInitKeepsTheNameOfARepetition(t *testing.T) {
	t.Parallel()
	for broken, want := range map[bool]int{false: exitPass, true: exitFinding} {
		db, path := sqliteFile(t, "_pragma=journal_mode(wal)&_pragma=busy_timeout(30000)", "create table orders (id integer primary key, remark text, k text unique)")
		address := serveBoth(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body struct{ Remark string }
			_ = json.NewDecoder(r.Body).Decode(&body)
			key := r.Header.Get("Idempotency-Key")
			var id *int64
			_ = db.QueryRow("insert into orders (remark, k) values (?, ?) on conflict do nothing returning id", body.Remark, key).Scan(&id)
			if !broken {
				_ = db.QueryRow("select id from orders where k = ?", key).Scan(&id)
			}
			answer, _ := json.Marshal(map[string]any{"data": map[string]any{"id": id}})
			says(w, http.StatusCreated, string(answer))
		}))
		env := map[string]string{"DATABASE_URL": "sqlite://" + path}
		file, said := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 7' -d '{"remark": "quick please"}' `+address+"/orders", "--db", env["DATABASE_URL"])
		text := strings.ReplaceAll(readFile(t, file), "\n#", "")
		require.Contains(t, text, "identity: /data/id", said)
		require.Equal(t, broken, strings.Contains(text, "Whether a repetition may be answered without /data/id of what was created"), text)
		got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay")
		require.Equal(t, want, got.code, "%s\n%s", text, got)
	}
}
