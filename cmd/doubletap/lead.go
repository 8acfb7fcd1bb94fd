package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/internal/shell"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/work"
)

// workersFlags are the flags of a run that workers play.
type workersFlags struct {
	at     placeFlagValue
	shards int
	wait   time.Duration
	lease  time.Duration
}

// placeVariable is asked for the NATS server where none is named.
const placeVariable = "DOUBLETAP_NATS"

// add gives run the flags of a coordinator.
func (w *workersFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&w.at, "workers", "have workers play the run, which join with \"doubletap work\": nats://HOST:PORT/NAME of a NATS server with JetStream, and a name for the run")
	f.IntVar(&w.shards, "shards", 8, "with --workers: parts into which the intents are cut")
	f.DurationVar(&w.wait, "wait", 10*time.Minute, "with --workers: how long to wait while no worker is there")
	f.DurationVar(&w.lease, "lease", 30*time.Second, "with --workers: how long a worker may be silent before another one gets its shard")
}

// placeFlagValue is a place on a NATS server.
type placeFlagValue struct {
	work.Place
	given bool
}

// Set reads a place. One that cannot be read leaves the flag as if it was not given.
func (v *placeFlagValue) Set(text string) (err error) {
	v.Place, err = work.ParsePlace(text)
	v.given = err == nil
	return err
}

// String is the place without its password; empty: none was given.
func (v *placeFlagValue) String() string {
	if !v.given {
		return ""
	}
	return v.Place.String()
}

// Type names the kind of value in the help.
func (v *placeFlagValue) Type() string { return "URL" }

// task is what workers need to know of a run, beside their own target file. No variable of a target file is in it.
type task struct {
	Seed          uint64             `json:"seed"`
	Operation     string             `json:"operation,omitempty"`
	Confidence    float64            `json:"confidence,omitempty"`
	Course        engine.Course      `json:"course"`
	MaxRequests   int                `json:"max_requests"`
	PilotTimeout  time.Duration      `json:"pilot_timeout"`
	IgnoreEffects bool               `json:"ignore_effects,omitempty"`
	Known         scenarios.Register `json:"known,omitempty"`
	Scenarios     []sentScenario     `json:"scenarios"`
}

// sentScenario is the file of a scenario.
type sentScenario struct{ Path, Source string }

// files reads the scenarios of a task.
func (t task) files() ([]scenarios.File, error) {
	var all []scenarios.File
	for _, sent := range t.Scenarios {
		s, err := scenarios.Load(sent.Path, []byte(sent.Source))
		if err != nil {
			return nil, runerror.Config(err)
		}
		f := scenarios.File{Path: sent.Path, Source: []byte(sent.Source), Scenario: s}
		if err := engine.CheckFaults(f); err != nil {
			return nil, runerror.Config(err)
		}
		all = append(all, f)
	}
	return all, nil
}

// digestOf is the SHA-256 of a target file's text, with its variables as they stand there, in
// hexadecimal; of a built-in design it is that of its name. Coordinator and workers compare it, so
// that no shard is played against another contract, and no secret leaves a machine.
func digestOf(target string) (string, error) {
	text := []byte(target)
	if !strings.HasPrefix(target, sut.BuiltinPrefix) && !strings.HasPrefix(target, sut.ServedPrefix) {
		var err error
		if text, err = files.Read(target, files.MostText); err != nil {
			return "", runerror.Config(runerror.Unreadable("target file", target, err))
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// checkWorkers says what has no place beside --workers.
func (o runFlags) checkWorkers() error {
	if !o.workers.at.given {
		return nil
	}
	const noPlace, atWorkers = "has no place beside --workers", "is for `doubletap work`: with --workers, nothing is sent from here"
	for _, f := range []struct {
		name  string
		given bool
		why   string
	}{
		{"--shard", o.shard.Of > 0, noPlace},
		{"--dry-run", o.dryRun, noPlace},
		{"--operation all", o.operation == everyOperation, noPlace},
		{"--database", o.database != "", atWorkers},
		{"--store", o.store != "", atWorkers},
		{"--instances", o.instances != 0, atWorkers},
		{"--toxiproxy", o.toxiproxy != "", atWorkers},
	} {
		if f.given {
			return runerror.Configf("%s %s", f.name, f.why)
		}
	}
	switch w := o.workers; {
	case w.shards < 1 || w.shards > rundir.MostShards:
		return runerror.Configf("--shards is %d, expected 1 to %d", w.shards, rundir.MostShards)
	case w.wait <= 0:
		return runerror.Configf("--wait is %s, expected more than 0s", w.wait)
	case w.lease < time.Second:
		return runerror.Configf("--lease is %s, expected 1s or more", w.lease)
	}
	return nil
}

// leadOne does what playOne does, by workers.
func (o runFlags) leadOne(ctx context.Context, args []string, found []scenarios.File, register scenarios.Register, s streams) (*checker.Report, error) {
	report, err := told(s, o.json, func(s streams) (*checker.Report, error) { return o.lead(ctx, args, found, register, s) })
	return report, conclude(ctx, report, err, o.gate, s)
}

// lead has workers play a run, and judges what they bring in as one. The seed is drawn here, as
// all shards have to be of one plan. The run's directory is removed where no shard came in: a run
// without a history would be a run without a verdict.
func (o runFlags) lead(ctx context.Context, args []string, found []scenarios.File, register scenarios.Register, s streams) (*checker.Report, error) {
	if !o.seeded {
		o.seed, o.seeded = engine.RandomSeed(), true
	}
	digest, err := digestOf(o.target)
	if err != nil {
		return nil, err
	}
	t := task{
		Seed: o.seed, Operation: o.operation, Confidence: float64(o.confidence), MaxRequests: o.maxRequests, PilotTimeout: o.pilotTimeout,
		Course: engine.Course{MoreRounds: o.moreRounds, Budget: o.budget, Parallel: o.parallel, FailFast: o.failFast}, IgnoreEffects: o.ignoreEffects, Known: register,
	}
	for _, f := range found {
		t.Scenarios = append(t.Scenarios, sentScenario{f.Path, string(f.Source)})
	}
	text, err := json.Marshal(t)
	if err != nil {
		return nil, runerror.Environment(err)
	}
	dir, err := rundir.Create(o.reports, rundir.NewID(time.Now()))
	if err != nil {
		return nil, err
	}
	places := filepath.Join(dir.Path, rundir.ShardsName)
	dirs, missing, err := o.collect(ctx, filepath.Base(dir.Path), digest, text, places, s)
	if len(dirs) == 0 {
		return nil, errors.Join(err, os.RemoveAll(dir.Path)) // there is nothing to tell but why
	}
	report, unjudged := o.judgeShards(dir, dirs, args, digest, s)
	if missing != nil && ctx.Err() == nil {
		complain(s.err, missing) // the report says that shards are missing
	}
	return report, errors.Join(err, unjudged)
}

// collect puts the run where workers find it, and waits for what they bring in. Missing is why not all of it came, where the rest
// can be judged.
func (o runFlags) collect(ctx context.Context, id, digest string, text []byte, into string, s streams) (dirs []string, missing, err error) {
	w := o.workers
	lead, err := work.Begin(ctx, w.at.Place, work.LeadOptions{
		Run:  work.Run{ID: id, Tool: engine.Version(), Target: digest, Shards: w.shards, Lease: w.lease},
		Task: text, Wait: w.wait, Tell: func(e work.Event) { fmt.Fprintln(s.out, sayLead(e, w.shards, w.wait)) },
	})
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(s.out, "doubletap %s · target %s · seed %d · %s for workers\n", engine.Version(), o.target, o.seed, english.Plural(w.shards, "shard"))
	where := shell.Quote(w.at.Place.String())
	if w.at.Secret() {
		where = `"$` + placeVariable + `"`
	}
	fmt.Fprintf(s.out, "on each of their machines: doubletap work --join %s --target %s\n\n", where, shell.Quote(o.target))
	dirs, missing = lead.Collect(ctx, into)
	err = lead.Close()
	if len(dirs) == 0 {
		return nil, nil, errors.Join(missing, err, noShards(missing))
	}
	return dirs, missing, err
}

// noShards is why there is no run where nothing else says it.
func noShards(missing error) error {
	if missing != nil {
		return nil
	}
	return runerror.Environment(errors.New("no shard was brought in: see above"))
}

// judgeShards judges what workers have brought in.
func (o runFlags) judgeShards(dir rundir.Dir, dirs, args []string, digest string, s streams) (*checker.Report, error) {
	merged, err := rundir.Merge(inDirs(dirs))
	if err != nil {
		return nil, err
	}
	merged.As(rundir.Whole{Target: o.target, Digest: digest, Commands: o.rerun(args, o.seed).commands(dir.Path)})
	fmt.Fprintln(s.out)
	return judgeMerged(merged, dir, s)
}

// oneLine is a text of another machine, on one line and of at most 300 characters: what a worker
// says must not look like lines of this program.
func oneLine(text string) string {
	const most = 300 // characters
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > most {
		return string(line[:most]) + "..."
	}
	return string(line)
}

// sayLead tells an event of a coordinator. What it says of a worker is from another machine.
func sayLead(e work.Event, shards int, wait time.Duration) string {
	of := fmt.Sprintf("shard %d/%d", e.Shard, shards)
	e.Worker, e.Why = oneLine(e.Worker), oneLine(e.Why)
	again := ""
	if e.Attempt > 1 {
		again = fmt.Sprintf(" (attempt %d)", e.Attempt)
	}
	switch e.Kind {
	case work.Joined:
		return fmt.Sprintf("worker %s is there", e.Worker)
	case work.Left:
		return fmt.Sprintf("worker %s has left: %s", e.Worker, e.Why)
	case work.Begun:
		return fmt.Sprintf("%s is played by %s%s", of, e.Worker, again)
	case work.In:
		return fmt.Sprintf("%s is in, from %s%s, after %s", of, e.Worker, again, e.Took.Round(100*time.Millisecond))
	case work.GivenUp:
		return fmt.Sprintf("%s was given up: %s", of, e.Why)
	default:
		return fmt.Sprintf("no worker is there; one is waited for, for %s", wait)
	}
}
