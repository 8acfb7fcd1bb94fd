package engine

import (
	"time"

	"github.com/doubletap-harness/doubletap/checker"
)

// Event is something that a session tells while it goes on: one of the types of this file.
// An observer switches over them and ignores those that it does not know. Events come from
// one goroutine at a time, but for [Progress].
type Event interface{ event() }

// Announced comes before anything is sent: what will be, how much and where.
type Announced struct {
	Tool       string
	Target     string
	Operation  string
	NotPlayed  []string // the target's other operations, by name
	Together   bool     // the others are played in runs of their own
	Address    string
	Instances  int // that are started for this run; 0: the target is there already
	Seed       uint64
	Requests   int      // that scenarios send at most, without the final retries
	Steps      int      // requests besides, for the steps of the target file
	RowsSource string   // empty: rows are read nowhere
	Warnings   []string // of the target file: what is no mistake in it, and may not be meant
	Limit      *Limit   // nil: the target names no rate limit
	OwnWord    bool     // the rows are what the target itself lists
	Scenarios  []Planned
	DryRun     bool
	Hunt       *Hunt // nil: each scenario is played once
}

// Limit is a target's rate limit and how long the run takes because of it.
type Limit struct {
	Requests int
	Per      time.Duration
	Takes    time.Duration
}

// Planned is one scenario of a run.
type Planned struct {
	Name     string
	Why      string // it does not apply; empty: it does
	Intents  int
	Requests int // at most
}

// Applicable counts the scenarios that are played.
func (a Announced) Applicable() int {
	n := 0
	for _, s := range a.Scenarios {
		if s.Intents > 0 {
			n++
		}
	}
	return n
}

// BroughtUp says that a step of bringing the system up is done.
type BroughtUp struct {
	Step    Step
	Took    time.Duration
	Address string // of what was brought up, where it has one
}

// Step is one of bringing a system up.
type Step string

// The steps, in their order.
const (
	StepHosts       Step = "hosts"
	StepLinks       Step = "links"
	StepProcess     Step = "process"
	StepDatabase    Step = "database"
	StepPlainCreate Step = "plain create"
)

// ScenarioStarted says that a scenario is going to be played.
type ScenarioStarted struct{ Name string }

// MoreRounds says that scenarios are going to be played again, with more rounds, for about so long.
type MoreRounds struct{ For time.Duration }

// Hunting says how far a hunt is. It comes after each batch of rounds.
type Hunting struct {
	Rounds int // that were exercised
	Took   time.Duration
	For    time.Duration // 0: it is not bounded by a time
	Bound  float64       // share of rounds that may still break, with 95 % confidence, 0 to 1
	Until  float64       // that is to be reached; 0: none
	Best   string        // scenario that has shown the most signs of trouble; empty: none has had a round
}

// Progress says how many of a scenario's intents are done. It comes from several goroutines at once.
type Progress struct{ Done, Of int }

// ReadingRows says how far a snapshot is that takes long.
type ReadingRows struct {
	Markers, Of int
	Took        time.Duration
}

// ScenarioDone has the result of a scenario, also of one that does not apply.
type ScenarioDone struct{ Result checker.Result }

// RunDone ends a run whose report is on disk.
type RunDone struct {
	Report checker.Report
	Files  map[string]string // the scenarios' files by name, relative to the checkout
	Replay bool
}

// RunAborted ends a run that could not be brought up. Its report says of every scenario that it was not run.
type RunAborted struct {
	Report checker.Report
	Files  map[string]string
	Replay bool
}

func (Announced) event()       {}
func (BroughtUp) event()       {}
func (ScenarioStarted) event() {}
func (MoreRounds) event()      {}
func (Hunting) event()         {}
func (Progress) event()        {}
func (ReadingRows) event()     {}
func (ScenarioDone) event()    {}
func (RunDone) event()         {}
func (RunAborted) event()      {}
