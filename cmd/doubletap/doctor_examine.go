package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/engine"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// examine looks at what a run takes, once the system is up. What is only counted or compared comes
// first, and the two scenarios last, as they may be the end of the target. The worse of the two
// decides the exit code.
func (d *doctor) examine(ctx context.Context) error {
	d.warnings()
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
	fmt.Fprintf(d.streams.out, "\nready:\n  %s\n", d.flags.plain())
	return nil
}

// warnings says what is no mistake in the target file, and may not be meant.
func (d *doctor) warnings() {
	for _, w := range sut.Warnings(d.session.System) {
		d.say(warning, "target file", w)
	}
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
