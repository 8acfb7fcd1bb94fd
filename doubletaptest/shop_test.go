package doubletaptest_test

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"time"

	_ "modernc.org/sqlite"
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
