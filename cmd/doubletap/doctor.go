package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/internal/leftovers"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/internal/shell"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// newDoctor returns the command that checks what a run needs.
func newDoctor(s streams) *cobra.Command {
	o := sessionFlags{}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that everything is there that a run needs, before anything is broken",
		Long: `Doctor reaches target, database and toxiproxy, sends a few plain creates, one repetition and one burst, and
says line by line what is well, what a run will not be able to see, and what is wrong with the next step to take.
It breaks nothing, and leaves a handful of rows with markers that begin with "dt".

Exit codes: 0 ready; 1 ready, and the target does not do what its contract says; 3 and 4 as
those of run: a mistake in the target file, or target, database or toxiproxy are not there, or
the target did not survive.`,
		Example: "  doubletap doctor --target orders.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return doctorCommand(cmd.Context(), o, s)
		},
	}
	o.add(cmd)
	return cmd
}

// health is what the doctor says of one thing.
type health string

// The states of health. The zero value is the worst.
const (
	ill     health = ""
	warning health = "warning"
	well    health = "ok"
	noted   health = "noted"
)

// doctor examines a system, one thing after the other.
type doctor struct {
	flags    sessionFlags
	streams  streams
	session  *engine.Session // nil: it is not up yet
	library  []scenarios.File
	announce engine.Announced
	shown    []checker.Kind // of findings, that something was advised about
}

// say prints a line, and what to do about it.
func (d *doctor) say(h health, what, text string, next ...string) {
	mark := map[health]string{ill: "✗", warning: "!", well: "✓", noted: "·"}[h]
	const before = 17 // columns
	fmt.Fprintf(d.streams.out, "%s %-14s %s", mark, what, fitted(text, before, styleOf(d.streams)))
	for _, step := range next {
		fmt.Fprintf(d.streams.out, "  %-14s %s", "", fitted(step, before, styleOf(d.streams)))
	}
}

// doctorCommand brings the system up as a run does, says each step, and then examines it. Its run
// goes into a directory that is removed: nothing of it is to be judged, replayed or taken for the
// latest run. No limit on requests applies, as the whole library is only counted, and a handful is
// sent.
func doctorCommand(ctx context.Context, o sessionFlags, s streams) (err error) {
	if err := o.find(); err != nil {
		return err
	}
	library, err := engine.FindScenarios(nil)
	if err != nil {
		return err
	}
	if o.dryRun {
		c, err := o.config(library, s)
		if err == nil {
			_, err = perform(ctx, c, s)
		}
		return err
	}
	dir, err := leftovers.Folder("", "doubletap-doctor-")
	if err != nil {
		return runerror.Environment(fmt.Errorf("make a directory: %w", err))
	}
	defer os.RemoveAll(dir)
	own := o
	own.reports, own.maxRequests = dir, math.MaxInt
	c, err := own.config(library, s)
	if err != nil {
		return err
	}
	d := &doctor{flags: o, streams: s, library: library}
	c.Private, c.Diagnose, c.Observe = true, true, d.observe
	d.session, err = engine.Open(ctx, c)
	if step := new(engine.BringUpError); errors.As(err, &step) {
		d.say(ill, string(step.Step), strings.ReplaceAll(step.Error(), "\n", "\n"+strings.Repeat(" ", 17)))
		fmt.Fprintln(s.out, "\na run would end here")
		return exit{code: codeOf(step)}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.session.Close()) }()
	return d.examine(ctx)
}

// observe prints what is known while the system is brought up.
func (d *doctor) observe(e engine.Event) {
	switch e := e.(type) {
	case engine.Announced:
		d.announce = e
		d.say(well, "target file", fmt.Sprintf("%s, operation %s, contract as in: doubletap explain --target %s", d.flags.target, e.Operation, shell.Quote(d.flags.target)))
	case engine.BroughtUp:
		switch e.Step {
		case engine.StepHosts:
			d.say(well, "hosts", "all are this machine, or in allow_hosts")
		case engine.StepProcess:
			d.process(e)
		case engine.StepDatabase:
			d.database(e)
		}
	}
}

// process says how the target started, if that is left to us.
func (d *doctor) process(e engine.BroughtUp) {
	text := fmt.Sprintf("ready after %s, at %s", e.Took.Round(time.Millisecond), e.Address)
	if n := d.announce.Instances; n > 1 {
		text = fmt.Sprintf("%d instances %s, where a balancer gives them connections in turn", n, text)
	}
	d.say(well, "process", text)
}

// database says where the rows are read. Without a database no verdict can be a pass, and a
// listing may leave out the very row that is there twice.
func (d *doctor) database(e engine.BroughtUp) {
	switch {
	case d.announce.OwnWord:
		d.say(warning, "database", "none is declared: the rows are the target's own word, as it lists them", "add database.url and rows.query if you can: a listing may leave out what is there twice")
	case e.Address == "":
		d.say(warning, "database", "none is declared: no verdict will be a pass", "add database.url, and a rows.query to each operation; or rows.http, which asks the target itself")
	default:
		d.say(well, "database", "reached at "+e.Address)
	}
}
