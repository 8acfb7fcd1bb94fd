package orders

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// maxBody is the largest body that is read, in bytes.
const maxBody = 1 << 20

// workHeader has the milliseconds by which the work for a request takes longer, for those who want to see what happens then;
// it is also the key under which contexts hold them.
const workHeader header = "X-Test-Work"

type header string

// mostWork is more than anybody waits for.
const mostWork = 60_000

// handler answers one well-formed request to create something. An error becomes a 503 if trying again
// may help, else a 500. The context ends when the client leaves.
type handler func(ctx context.Context, req request) (answer, error)

// api is what a design works with. It is safe for concurrent use.
type api struct {
	db         *db
	redis      *redisStore // nil, unless the design takes it
	dependency *dependency // likewise
	outside    *outside    // a service that a run puts a sink in place of
	design     Design
	effort     time.Duration               // what one authorisation takes
	authorise  func(context.Context) error // in its place; nil: there is none
	create     handler
	die        func(text string) // ends the process, with what its runtime prints

	received atomic.Int64 // requests to create or to change something whose whole body was read
	inFlight atomic.Int64

	stopped    chan struct{}
	mu         sync.Mutex
	closing    bool
	background sync.WaitGroup // work that goes on after its request was answered
}

func newAPI(design Design, db *db, redis *redisStore, service *dependency, effort time.Duration) *api {
	a := &api{db: db, redis: redis, dependency: service, design: design, effort: effort, stopped: make(chan struct{}), die: func(string) {}, outside: newOutside()}
	a.create = design.handler(a)
	if design.accounts != lateSignIn {
		a.create = signedIn(a.create)
	}
	return a
}

// stop ends every authorisation that still runs, detached from its client or not, and waits for the
// work in the background.
func (a *api) stop() {
	a.mu.Lock()
	if !a.closing {
		a.closing = true
		close(a.stopped)
	}
	a.mu.Unlock()
	a.background.Wait()
}

// later does work after its request was answered. A server that closes begins none.
func (a *api) later(task func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closing {
		return
	}
	a.inFlight.Add(1)
	a.background.Go(func() {
		defer a.inFlight.Add(-1)
		task()
	})
}

// errClosing says that the server would not see the end of it.
var errClosing = errors.New("authorise the payment: the server is closing")

// work is the real work of a handler: a payment authorisation somewhere else. It changes nothing here.
func (a *api) work(ctx context.Context) error {
	select {
	case <-a.stopped:
		return errClosing
	default:
	}
	if a.authorise != nil {
		return a.authoriseUntilStopped(ctx)
	}
	more, _ := ctx.Value(workHeader).(time.Duration)
	if a.effort+more <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(a.effort + more)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-a.stopped:
		return errClosing
	}
}

// authoriseUntilStopped runs the caller's authorisation, and ends it when the server closes.
func (a *api) authoriseUntilStopped(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- a.authorise(ctx) }()
	select {
	case err := <-done:
		return err
	case <-a.stopped:
		cancel()
		<-done
		return errClosing
	}
}

func (a *api) routes() http.Handler {
	mux := http.NewServeMux()
	for _, k := range []kind{kindOrder, kindQuote} {
		mux.HandleFunc("POST "+k.collection(), a.serveCreate(k))
		mux.HandleFunc("GET "+k.path("{id}"), a.serveOrder(k))
	}
	mux.HandleFunc("GET /-/received", a.serveReceived)
	if a.design.routes != nil {
		a.design.routes(a, mux)
	}
	return mux
}

// customer is the account that sends a request; empty: it is not signed in.
func (a *api) customer(r *http.Request) string {
	name := bearer(r.Header)
	switch {
	case a.design.accounts == guests:
		return session(r.Header)
	case a.design.accounts == oneAccount && name != "":
		return "the-account"
	}
	return name
}

func (a *api) serveCreate(of kind) http.HandlerFunc {
	read := readRequest
	if a.design.read != nil {
		read = a.design.read
	}
	return a.counted(func(r *http.Request, body []byte) (answer, error) {
		req, err := read(a.customer(r), of, r.Header, body)
		if err != nil {
			return invalidBody(err.Error()), nil
		}
		req.Path = r.URL.Path
		return a.create(r.Context(), req)
	})
}

// counted answers requests whose whole body was read, and counts them.
func (a *api) counted(reply func(r *http.Request, body []byte) (answer, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			invalidBody("the body is too large").write(w)
			return
		}
		if err != nil {
			return // the client left in the middle of its request: no client would read an answer
		}
		a.received.Add(1)
		a.inFlight.Add(1)
		defer a.inFlight.Add(-1)

		more, _ := strconv.Atoi(r.Header.Get(string(workHeader)))
		longer := context.WithValue(r.Context(), workHeader, time.Duration(min(more, mostWork))*time.Millisecond)
		said, err := reply(r.WithContext(longer), body)
		if err != nil {
			said = failed(err)
		}
		said.write(w)
	}
}

// serveOrder shows customers what is theirs, and nothing else.
func (a *api) serveOrder(of kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		customer := a.customer(r)
		if customer == "" {
			unauthorized().write(w)
			return
		}
		o, err := a.db.orderWhere(r.Context(), "id = ? and kind = ? and customer = ?", r.PathValue("id"), of, customer)
		if err != nil {
			notFound(err).write(w)
			return
		}
		jsonAnswer(http.StatusOK, o).write(w)
	}
}

// notFound is the answer to a request for something that could not be read.
func notFound(err error) answer {
	if errors.Is(err, sql.ErrNoRows) {
		return problem(http.StatusNotFound, "not_found", "there is no such thing")
	}
	return failed(err)
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
