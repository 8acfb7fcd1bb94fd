package cmd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/scenarios"
)

func newDoctor(s streams) *cobra.Command {
	o := runOptions{}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look whether everything is there that a run takes, before anything is broken",
		Long: `Doctor reaches target, database and toxiproxy, sends a few plain creates and one repetition, and says
line by line what is well, what a run will not be able to see, and what is wrong with the next step to take.
It breaks nothing, and leaves a handful of rows with markers that begin with "dt".

Exit codes: 0 a run will work; 1 it will, and the target does not do what its contract says; 3 and 4 as
those of run: a mistake in the target file, or target, database or toxiproxy are not there.`,
		Example: "  doubletap doctor --target orders.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return doctorCommand(cmd.Context(), o, s)
		},
	}
	o.flags(cmd)
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

// doctor examines a subject, one thing after the other.
type doctor struct {
	subject *subject
	options runOptions
	streams streams
	stage   *stage
	library []scenarios.File
}

// say prints a line, and what to do about it.
func (d *doctor) say(h health, what, text string, next ...string) {
	mark := map[health]string{ill: "✗", warning: "!", well: "✓", noted: "·"}[h]
	fmt.Fprintf(d.streams.out, "%s %-14s %s\n", mark, what, text)
	for _, step := range next {
		fmt.Fprintf(d.streams.out, "  %-14s %s\n", "", step)
	}
}

func doctorCommand(ctx context.Context, o runOptions, s streams) (err error) {
	if o.target == "" {
		o.target = defaultTarget
	}
	o.seed = seedOf(o)
	library, err := findScenarios(nil)
	if err != nil {
		return err
	}
	sub, err := openSubject(ctx, library, o, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sub.close()) }()
	dir, err := os.MkdirTemp("", "doubletap-doctor-")
	if err != nil {
		return surroundings(fmt.Errorf("make a directory: %w", err))
	}
	defer os.RemoveAll(dir)
	d := &doctor{subject: sub, options: o, streams: s, library: library}
	d.stage = &stage{
		subject: sub, run: newRunID(time.Now()), seed: o.seed, dir: runDir{dir}, toxiproxy: o.toxiproxy,
		uncalibrated: true, progress: func(int, int) {}, silence: silence, pace: driver.NewPace(sub.target.RateLimit),
	}
	return d.examine(ctx)
}

// examine looks at what a run takes, until something is missing without which nothing more can be said.
func (d *doctor) examine(ctx context.Context) error {
	d.say(well, "target file", fmt.Sprintf("%s, operation %s, contract as in: doubletap explain --target %s", d.subject.name, d.subject.operation().Name, quoted(d.subject.name)))
	for _, look := range []struct {
		at   string
		look func(context.Context) error
	}{
		{"hosts", d.hosts}, {"links", d.openLinks}, {"process", d.process}, {"database", d.database}, {"plain create", d.creates},
	} {
		if err := look.look(ctx); err != nil {
			d.say(ill, look.at, strings.ReplaceAll(err.Error(), "\n", "\n"+strings.Repeat(" ", 17)))
			fmt.Fprintln(d.streams.out, "\na run would end here")
			return exit{code: codeOf(err)}
		}
	}
	d.links()
	d.writeGate(ctx)
	d.clock()
	d.rateLimit()
	kept := d.repeats(ctx)
	d.burst(ctx)
	d.unseen()
	if !kept {
		fmt.Fprintln(d.streams.out, "\na run will work; the target does not do what its contract says")
		return exit{code: exitFinding}
	}
	fmt.Fprintf(d.streams.out, "\na run will work:\n  %s run %s\n", program(), d.options.targetFlags())
	return nil
}

func (d *doctor) hosts(context.Context) error {
	if err := d.subject.allow(d.options.toxiproxy); err != nil {
		return err
	}
	d.say(well, "hosts", "all are this machine, or in allow_hosts")
	return nil
}

// process starts the target, if that is left to us.
func (d *doctor) process(ctx context.Context) error {
	if d.subject.target.Process == nil {
		return nil
	}
	began := time.Now()
	if err := d.subject.start(ctx, d.stage.dir, d.streams); err != nil {
		return err
	}
	text := fmt.Sprintf("ready after %s, at %s", time.Since(began).Round(time.Millisecond), d.subject.target.BaseURL)
	if n := d.subject.instances(); n > 1 {
		text = fmt.Sprintf("%d instances %s, where a balancer gives them connections in turn", n, text)
	}
	d.say(well, "process", text)
	return nil
}

func (d *doctor) database(ctx context.Context) error {
	switch {
	case d.subject.target.AsksItself():
		d.say(warning, "database", "none is declared: the rows are the target's own word, as it lists them", "add database.url and rows.query if you can: a listing may leave out what is there twice")
		return nil
	case d.subject.target.Database.URL == "":
		d.say(warning, "database", "none is declared: no verdict will be a pass", "add database.url, and a rows.query to each operation; or rows.http, which asks the target itself")
		return nil
	}
	if err := d.subject.connect(ctx, func(scenarios.Need) bool { return false }); err != nil {
		return err
	}
	d.say(well, "database", "reached at "+databasePlace(d.subject.target.Database.URL))
	return nil
}

// creates plays the pilot, which says what is wrong.
func (d *doctor) creates(ctx context.Context) error {
	if len(d.subject.principals) > 1 {
		d.stage.across = append(d.stage.across, scenarios.AcrossPrincipals)
	}
	if len(d.subject.operations) > 1 {
		d.stage.across = append(d.stage.across, scenarios.AcrossOperations)
	}
	if err := d.stage.pilot(ctx, d.options.pilotTimeout); err != nil {
		return err
	}
	text := fmt.Sprintf("acknowledged in %s, through toxiproxy", d.stage.normal.Round(100*time.Microsecond))
	if d.subject.target.KnowsRows(d.subject.operation().Operation) {
		text += "; its marker is stored, and the row query finds exactly it"
	}
	d.say(well, "plain create", text)
	for _, across := range d.stage.across {
		d.say(well, string(across), "each of them can create")
	}
	if !d.subject.operation().Identity.Declared() {
		d.say(warning, "identity", "not declared: answers that name another thing are not noticed", "add identity: a JSON pointer to the id in the answer, or {header: Location, pattern: ...}")
	} else {
		d.say(well, "identity", "found at "+d.subject.operation().Identity.String())
	}
	if d.subject.target.Received == nil {
		d.say(warning, "received", "not declared: requests that a proxy sends twice are not noticed", "add received, if the target can count its requests")
	} else {
		d.say(well, "received", "the target counts its requests")
	}
	return nil
}

func (d *doctor) writeGate(ctx context.Context) {
	gate := d.subject.target.Database.WriteGate
	if gate == nil {
		d.say(warning, "write gate", "not declared: short windows between check and write may be missed", "add database.write_gate, if the user may lock the table")
		return
	}
	if err := d.subject.openGates(ctx); err != nil {
		d.say(ill, "write gate", err.Error(), "grant the right to lock, or leave database.write_gate out")
		return
	}
	d.say(well, "write gate", "the writers of "+strings.Join(gate.Tables, ", ")+" can be held back")
}

// most that two clocks may differ before times in answers mislead.
const clocksApart = 2 * time.Second

// clock compares the target's clock with ours.
func (d *doctor) clock() {
	h, err := d.stage.dir.readHistory(pilotName)
	if err != nil || len(h.Attempts) == 0 {
		return
	}
	last := h.Attempts[len(h.Attempts)-1]
	theirs, err := http.ParseTime(last.Header["Date"])
	if err != nil {
		return
	}
	ours := h.Run.Started.Add(last.Replied.Duration())
	if apart := ours.Sub(theirs).Abs(); apart > clocksApart {
		d.say(warning, "clock", fmt.Sprintf("the target's is %s apart from this machine's: key expiry is measured by both", apart.Round(time.Second)))
		return
	}
	d.say(well, "clock", "agrees with the target's")
}

// repeats sends a request again after its answer, and reports whether the contract is kept.
func (d *doctor) repeats(ctx context.Context) bool {
	r, why := d.play(ctx, "sequential-replay", 1)
	switch {
	case why != "":
		d.say(warning, "repetition", why)
		return true
	case r.Verdict == checker.Fail:
		f := r.Findings[0]
		d.say(ill, "repetition", fmt.Sprintf("%s: expected %s, observed %s", f.Kind, f.Expected, f.Observed), "mend the target, or say in contract what it promises")
		return false
	case r.Verdict != checker.Pass:
		d.say(warning, "repetition", strings.Join(r.Reasons, "; "))
		return true
	}
	d.say(well, "repetition", "answered as the contract says")
	return true
}

// burst sees whether so many requests get into the target at once.
func (d *doctor) burst(ctx context.Context) {
	r, why := d.play(ctx, "burst-same-key", 1)
	if why != "" {
		d.say(warning, "burst", why)
		return
	}
	exercised := slices.ContainsFunc(r.Exercise, func(e checker.Exercise) bool { return e.Held > 0 })
	if !exercised {
		d.say(warning, "burst", "ten requests at once were never inside the target together", "look at its connection limit, and at what stands in front of it")
		return
	}
	text := "ten requests at once overlap inside the target"
	if r.Bursts != nil {
		text += fmt.Sprintf(", let go within %s", r.Bursts.Most.Duration().Round(time.Microsecond))
	}
	d.say(well, "burst", text)
}

// play plays a scenario of the library with so many intents. Why is set if nothing can be said.
func (d *doctor) play(ctx context.Context, name string, intents int) (r checker.Result, why string) {
	f := d.library[slices.IndexFunc(d.library, func(f scenarios.File) bool { return f.Scenario.Name == name })]
	if why := d.subject.leavesOut(f.Scenario); why != "" {
		return r, why
	}
	f.Scenario.Intents = intents
	if err := d.stage.play(ctx, f, scenarios.NewPlan(f.Scenario, d.options.seed)); err != nil {
		return r, err.Error()
	}
	h, err := d.stage.dir.readHistory(name)
	if err != nil {
		return r, err.Error()
	}
	return checker.Check(h, d.subject.terms()), ""
}

// unseen lists what the library will not be able to try, and why.
func (d *doctor) unseen() {
	var names []string
	by := map[string][]string{}
	for _, f := range d.library {
		why := d.subject.leavesOut(f.Scenario)
		if why == "" {
			continue
		}
		if by[why] == nil {
			names = append(names, why)
		}
		by[why] = append(by[why], f.Scenario.Name)
	}
	for _, why := range names {
		d.say(noted, "not tried", strings.Join(by[why], ", "), why)
	}
}
