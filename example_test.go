package doubletap_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite"

	"github.com/doubletap-harness/doubletap"
)

// shop is an API that creates one order for each Idempotency-Key.
type shop struct {
	db   *sql.DB
	find string // the statement that looks a key up
	add  string // the statement that adds an order
}

// hasty looks whether the key is there, and then inserts: two requests at once both find nothing.
func hasty(db *sql.DB) shop {
	return shop{db: db, find: "select id from orders where key = ?", add: "insert into orders(key, note) values (?, ?)"}
}

// careful lets the database decide: the index on the key lets one of them through.
func careful(db *sql.DB) shop {
	_, _ = db.Exec("create unique index one_order on orders(key)")
	return shop{db: db, find: "select id from orders where key = ?", add: "insert into orders(key, note) values (?, ?) on conflict do nothing"}
}

func (o shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	var body struct{ Note string }
	if key == "" || json.NewDecoder(r.Body).Decode(&body) != nil {
		http.Error(w, "expected a key and a note", http.StatusBadRequest)
		return
	}
	var id int64
	if o.db.QueryRow(o.find, key).Scan(&id) != nil {
		time.Sleep(10 * time.Millisecond) // the payment, say
		if _, err := o.db.Exec(o.add, key, body.Note); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_ = o.db.QueryRow(o.find, key).Scan(&id)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]int64{"id": id})
}

// In a Go test it is doubletaptest.Test(t, doubletap.Config{...}), with the same config.
func Example() {
	folder, err := os.MkdirTemp("", "orders-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	for name, design := range []func(*sql.DB) shop{hasty, careful} {
		db, err := sql.Open("sqlite", filepath.Join(folder, fmt.Sprint(name, ".db"))+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)")
		if err != nil {
			panic(err)
		}
		if _, err := db.Exec("create table orders (id integer primary key, key text, note text)"); err != nil {
			panic(err)
		}
		report, err := doubletap.Run(context.Background(), doubletap.Config{
			Target:    "docs/examples/handler.yaml",
			Handler:   design(db),
			DB:        db,
			Scenarios: []string{"sequential-replay", "burst-same-key"},
		})
		if err != nil {
			panic(err)
		}
		for _, result := range report.Results {
			fmt.Print(result.Scenario, ": ", result.Verdict)
			if len(result.Findings) > 0 {
				fmt.Print(", ", result.Findings[0].Kind)
			}
			fmt.Println()
		}
		db.Close()
	}
	// Output:
	// sequential-replay: pass
	// burst-same-key: fail, duplicate
	// sequential-replay: pass
	// burst-same-key: pass
}
