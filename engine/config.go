// Package engine runs scenarios against a system under test: it brings the system up,
// plays each scenario from its plan to its history, and reports. The command, the Go
// library, shrink and replay are all callers of [Run] or [Open]; none of them brings
// anything up by itself.
//
//	Open: hosts, links, process, database, pilot (open.go, pilot.go)
//	Session.PlayAll: scenarios beside each other, then alone (session.go, beside.go)
//	Session.Play: one scenario, a list of steps (scenario_run.go)
//	Session.Report: what is on disk is judged, and findings written (session.go)
//
// What happens meanwhile it tells as events (event.go), so that a terminal, a CI server
// and a Go test are observers of the same run. The engine prints nothing, and judges
// nothing itself: a verdict is always the checker's, of a history that is on disk already.
// What the target does is never an error here; errors are the user's mistakes, the
// environment's or our own.
package engine

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// What a run does where its Config does not say otherwise.
const (
	DefaultReports      = "reports/runs"
	DefaultMaxRequests  = 100_000
	DefaultPilotTimeout = 20 * time.Second
)

// Config says what to run against what. The zero value, with a target, runs every built-in scenario.
type Config struct {
	SUT       sut.Options      // the system under test
	Scenarios []scenarios.File // none: the built-in library

	Seed         uint64
	Seeded       bool               // Seed is asked for; otherwise 0 is a random one
	Intents      int                // of each scenario at most so many, and those that belong to them; 0: all
	Confidence   float64            // scenarios that race are played so often that a pass bounds the share of rounds that break, 0 to 1, with 95 % confidence; 0: as their files say
	Shard        scenarios.Shard    // the part of the intents that this run sends; zero: all
	MaxRequests  int                // that scenarios may send; 0: DefaultMaxRequests
	PilotTimeout time.Duration      // of a plain create; 0: DefaultPilotTimeout
	Known        scenarios.Register // known bugs: with these only, a scenario fails as expected
	Replay       *Replay            // nil: a run
	Course

	Reports  string                                        // directory for runs; empty: DefaultReports
	Private  bool                                          // histories only: no report is written, and no finding gets a directory
	Checkout string                                        // directory to which the paths of scenario files in reports are relative; empty: this one
	Commands func(dir string, seed uint64) rundir.Commands // that a report tells for its run; nil: none

	RealTime bool // the threads that release a burst get real-time priority, where the system allows it
	DryRun   bool // announce and stop
	Diagnose bool // every principal and operation creates once; write gates and the store are left to the caller

	Observe func(Event) // gets every event, from one goroutine at a time, but for Progress; nil: nothing is told
}

// Course says in which order scenarios are played, and for how long.
type Course struct {
	MoreRounds time.Duration // for which scenarios that race and passed are played again, with more rounds; 0: none is
	Budget     time.Duration // of the whole run: scenarios are left out that do not fit, and one that still goes on then is cut short; 0: none is
	Parallel   int           // how many scenarios may be played beside each other; 0: as many as the target is quick enough for, 1: each has the target to itself
	FailFast   bool          // no scenario begins after one that failed
	Hunt       *Hunt         // nil: each scenario is played once; otherwise [Run] hunts with those that race, and Course says nothing else
}

// Replay is a finding that is sent again.
type Replay struct {
	Dir     string                   // of the finding
	Only    []int                    // numbers of the intents to send
	Offsets map[string]time.Duration // of a sweep, by intent
	Moments map[string]faults.Moment // at which a link breaks, by intent
}

// withDefaults fills in what is left out, so that no other function asks for nil or zero.
// It draws the seed, and loads the library where no scenario is named.
func (c Config) withDefaults() (Config, error) {
	c.Reports = cmp.Or(c.Reports, DefaultReports)
	c.MaxRequests = cmp.Or(c.MaxRequests, DefaultMaxRequests)
	c.PilotTimeout = cmp.Or(c.PilotTimeout, DefaultPilotTimeout)
	c.Checkout = cmp.Or(c.Checkout, ".")
	if c.Observe == nil {
		c.Observe = func(Event) {}
	}
	if c.Commands == nil {
		c.Commands = func(string, uint64) rundir.Commands { return rundir.Commands{} }
	}
	if c.Replay == nil {
		c.Replay = new(Replay)
	}
	if !c.Seeded && c.Seed == 0 {
		c.Seed = RandomSeed()
	}
	c.Seeded = true
	if len(c.Scenarios) > 0 {
		return c, nil
	}
	var err error
	c.Scenarios, err = FindScenarios(nil)
	return c, err
}

// RandomSeed is different each time, and short enough to be typed: 32 bits. It comes from
// crypto/rand, so that two runs that start at the same moment on two machines differ.
func RandomSeed() uint64 {
	var b [4]byte
	rand.Read(b[:])
	return uint64(binary.LittleEndian.Uint32(b[:]))
}

// Resend fills in what a finding knows and the config does not say: its plan, target and place.
func (c Config) Resend(f rundir.Finding, dir string) Config {
	c.Seed, c.Seeded, c.Confidence = f.Seed, true, f.Confidence
	c.Replay = &Replay{Dir: dir, Only: f.Intents, Offsets: map[string]time.Duration{}, Moments: map[string]faults.Moment{}}
	for _, a := range f.Finding.Attempts {
		if f.Finding.Typical != "" {
			break // it is about all intents, of which Attempts show one
		}
		if a.After > 0 {
			c.Replay.Offsets[a.Intent] = a.After.Duration()
		}
		if a.Cut != nil {
			c.Replay.Moments[a.Intent] = faults.Moment(a.Cut.Moment)
		}
	}
	if c.SUT.Target == "" {
		c.SUT.Target = f.TargetIn(dir)
		c.SUT.HandedOver = rundir.HandedOver(c.SUT.Target, dir)
		c.SUT.FoundOn = f.Database
		c.SUT.Instances = cmp.Or(c.SUT.Instances, f.Instances)
	}
	c.SUT.Resent = f.Operation                                                         // at another target as well: another operation says nothing of the finding
	if c.SUT.Target == f.Target || strings.HasPrefix(c.SUT.Target, sut.ServedPrefix) { // of another file it may not be possible
		c.SUT.Instances = cmp.Or(c.SUT.Instances, f.Instances)
	}
	c.SUT.Toxiproxy = cmp.Or(c.SUT.Toxiproxy, f.Toxiproxy)
	return c
}

// ReadRegister reads a file with known bugs.
func ReadRegister(path string) (scenarios.Register, error) {
	source, err := files.Read(path, files.MostText)
	if err != nil {
		return nil, runerror.Config(runerror.Unreadable("register of known bugs", path, err))
	}
	register, err := scenarios.LoadRegister(path, source)
	return register, runerror.Config(err)
}

// finding is what all findings of a run have in common.
func (s *Session) finding() rundir.Finding {
	return rundir.Finding{
		Version: 1, Run: s.manifest.Run, Seed: s.config.Seed, Target: s.System.Name,
		Operation: s.System.Operation().Name, Instances: s.config.SUT.Instances, Database: sut.BuiltOn(s.System), Toxiproxy: s.manifest.Toxiproxy, Normal: history.Offset(s.normal),
		Confidence: s.config.Confidence,
	}
}
