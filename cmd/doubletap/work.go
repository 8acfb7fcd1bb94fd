package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/work"
)

// workFlags are the flags of work.
type workFlags struct {
	targetFlags
	join      placeFlagValue
	instances int
	toxiproxy string
	reports   string
	wait      time.Duration

	maxRequests int
}

// newWork returns the command that plays shards of a run elsewhere.
func newWork(s streams) *cobra.Command {
	o := workFlags{}
	cmd := &cobra.Command{
		Use:   "work",
		Short: "Play shards of a run that another machine coordinates",
		Long: `Work joins a run that "doubletap run --workers" has begun, plays one shard of it after the other, and brings in
what it has recorded, until the run is over. The scenarios and the seed come from there; the target file is this
machine's own, and so is what its variables hold, which never leaves it. Its text has to be the same on all machines,
and so has the version of doubletap. Exit codes: 0 the run is over, whatever was found; 3 this worker does not fit
the run, or a mistake in the command line; 4 the target, the database, the NATS server or doubletap itself failed.`,
		Example: `  doubletap work --join nats://10.0.0.5:4222/nightly --target orders.yaml`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(s); err != nil {
				return err
			}
			return o.work(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.Var(&o.join, "join", "nats://HOST:PORT/NAME, as the run has it (default $"+placeVariable+")")
	o.where(cmd)
	f.IntVar(&o.instances, "instances", 0, "start so many instances of the target behind a balancer, 1 to 16 (default: process.instances of the target file)")
	f.StringVar(&o.toxiproxy, "toxiproxy", "", "URL of a running toxiproxy server (default: in process)")
	f.StringVar(&o.reports, "reports", engine.DefaultReports, "directory for the shards' files")
	f.IntVar(&o.maxRequests, "max-requests", engine.DefaultMaxRequests, "refuse shards that may send more requests than this, whatever the run says; final retries come on top")
	f.DurationVar(&o.wait, "wait", 10*time.Minute, "how long to wait for a run to begin")
	return cmd
}

// complete asks the environment for what the command line leaves out.
func (o *workFlags) complete(s streams) error {
	if !o.join.given {
		text := s.env(placeVariable)
		if text == "" {
			return runerror.Configf("there is no --join: name the NATS server and the run, such as nats://10.0.0.5:4222/nightly")
		}
		if err := o.join.Set(text); err != nil {
			return runerror.Configf("$%s: %w", placeVariable, err)
		}
	}
	if o.wait <= 0 {
		return runerror.Configf("--wait is %s, expected more than 0s", o.wait)
	}
	if o.maxRequests <= 0 {
		return runerror.Configf("--max-requests is %d, expected 1 or more", o.maxRequests)
	}
	return o.find()
}

// work joins a run and plays its shards until it is over. A worker that does not fit says so to
// the coordinator as well, which may wait for nobody else.
func (o workFlags) work(ctx context.Context, s streams) error {
	digest, err := digestOf(o.target)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "doubletap %s · waiting for a run at %s\n", engine.Version(), o.join.Place)
	m, err := work.Join(ctx, o.join.Place, o.wait)
	if errors.Is(err, work.ErrOver) {
		fmt.Fprintln(s.out, "the run is over")
		return nil
	}
	if err != nil {
		return err
	}
	t, found, err := o.fits(m, digest)
	if err != nil {
		m.Refuse(err)
		return err
	}
	fmt.Fprintf(s.out, "worker %s plays shards of run %s: seed %d, %s\n", m.Name, m.Run.ID, t.Seed, english.Plural(len(found), "scenario"))
	brought, err := m.Work(ctx, func(ctx context.Context, shard, _ int) (string, error) {
		return o.playShard(ctx, t, found, scenarios.Shard{Number: shard, Of: m.Run.Shards}, s)
	}, func(e work.Event) { fmt.Fprintln(s.out, sayWorker(e, m.Run.Shards)) })
	if err == nil {
		fmt.Fprintf(s.out, "the run is over: %d of its %s came from here\n", brought, english.Plural(m.Run.Shards, "shard"))
	}
	return err
}

// fits reads a task, and says why this worker does not fit its run.
func (o workFlags) fits(m *work.Member, digest string) (task, []scenarios.File, error) {
	var t task
	switch {
	case m.Run.Tool != engine.Version():
		return t, nil, runerror.Configf("the run is of doubletap %s, and this is doubletap %s", m.Run.Tool, engine.Version())
	case m.Run.Target != digest:
		return t, nil, runerror.Configf("%s is not the run's target file: its text differs (SHA-256 %.12s here, %.12s there)", o.target, digest, m.Run.Target)
	}
	t, err := readTask(m.Task)
	if err != nil {
		return t, nil, runerror.Environment(fmt.Errorf("read the task of the run: %w", err))
	}
	found, err := t.files()
	return t, found, err
}

// readTask reads what a coordinator asks for. Whoever can write to the NATS server can send a
// task, so that it may ask for what the flags of run can say, and for nothing else.
func readTask(text []byte) (task, error) {
	var t task
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&t); err != nil {
		return t, err
	}
	for what, wrong := range map[string]bool{
		"a hunt": t.Course.Hunt != nil, "a negative duration": min(t.PilotTimeout, t.Course.Budget, t.Course.MoreRounds) < 0,
		"a negative number of scenarios at once": t.Course.Parallel < 0, "a confidence that is none": t.Confidence < 0 || t.Confidence >= 1,
		"no requests": t.MaxRequests <= 0, "no scenario": len(t.Scenarios) == 0,
	} {
		if wrong {
			return t, fmt.Errorf("it asks for %s", what)
		}
	}
	return t, nil
}

// playShard plays one shard, and returns the directory of its run. Findings are the coordinator's to tell.
func (o workFlags) playShard(ctx context.Context, t task, found []scenarios.File, shard scenarios.Shard, s streams) (string, error) {
	one := sessionFlags{targetFlags: o.targetFlags, instances: o.instances, toxiproxy: o.toxiproxy, reports: o.reports, maxRequests: min(t.MaxRequests, o.maxRequests), pilotTimeout: t.PilotTimeout}
	one.operation = t.Operation
	c, err := one.config(found, s)
	if err != nil {
		return "", err
	}
	c.Course, c.Seed, c.Seeded, c.Confidence, c.Known, c.Shard = t.Course, t.Seed, true, t.Confidence, t.Known, shard
	c.SUT.Unwatched = t.IgnoreEffects
	if !shard.Several() {
		c.Shard = scenarios.Shard{}
	}
	s.github = &github{}
	report, err := perform(ctx, c, s)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case report == nil && err == nil:
		return "", runerror.Environment(errors.New("the shard has no report"))
	case report == nil:
		return "", err
	}
	if _, here := errors.AsType[*fs.PathError](err); here && report.Verdict != checker.Fail {
		return "", err // of what could not be written there is nothing to bring in; another worker may have room for it
	}
	complain(s.err, err) // its report says it as well
	return report.Dir, nil
}

// sayWorker tells an event of a worker.
func sayWorker(e work.Event, shards int) string {
	of := fmt.Sprintf("shard %d/%d", e.Shard, shards)
	switch e.Kind {
	case work.Begun:
		return fmt.Sprintf("\n%s, attempt %d", of, e.Attempt)
	case work.Stored:
		return fmt.Sprintf("%s is in, after %s", of, e.Took.Round(100*time.Millisecond))
	default:
		return of + " had come in from another worker meanwhile"
	}
}
