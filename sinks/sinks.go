// Package sinks hosts what stands in place of other services: it turns what the target
// sends there into messages of the history, and answers as the target file says. A message
// is on record before it is answered. The package counts and judges nothing; the checker
// compares messages with rows.
//
// The parts: sinks.go has the sinks of a run, and the inbox in which each takes its messages down; http.go and
// packages beside this one speak the protocols. find.go looks for markers in whatever a message holds, and
// hear.go tells what came on connections that brought no message. Where the target has a broker of its own, gate.go
// stands on the way to it, and follow.go, redis.go and redis_list.go read what it publishes. trap.go keeps an answer
// until the target was killed.
package sinks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/credentials"
	"github.com/doubletap-harness/doubletap/targets"
)

// How much of what reaches a sink is kept.
const (
	mostMessages = 20_000   // of one sink in one scenario
	mostContent  = 2 << 10  // bytes of a body, on record
	mostHeld     = 64 << 20 // bytes of the texts of all messages of one sink in one scenario, and as many of keys
)

// Fault is what a scenario makes of the answer to the first message of each intent that a sink acts on. The zero value is
// nothing.
type Fault struct {
	Kind FaultKind
	For  time.Duration   // of Late: how late the answer is
	Hold <-chan struct{} // of Lost: the connection ends no sooner than this is closed; nil: at once
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

// Serve answers what comes to a listener in place of a service, as the sink of the target file says, and tells the inbox of it.
// Closing ends it, with the listener and all connections.
type Serve func(l net.Listener, spec targets.Sink, in *Inbox) (io.Closer, error)

// Protocols are those that link third parties, so that a program has only what it is given; nil: it has none. HTTP and Redis are always there.
type Protocols struct {
	SMTP     Serve  // of the package sinks/mail
	OTLP     Serve  // of the package sinks/spans
	RabbitMQ Follow // of the package sinks/rabbitmq
}

// ErrNoProtocol says that the program was built without what a sink speaks.
var ErrNoProtocol = errors.New("this program does not speak the sink's protocol; the doubletap command does")

// Sinks are those of one run. [Open] makes them. They are safe for concurrent use.
type Sinks struct {
	all   []*Inbox
	gates []*Gate // on the ways to brokers
}

// Open begins to listen for every sink that is hosted. The error says which one could not.
func Open(ctx context.Context, specs map[string]targets.Sink, spoken Protocols) (*Sinks, error) {
	s := &Sinks{}
	for _, name := range (targets.Target{Sinks: specs}).SinkNames() {
		if specs[name].Followed() {
			continue
		}
		one, err := open(ctx, name, specs[name], spoken)
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
		one.end()
		if one.close != nil {
			errs = append(errs, one.close())
		}
	}
	return errors.Join(errs...)
}

// Places are where the target finds the sinks that are hosted, by name.
func (s *Sinks) Places() map[string]targets.SinkPlace {
	places := map[string]targets.SinkPlace{}
	for _, one := range s.all {
		if !one.spec.Followed() {
			places[one.name] = one.spec.At(one.address)
		}
	}
	return places
}

// Watch takes down what reaches the sinks from now on, until [Sinks.Unwatch]. The error says which broker could not be reached.
func (s *Sinks) Watch(ctx context.Context, w Watch) error {
	for _, one := range s.all {
		if err := one.begin(ctx, &w); err != nil {
			return fmt.Errorf("sinks.%s: %w", one.name, err)
		}
	}
	return nil
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

// Inbox takes down what reaches one sink. It is safe for concurrent use.
type Inbox struct {
	name    string
	spec    targets.Sink
	address string       // host:port
	close   func() error // nil: nothing is hosted

	follow   Follow   // nil: it is hosted
	follower Follower // during a watch
	behind   error    // of the follower: something may be missing

	mu        sync.Mutex
	watch     *Watch // nil: nothing is taken down
	trap      *trap  // nil: no answer is kept
	seen      []history.Message
	held      int               // bytes of their texts
	left      int               // messages that there was no room for
	disturbed map[string]bool   // names whose first message had the fault
	first     map[string]string // the first message with a key, of those that [Inbox.Take] had
	keys      int               // bytes of keys that are remembered
}

// open listens at the address of the target file, or on a free port, and serves the sink's
// protocol there. The protocols other than HTTP are linked by those programs only that ask for
// them.
func open(ctx context.Context, name string, spec targets.Sink, spoken Protocols) (*Inbox, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", cmp.Or(spec.Listen, "127.0.0.1:0"))
	if err != nil {
		return nil, err
	}
	in := &Inbox{name: name, spec: spec, address: listener.Addr().String(), first: map[string]string{}}
	if spec.HTTP != nil {
		in.close = serveHTTP(listener, *spec.HTTP, in).close
		return in, nil
	}
	serve := spoken.SMTP
	if spec.OTLP != nil {
		serve = spoken.OTLP
	}
	if serve == nil {
		return nil, errors.Join(ErrNoProtocol, listener.Close())
	}
	server, err := serve(listener, spec, in)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	in.close = sync.OnceValue(server.Close)
	return in, nil
}

// Take takes a message down that the sink has acted on, and returns what becomes of the answer: the status of the message, that of
// a failure, or none. A message whose key was known before is none of its own.
func (in *Inbox) Take(m history.Message, content []byte, failure int) Fault {
	in.mu.Lock()
	defer in.mu.Unlock()
	m.Acted, m.First = true, in.first[m.Key]
	fault := in.disturb(&m)
	switch fault.Kind {
	case Error:
		m.Status = failure
	case Lost:
		m.Status = 0
	}
	key := m.Key
	in.take(&m, content)
	if key != "" && m.Acted && m.First == "" && in.remembers(len(key), len(in.first)) {
		in.first[key] = cmp.Or(m.ID, offRecord)
	}
	return fault
}

// remembers reports that there is room for a key and what belongs to it, of so many bytes, beside so many others. Without it, the next message with
// the key would be one of its own: that counts as a message that is not on record. The caller holds the lock.
func (in *Inbox) remembers(size, others int) bool {
	if others >= mostStored || in.keys+size > mostHeld {
		in.left++
		return false
	}
	in.keys += size
	return true
}

// Note takes a message down as it is, without a fault of the scenario.
func (in *Inbox) Note(m history.Message, content []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.take(&m, content)
}

// offRecord stands for a message that was not taken down.
const offRecord = "not on record"

// begin forgets what was seen in another scenario, and takes down from now on. Keys are
// remembered: the service that the sink stands for would remember them too.
func (in *Inbox) begin(ctx context.Context, w *Watch) (err error) {
	in.mu.Lock()
	in.watch, in.seen, in.held, in.left, in.disturbed = w, nil, 0, 0, map[string]bool{}
	in.mu.Unlock()
	in.unfollow()
	if in.follow != nil {
		in.follower, err = in.follow(ctx, in.spec, in)
	}
	return err
}

// end takes nothing more down, and returns how many messages there was no room for.
func (in *Inbox) end() int {
	in.unfollow()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.watch = nil
	return in.left
}

// disturb returns what becomes of the answer to a message: the first that the sink acts on has the scenario's fault. The caller
// holds the lock.
func (in *Inbox) disturb(m *history.Message) Fault {
	if in.watch != nil && in.trap.catches(m) {
		m.Fault, m.Acted = crashed, !in.trap.before
		return Fault{Kind: Lost, Hold: in.trap.release}
	}
	if in.watch == nil || in.watch.Fault.Kind == "" || !m.Acted || m.First != "" {
		return Fault{}
	}
	hit := false
	names := m.Names
	if len(names) == 0 && m.Intent != "" {
		names = []string{m.Intent}
	}
	for _, name := range names {
		hit = hit || !in.disturbed[name]
		in.disturbed[name] = true
	}
	if !hit {
		return Fault{}
	}
	m.Fault = string(in.watch.Fault.Kind)
	return in.watch.Fault
}

// take takes a message down, which gets its name and its time, and has its secrets masked. The caller holds the lock.
func (in *Inbox) take(m *history.Message, content []byte) {
	if in.watch == nil {
		return
	}
	size := sizeOf(m)
	if len(in.seen) >= mostMessages || in.held+size > mostHeld {
		in.left++
		return
	}
	in.held += size
	m.Sink, m.ID = in.name, fmt.Sprintf("%s-%d", in.name, len(in.seen)+1)
	m.At = max(1, history.Offset(time.Since(in.watch.Base)))
	for _, text := range []*string{&m.Path, &m.Key, &m.Subject, &m.Intent, &m.Error} {
		*text = in.watch.Hide(*text)
	}
	m.Path = hushed(m.Path)
	for i := range m.To {
		m.To[i] = in.watch.Hide(m.To[i])
	}
	in.seen = append(in.seen, *m)
	on := *m
	on.Content = hushed(excerpt(in.watch.Hide(string(content))))
	in.watch.Record(on)
	if m.Fault == crashed {
		in.trap.spring(m.ID)
	}
}

// sizeOf is how many bytes the texts of a message have that others write.
func sizeOf(m *history.Message) int {
	sum := 0
	for _, text := range slices.Concat([]string{m.Method, m.Path, m.Key, m.Subject, m.Intent, m.Error}, m.To, m.Traces) {
		sum += len(text)
	}
	return sum
}

// hushed masks the credentials that are known by their names: those of the target are not known otherwise.
func hushed(text string) string {
	return credentials.Mask(text, func(string) string { return "***" })
}

// excerpt is the beginning of a text, of which only that goes on record.
func excerpt(text string) string {
	return string([]rune(string([]byte(text)[:min(len(text), mostContent)])))
}
