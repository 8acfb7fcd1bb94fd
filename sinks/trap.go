package sinks

import (
	"slices"
	"sync"

	"github.com/doubletap-harness/doubletap/history"
)

// crashed is the fault of a message that was kept until the target had been killed.
const crashed = "crash"

// trap keeps the answers to messages with certain names until it is released.
type trap struct {
	names   []string
	before  bool // the sink does nothing of what they ask
	first   sync.Once
	sprung  chan string   // the first message
	release chan struct{} // closed when nothing is kept any more
}

// Trap keeps the answers to all messages with one of these names from now on, until the function that it returns is called, and tells
// of the first. Before: the sinks do nothing of what the messages ask, and a broker gets none of those that come by a [Gate]; others it
// has already. There is one trap at a time.
func (s *Sinks) Trap(names []string, before bool) (sprung <-chan string, release func()) {
	t := &trap{names: names, before: before, sprung: make(chan string, 1), release: make(chan struct{})}
	s.set(t)
	return t.sprung, sync.OnceFunc(func() {
		s.set(nil)
		close(t.release)
	})
}

// set gives all sinks and gates a trap; nil: none.
func (s *Sinks) set(t *trap) {
	for _, one := range s.all {
		one.mu.Lock()
		one.trap = t
		one.mu.Unlock()
	}
	for _, g := range s.gates {
		g.set(t)
	}
}

// catches reports that a message is kept. One that carries none of the names that doubletap knows may be of the intent by its declared
// field or its trace.
func (t *trap) catches(m *history.Message) bool {
	if t == nil || !m.Acted || m.First != "" {
		return false
	}
	return slices.ContainsFunc(m.Names, func(name string) bool { return slices.Contains(t.names, name) }) ||
		len(m.Names) == 0 && (m.Intent != "" || len(m.Traces) > 0)
}

// spring tells of a message that is on record, if it is the first.
func (t *trap) spring(id string) { t.first.Do(func() { t.sprung <- id }) }
