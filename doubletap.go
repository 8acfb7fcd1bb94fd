// Package doubletap finds out whether an API that creates things creates each of them exactly once, when the same request arrives
// more than once, and whether every answer tells the same. It is the library under the doubletap command; the package
// doubletaptest plays the same scenarios as subtests of a Go test.
//
// [Run] takes a target file, which says how the API is asked to create something, how the rows are found
// that it has made, and what it promises. Everything else can come from the program: the API as an
// [net/http.Handler], the database as a [database/sql.DB].
//
//	report, err := doubletap.Run(ctx, doubletap.Config{
//		Target:  "orders.yaml",
//		Handler: orders.Handler(db),
//		DB:      db,
//	})
//
// The target file of a handler can be short:
//
//	name: orders
//	base_url: http://orders.test # Handler takes its place
//	contract: {preset: ietf}
//	operations:
//	  create_order:
//	    request: {path: /orders, body: {note: "{{.Intent.Marker}}", amount: 1200}}
//	    key: {in: header, required: true}
//	    identity: /id
//	    rows: {query: select id from orders where note = :marker, identity: id}
//
// # Handler and DB
//
// Handler is served on a free port of the loopback interface, in HTTP/1.1 and in clear-text HTTP/2, until the
// run ends. Requests come over real connections, through toxiproxy, with the faults that a scenario asks
// for: [net/http/httptest.ResponseRecorder] would show nothing of that.
//
// DB is asked for the rows in place of database.url. Which of SQLite, PostgreSQL, MySQL and MariaDB it is, it is asked itself,
// so any driver will do. Its settings stay as they are, and doubletap does not close it. That the queries of a target file only
// read is then up to their author: only on PostgreSQL and MariaDB are snapshots taken in transactions that
// cannot write. A pool of one connection serves the handler and doubletap in turn. Writes to a
// database that was given are not held back (database.write_gate), so that scenario does not apply.
//
// # What is not linked
//
// The package links no command line, no database driver and no OpenAPI reader. A target file with database.url takes the
// driver that the program imports. Built-in targets and private servers come with [Config.Parts]:
//
//	import "github.com/doubletap-harness/doubletap/sut/builtin"
//
//	doubletap.Config{Target: "builtin:check-then-insert", Parts: builtin.Parts()}
//
// The package changes nothing of the process that it runs in: no thread's priority, no lock of the whole machine, no
// signal handler and no environment variable.
//
// # What is stable
//
// [Run], [Open], [Session], [Config] and the errors keep their meaning within a major version; fields may be added. The reports'
// types are those of the package checker, whose JSON names are stable, and to which fields may be added.
package doubletap

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/leftovers"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets"
)

// Report is what a run has found.
type Report = checker.Report

// Result is what one scenario has found.
type Result = checker.Result

// ConfigError is a mistake in a file or in a [Config]; errors.As tells it from an [EnvironmentError].
type ConfigError = runerror.ConfigError

// EnvironmentError is a failure of what surrounds a run: target or database unreachable, disk full, or doubletap
// itself. An error that is neither is to be taken as this one.
type EnvironmentError = runerror.EnvironmentError

// Parts are the built-in targets and private servers, which link much; see the package sut/builtin.
type Parts = sut.Parts

// Config says what to run against what. Its zero value lacks a Target. It is not changed, and may be used by several runs at
// once.
type Config struct {
	Target     string            // a target file; with Parts also builtin:NAME
	Spec       *targets.Target   // the target as a value, which Target then only names; nil: Target is read. Its defaults are those of its types, not those of a file
	TargetText string            // text of the target file, which Target then only names; empty: Target is read
	Handler    http.Handler      // the API, served while the run lasts, in place of base_url; nil: that must be running
	DB         *sql.DB           // where the rows are, in place of database; nil: that
	Operation  string            // of the target; empty: what the scenarios ask for, else its first by name
	Instances  int               // of a target with process; 0: as its file says
	Toxiproxy  string            // URL of a toxiproxy server; empty: in process
	Env        map[string]string // variables of the target file, before those of the process
	Parts      Parts

	Scenarios []string // built-in ones by name, files and folders; none, without Source: all built-in ones
	Source    string   // one more scenario, as the text of its file

	Seed         uint64        // of the plans; 0: random
	Intents      int           // of each scenario at most so many, and those that belong to them; 0: all
	Confidence   float64       // scenarios that race are played so often that a pass says, with 95 % confidence, that a smaller share of rounds breaks, 0 to 1; 0: as their files say
	Budget       time.Duration // of the whole run: scenarios are left out that do not fit, and one that still goes on then is cut short; 0: none is
	Parallel     int           // how many scenarios [Run] plays beside each other, of those that do not race; 0: at most 3, fewer where the target is slow; 1: each has the target to itself
	MaxRequests  int           // that scenarios may send; 0: 100,000
	PilotTimeout time.Duration // of a plain create; 0: 20s
	Known        string        // file with the register of known bugs; empty: none

	Reports string // directory for the runs' files; empty: one that is removed when the run ends
	Again   string // the command that a report names for doing the same again; empty: none
}

// Run plays the scenarios and returns what was found. An error says why there is nothing to tell, or, beside a report, what failed on
// the way. Ending the context ends the run early; what was done is reported.
func Run(ctx context.Context, c Config) (report *Report, err error) {
	s, err := Open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.engine.Report(s.engine.PlayAll(ctx))
}

// HuntLimits say for how long [Hunt] goes on: until the first finding, and no longer than For, or until fewer than a share of
// rounds, Until, can break. The zero value goes on until the context ends.
type HuntLimits = engine.Hunt

// Hunt sends rounds of the scenarios that race, and of variations of them, until one breaks or a limit is reached. Without Scenarios
// it takes those of the library. Scenarios in which nothing races are a mistake; Intents, Confidence, Budget and Parallel have no place in
// it. Report.Hunt says what it came to. Ending the context ends it early; what was done is reported.
func Hunt(ctx context.Context, c Config, limits HuntLimits) (report *Report, err error) {
	s := &Session{}
	defer func() { err = errors.Join(err, s.Close()) }()
	config, err := c.engine(s)
	if err != nil {
		return nil, err
	}
	if len(c.Scenarios) == 0 && c.Source == "" {
		config.Scenarios = nil // those that race
	}
	config.Hunt = &limits
	return engine.Run(ctx, config)
}

// Session is a target that was brought up once, against which scenarios are played one at a time. It is not safe for
// concurrent use.
type Session struct {
	engine *engine.Session
	stop   []func() error
}

// Open brings a target up: it serves the Handler, guards hosts, connects to the database and sends a few plain creates, which
// prove the target file. The session is to be closed.
func Open(ctx context.Context, c Config) (*Session, error) {
	s := &Session{}
	config, err := c.engine(s)
	if err == nil {
		s.engine, err = engine.Open(ctx, config)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Scenarios lists the names of the scenarios, in their order.
func (s *Session) Scenarios() []string { return s.engine.Names() }

// Play plays the scenario of a name. An error is doubletap's own or the environment's; whatever the target does is in the
// result.
func (s *Session) Play(ctx context.Context, name string) (Result, error) {
	return s.engine.PlayNamed(ctx, name)
}

// Report judges what was played, and writes the reports. Scenarios that were not played do not apply.
func (s *Session) Report() (*Report, error) {
	s.engine.LeaveOutUnplayed("it was not asked for")
	return s.engine.Report(nil)
}

// ReportOn is a report of one result alone, whose findings are numbered from F1.
func (s *Session) ReportOn(r Result) Report { return s.engine.ReportOn(r) }

// Close ends what was started and removes the directory, if it is a temporary one.
func (s *Session) Close() error {
	var errs []error
	if s.engine != nil {
		errs = append(errs, s.engine.Close())
	}
	for n := len(s.stop) - 1; n >= 0; n-- {
		errs = append(errs, s.stop[n]())
	}
	s.engine, s.stop = nil, nil
	return errors.Join(errs...)
}

// engine is the config as the engine takes it. What it opens, the session closes.
func (c Config) engine(s *Session) (engine.Config, error) {
	config := engine.Config{
		SUT: sut.Options{
			Target: c.Target, Operation: c.Operation, Instances: c.Instances, Toxiproxy: c.Toxiproxy, Getenv: c.getenv, DB: c.DB, Parts: c.Parts,
		},
		Seed: c.Seed, Intents: c.Intents, Confidence: c.Confidence, MaxRequests: c.MaxRequests, PilotTimeout: c.PilotTimeout, Course: engine.Course{Budget: c.Budget, Parallel: c.Parallel},
		Reports:  c.Reports,
		Commands: c.commands,
	}
	if c.Target == "" {
		return config, runerror.Configf("Config has no Target; expected a target file")
	}
	config.SUT.Spec = c.Spec
	if c.TargetText != "" {
		config.SUT.Source = []byte(c.TargetText)
	}
	files, err := c.scenarios()
	if err != nil {
		return config, err
	}
	config.Scenarios = files
	if c.Known != "" {
		if config.Known, err = engine.ReadRegister(c.Known); err != nil {
			return config, err
		}
	}
	// Without a directory of the user's, the run is kept only until the session is closed.
	if c.Reports == "" {
		dir, err := leftovers.Folder("", "doubletap-")
		if err != nil {
			return config, runerror.Environment(fmt.Errorf("make a directory: %w", err))
		}
		config.Reports = filepath.Join(dir, "reports")
		s.stop = append(s.stop, func() error { return os.RemoveAll(dir) })
	}
	base, stop, err := serve(c.Handler)
	if err != nil {
		return config, runerror.Environment(err)
	}
	config.SUT.BaseURL = base
	s.stop = append(s.stop, func() error { stop(); return nil })
	return config, nil
}

// commands are what a report tells its reader to type. A command line reaches neither a Handler nor a DB.
func (c Config) commands(dir string, _ uint64) rundir.Commands {
	if c.Handler != nil || c.DB != nil || c.Reports == "" {
		return rundir.Commands{Again: c.Again}
	}
	about := func(command string) string {
		return "doubletap " + command + " " + rundir.AboutFinding(dir)
	}
	return rundir.Commands{Again: c.Again, Replay: about("replay"), Shrink: about("shrink"), Export: about("export")}
}

// scenarios finds what is to be played.
func (c Config) scenarios() ([]scenarios.File, error) {
	if c.Source == "" {
		return engine.FindScenarios(c.Scenarios)
	}
	var files []scenarios.File
	if len(c.Scenarios) > 0 {
		var err error
		if files, err = engine.FindScenarios(c.Scenarios); err != nil {
			return nil, err
		}
	}
	own, err := scenarios.Load("Source", []byte(c.Source))
	if err != nil {
		return nil, runerror.Config(err)
	}
	return append(files, scenarios.File{Path: "Source", Source: []byte(c.Source), Scenario: own}), nil
}

// getenv looks a variable up, in the config first.
func (c Config) getenv(name string) (string, bool) {
	if value, found := c.Env[name]; found {
		return value, true
	}
	return os.LookupEnv(name)
}
