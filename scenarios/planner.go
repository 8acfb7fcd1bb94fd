package scenarios

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
)

// planner plans one intent. All that is random comes from draw, in the order of the steps: a draw
// that is added or left out changes what comes after it in this intent, and nothing in the others.
type planner struct {
	scenario Scenario
	id       string
	number   int
	draw     *rand.Rand
	attempts int
	keys     int
}

// moves plans the steps in order.
func (p *planner) moves() []Move {
	moves := make([]Move, 0, len(p.scenario.Steps))
	for i, step := range p.scenario.Steps {
		m := p.move(step)
		m.Step = i
		moves = append(moves, m)
	}
	return moves
}

// move plans one step, of which exactly one member is set.
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
	case SpellingNatural:
		return history.OtherNaming
	case SpellingNoCredential:
		return history.NoCredential
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
		if bodies[i] = b.way(i); b.Spelling != "" && i%2 == 1 {
			bodies[i] = Respell{Spelling: b.Spelling}.body()
		}
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

// tabs plans the tabs of one step as one batch. Each begins at its own time, and the batch ends
// when all are answered.
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

// attempt plans one request and its retries. Attempts have numbers in the order of the plan,
// whatever the order in which they are then sent.
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

// key names the key of a request; empty: it has none. A fresh key is another one for each request
// that asks for one.
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

// answers are those after which a client tries again. Without a list they are those that a careful
// client repeats: no answer, and statuses that ask to come back later.
func (r Retry) answers() []RetryOn {
	if len(r.On) > 0 {
		return r.On
	}
	return []RetryOn{NoAnswer, "409", "425", "429", "5xx"}
}

// drawFor is the source of all draws of one intent. PCG is seeded by the seed and by a hash of
// scenario and number, so that intents do not share draws.
func drawFor(seed uint64, scenario string, intent int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d", scenario, intent)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// twinOf is the number of the first of an intent's twins; 0: it has none.
func twinOf(s Scenario, n int) int {
	if s.Twins < 2 {
		return 0
	}
	return n - (n-1)%s.Twins
}

// workOf is how long an intent's requests are made to take: each intent takes the next of the
// listed times.
func workOf(s Scenario, n int) time.Duration {
	if len(s.Work) == 0 {
		return 0
	}
	return time.Duration(s.Work[(n-1)%len(s.Work)])
}

// neighbourOf is an intent's place among its neighbours; nil: there are none.
func neighbourOf(s Scenario, n int) *Neighbour {
	if s.Neighbours == nil {
		return nil
	}
	place := (n - 1) % s.Neighbours.Of
	pair := 0
	if s.Neighbours.Of == 4 && slices.Contains([]Likeness{KeysCase, KeysSpace, KeysQuote}, s.Neighbours.Keys) {
		pair = 1 + place/2
	}
	return &Neighbour{First: n - place, Place: place, Pair: pair, Keys: s.Neighbours.Keys, Across: s.Neighbours.Across}
}
