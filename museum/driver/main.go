// Orders, written by one statement each and read before they are written again: one request of a key after the other.
// DRIVER is mysql or postgres.
package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"sync"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/lib/pq"
)

// The key is not unique: what is tried is a driver that sends a statement twice, which an index
// would hide. MySQL takes capitals for small letters unless it is told not to.
const (
	schema      = "create table if not exists orders (idem_key varchar(255) not null, note varchar(255) not null)"
	mysqlSchema = schema + " collate utf8mb4_bin"
)

// statement picks the text for the driver, as each has placeholders of its own.
func statement(mysql, postgres string) string {
	if os.Getenv("DRIVER") == "mysql" {
		return mysql
	}
	return postgres
}

// main serves orders. One request at a time looks for its key and writes it, so that only the
// driver can make a second row.
func main() {
	db, err := sql.Open(os.Getenv("DRIVER"), os.Getenv("DSN"))
	if err == nil {
		_, err = db.Exec(statement(mysqlSchema, schema))
	}
	if err != nil {
		panic(err)
	}
	known := statement("select note from orders where idem_key = ?", "select note from orders where idem_key = $1")
	insert := statement("insert into orders values (?, ?)", "insert into orders values ($1, $2)")
	var one sync.Mutex
	http.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var order struct{ Note string }
		if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if r.Header.Get("Idempotency-Key") == "" {
			http.Error(w, "no key", http.StatusBadRequest)
			return
		}
		one.Lock()
		defer one.Unlock()
		key, note := r.Header.Get("Idempotency-Key"), ""
		err := db.QueryRow(known, key).Scan(&note)
		if errors.Is(err, sql.ErrNoRows) {
			note = order.Note
			_, err = db.Exec(insert, key, note)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		json.NewEncoder(w).Encode(map[string]string{"note": note})
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
