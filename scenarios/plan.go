package scenarios

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/doubletap-harness/doubletap/history"
)

// Plan is everything that a scenario will do, attempt by attempt. It holds no marker and no key:
// those are drawn anew for every run, so that a plan can be run again on the same database.
type Plan struct {
	Scenario    string
	Seed        uint64
	Concurrency int
	Answer      Answer  // that all requests ask for
	Background  float64 // requests per second of the background traffic; 0: there is none
	Intents     []PlannedIntent
	Whole       int // intents that the scenario has, without the background, where some were left out as the target is slow; 0: all are here
}

// PlannedIntent is everything that is planned for one intent.
type PlannedIntent struct {
	ID         string     `json:"id"`
	Number     int        `json:"number"`         // from 1
	Twin       int        `json:"twin,omitempty"` // number of the intent whose body this one shares; 0: its own
	Neighbour  *Neighbour `json:"kin,omitempty"`  // nil: no neighbours
	Moves      []Move     `json:"moves"`
	Background bool       `json:"background,omitempty"` // part of the background traffic

	Work time.Duration `json:"work,omitempty"` // its requests are made to take so long, on top of what a plain create takes; shares count it
}

// Neighbour is the place of an intent in its group of neighbours.
type Neighbour struct {
	First  int      `json:"first"`          // number of the first of them
	Place  int      `json:"place"`          // from 0
	Pair   int      `json:"pair,omitempty"` // of four whose keys differ in their form: which of two keys it has, from 1; 0: they have one
	Keys   Likeness `json:"keys,omitempty"`
	Across Across   `json:"across,omitempty"`
}

// Form is the form of its key, from 0. Of two keys, the second one comes in the other form first: what is refused as a form is refused then, too,
// and what is mistaken for its neighbour is not.
func (n Neighbour) Form() int {
	if n.Pair > 0 {
		return (n.Place + n.Pair - 1) % 2
	}
	return n.Place
}

// Move is what an intent does next: it sends a batch of requests, or does something else, such as waiting.
type Move struct {
	Step      int              `json:"step"` // index in the scenario's steps
	Batch     []PlannedAttempt `json:"volley,omitempty"`
	Together  bool             `json:"together,omitempty"`   // all stop before their last byte and are released together
	WriteGate bool             `json:"write_gate,omitempty"` // with Together: the database lets none of them write before all of them wait
	Sweep     *Sweeping        `json:"sweep,omitempty"`      // with Together: the second is released later
	Crash     *Crashing        `json:"crash,omitempty"`      // the target is killed beside it
	Wait      *Wait            `json:"wait,omitempty"`
	Look      bool             `json:"look,omitempty"`   // look into the database once
	Remove    bool             `json:"remove,omitempty"` // what the intent has made is removed
	Flush     bool             `json:"flush,omitempty"`  // the target's store loses everything that it may lose
}

// Sweeping says how long after the first of two requests the second is released. An even one is released at Part of the
// way from From to To; the others within a gap between two earlier offsets, which the driver chooses by the answers.
type Sweeping struct {
	From Span    `json:"from"`
	To   Span    `json:"to"`
	Even bool    `json:"even,omitempty"`
	Part float64 `json:"part"` // of the way, 0 to 1, drawn from the seed
}

// Crashing says how long after the release of a request the target is killed: at Part of the way from From to To. Or a sink
// releases the kill, at a moment.
type Crashing struct {
	At   CrashAt `json:"at,omitempty"`
	From Span    `json:"from"`
	To   Span    `json:"to"`
	Part float64 `json:"part"` // of the way, 0 to 1: another for each intent, drawn from the seed within its share
}

// PlannedAttempt is one request, and its retries if its answer asks for them.
type PlannedAttempt struct {
	ID        string    `json:"id"`
	At        Span      `json:"at"`   // after the batch began
	Plus      Span      `json:"plus"` // drawn from the seed, on top of At
	Lane      string    `json:"lane"`
	Timeout   Span      `json:"timeout"`
	Key       string    `json:"key,omitempty"` // name of the key, unique within the intent; empty: none
	Body      string    `json:"body"`
	RetryOn   []RetryOn `json:"retry_on,omitempty"`
	Pauses    []Span    `json:"pauses,omitempty"` // before each retry, in order
	RetryKey  KeyChoice `json:"retry_key,omitempty"`
	RetryLane string    `json:"retry_lane,omitempty"`
	RetryTime Span      `json:"retry_timeout"` // zero: Timeout
	Cut       *Cutting  `json:"cut,omitempty"` // of the first sending
}

// OwnKey is the name of the key that an intent's requests carry unless the scenario says otherwise. Only this key is
// made to resemble those of neighbours.
const OwnKey = "own"

// NewPlan plans a scenario. The same scenario and seed give the same plan. Each intent's draws
// depend on nothing but the seed, the scenario's name and the intent's number, so that a part of a
// plan is the same as in the whole, and so is its beginning when the plan gets longer.
func NewPlan(s Scenario, seed uint64) Plan {
	p := Plan{Scenario: s.Name, Seed: seed, Concurrency: s.Concurrency, Answer: s.Answer}
	for n := 1; n <= s.Intents; n++ {
		pl := planner{scenario: s, id: IntentID(n), number: n, draw: drawFor(seed, s.Name, n)}
		p.Intents = append(p.Intents, PlannedIntent{ID: pl.id, Number: n, Twin: twinOf(s, n), Neighbour: neighbourOf(s, n), Work: workOf(s, n), Moves: pl.moves()})
	}
	return p.withBackground(s)
}

// withBackground adds the background traffic, which has the numbers after those of the scenario's intents.
func (p Plan) withBackground(s Scenario) Plan {
	if s.Background == nil {
		return p
	}
	p.Background = s.Background.Rate
	for n := s.Intents + 1; n <= s.Intents+s.Background.Intents; n++ {
		pl := planner{scenario: s, id: IntentID(n), number: n, draw: drawFor(p.Seed, s.Name, n)}
		move := Move{Batch: []PlannedAttempt{pl.attempt(s.Background.Send, history.Original)}}
		p.Intents = append(p.Intents, PlannedIntent{ID: pl.id, Number: n, Background: true, Moves: []Move{move}})
	}
	return p
}

// WithIntents returns the scenario with at least n intents, in whole groups of twins and neighbours.
func (s Scenario) WithIntents(n int) Scenario {
	size := s.GroupSize()
	s.Intents = max(s.Intents, (n+size-1)/size*size)
	return s
}

// IntentID returns the ID of the intent with a number, such as i007. From i1000 on, IDs are
// longer, and no more in the order of texts.
func IntentID(number int) string { return fmt.Sprintf("i%03d", number) }

// Requests returns the greatest number of requests that the plan can send before its final probe.
func (p Plan) Requests() int {
	n := 0
	for _, i := range p.Intents {
		for _, m := range i.Moves {
			for _, a := range m.Batch {
				n += 1 + len(a.Pauses)
			}
		}
	}
	return n
}

// AtOnce returns the greatest number of requests that the plan sends in one step of an intent.
func (p Plan) AtOnce() int {
	most := 0
	for _, i := range p.Intents {
		for _, m := range i.Moves {
			most = max(most, len(m.Batch))
		}
	}
	return most
}

// WriteTo writes the plan as JSON lines, one per intent, after a head line.
func (p Plan) WriteTo(out io.Writer) (int64, error) {
	lines := &counter{out: out}
	encoder := json.NewEncoder(lines)
	encoder.SetEscapeHTML(false)
	head := struct {
		Scenario    string  `json:"scenario"`
		Seed        uint64  `json:"seed"`
		Concurrency int     `json:"concurrency"`
		Background  float64 `json:"background,omitempty"`
		Intents     int     `json:"intents"`
		Whole       int     `json:"whole,omitempty"`
	}{p.Scenario, p.Seed, p.Concurrency, p.Background, len(p.Intents), p.Whole}
	if err := encoder.Encode(head); err != nil {
		return lines.n, fmt.Errorf("write plan: %w", err)
	}
	for _, i := range p.Intents {
		if err := encoder.Encode(i); err != nil {
			return lines.n, fmt.Errorf("write plan: %w", err)
		}
	}
	return lines.n, nil
}

// counter counts the bytes of a plan on their way out.
type counter struct {
	out io.Writer
	n   int64
}

// Write passes bytes on.
func (c *counter) Write(b []byte) (int, error) {
	n, err := c.out.Write(b)
	c.n += int64(n)
	return n, err
}

// Scale returns the span times f.
func (s Span) Scale(f float64) Span {
	return Span{Fixed: time.Duration(float64(s.Fixed) * f), Share: s.Share * f}
}
