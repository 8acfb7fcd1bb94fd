package scenarios

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
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
	First  int      `json:"first"` // number of the first of them
	Place  int      `json:"place"` // from 0
	Keys   Likeness `json:"keys,omitempty"`
	Across Across   `json:"across,omitempty"`
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

// Cutting says when a link breaks: at a moment, or part of the way through those of a create.
type Cutting struct {
	Link   string        `json:"link"`
	Moment faults.Moment `json:"moment,omitempty"` // empty: by Part
	Part   float64       `json:"part"`             // 0 to 1, drawn from the seed
	For    time.Duration `json:"for"`
}

// Passing is what a plain create of the pilot sent over a link.
type Passing struct {
	Moments int // questions and answers
	Begins  int // questions that begin a transaction
	Commits int // questions that ask for a commit
	Writes  int // questions that carry the marker or the reference

	After bool // nothing passes while a create is inside, and something does when it is answered
}

// At returns the moment for a create that does the same as the pilot's. Where that asked for no commit, each write is
// one; where it showed no marker, the moment has a number.
func (c Cutting) At(p Passing) faults.Moment {
	word, nth := c.Moment.Word()
	if p.Moments > 0 && p.Commits == 0 {
		switch word {
		case faults.AtCommit:
			word = faults.AtWrite
		case faults.AtCommitted:
			word = faults.AtWritten
		}
	}
	switch {
	case word == "":
		return c.Counted(p.Moments)
	case word != faults.AtWrite && word != faults.AtWritten:
		return word
	case p.Moments > 0 && p.Writes == 0:
		return c.Counted(p.Moments)
	case nth > 0:
		return word.Nth(nth)
	default:
		return word.Nth(1 + int(c.Part*float64(p.Writes)))
	}
}

// Counted returns the moment by its number, even if it has a word. A new connection exchanges more messages than the
// pilot's did, so the moments reach half as far again.
func (c Cutting) Counted(moments int) faults.Moment {
	n := 1 + int(c.Part*float64(moments+moments/2))
	if word, _ := c.Moment.Word(); word == faults.AtCommitted || word == faults.AtWritten {
		n += n % 2 // an answer
	}
	return faults.Moment(strconv.Itoa(n))
}

// OwnKey is the name of the key that an intent's requests carry unless the scenario says otherwise. Only this key is
// made to resemble those of neighbours.
const OwnKey = "own"

// NewPlan plans a scenario. The same scenario and seed give the same plan. Each intent's draws
// depend on nothing but the seed, the scenario's name and the intent's number, so that a part of a
// plan is the same as in the whole.
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

// Races reports whether requests of one intent are in flight together, or one is when the target crashes. Whether a
// round of such a scenario hits a race window is a matter of chance, unless the work is long.
func (s Scenario) Races() bool {
	return len(s.Work) == 0 && slices.ContainsFunc(s.Steps, func(step Step) bool {
		return step.Burst != nil || step.Sweep != nil || step.Crash != nil || len(step.Tabs) > 0
	})
}

// Shares reports that others may be played meanwhile: each request of an intent waits for the one before or comes at a time of
// work that takes long, nothing is timed by what a create takes, and nothing is held, broken or loaded that all use. Where work can
// be made to take long only by holding what all use, a scenario with work does not share.
func (s Scenario) Shares() bool {
	return len(s.Links) == 0 && s.Sinks == nil && s.Background == nil && !slices.ContainsFunc(s.Steps, func(step Step) bool {
		return step.Burst != nil || step.Sweep != nil || step.Crash != nil || len(step.Tabs) > 0 && len(s.Work) == 0 || step.Flush != "" || len(step.cuts()) > 0 || step.timed()
	})
}

// timed reports that a request has a deadline, or a retry a backoff, that follows from what a create takes.
func (s Step) timed() bool {
	return slices.ContainsFunc(s.sendings(0), func(one sending) bool {
		send := one.send
		return send.Timeout.Share != 0 || send.Retry != nil && (send.Retry.Timeout.Share != 0 || send.Retry.Backoff.Share != 0)
	})
}

// Pauses is how long an intent waits at least between its requests, but for what follows from the target.
func (s Scenario) Pauses() time.Duration {
	var sum time.Duration
	for _, step := range s.Steps {
		if step.Wait != nil && step.Wait.For != WaitCommitted {
			longest := step.Wait.Pause.Fixed
			for _, p := range step.Wait.Pauses {
				longest = max(longest, p.Fixed)
			}
			sum += longest
		}
	}
	return sum
}

// WithIntents returns the scenario with at least n intents, in whole groups of twins and neighbours.
func (s Scenario) WithIntents(n int) Scenario {
	size := s.GroupSize()
	s.Intents = max(s.Intents, (n+size-1)/size*size)
	return s
}

// IntentID returns the ID of the intent with a number.
func IntentID(number int) string { return fmt.Sprintf("i%03d", number) }

// IntentNumber returns the number of the intent with an ID; false: the text is no such ID.
func IntentNumber(id string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(id, "i"))
	if err != nil || n < 1 || IntentID(n) != id {
		return 0, false
	}
	return n, true
}

// Only returns the part of the plan with the intents of these numbers, their twins and neighbours, and the background
// traffic, in the plan's order. It returns the whole plan for an intent of the background: that one ran beside all others.
func (p Plan) Only(numbers []int) Plan {
	wanted := map[int]bool{}
	for _, n := range numbers {
		wanted[n] = true
	}
	groups := map[int]bool{}
	for _, i := range p.Intents {
		if wanted[i.Number] && i.Background {
			return p
		}
		if wanted[i.Number] {
			groups[i.group()] = true
		}
	}
	part := p
	part.Intents = nil
	for _, i := range p.Intents {
		if groups[i.group()] || i.Background {
			part.Intents = append(part.Intents, i)
		}
	}
	return part
}

// Shard is one of several runs that share the intents of every plan. The zero value is the only one.
type Shard struct{ Number, Of int } // from 1 to Of

// Several reports that there is more than one.
func (s Shard) Several() bool { return s.Of > 1 }

// String writes 3/8; empty: it is the only one.
func (s Shard) String() string {
	if !s.Several() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Of)
}

// Of returns the part of the plan that falls to a shard: every so many of its groups of twins and neighbours, with the background
// traffic. It has no intents where there are fewer groups than shards.
func (p Plan) Of(s Shard) Plan {
	if !s.Several() {
		return p
	}
	var numbers []int
	groups := map[int]int{}
	for _, i := range p.Intents {
		if i.Background {
			continue
		}
		if _, known := groups[i.group()]; !known {
			groups[i.group()] = len(groups)
		}
		if groups[i.group()]%s.Of == s.Number-1 {
			numbers = append(numbers, i.Number)
		}
	}
	part := p.Only(numbers)
	if len(numbers) == 0 {
		part.Intents = nil
	}
	return part
}

// group is the number of the first intent of a group of twins or neighbours.
func (i PlannedIntent) group() int {
	switch {
	case i.Neighbour != nil:
		return i.Neighbour.First
	case i.Twin != 0:
		return i.Twin
	default:
		return i.Number
	}
}

// Spread returns about n of the plan's intents, from all over it, in whole groups of twins and neighbours, with the background traffic:
// moments that move from intent to intent still go through their range, and what changes every two or three intents still changes. It
// returns the whole plan where that has no more.
func (p Plan) Spread(n int) Plan {
	var firsts []int
	for _, i := range p.Intents {
		if g := i.group(); !i.Background && !slices.Contains(firsts, g) {
			firsts = append(firsts, g)
		}
	}
	whole := slices.DeleteFunc(slices.Clone(p.Intents), func(i PlannedIntent) bool { return i.Background })
	if n >= len(whole) || len(firsts) == 0 {
		return p
	}
	groups := max(1, n*len(firsts)/len(whole))
	stride := max(1, len(firsts)/groups)
	for gcd(stride, 6*len(firsts)) != 1 {
		stride++
	}
	var numbers []int
	for k := range groups {
		numbers = append(numbers, firsts[k*stride%len(firsts)])
	}
	part := p.Only(numbers)
	part.Whole = max(p.Whole, len(whole))
	return part
}

// WithBackground returns the plan with at most so many intents of background traffic, at no higher a rate than has them all begin within
// a time: more than a slow target can do would keep it from all else.
func (p Plan) WithBackground(most int, within time.Duration) Plan {
	part, n := p, 0
	part.Intents = slices.DeleteFunc(slices.Clone(p.Intents), func(i PlannedIntent) bool {
		if i.Background {
			n++
		}
		return i.Background && n > most
	})
	if n > most {
		part.Background = min(p.Background, float64(most)/within.Seconds())
	}
	return part
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

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

type counter struct {
	out io.Writer
	n   int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.out.Write(b)
	c.n += int64(n)
	return n, err
}

func drawFor(seed uint64, scenario string, intent int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d", scenario, intent)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

func twinOf(s Scenario, n int) int {
	if s.Twins < 2 {
		return 0
	}
	return n - (n-1)%s.Twins
}

func workOf(s Scenario, n int) time.Duration {
	if len(s.Work) == 0 {
		return 0
	}
	return time.Duration(s.Work[(n-1)%len(s.Work)])
}

func neighbourOf(s Scenario, n int) *Neighbour {
	if s.Neighbours == nil {
		return nil
	}
	place := (n - 1) % s.Neighbours.Of
	return &Neighbour{First: n - place, Place: place, Keys: s.Neighbours.Keys, Across: s.Neighbours.Across}
}

// planner plans one intent.
type planner struct {
	scenario Scenario
	id       string
	number   int
	draw     *rand.Rand
	attempts int
	keys     int
}

func (p *planner) moves() []Move {
	moves := make([]Move, 0, len(p.scenario.Steps))
	for i, step := range p.scenario.Steps {
		m := p.move(step)
		m.Step = i
		moves = append(moves, m)
	}
	return moves
}

func (p *planner) move(s Step) Move {
	switch {
	case s.Send != nil:
		return Move{Batch: []PlannedAttempt{p.attempt(*s.Send, s.Send.way(p.number-1))}}
	case s.Alter != nil:
		return Move{Batch: []PlannedAttempt{p.attempt(*s.Alter, history.Altered)}}
	case s.Invalid != nil:
		return Move{Batch: []PlannedAttempt{p.attempt(*s.Invalid, history.Invalid)}}
	case s.Burst != nil:
		return Move{Batch: p.burst(*s.Burst), Together: true, WriteGate: s.Burst.WriteGate}
	case s.Sweep != nil:
		return p.sweep(*s.Sweep)
	case s.Crash != nil:
		return p.crash(*s.Crash)
	case s.Respell != nil:
		return Move{Batch: []PlannedAttempt{p.attempt(s.Respell.Send, s.Respell.body())}}
	case s.Wait != nil:
		return Move{Wait: p.wait(*s.Wait)}
	case s.Look != nil:
		return Move{Look: true}
	case s.Remove != nil:
		return Move{Remove: true}
	case s.Flush != "":
		return Move{Flush: true}
	default:
		return Move{Batch: p.tabs(s.Tabs)}
	}
}

// body names what a respelled request carries.
func (r Respell) body() string {
	switch r.Spelling {
	case SpellingNumbers:
		return history.Renumbered
	case SpellingElsewhere:
		return history.Elsewhere
	case SpellingHeaderCase:
		return history.HeaderCase
	case SpellingTwoHeaders:
		return history.TwoHeaders
	default:
		return history.Reordered
	}
}

// way names the body of the nth request, from 0, by the way that it takes.
func (s Send) way(n int) string {
	if len(s.Ways) > 0 && s.Ways[n%len(s.Ways)] == OtherWay {
		return history.OtherWay
	}
	return history.Original
}

// burst shuffles the altered copies among the others: the order of release must not depend on the body.
func (p *planner) burst(b Burst) []PlannedAttempt {
	bodies := make([]string, b.Copies)
	for i := range bodies {
		bodies[i] = b.way(i)
		if i < b.Altered {
			bodies[i] = history.Altered
		}
	}
	p.draw.Shuffle(len(bodies), func(i, j int) { bodies[i], bodies[j] = bodies[j], bodies[i] })
	batch := make([]PlannedAttempt, 0, b.Copies)
	for _, body := range bodies {
		batch = append(batch, p.attempt(b.Send, body))
	}
	return batch
}

// sweep spreads the first third of the intents evenly, each drawn within its part of the way.
func (p *planner) sweep(s Sweep) Move {
	m := Move{Together: true, Sweep: &Sweeping{From: s.From, To: s.To, Part: p.draw.Float64()}}
	if even := (p.scenario.Intents + 2) / 3; p.number <= even {
		m.Sweep.Even, m.Sweep.Part = true, (float64(p.number-1)+m.Sweep.Part)/float64(even)
	}
	for range 2 {
		m.Batch = append(m.Batch, p.attempt(s.Send, history.Original))
	}
	return m
}

// crash spreads the moments of all intents evenly, each drawn within its part of the way.
func (p *planner) crash(c Crash) Move {
	part := (float64(p.number-1) + p.draw.Float64()) / float64(max(p.scenario.Intents, 1))
	return Move{
		Crash: &Crashing{At: c.At, From: c.From, To: c.To, Part: part},
		Batch: []PlannedAttempt{p.attempt(c.Send, history.Original)},
	}
}

func (p *planner) tabs(tabs []Tab) []PlannedAttempt {
	var batch []PlannedAttempt
	for _, tab := range tabs {
		body := history.Original
		if tab.Altered {
			body = history.Altered
		}
		for range max(tab.Count, 1) {
			a := p.attempt(tab.Send, body)
			a.At, a.Plus = tab.At, tab.Within.Scale(p.draw.Float64())
			batch = append(batch, a)
		}
	}
	return batch
}

func (p *planner) attempt(s Send, body string) PlannedAttempt {
	p.attempts++
	a := PlannedAttempt{
		ID: fmt.Sprintf("%s.%d", p.id, p.attempts), Lane: s.Lane, Timeout: s.Timeout,
		Key: p.key(s.Key), Body: body,
	}
	if s.Retry != nil {
		a.RetryOn, a.Pauses = s.Retry.answers(), p.pauses(*s.Retry)
		a.RetryKey, a.RetryLane, a.RetryTime = s.Retry.Key, s.Retry.Lane, s.Retry.Timeout
	}
	if s.Cut != nil {
		a.Cut = p.cutting(*s.Cut)
	}
	return a
}

// wait gives each intent the next one of several pauses.
func (p *planner) wait(w Wait) *Wait {
	if len(w.Pauses) > 0 {
		w.Pause = w.Pauses[(p.number-1)%len(w.Pauses)]
	}
	return &w
}

// cutting spreads the intents evenly over the moments, each drawn within its part of them. Every other one
// breaks at a commit or a write, or at the answer to one, instead: no number tells which message that is. Stores have
// no commits, and what they were told is what a retry tells them again. Other services exchange too few messages.
func (p *planner) cutting(c LinkCut) *Cutting {
	part := (float64(p.number-1) + p.draw.Float64()) / float64(max(p.scenario.Intents, p.number))
	switch {
	case c.Moment != "" || c.Link == Dependency:
	case c.Link == TheStore:
		c.Moment = []faults.Moment{faults.AtWritten, ""}[(p.number-1)%2]
	default:
		c.Moment = []faults.Moment{faults.AtCommitted, "", faults.AtWritten, "", faults.AtCommit, ""}[(p.number-1)%6]
	}
	return &Cutting{Link: c.Link, Moment: c.Moment, Part: part, For: time.Duration(*c.For)}
}

func (p *planner) key(choice KeyChoice) string {
	switch choice {
	case NoKey:
		return ""
	case FreshKey:
		p.keys++
		return fmt.Sprintf("fresh%d", p.keys)
	default:
		return OwnKey
	}
}

// pauses draws the backoff before each retry: exponential, with a share of it random ("equal
// jitter"), as well-behaved clients do.
func (p *planner) pauses(r Retry) []Span {
	factor := r.Factor
	if factor == 0 {
		factor = 2
	}
	pauses := make([]Span, 0, r.Max)
	pause := r.Backoff
	for range r.Max {
		pauses = append(pauses, pause.Scale(1-r.Jitter*p.draw.Float64()))
		pause = pause.Scale(factor)
	}
	return pauses
}

func (r Retry) answers() []RetryOn {
	if len(r.On) > 0 {
		return r.On
	}
	return []RetryOn{NoAnswer, "409", "425", "429", "5xx"}
}

// Scale returns the span times f.
func (s Span) Scale(f float64) Span {
	return Span{Fixed: time.Duration(float64(s.Fixed) * f), Share: s.Share * f}
}
