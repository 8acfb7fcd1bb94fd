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
	"github.com/doubletap-harness/doubletap/targets/caches"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// The names of the links that a built-in target, or one that the harness starts, has by itself.
const (
	databaseLink = "database"
	storeLink    = scenarios.TheStore
)

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

// openBuiltinLinks puts links on the ways of a built-in target that is about to be started: into the map, or with
// the reason why there is none.
func (s *subject) openBuiltinLinks(ctx context.Context, o orders.Options, links map[string]targets.Link) error {
	if err := s.planLink(databaseLink, databases.AddressOf(o.Database)); err != nil {
		return err
	}
	store, dependency := "", ""
	d, _ := orders.Named(o.Design)
	if d.Redis && o.Store != "" {
		store, _ = caches.AddressOf(o.Store) // whose URL was read before
	}
	if d.Dependency {
		dependency = somewhere
	}
	if err := errors.Join(s.planLink(storeLink, store), s.planLink(dependencyLink, dependency)); err != nil {
		return err
	}
	for name, to := range map[string]string{databaseLink: databases.AddressOf(o.Database), storeLink: store} {
		if !s.ownLinks[name] {
			continue
		}
		link, err := s.openOwnLink(ctx, name, to)
		if err != nil {
			return err
		}
		links[name] = link
	}
	return nil
}

// somewhere is the address of what is not there yet, for a link that is planned.
const somewhere = "127.0.0.1:1"

// planLink decides whether a link to an address will be made, and says why not. No address: there is nothing that a
// link could lead to.
func (s *subject) planLink(name, to string) error {
	if s.linkless == nil {
		s.linkless, s.ownLinks = map[string]string{}, map[string]bool{}
	}
	host, err := hostOf(s.toxiproxy)
	switch {
	case err != nil:
		return mistake(err)
	case to == "" && name == storeLink:
		s.linkless[name] = noStoreAtAll
	case to == "" && name == dependencyLink:
		s.linkless[name] = noDependency
	case to == "":
		s.linkless[name] = "no link leads to the database: it is a file, or reached by a socket"
	case host != "" && !loopback(host):
		s.linkless[name] = fmt.Sprintf("no link leads to the %s through a toxiproxy server elsewhere", name)
	default:
		s.ownLinks[name] = true
	}
	return nil
}

// openOwnLink puts a link that was planned on the way to an address.
func (s *subject) openOwnLink(ctx context.Context, name, to string) (targets.Link, error) {
	wire, err := proxy.OpenWire(ctx, name, "127.0.0.1:0", to, proxy.Options{Toxiproxy: s.toxiproxy})
	if err != nil {
		return targets.Link{}, surroundings(err)
	}
	s.keep(name, wire)
	delete(s.ownLinks, name)
	return targets.Link{Listen: wire.Address(), To: to}, nil
}

func (s *subject) keep(name string, wire *proxy.Wire) {
	if s.wires == nil {
		s.wires = wires{}
	}
	s.wires[name] = wire
}

// planOwnLinks makes sure that a process which is told its database's or its store's address will be told that of
// a link. It is made when the database or the store is there.
func (s *subject) planOwnLinks(toxiproxy string) error {
	p := s.target.Process
	if p == nil {
		return nil
	}
	s.toxiproxy = toxiproxy
	database, store := databases.AddressOf(s.target.Database.URL), ""
	if kind := s.target.Database.Ephemeral; kind != targets.NoEngine && kind != targets.EngineSQLite {
		database = somewhere
	}
	if s.target.Store.Declared() {
		store = somewhere
	}
	var errs []error
	for _, own := range []struct{ name, tells, to string }{{databaseLink, ".Database.", database}, {storeLink, ".Store.", store}} {
		if _, declared := s.target.Links[own.name]; !declared && p.Tells(own.tells) {
			errs = append(errs, s.planLink(own.name, own.to))
		}
	}
	s.target.Links = maps.Clone(s.target.Links)
	if s.target.Links == nil {
		s.target.Links = map[string]targets.Link{}
	}
	for name := range s.ownLinks {
		s.target.Links[name] = targets.Link{}
	}
	return errors.Join(errs...)
}

// databaseForProcess is the URL of the database as the process is told it: by the link, if one was planned.
func (s *subject) databaseForProcess(ctx context.Context) (string, error) {
	database := s.target.Database.URL
	if !s.ownLinks[databaseLink] {
		return database, nil
	}
	link, err := s.openOwnLink(ctx, databaseLink, databases.AddressOf(database))
	if err != nil {
		return "", err
	}
	s.target.Links[databaseLink] = link
	return databases.Through(database, link.Listen), nil
}

// needLinks reports whether any of these scenarios has to do with a link.
func needLinks(files []scenarios.File) bool {
	return slices.ContainsFunc(files, func(f scenarios.File) bool { return slices.Contains(f.Scenario.Needs, scenarios.NeedsLink) })
}

// noLinks says that a target has no links at all.
const noLinks = "the target file names no link inside the target (links)"

// lacksLink says which link of a scenario the subject does not have; empty: it has all.
func (s *subject) lacksLink(scenario scenarios.Scenario) string {
	for _, name := range scenario.LinksInUse() {
		if _, found := s.target.Links[name]; found {
			continue
		}
		switch names := slices.Sorted(maps.Keys(s.target.Links)); {
		case s.linkless[name] != "":
			return s.linkless[name]
		case s.builtIn() && name == storeLink:
			return noStoreAtAll
		case s.builtIn() && name == dependencyLink:
			return s.lacksDependency()
		case len(names) == 0:
			return noLinks
		default:
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
