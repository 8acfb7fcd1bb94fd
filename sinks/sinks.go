// Package sinks hosts what stands in place of other services: it turns what the target sends there into messages of the history,
// and answers as the target file says. It counts and judges nothing.
package sinks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// How much of what reaches a sink is kept.
const (
	mostMessages = 20_000  // of one sink in one scenario
	mostContent  = 2 << 10 // bytes of a body, on record
)

// Fault is what a scenario makes of the answer to the first message of each intent that a sink acts on. The zero value is
// nothing.
type Fault struct {
	Kind FaultKind
	For  time.Duration // of Late: how late the answer is
}

// FaultKind is a way in which an answer goes wrong. The sink has done what was asked.
type FaultKind string

// The kinds: the connection ends without the answer; the answer is a failure; or it comes late.
const (
	Lost  FaultKind = "lost"
	Error FaultKind = "error"
	Late  FaultKind = "late"
)

// Watch is how the messages of one scenario are taken down.
type Watch struct {
	Base   time.Time                // where its clock starts
	Record func(history.Message)    // is given each message before it is answered
	Hide   func(text string) string // masks secrets
	Fault  Fault
}

// Sinks are those of one run. [Open] makes them. They are safe for concurrent use.
type Sinks struct {
	all []*sink
}

// Open begins to listen for every sink. The error says which one could not.
func Open(ctx context.Context, specs map[string]targets.Sink) (*Sinks, error) {
	s := &Sinks{}
	for _, name := range (targets.Target{Sinks: specs}).SinkNames() {
		one, err := open(ctx, name, specs[name])
		if err != nil {
			return nil, errors.Join(fmt.Errorf("sinks.%s: %w", name, err), s.Close())
		}
		s.all = append(s.all, one)
	}
	return s, nil
}

// Close ends all sinks, with the requests that they still answer. Closing again does nothing.
func (s *Sinks) Close() error {
	var errs []error
	for _, one := range s.all {
		errs = append(errs, one.close())
	}
	return errors.Join(errs...)
}

// Places are where the target finds the sinks, by name.
func (s *Sinks) Places() map[string]targets.SinkPlace {
	places := map[string]targets.SinkPlace{}
	for _, one := range s.all {
		host, port, _ := net.SplitHostPort(one.address) // which it listens at
		places[one.name] = targets.SinkPlace{URL: "http://" + one.address, Host: host, Port: port}
	}
	return places
}

// Watch takes down what reaches the sinks from now on, until [Sinks.Unwatch].
func (s *Sinks) Watch(w Watch) {
	for _, one := range s.all {
		one.begin(&w)
	}
}

// Unwatch ends the watch. It returns how many messages reached each sink that are not on record, because there were too many.
func (s *Sinks) Unwatch() map[string]int {
	left := map[string]int{}
	for _, one := range s.all {
		if n := one.end(); n > 0 {
			left[one.name] = n
		}
	}
	return left
}

// Messages returns what reached the sinks since the watch began, without contents, in the order of time.
func (s *Sinks) Messages() []history.Message {
	var all []history.Message
	for _, one := range s.all {
		one.mu.Lock()
		all = append(all, one.seen...)
		one.mu.Unlock()
	}
	slices.SortStableFunc(all, func(a, b history.Message) int { return cmp.Compare(a.At, b.At) })
	return all
}

// sink is one of them, whatever it takes.
type sink struct {
	name    string
	address string // host:port
	close   func() error

	mu        sync.Mutex
	watch     *Watch // nil: nothing is taken down
	seen      []history.Message
	left      int             // messages that there was no room for
	disturbed map[string]bool // names whose first message had the fault
}

func open(ctx context.Context, name string, spec targets.Sink) (*sink, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", cmp.Or(spec.Listen, "127.0.0.1:0"))
	if err != nil {
		return nil, err
	}
	s := &sink{name: name, address: listener.Addr().String()}
	s.close = serveHTTP(s, listener, *spec.HTTP).close
	return s, nil
}

func (s *sink) begin(w *Watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch, s.seen, s.left, s.disturbed = w, nil, 0, map[string]bool{}
}

func (s *sink) end() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch = nil
	return s.left
}

// disturb returns what becomes of the answer to a message: the first that the sink acts on has the scenario's fault. The caller
// holds the lock.
func (s *sink) disturb(m *history.Message) Fault {
	if s.watch == nil || s.watch.Fault.Kind == "" || !m.Acted || m.First != "" {
		return Fault{}
	}
	hit := false
	for _, name := range m.Names {
		hit = hit || !s.disturbed[name]
		s.disturbed[name] = true
	}
	if !hit {
		return Fault{}
	}
	m.Fault = string(s.watch.Fault.Kind)
	return s.watch.Fault
}

// take takes a message down, which gets its name and its time, and has its secrets masked. The caller holds the lock.
func (s *sink) take(m *history.Message, content []byte) {
	if s.watch == nil {
		return
	}
	if len(s.seen) >= mostMessages {
		s.left++
		return
	}
	m.Sink, m.ID = s.name, fmt.Sprintf("%s-%d", s.name, len(s.seen)+1)
	m.At = max(1, history.Offset(time.Since(s.watch.Base)))
	m.Path, m.Key = s.watch.Hide(m.Path), s.watch.Hide(m.Key)
	s.seen = append(s.seen, *m)
	on := *m
	on.Content = excerpt(s.watch.Hide(string(content)))
	s.watch.Record(on)
}

// excerpt is the beginning of a text, of which only that goes on record.
func excerpt(text string) string {
	return string([]rune(string([]byte(text)[:min(len(text), mostContent)])))
}
