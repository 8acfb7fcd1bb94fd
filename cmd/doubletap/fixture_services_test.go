package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
)

// noteOf reads a note and the key that comes with it. A request without a key is refused, and is not ok.
func noteOf(w http.ResponseWriter, r *http.Request) (note, key string, ok bool) {
	var body struct{ Note string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	if key = r.Header.Get("Idempotency-Key"); key == "" {
		says(w, http.StatusBadRequest, `{"code":"no_key"}`)
	}
	return body.Note, key, key != ""
}

// inTransaction does something in one transaction, and reports whether it was done. If not, the request is answered 500.
func inTransaction(w http.ResponseWriter, db *sql.DB, do func(tx *sql.Tx) error) bool {
	tx, err := db.Begin()
	if err == nil {
		defer func() { _ = tx.Rollback() }()
		err = do(tx)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
	return err == nil
}

// ordering answers each create with the id of the order, which create makes, or finds by its key, in one transaction.
func ordering(db *sql.DB, create func(tx *sql.Tx, note, key string) (id int, err error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note, key, ok := noteOf(w, r)
		if !ok {
			return
		}
		id := 0
		if inTransaction(w, db, func(tx *sql.Tx) (err error) { id, err = create(tx, note, key); return err }) {
			says(w, http.StatusCreated, fmt.Sprintf(`{"id":%d}`, id))
		}
	})
}

// makes runs an insert that does nothing where there is such a row, and reports whether it made one.
func makes(in interface {
	Exec(query string, args ...any) (sql.Result, error)
}, insert string, args ...any) (bool, error) {
	done, err := in.Exec(insert, args...)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n == 1, err
}
