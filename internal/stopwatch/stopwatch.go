// Package stopwatch is a target that creates nothing and notes when requests come. It shows how close
// together the requests of a burst are for a server on this machine. It speaks HTTP/1.1 and HTTP/2.
package stopwatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// Server notes when requests come. Its methods are safe for concurrent use.
type Server struct {
	url  string
	http *http.Server
	done chan error

	mu      sync.Mutex
	arrived map[string][]time.Time // by key
}

// keyHeader is what requests that belong together have in common.
const keyHeader = "Idempotency-Key"

// Start starts a server on a free port of this machine.
func Start() (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the stopwatch: %w", err)
	}
	s := &Server{url: "http://" + listener.Addr().String(), arrived: map[string][]time.Time{}, done: make(chan error, 1)}
	s.http = &http.Server{Handler: http.HandlerFunc(s.note), Protocols: new(http.Protocols), ReadHeaderTimeout: time.Minute}
	s.http.Protocols.SetHTTP1(true)
	s.http.Protocols.SetUnencryptedHTTP2(true)
	go func() { s.done <- s.http.Serve(listener) }()
	return s, nil
}

// note takes down when a request had come whole, which is when a handler would look for its key.
func (s *Server) note(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Header.Get(keyHeader)
	s.arrived[key] = append(s.arrived[key], now)
	w.WriteHeader(http.StatusCreated)
}

// Target describes the server to the harness.
func (s *Server) Target() (targets.Target, targets.Operation) {
	create := targets.Operation{
		Request: targets.Request{Method: http.MethodPost, Path: "/", Body: map[string]any{"note": "{{.Intent.Marker}}"}},
		Key:     targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: keyHeader}},
		Alter:   map[string]any{"amount": 2},
	}
	create.Request.Body["amount"] = 1
	return targets.Target{Name: "stopwatch", BaseURL: s.url, Operations: map[string]targets.Operation{"create": create}}, create
}

// Gaps returns, for every key that came more than once, the time between its first two requests: a
// window between check and write that is longer would have let both in. They are sorted.
func (s *Server) Gaps() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var gaps []time.Duration
	for _, times := range s.arrived {
		if len(times) > 1 {
			slices.SortFunc(times, time.Time.Compare)
			gaps = append(gaps, times[1].Sub(times[0]))
		}
	}
	slices.Sort(gaps)
	return gaps
}

// Close stops the server.
func (s *Server) Close() error {
	err := s.http.Shutdown(context.Background())
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
