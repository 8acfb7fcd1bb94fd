package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/internal/leftovers"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/internal/shell"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
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
}

// say prints a line, and what to do about it.
func (d *doctor) say(h health, what, text string, next ...string) {
	mark := map[health]string{ill: "✗", warning: "!", well: "✓", noted: "·"}[h]
	fmt.Fprintf(d.streams.out, "%s %-14s %s\n", mark, what, text)
	for _, step := range next {
		fmt.Fprintf(d.streams.out, "  %-14s %s\n", "", step)
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
	o.reports, o.maxRequests = dir, math.MaxInt
	c, err := o.config(library, s)
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

// examine looks at what a run takes, once the system is up. What is only counted or compared comes
// first, and the two scenarios last, as they may be the end of the target. The worse of the two
// decides the exit code.
func (d *doctor) examine(ctx context.Context) error {
	d.creates()
	d.addresses()
	d.sinks()
	d.links()
	d.writeGate(ctx)
	d.clock()
	d.rateLimit()
	repeated, burst := d.repeats(ctx), d.burst(ctx)
	d.unseen()
	switch kept := min(repeated, burst); {
	case kept == targetGone:
		fmt.Fprintln(d.streams.out, "\nnot ready: the target did not survive the examination")
		return exit{code: exitEnvironment}
	case kept == notKept, d.session.Doubt.Text != "":
		fmt.Fprintln(d.streams.out, "\nready; the target does not do what its contract says")
		return exit{code: exitFinding}
	}
	fmt.Fprintf(d.streams.out, "\nready:\n  %s run %s\n", program(), d.flags.targetWords())
	return nil
}

// creates says what the pilot has shown.
func (d *doctor) creates() {
	system := d.session.System
	text := fmt.Sprintf("acknowledged in %s, through toxiproxy", d.session.Normal().Round(100*time.Microsecond))
	switch doubt := d.session.Doubt.Text; {
	case doubt != "":
		d.say(ill, "plain create", doubt, "correct the target, or the target file")
	case system.Target.KnowsRows(system.Operation().Operation):
		d.say(well, "plain create", text+"; its marker is stored, and the row query finds exactly it")
	default:
		d.say(well, "plain create", text)
	}
	for what, n := range map[string]int{string(scenarios.AcrossPrincipals): len(system.Principals), string(scenarios.AcrossOperations): len(system.Operations)} {
		if n > 1 {
			d.say(well, what, "each of them can create")
		}
	}
	if !system.Operation().Identity.Declared() {
		d.say(warning, "identity", "not declared: answers that name another thing are not noticed", "add identity: a JSON pointer to the id in the answer, or {header: Location, pattern: ...}")
	} else {
		d.say(well, "identity", "found at "+system.Operation().Identity.String())
	}
	if system.Target.Received == nil {
		d.say(warning, "received", "not declared: requests that a proxy sends twice are not noticed", "add received, if the target can count its requests")
	} else {
		d.say(well, "received", "the target counts its requests")
	}
}

// addresses says how far each of several addresses is.
func (d *doctor) addresses() {
	for n, a := range engine.Addresses(d.session) {
		place := d.session.System.Process.Places[n]
		if a.Trip == 0 {
			d.say(warning, "address "+a.Name, "at "+place+": no plain create came back from it", "see that it answers, or leave it out of instances")
			continue
		}
		d.say(well, "address "+a.Name, fmt.Sprintf("at %s: a plain create takes %s there, or up to %s more", place, a.Trip.Duration().Round(100*time.Microsecond), a.Varied.Duration().Round(100*time.Microsecond)))
	}
}

// sinks says what one plain create sent to each sink. The pilot has compared it with the effects.
func (d *doctor) sinks() {
	system := d.session.System
	for _, name := range system.Target.SinkNames() {
		var came []history.Message
		for _, m := range system.Sinks.Messages() {
			if m.Sink == name {
				came = append(came, m)
			}
		}
		place, told := sut.ShownSink(system, name), "configure the target with that address, or leave the sink out"
		if system.Target.Sinks[name].Followed() {
			told = "name what the target publishes to, or leave the sink out"
		}
		if len(came) == 0 {
			d.say(warning, "sink "+name, "nothing reached it at "+place+" for plain creates: it proves nothing", told)
			continue
		}
		d.say(well, "sink "+name, fmt.Sprintf("%s of the last plain creates reached it at %s: %s", english.Plural(len(came), "message"), place, kindsOf(came)))
	}
}

// kindsOf lists what messages were, each kind once, and whether they had a marker.
func kindsOf(came []history.Message) string {
	const most = 4
	var kinds []string
	for _, m := range came {
		what := m.What()
		if len(m.Names) == 0 && len(m.Traces) == 0 && m.Intent == "" && m.Error == "" {
			what += " (without a marker)"
		}
		if !slices.Contains(kinds, what) {
			kinds = append(kinds, what)
		}
	}
	if len(kinds) > most {
		kinds = append(kinds[:most], fmt.Sprintf("and %d others", len(kinds)-most))
	}
	return strings.Join(kinds, "; ")
}

// links says what passes the links inside the target for a plain create.
func (d *doctor) links() {
	for _, name := range d.session.System.Links.Names() {
		listen := d.session.System.Links.Named(name).Address()
		if n := d.session.Exchanges(name); n > 0 {
			d.say(well, "link", fmt.Sprintf("%s, at %s: %s pass for a plain create", name, listen, english.Plural(n, "question or answer", "questions and answers")))
			continue
		}
		d.say(warning, "link", fmt.Sprintf("nothing passes %s, at %s, for a plain create", name, listen), "let the target use this address, or leave the link out")
	}
}

// writeGate says whether writers can be blocked. It opens the gates once, because only the
// database knows whether the user may lock the tables.
func (d *doctor) writeGate(ctx context.Context) {
	gate := d.session.System.Target.Database.WriteGate
	if gate == nil {
		d.say(warning, "write gate", "not declared: short windows between check and write may be missed", "add database.write_gate, if the user may lock the table")
		return
	}
	if err := d.session.System.OpenGates(ctx); err != nil {
		d.say(ill, "write gate", err.Error(), "grant the right to lock, or leave database.write_gate out")
		return
	}
	d.say(well, "write gate", "writes to "+strings.Join(gate.Tables, ", ")+" can be held back")
}

// clocksApart is how much two clocks may differ. The times of HTTP have a resolution of a second
// (RFC 9110, section 5.6.7), so that less cannot be told.
const clocksApart = 2 * time.Second

// clock compares the target's clock, as the Date of its last answer tells it, with ours at the
// moment of that answer. An answer without a Date leaves it open.
func (d *doctor) clock() {
	h, err := d.session.History(rundir.PilotName)
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

// longRun is how long a run takes that few people wait for.
const longRun = 15 * time.Minute

// rateLimit says how long the library takes at the target's rate limit. Each intent counts once
// more for its final retry, which the announced requests leave out.
func (d *doctor) rateLimit() {
	limit := d.announce.Limit
	if limit == nil {
		return
	}
	requests := d.announce.Requests + d.announce.Steps
	for _, s := range d.announce.Scenarios {
		requests += s.Intents
	}
	text := fmt.Sprintf("%s in %s: a run of the whole library, of up to %s, takes up to %s", english.Plural(limit.Requests, "request"), limit.Per, english.Plural(requests, "request"), limit.Takes)
	if limit.Takes >= longRun {
		d.say(warning, "rate limit", text, "try a target with a higher limit, or name fewer scenarios")
		return
	}
	d.say(well, "rate limit", text)
}

// promise says what became of the contract in a scenario that the doctor played.
type promise int

// The states of a promise, the worst first.
const (
	targetGone promise = iota
	notKept
	keptOrUnseen
)

// repeats sends a request again after its answer, and reports whether the contract is kept.
func (d *doctor) repeats(ctx context.Context) promise {
	p := d.play(ctx, "sequential-replay", 1)
	switch kept := d.judge("repetition", p); {
	case kept != keptOrUnseen:
		return kept
	case p.why != "":
		d.say(warning, "repetition", p.why)
	case p.result.Verdict != checker.Pass:
		d.say(warning, "repetition", strings.Join(p.result.Reasons, "; "))
	default:
		d.say(well, "repetition", "answered as the contract says")
	}
	return keptOrUnseen
}

// burst sees whether so many requests get into the target at once, and what they come to there.
func (d *doctor) burst(ctx context.Context) promise {
	p := d.play(ctx, "burst-same-key", 1)
	kept := d.judge("burst", p)
	if kept != keptOrUnseen {
		return kept
	}
	if p.why != "" {
		d.say(warning, "burst", p.why)
		return kept
	}
	exercised := slices.ContainsFunc(p.result.Exercise, func(e checker.Exercise) bool { return e.Held > 0 })
	if !exercised {
		d.say(warning, "burst", "ten requests at once were never inside the target together", "look at its connection limit, and at what stands in front of it")
		return kept
	}
	text := "ten requests at once overlap inside the target"
	if p.result.Bursts != nil {
		text += fmt.Sprintf(", released within %s", p.result.Bursts.Most.Duration().Round(time.Microsecond))
	}
	d.say(well, "burst", text)
	return kept
}

// played is a scenario that the doctor played.
type played struct {
	result  checker.Result
	unnamed []history.Attempt // answers that no line of the contract names
	why     string            // nothing can be said; empty: it can
}

// judge says what broke the contract in a scenario.
func (d *doctor) judge(what string, p played) promise {
	switch {
	case p.why != "":
		return keptOrUnseen
	case p.result.Verdict == checker.Fail:
		f := p.result.Findings[0]
		d.say(ill, what, fmt.Sprintf("%s: expected %s, observed %s", f.Kind, f.Expected, f.Observed), "correct the target, or say in contract what it promises")
		return notKept
	case p.result.Verdict == checker.Broken:
		d.say(ill, what, strings.Join(p.result.Reasons, "; "), "look at the log of the target: it does not take what a run sends")
		return targetGone
	case len(p.unnamed) > 0:
		a := p.unnamed[0]
		d.say(ill, what, fmt.Sprintf("%s, such as %d to attempt %s: no line of the contract names that", english.Plural(len(p.unnamed), "answer"), a.Status, a.ID),
			"correct the target, or say in contract what such an answer means: ack, existing, in_progress, fingerprint or missing_key")
		return notKept
	default:
		return keptOrUnseen
	}
}

// play plays a scenario of the library with so many intents.
func (d *doctor) play(ctx context.Context, name string, intents int) played {
	f := d.library[slices.IndexFunc(d.library, func(f scenarios.File) bool { return f.Scenario.Name == name })]
	if why := d.session.System.LeavesOut(f.Scenario); why != "" {
		return played{why: why}
	}
	f.Scenario.Intents = intents
	if err := d.session.Play(ctx, f, scenarios.NewPlan(f.Scenario, d.session.Seed())); err != nil {
		return played{why: err.Error()}
	}
	h, err := d.session.History(name)
	if err != nil {
		return played{why: err.Error()}
	}
	terms := d.session.System.Terms()
	unnamed := slices.DeleteFunc(slices.Clone(h.Attempts), func(a history.Attempt) bool { return !terms.Undeclared(a) })
	return played{result: checker.Check(h, terms), unnamed: unnamed}
}

// unseen lists what the library will not be able to try, and why.
func (d *doctor) unseen() {
	var reasons []string
	by := map[string][]string{}
	for _, s := range d.announce.Scenarios {
		if s.Why == "" {
			continue
		}
		if by[s.Why] == nil {
			reasons = append(reasons, s.Why)
		}
		by[s.Why] = append(by[s.Why], s.Name)
	}
	for _, why := range reasons {
		d.say(noted, "not tried", strings.Join(by[why], ", "), why)
	}
}
