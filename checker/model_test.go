package checker_test

import (
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

// The reference model: a server with rows, records and locks, requests that run in it step by step in
// any order, and clients, connections and processes that go away at any moment.

// world is one server with everything that is on its way to and from it. Rows and records are
// durable; locks die with the process.
type world struct {
	*rand.Rand
	clock   history.Offset
	design  design
	rows    []fact
	records map[string]*record
	locks   map[string]*request
	running []*request
	inbox   []*request // requested and not yet arrived
	outbox  []*request // answered and not yet delivered
	story   *history.History
	calm    bool // the faults are removed
}

// fact is a row: an effect of one request.
type fact struct{ id, marker, ref string }

// record is what the server keeps under a key.
type record struct {
	body   string // fingerprint
	owner  *request
	done   bool
	row    fact
	answer reply
	at     history.Offset // it was made
	who    string         // made it
	state  string         // of what was accepted: running, done or failed
}

type reply struct {
	status  int
	content string
	replay  bool
}

// request is one attempt inside the world.
type request struct {
	index  int // of the attempt in the history
	key    string
	who    string // principal
	ref    string // business reference: the intent
	marker string
	body   string
	reply  *reply
	gone   bool // the client does not listen any more
	next   func() (struct{}, bool)
	stop   func()
	pause  func()
}

type killed struct{}

// design is a way to build a server, broken or not.
type design struct {
	name    string
	terms   checker.Terms
	handle  func(*world, *request)
	plans   []plan // what clients do; nil: everything that suits every design
	repeats bool   // an intent may have several effects
	kinds   []checker.Kind
	keyless bool
	excused bool // the contract excuses a second effect
}

func newWorld(d design, seed uint64) *world {
	name := fnv.New64a()
	name.Write([]byte(d.name))
	return &world{
		Rand: rand.New(rand.NewPCG(seed, name.Sum64())), design: d, records: map[string]*record{}, locks: map[string]*request{},
		story: &history.History{
			Run:    history.Run{Format: history.Format, Scenario: d.name, Seed: seed, Exercised: []history.Proof{{Name: string(proofs.GaveUp)}}},
			Before: &history.Snapshot{Rows: map[string][]history.Row{}}, Complete: true,
		},
	}
}

func (w *world) chance(p float64) bool { return w.Float64() < p }

// fails decides whether something inside the server fails, as long as there are faults.
func (w *world) fails(p float64) bool { return !w.calm && w.chance(p) }

func (w *world) tick() history.Offset { w.clock++; return w.clock }

// insert commits a row.
func (w *world) insert(r *request) fact {
	f := fact{fmt.Sprintf("o%d", len(w.rows)+1), r.marker, r.ref}
	for _, other := range w.rows {
		if other.id == f.id {
			f.id += "b"
		}
	}
	w.rows = append(w.rows, f)
	return f
}

// byRef finds the row of a business reference.
func (w *world) byRef(ref string) (fact, bool) {
	for _, f := range w.rows {
		if f.ref == ref {
			return f, true
		}
	}
	return fact{}, false
}

// created is the answer that says that a row is there.
func created(status int, f fact) reply {
	return reply{status: status, content: fmt.Sprintf(`{"id":%q,"note":%q}`, f.id, f.marker)}
}

func fault(status int, code string) reply {
	return reply{status: status, content: fmt.Sprintf(`{"error":%q}`, code)}
}

// respond sends the answer; the request may go on after it.
func (w *world) respond(r *request, a reply) {
	if r.reply == nil {
		r.reply = &a
		w.outbox = append(w.outbox, r)
	}
}

// lock takes a lock of the process, if it is free.
func (w *world) lock(key string, r *request) bool {
	if w.locks[key] != nil {
		return false
	}
	w.locks[key] = r
	return true
}

func (w *world) unlock(key string, r *request) {
	if w.locks[key] == r {
		delete(w.locks, key)
	}
}

// begin sends an attempt: it may never leave, get lost, come late, or arrive.
func (w *world) begin(a history.Attempt, marker, ref string) *request {
	a.Start, a.Lane, a.Sent, a.Wrote = w.tick(), "clean", 100, w.tick()
	r := &request{index: len(w.story.Attempts), key: a.Key, ref: ref, marker: marker, body: a.Body}
	w.story.Attempts = append(w.story.Attempts, a)
	attempt := &w.story.Attempts[r.index]
	switch {
	case w.fails(0.03):
		attempt.Sent = 0
		w.leave(r, history.Refused)
	case w.fails(0.05):
		w.leave(r, history.Timeout)
	case w.fails(0.03):
		w.respond(r, fault(503, "slow"))
	default:
		w.inbox = append(w.inbox, r)
	}
	return r
}

// leave ends an attempt without an answer; what it began goes on.
func (w *world) leave(r *request, kind history.ErrorKind) {
	if r.gone {
		return
	}
	r.gone = true
	a := &w.story.Attempts[r.index]
	a.End, a.ErrorKind = w.tick(), kind
}

// deliver ends an attempt with its answer, or with what is left of it.
func (w *world) deliver(r *request) {
	if r.gone {
		return
	}
	if w.fails(0.2) {
		w.leave(r, []history.ErrorKind{history.Reset, history.Closed, history.Truncated, history.Timeout}[w.IntN(4)])
		if w.story.Attempts[r.index].ErrorKind == history.Truncated {
			w.story.Attempts[r.index].Status = r.reply.status
		}
		return
	}
	r.gone = true
	a := &w.story.Attempts[r.index]
	a.Replied, a.End, a.Complete = w.tick(), w.tick(), true
	a.Status, a.Content, a.Length = r.reply.status, r.reply.content, int64(len(r.reply.content))
	a.Header = map[string]string{"Content-Type": "application/json"}
	if r.reply.replay {
		a.Header["Idempotent-Replayed"] = "true"
	}
}

// arrive starts the handler of a request.
func (w *world) arrive(r *request) {
	r.next, r.stop = iter.Pull(func(yield func(struct{}) bool) {
		r.pause = func() {
			if !yield(struct{}{}) {
				panic(killed{})
			}
		}
		defer func() {
			if p := recover(); p != nil && p != (killed{}) {
				panic(p)
			}
		}()
		w.design.handle(w, r)
	})
	w.running = append(w.running, r)
}

// crash kills the process: what runs in it stops where it is, and locks and leases are free.
func (w *world) crash() {
	at := w.tick()
	for _, r := range w.running {
		r.stop()
		w.leave(r, history.Closed)
		for _, rec := range w.records {
			if rec.owner == r {
				rec.owner = nil
			}
		}
	}
	w.running, w.locks = nil, map[string]*request{}
	w.story.Crashes = append(w.story.Crashes, history.Crash{Attempt: w.story.Attempts[len(w.story.Attempts)-1].ID, Struck: at, Ended: at, Ready: w.tick()})
}

func take[T any](w *world, list *[]T) T {
	i := w.IntN(len(*list))
	x := (*list)[i]
	*list = append((*list)[:i:i], (*list)[i+1:]...)
	return x
}

// step lets one thing happen. It reports whether anything could.
func (w *world) step() bool {
	if !w.calm && len(w.running) > 0 && w.chance(0.02) {
		w.crash()
		return true
	}
	n := len(w.running) + len(w.inbox) + len(w.outbox)
	if n == 0 {
		return false
	}
	switch i := w.IntN(n); {
	case i < len(w.inbox):
		w.arrive(take(w, &w.inbox))
	case i < len(w.inbox)+len(w.outbox):
		w.deliver(take(w, &w.outbox))
	default:
		w.run(w.running[i-len(w.inbox)-len(w.outbox)])
	}
	return true
}

// run lets a request take one step in the server, or its client leave.
func (w *world) run(r *request) {
	if w.fails(0.03) {
		w.leave(r, history.Timeout)
		return
	}
	w.tick()
	if _, more := r.next(); !more {
		r.stop()
		w.running = without(w.running, r)
	}
}

func without(list []*request, r *request) []*request {
	var rest []*request
	for _, x := range list {
		if x != r {
			rest = append(rest, x)
		}
	}
	return rest
}

// settle lets everything come to its end.
func (w *world) settle() {
	for steps := 0; w.step(); steps++ {
		if steps > 100000 {
			panic("the model does not become quiet")
		}
	}
}

// wait lets things happen until one attempt is over for its client.
func (w *world) wait(r *request) {
	for !r.gone && w.step() {
	}
	if !r.gone {
		w.leave(r, history.Closed) // nobody is left to answer it
	}
}
