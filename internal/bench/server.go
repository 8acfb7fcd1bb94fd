package main

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// target is an HTTP server on loopback in this process.
type target struct {
	address string
	server  *http.Server
	serving sync.WaitGroup
}

// serve serves on a free port, in HTTP/1.1 and in HTTP/2 without TLS. What net/http says of broken
// connections is dropped: breaking them is the point.
func serve(handler http.Handler) (*target, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &target{
		address: listener.Addr().String(),
		server:  &http.Server{Handler: handler, Protocols: new(http.Protocols), ErrorLog: log.New(io.Discard, "", 0)},
	}
	t.server.Protocols.SetHTTP1(true)
	t.server.Protocols.SetUnencryptedHTTP2(true)
	t.serving.Go(func() { _ = t.server.Serve(listener) })
	return t, nil
}

// close ends all connections and waits until no request is served.
func (t *target) close() {
	_ = t.server.Close()
	t.serving.Wait()
}

// created gives the answer that all targets give.
func created(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"id":"0190","state":"created"}`)
}

// creating answers everything at once.
func creating(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	created(w)
}

// routes gives the bursts to a handler and answers what only warms connections up.
func routes(bursts http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /warm", creating)
	mux.Handle("POST /burst/{id}", bursts)
	return mux
}

// arrival is one request that had come whole.
type arrival struct {
	After  time.Duration // the server began
	Header http.Header
}

// arrivals is a target that notes when each request of a burst had come whole.
type arrivals struct {
	base time.Time

	mu     sync.Mutex
	bursts map[string][]arrival
}

// newArrivals begins to count time.
func newArrivals() *arrivals { return &arrivals{base: time.Now(), bursts: map[string][]arrival{}} }

// all returns the bursts. It is called when no more arrive.
func (a *arrivals) all() map[string][]arrival {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bursts
}

// ServeHTTP leaves all comparing for later: what it does after the stamp holds up the next arrival.
func (a *arrivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	after := time.Since(a.base)
	id := r.PathValue("id")
	a.mu.Lock()
	a.bursts[id] = append(a.bursts[id], arrival{After: after, Header: r.Header})
	a.mu.Unlock()
	created(w)
}

// racy is a target that really checks, waits as for a database, and inserts. It sleeps rather than
// spins: senders, lanes and target share the cores, and a handler that holds one delays the next arrival.
type racy struct {
	window time.Duration

	mu    sync.Mutex
	rows  map[string]int
	waits []time.Duration // what the window came to
}

// ServeHTTP asks and writes in two steps, and nothing keeps another request out between them.
func (s *racy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	id := r.PathValue("id")
	s.mu.Lock()
	there := s.rows[id] > 0
	s.mu.Unlock()
	if there {
		created(w)
		return
	}
	checked := time.Now()
	time.Sleep(s.window)
	s.mu.Lock()
	s.rows[id]++
	s.waits = append(s.waits, time.Since(checked))
	s.mu.Unlock()
	created(w)
}

// duplicated counts the bursts that made more than one row.
func (s *racy) duplicated() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, rows := range s.rows {
		if rows > 1 {
			n++
		}
	}
	return n
}

// breaking is a target that takes every second request and closes its connection without an answer.
type breaking struct {
	mu      sync.Mutex
	counted int
}

// ServeHTTP counts a request before it breaks: what was taken counts.
func (b *breaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	b.mu.Lock()
	b.counted++
	second := b.counted%2 == 0
	b.mu.Unlock()
	if second {
		panic(http.ErrAbortHandler) // net/http's way to close without an answer
	}
	created(w)
}

// holding is a target that keeps every request inside until it is opened.
type holding struct {
	inside chan struct{} // one element for each request
	open   chan struct{}
}

// ServeHTTP answers when the target is opened, or the client is gone.
func (h *holding) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	h.inside <- struct{}{}
	select {
	case <-h.open:
	case <-r.Context().Done():
	}
	created(w)
}

// wait returns when so many requests are inside.
func (h *holding) wait(ctx context.Context, n int) error {
	for range n {
		select {
		case <-h.inside:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
