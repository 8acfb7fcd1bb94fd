// Jobs of River, one for each customer: the customer's id, a member of a member, is marked as what makes a job unique.
package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// Customer is whose invoice it is.
type Customer struct {
	ID string `json:"id" river:"unique"`
}

// Invoice is the work of a job. Only the customer's id is to make it unique: the rest differs.
type Invoice struct {
	Customer Customer `json:"customer"`
	Note     string   `json:"note"`
	Received string   `json:"received"` // differs from request to request
}

// Kind is the name of the job's kind, as River asks for it.
func (Invoice) Kind() string { return "invoice" }

// must returns a value, or ends the program: before it serves, there is nobody to tell of an
// error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// main serves invoices. A job is inserted by River's own rule of what is unique, which is what is
// tried.
func main() {
	ctx := context.Background()
	pool := must(pgxpool.New(ctx, os.Getenv("DATABASE_URL")))
	migrator := must(rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)}))
	must(migrator.Migrate(ctx, rivermigrate.DirectionUp, nil))
	client := must(river.NewClient[pgx.Tx](riverpgxv5.New(pool), &river.Config{}))

	http.HandleFunc("POST /invoices", func(w http.ResponseWriter, r *http.Request) {
		var invoice Invoice
		if err := json.NewDecoder(r.Body).Decode(&invoice); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		invoice.Received = time.Now().Format(time.RFC3339Nano)
		job, err := client.Insert(r.Context(), invoice, &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		json.NewEncoder(w).Encode(map[string]int64{"job": job.Job.ID})
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
