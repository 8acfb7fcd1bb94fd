// Command paced is a correct order service on PostgreSQL whose creates take as long as one wants. It is how one knows
// that no scenario rests on how fast a target is: see `make paced`.
//
//	paced -listen 127.0.0.1:8080 -database postgres://... -work 30ms
//
// A create is one transaction: the key's row, at whose unique index a copy of the request waits, the work, the answer and
// the order. Without work it is one statement.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "paced:", err)
		os.Exit(1)
	}
}

// serve makes the tables and serves until the process is ended.
func serve() error {
	listen := flag.String("listen", "127.0.0.1:8080", "address to listen at")
	database := flag.String("database", "", "URL of a PostgreSQL database")
	work := flag.Duration("work", 0, "how long the work of a create takes")
	flag.Parse()
	pool, err := pgxpool.New(context.Background(), *database)
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	_, err = pool.Exec(context.Background(), `create table if not exists orders (id bigserial primary key, note text not null, amount double precision not null);
		create table if not exists keys (key text primary key, fingerprint text not null, order_id bigint not null)`)
	if err != nil {
		return fmt.Errorf("make the tables: %w", err)
	}
	s := &service{pool: pool, work: *work}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /orders", s.create)
	return http.ListenAndServe(*listen, mux)
}

// service makes orders. It is safe for concurrent use: the database keeps requests of one key
// apart.
type service struct {
	pool *pgxpool.Pool
	work time.Duration
}

// order is what a client sends and gets.
type order struct {
	ID     int64   `json:"id"`
	Note   string  `json:"note"`
	Amount float64 `json:"amount"` // 1200.0 is 1200
}

var errMismatch = errors.New("this key came with another body")

// create answers a create. The fingerprint is of what the body says and not of its bytes, so that
// another spelling is no other request.
func (s *service) create(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var o order
	key := r.Header.Get("Idempotency-Key")
	if err != nil || json.Unmarshal(body, &o) != nil || key == "" {
		http.Error(w, "a key and an order, please", http.StatusBadRequest)
		return
	}
	canonical, _ := json.Marshal(o)
	sum := sha256.Sum256(canonical)
	// A client that leaves does not undo its order: the next one is told of it.
	o.ID, err = s.place(context.WithoutCancel(r.Context()), key, hex.EncodeToString(sum[:]), o)
	switch {
	case errors.Is(err, errMismatch):
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(o) // the client may have left
	}
}

// place makes the order of a key, or finds it.
func (s *service) place(ctx context.Context, key, fingerprint string, o order) (id int64, err error) {
	err = s.insert(ctx, key, fingerprint, o, &id)
	if errors.Is(err, pgx.ErrNoRows) { // the key is there, and committed
		var first string
		err = s.pool.QueryRow(ctx, `select order_id, fingerprint from keys where key = $1`, key).Scan(&id, &first)
		if err == nil && first != fingerprint {
			return 0, errMismatch
		}
	}
	return id, err
}

// placing writes key and order together. It waits for another transaction that writes the key, and gives no row if that
// one commits.
const placing = `with number as (select nextval('orders_id_seq') as id),
	fresh as (insert into keys (key, fingerprint, order_id) select $1, $2, id from number on conflict do nothing returning order_id)
	insert into orders (id, note, amount) select order_id, $3, $4 from fresh returning id`

// insert makes the order of a key if there is none; pgx.ErrNoRows says that there is. The work
// comes after the statement and before the commit: a copy of the request waits for as long.
func (s *service) insert(ctx context.Context, key, fingerprint string, o order, id *int64) error {
	if s.work == 0 {
		return s.pool.QueryRow(ctx, placing, key, fingerprint, o.Note, o.Amount).Scan(id)
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, placing, key, fingerprint, o.Note, o.Amount).Scan(id); err != nil {
			return err
		}
		time.Sleep(s.work)
		return nil
	})
}
