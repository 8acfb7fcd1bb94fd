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

// moments counts what has passed each link.
func (w wires) moments() map[string]int {
	all := map[string]int{}
	for name, wire := range w {
		all[name] = wire.Moments()
	}
	return all
}

// openLinks listens where the target file says that the target goes.
func (s *subject) openLinks(ctx context.Context, toxiproxy string) error {
	for _, name := range slices.Sorted(maps.Keys(s.target.Links)) {
		if s.wires[name] != nil {
			continue
		}
		link := s.target.Links[name]
		wire, err := proxy.OpenWire(ctx, name, link.Listen, link.To, proxy.Options{Toxiproxy: toxiproxy})
		if err != nil {
			return surroundings(fmt.Errorf("%s: %w", s.name, err))
		}
		if s.wires == nil {
			s.wires = wires{}
		}
		s.wires[name] = wire
	}
	return nil
}

// openDatabaseLink puts a link between a built-in target and its database server. Without a server there
// is none, and why says so.
func openDatabaseLink(ctx context.Context, database, toxiproxy string) (w wires, link targets.Link, why string, err error) {
	to := databases.AddressOf(database)
	if to == "" {
		return nil, link, "no link leads to the database: it is a file, or reached by a socket", nil
	}
	if host, err := hostOf(toxiproxy); err != nil || host != "" && !loopback(host) {
		return nil, link, "no link leads to the database through a toxiproxy server elsewhere", err
	}
	wire, err := proxy.OpenWire(ctx, databaseLink, "127.0.0.1:0", to, proxy.Options{Toxiproxy: toxiproxy})
	if err != nil {
		return nil, link, "", surroundings(err)
	}
	return wires{databaseLink: wire}, targets.Link{Listen: wire.Address(), To: to}, "", nil
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

// slowLinks makes the links slow that the scenario wants so, and begins to note what passes those that it
// has to do with.
func (a *act) slowLinks(ctx context.Context) error {
	for _, name := range a.scenario.LinksInUse() {
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
	for _, name := range a.scenario.LinksInUse() {
		errs = append(errs, a.subject.wires[name].Calm(ctx))
	}
	return errors.Join(errs...)
}

// recordTraffic puts on record what passed the links.
func (a *act) recordTraffic() {
	for _, name := range a.scenario.LinksInUse() {
		a.record.Traffic(a.subject.wires[name].Noted())
	}
}

// driverLinks are the links that a driver may break.
func (a *act) driverLinks() map[string]driver.Link {
	all := map[string]driver.Link{}
	for _, name := range a.scenario.LinksInUse() {
		wire := a.subject.wires[name]
		all[name] = driver.Link{Moments: a.moments[name], Strike: func(base time.Time, moment int, pause time.Duration) func() history.Cut {
			return wire.Strike(base, moment, pause).Over
		}}
	}
	return all
}

// momentsOf is how much passed each link for one of so many creates.
func momentsOf(before, after map[string]int, creates int) map[string]int {
	each := map[string]int{}
	for name, n := range after {
		each[name] = (n - before[name] + creates - 1) / max(creates, 1)
	}
	return each
}
