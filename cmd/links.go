package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// databaseLink is the name of the link that a built-in target has.
const databaseLink = "database"

// wires are the links inside the target that the harness stands on, by name.
type wires map[string]*proxy.Wire

func (w wires) close() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(w)) {
		errs = append(errs, w[name].Close())
	}
	return errors.Join(errs...)
}

// openLinks listens where the target file says that the target goes.
func (s *subject) openLinks(ctx context.Context, toxiproxy string) error {
	for _, name := range slices.Sorted(maps.Keys(s.target.Links)) {
		link := s.target.Links[name]
		if s.wires[name] != nil || link == (targets.Link{}) { // it is there, or will be when its database is
			continue
		}
		wire, err := proxy.OpenWire(ctx, name, link.Listen, link.To, proxy.Options{Toxiproxy: toxiproxy})
		if err != nil {
			return surroundings(fmt.Errorf("%s: %w", s.name, err))
		}
		s.keep(name, wire)
	}
	return nil
}

// noLinkTo says why no link leads to a database; empty: one does.
func noLinkTo(database, toxiproxy string) (why string, err error) {
	host, err := hostOf(toxiproxy)
	switch {
	case err != nil:
		return "", mistake(err)
	case databases.AddressOf(database) == "":
		return "no link leads to the database: it is a file, or reached by a socket", nil
	case host != "" && !loopback(host):
		return "no link leads to the database through a toxiproxy server elsewhere", nil
	default:
		return "", nil
	}
}

// openDatabaseLink puts a link on the way to a database.
func (s *subject) openDatabaseLink(ctx context.Context, database, toxiproxy string) (targets.Link, error) {
	to := databases.AddressOf(database)
	wire, err := proxy.OpenWire(ctx, databaseLink, "127.0.0.1:0", to, proxy.Options{Toxiproxy: toxiproxy})
	if err != nil {
		return targets.Link{}, surroundings(err)
	}
	s.keep(databaseLink, wire)
	return targets.Link{Listen: wire.Address(), To: to}, nil
}

func (s *subject) keep(name string, wire *proxy.Wire) {
	if s.wires == nil {
		s.wires = wires{}
	}
	s.wires[name] = wire
}

// planOwnLink makes sure that a process which is told its database's address will be told that of a link. It
// is made when the database is there.
func (s *subject) planOwnLink(toxiproxy string) error {
	p := s.target.Process
	if _, declared := s.target.Links[databaseLink]; p == nil || declared || !asksForDatabase(*p) {
		return nil
	}
	database := s.target.Database.URL
	if kind := s.target.Database.Ephemeral; kind != targets.NoEngine && kind != targets.EngineSQLite {
		database = string(kind) + "://127.0.0.1:1" // it will be at some port
	}
	why, err := noLinkTo(database, toxiproxy)
	if err != nil || why != "" {
		s.linkless = why
		return err
	}
	s.target.Links = maps.Clone(s.target.Links)
	if s.target.Links == nil {
		s.target.Links = map[string]targets.Link{}
	}
	s.target.Links[databaseLink] = targets.Link{}
	s.ownLink = &proxy.Options{Toxiproxy: toxiproxy}
	return nil
}

// asksForDatabase reports whether a process is told where its database is.
func asksForDatabase(p targets.Process) bool {
	says := func(text string) bool { return strings.Contains(text, ".Database.") }
	return slices.ContainsFunc(p.Command, says) || slices.ContainsFunc(slices.Collect(maps.Values(p.Env)), says)
}

// databaseForProcess is the URL of the database as the process is told it: by the link, if one was planned.
func (s *subject) databaseForProcess(ctx context.Context) (string, error) {
	if s.ownLink == nil {
		return s.target.Database.URL, nil
	}
	link, err := s.openDatabaseLink(ctx, s.target.Database.URL, s.ownLink.Toxiproxy)
	if err != nil {
		return "", err
	}
	s.target.Links[databaseLink], s.ownLink = link, nil
	return databases.Through(s.target.Database.URL, link.Listen), nil
}

// needLinks reports whether any of these scenarios has to do with a link.
func needLinks(files []scenarios.File) bool {
	return slices.ContainsFunc(files, func(f scenarios.File) bool { return slices.Contains(f.Scenario.Needs, scenarios.NeedsLink) })
}

// lacksLink says which link of a scenario the subject does not have; empty: it has all.
func (s *subject) lacksLink(scenario scenarios.Scenario) string {
	for _, name := range scenario.LinksInUse() {
		if _, found := s.target.Links[name]; !found {
			names := slices.Sorted(maps.Keys(s.target.Links))
			return fmt.Sprintf("the target has no link %q, only %s", name, strings.Join(names, ", "))
		}
	}
	return ""
}

// linksInUse are the names of the links that the scenario has to do with. A pilot counts what passes each.
func (a *act) linksInUse() []string {
	if a.unasked {
		return slices.Sorted(maps.Keys(a.subject.wires))
	}
	return a.scenario.LinksInUse()
}

// slowLinks makes the links slow that the scenario wants so, and begins to note what passes those that it
// has to do with.
func (a *act) slowLinks(ctx context.Context) error {
	for _, name := range a.linksInUse() {
		wire := a.subject.wires[name]
		facts, err := wire.Slow(ctx, a.scenario.Links[name])
		if err != nil {
			return surroundings(err)
		}
		facts.Moments = a.moments[name]
		a.links = append(a.links, facts)
		wire.Note(a.base)
	}
	return nil
}

// calmLinks makes all links as fast as they are. It may be repeated.
func (a *act) calmLinks(ctx context.Context) error {
	var errs []error
	for _, name := range a.linksInUse() {
		errs = append(errs, a.subject.wires[name].Calm(ctx))
	}
	return errors.Join(errs...)
}

// recordTraffic puts on record what passed the links.
func (a *act) recordTraffic() {
	for _, name := range a.linksInUse() {
		a.record.Traffic(a.subject.wires[name].Noted())
	}
}

// driverLinks are the links that a driver may break.
func (a *act) driverLinks() map[string]driver.Link {
	all := map[string]driver.Link{}
	for _, name := range a.linksInUse() {
		wire := a.subject.wires[name]
		all[name] = driver.Link{Moments: a.moments[name], Strike: func(base time.Time, moment scenarios.Moment, pause time.Duration) func() history.Cut {
			return wire.Strike(base, moment, pause).Over
		}}
	}
	return all
}

// momentsOf is how many questions and answers passed each link for a plain create: the median of those of a
// pilot.
func momentsOf(h *history.History) map[string]int {
	each := map[string]int{}
	for _, t := range h.Traffic {
		var counts []int
		for _, a := range h.Attempts {
			n := 0
			for _, e := range t.Exchanges {
				if e.Asked >= a.Start && e.Answered <= a.End {
					n += 2
				}
			}
			counts = append(counts, n)
		}
		slices.Sort(counts)
		if len(counts) > 0 {
			each[t.Link] = counts[len(counts)/2]
		}
	}
	return each
}
