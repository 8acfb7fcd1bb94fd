package orders

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// maxBody is the largest body that is read, in bytes.
const maxBody = 1 << 20

// handler answers one well-formed POST /orders. An error becomes a 503 if trying again may help,
// else a 500. The context ends when the client leaves.
type handler func(ctx context.Context, req request) (answer, error)

// api is what a design works with. It is safe for concurrent use.
type api struct {
	db     *db
	effort time.Duration // what one authorisation takes
	create handler

	received atomic.Int64 // POST requests whose whole body was read
	inFlight atomic.Int64

	stopped  chan struct{}
	stopOnce sync.Once
}

func newAPI(design Design, db *db, effort time.Duration) *api {
	a := &api{db: db, effort: effort, stopped: make(chan struct{})}
	a.create = design.handler(a)
	return a
}

// stop ends every authorisation that still runs, detached from its client or not.
func (a *api) stop() { a.stopOnce.Do(func() { close(a.stopped) }) }

// work is the real work of a handler: a payment authorisation somewhere else. It changes nothing here.
func (a *api) work(ctx context.Context) error {
	if a.effort <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(a.effort)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-a.stopped:
		return errors.New("authorise the payment: the server is closing")
	}
}

func (a *api) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", a.serveCreate)
	mux.HandleFunc("GET /orders/{id}", a.serveOrder)
	mux.HandleFunc("GET /-/received", a.serveReceived)
	return mux
}

func (a *api) serveCreate(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		invalidBody("the body is too large").write(w)
		return
	}
	if err != nil {
		return // the client left in the middle of its request: nobody would read an answer
	}
	a.received.Add(1)
	a.inFlight.Add(1)
	defer a.inFlight.Add(-1)

	req, err := readRequest(r.Header, body)
	if err != nil {
		invalidBody(err.Error()).write(w)
		return
	}
	reply, err := a.create(r.Context(), req)
	if err != nil {
		reply = failed(err)
	}
	reply.write(w)
}

func (a *api) serveOrder(w http.ResponseWriter, r *http.Request) {
	var o order
	err := a.db.queryRow(r.Context(),
		`select id, note, reference, item, amount, created_at from orders where id = ?`, r.PathValue("id"),
	).Scan(&o.ID, &o.Note, &o.Reference, &o.Item, &o.Amount, &o.CreatedAt)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		problem(http.StatusNotFound, "not_found", "there is no such order").write(w)
	case err != nil:
		failed(err).write(w)
	default:
		jsonAnswer(http.StatusOK, o).write(w)
	}
}

func (a *api) serveReceived(w http.ResponseWriter, _ *http.Request) {
	jsonAnswer(http.StatusOK, map[string]int64{
		"received": a.received.Load(), "in_flight": a.inFlight.Load(),
	}).write(w)
}

// failed is the answer to a request that could not be executed.
func failed(err error) answer {
	if isTransient(err) {
		return problem(http.StatusServiceUnavailable, "try_again", err.Error()).with("Retry-After", "1")
	}
	return problem(http.StatusInternalServerError, "internal", err.Error())
}

// mustJSON marshals values whose types cannot fail.
func mustJSON(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}
