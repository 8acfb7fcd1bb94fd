// Package driver turns a plan into attempts: it sends what clients would send, through the
// lanes, and records what was on the wire. It is the only room that sends requests to the
// target. It records facts and judges nothing: what an answer means it asks of [Hooks].
//
//	New -> Sender.SetUp -> Prepared.Send -> Sent.Follow, Sent.Probe -> Sender.CleanUp
//
// The parts, from the plan down to the wire: an intentRunner plays an intent's moves;
// requests builds each request; a batch is one vegeta attack, which decides when requests
// leave; the transmitter keeps the history and stops when the target is gone; an exchange
// is one request and its answer on a connection of its own, or, in a hunt, on one that was
// kept.
//
// Three habits of Go's own HTTP client would falsify the history, so none of them is used.
// http.Transport sends a POST with an Idempotency-Key again by itself when a connection
// breaks. http.Client repeats a POST after a 307. A connection that is kept alive meets a
// fault in another way than a new one. One attempt is therefore one request that this
// package writes byte by byte.
package driver

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// Sender sends the workload of one scenario once. Its phases are types, so that none is left out: [Sender.SetUp]
// gives a [Prepared], and [Prepared.Send] a [Sent]. Make one with [New].
type Sender struct {
	config   Config
	requests *requests
	steps    *stepRunner
	line     *transmitter
	// Set by SetUp, for good: the IDs of attempts come from the plan, so a second workload
	// would use each of them twice.
	started atomic.Bool
}

// New makes a sender. It sends nothing yet.
func New(c Config) *Sender {
	s := &Sender{config: c}
	s.requests = newRequests(&s.config)
	s.steps = &stepRunner{requests: s.requests, pace: c.Pace, record: c.Record}
	s.line = &transmitter{
		config: &s.config, requests: s.requests, books: &bookkeeping{},
		breaks: &linkBreaks{links: c.Controls.Links, repeat: c.Repeat.Moments, base: c.Base},
	}
	return s
}

// Send sets up and sends the workload of a config, for callers that need nothing in between. Errors are those of
// [Sender.SetUp] and [Prepared.Send].
func Send(ctx context.Context, c Config) error {
	prepared, err := New(c).SetUp(ctx)
	if err != nil {
		return err
	}
	_, err = prepared.Send(ctx)
	return err
}

// errAgain is returned by a phase that was entered twice: attempts have their IDs from the plan, so the history
// would have each of them twice.
var errAgain = errors.New("a sender sends its workload once")

// ErrTargetGone is returned by Send and Probe when the target stopped taking connections.
var ErrTargetGone = errors.New("the target takes no connections any more")

// SetUp sends what goes before the first snapshot of the database: it logs the principals in, unless the config
// has Logins, prepares what the intents need, and fetches the keys that the target hands out. The error is
// ErrStep, or the context's, or that of the history. Then nothing can be sent but CleanUp.
func (s *Sender) SetUp(ctx context.Context) (*Prepared, error) {
	if s.started.Swap(true) {
		return nil, errAgain
	}
	err := s.steps.setUp(ctx)
	// Steps ignore failed writes, so that they need no error path of their own. The writer
	// keeps the first failure, and here it wins: a step that is not on record cannot be
	// explained.
	if unwritten := s.config.Record.Err(); unwritten != nil {
		err = unwritten
	}
	if err != nil {
		return nil, err
	}
	return &Prepared{sender: s}, nil
}

// CleanUp sends what comes after the last snapshot of the database. What fails is on record.
func (s *Sender) CleanUp(ctx context.Context) { s.steps.cleanUp(ctx) }

// Workload returns what is sent. It must not be changed.
func (s *Sender) Workload() *Workload { return &s.config.Workload }

// Logins returns what the target's login gave each principal, by name; nil before SetUp.
func (s *Sender) Logins() map[string]map[string]string { return s.requests.logins }

// Mask masks the secrets that are known so far in a text that is to go on record. It comes after SetUp.
func (s *Sender) Mask(text string) string { return s.requests.secrets.content(text) }

// Secrets returns the texts that are masked in all that is recorded now. What steps extract adds to them.
func (s *Sender) Secrets() []string { return s.requests.secrets.all() }

// Suspicious tells when a client last left a request whose end was not seen, which is zero if none did, and whether a request
// on the clean lane broke: then the target may still be working, or be gone.
func (s *Sender) Suspicious() (left time.Time, broke bool) { return s.line.books.suspicious() }

// GaveUp reports whether not all was sent because too many intents waited in vain, and whether nothing at all was answered.
func (s *Sender) GaveUp() (gaveUp, nothing bool) {
	// Waiting in vain is counted apart before and in the final retry: either may stop
	// sending.
	gaveUp = s.line.givenUp(false) || s.line.givenUp(true)
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	return gaveUp, gaveUp && !s.line.waiting.answered
}

// RecordPassages writes what the taps have seen of every attempt, as far as it is not on record yet. Call it when
// the target is quiet: a passage is written once.
func (s *Sender) RecordPassages() error { return s.line.books.recordAll(s.config.Record) }

// Prepared is a sender whose target is set up.
type Prepared struct {
	sender *Sender
	sent   atomic.Bool
}

// Send sends the plan: every intent's moves, Plan.Concurrency intents at a time. It returns early, with what was
// recorded, when the context ends, the history cannot be written or the target is gone (ErrTargetGone). The Sent
// is there in any case, for what was sent until then.
func (p *Prepared) Send(ctx context.Context) (*Sent, error) {
	s := p.sender
	sent := &Sent{sender: s}
	if p.sent.Swap(true) {
		return sent, errAgain
	}
	// Render all before the first request is sent. A template that fails halfway would
	// leave intents in the history that were never tried.
	if err := s.renderAll(); err != nil {
		return sent, err
	}
	return sent, s.line.haltable(ctx, func(ctx context.Context) {
		runner := newIntentRunner(s)
		stop := runner.background(ctx)
		groups, seats := byCrash(s.config.intents(false), s.config.PerCrash)
		runner.seats = seats
		for _, intents := range groups {
			s.line.forEach(ctx, intents, s.config.atOnce(), runner.runIntent)
		}
		stop()
	})
}

// renderAll renders all requests and records their intents.
func (s *Sender) renderAll() error {
	return s.requests.renderAll(func(i history.Intent) error { return s.line.books.intent(i, s.config.Record) })
}

// Sent is a sender that has sent its plan, or as much of it as there was time for.
type Sent struct {
	sender    *Sender
	probed    atomic.Bool
	outlasted atomic.Bool
}

// Outlasted reports that a key was still blocked, as Probing.Blocked tells it, when the final retry had waited Probing.Lease for it.
// It is false before Probe. Safe for concurrent use.
func (s *Sent) Outlasted() bool { return s.outlasted.Load() }

// Follow asks the status resources of accepted attempts until they have come to an end or their time is
// over, and records the last answer of each. An attempt is followed once. Without Config.Following it does nothing.
func (s *Sent) Follow(ctx context.Context) error {
	if s.sender.config.Following == nil {
		return nil
	}
	f := follower{Following: *s.sender.config.Following, transmitter: s.sender.line}
	return f.followAll(ctx)
}

// Probe sends the final retry: every key once more with every body that it was sent with, with backoff, until
// settled says that the answer is final or the tries are used up. Requests without a key are left out, unless
// keyless says that repeating one is no new intent. Probes that the target rejects because it does not know their
// sender are sent once more after a new login.
func (s *Sent) Probe(ctx context.Context, p Probing, keyless bool, settled func(history.Attempt) bool) error {
	if s.probed.Swap(true) {
		return errAgain
	}
	if p.Tries == 0 {
		usual := Patience(0, 0)
		p.Tries, p.Pause, p.Timeout = usual.Tries, usual.Pause, usual.Timeout
	}
	return s.sender.line.haltable(ctx, func(ctx context.Context) {
		prober := newProber(s.sender, p, settled)
		prober.probeAll(ctx, keyless)
		s.outlasted.Store(prober.outlasted.Load())
	})
}

// forEach runs work for every intent, so many at a time, and tells Hooks.Done.
func (t *transmitter) forEach(ctx context.Context, intents []scenarios.PlannedIntent, atOnce int, work func(context.Context, scenarios.PlannedIntent)) {
	inParallel(ctx, intents, atOnce, work, func(scenarios.PlannedIntent) {
		if done := t.config.Hooks.Done; done != nil && ctx.Err() == nil {
			done()
		}
	})
}
