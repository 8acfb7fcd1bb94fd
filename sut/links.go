package sut

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// The links that a built-in target, or one that doubletap starts, has without naming them: to its database, to its store
// and to the service that it asks.
const (
	databaseLink   = "database"
	storeLink      = scenarios.TheStore
	dependencyLink = scenarios.Dependency
)

// Why there is no link.
const (
	noLinks          = "the target file names no link inside the target (links)"
	noStoreAtAll     = "the target has no store"
	noDependency     = "the target asks no other service"
	hiddenDependency = "the service that the target asks is in its own process, where no link leads; " + BuiltinPrefix + " in place of " + ServedPrefix + " has one"
)

// notYetKnown is the address of what is not there yet, for a link that is planned. It is
// not dialled: plan only asks whether there is an address at all.
const notYetKnown = "127.0.0.1:1"

// Links are the link proxies inside the system, by name. The zero value has none. A link
// that the target file declares is opened before the target starts; one that doubletap
// puts there by itself is only planned, until it is known where it leads.
type Links struct {
	open    map[string]*proxy.LinkProxy
	planned map[string]bool   // between a process and what it talks to: opened once that is there
	missing map[string]string // why a link is not there that doubletap would open
	gates   map[string]*sinks.Gate
}

// Names lists the links that are open, in order.
func (l Links) Names() []string { return slices.Sorted(maps.Keys(l.open)) }

// Named returns the proxy of a link; nil: there is none.
func (l Links) Named(name string) *proxy.LinkProxy { return l.open[name] }

// plan decides whether a link to an address will be opened, and remembers why not. No address: there is nothing that a
// link could lead to.
func (l *Links) plan(name, to, toxiproxy string) error {
	if l.missing == nil {
		l.missing, l.planned = map[string]string{}, map[string]bool{}
	}
	host, err := HostOf(toxiproxy)
	switch {
	case err != nil:
		return runerror.Config(err)
	case to == "" && name == storeLink:
		l.missing[name] = noStoreAtAll
	case to == "" && name == dependencyLink:
		l.missing[name] = noDependency
	case to == "":
		l.missing[name] = "no link leads to the database: it is a file, or reached by a socket"
	case host != "" && !Loopback(host):
		l.missing[name] = fmt.Sprintf("no link leads to the %s through a toxiproxy server elsewhere", name)
	default:
		l.planned[name] = true
	}
	return nil
}

// openLink puts a link proxy on the way to an address. If a sink reads at a broker, the
// link is screened for it, so that a message can be kept before it reaches the broker.
func (s *System) openLink(ctx context.Context, name, listen, to string) (*proxy.LinkProxy, error) {
	link, err := proxy.OpenLinkProxy(ctx, name, listen, to, proxy.Options{Toxiproxy: s.options.Toxiproxy})
	if err != nil {
		return nil, err
	}
	if s.Links.open == nil {
		s.Links.open, s.Links.gates = map[string]*proxy.LinkProxy{}, map[string]*sinks.Gate{}
	}
	s.Links.open[name] = link
	if slices.ContainsFunc(slices.Collect(maps.Values(s.Target.Sinks)), targets.Sink.Followed) {
		gate := &sinks.Gate{}
		s.Links.gates[name] = gate
		link.Screen(func() proxy.Screen { return gate.Screen() })
	}
	s.onClose(link.Close)
	return link, nil
}

// openPlanned puts a link that was planned on the way to an address.
func (s *System) openPlanned(ctx context.Context, name, to string) (targets.Link, error) {
	link, err := s.openLink(ctx, name, "127.0.0.1:0", to)
	if err != nil {
		return targets.Link{}, runerror.Environment(err)
	}
	delete(s.Links.planned, name)
	return targets.Link{Listen: link.Address(), To: to}, nil
}

// OpenLinks hosts the sinks, and listens where the target file says that the target goes.
func (s *System) OpenLinks(ctx context.Context) error {
	if err := openSinks(ctx, s); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.Target.Links)) {
		declared := s.Target.Links[name]
		if s.Links.open[name] != nil || declared == (targets.Link{}) { // it is there, or will be when its database is
			continue
		}
		if _, err := s.openLink(ctx, name, declared.Listen, declared.To); err != nil {
			return runerror.Environment(fmt.Errorf("%s: %w", s.Name, err))
		}
	}
	return nil
}

// planProcessLinks makes sure that a process which is told the address of its database, its store or its one sink will be told that
// of a link. The link is opened when what it leads to is there.
func (s *System) planProcessLinks() error {
	p := s.Target.Process
	if p == nil {
		return nil
	}
	database, store, dependency, told := databases.AddressOf(s.Target.Database.URL), "", "", ".Sink."+onlySink(s)+"."
	if kind := s.Target.Database.Ephemeral; kind != targets.NoEngine && kind != targets.EngineSQLite {
		database = notYetKnown
	}
	if s.Target.Store.Declared() {
		store = notYetKnown
	}
	if onlySink(s) != "" {
		dependency = notYetKnown
	}
	var errs []error
	for _, own := range []struct{ name, tells, to string }{{databaseLink, ".Database.", database}, {storeLink, ".Store.", store}, {dependencyLink, told, dependency}} {
		if _, declared := s.Target.Links[own.name]; !declared && p.Tells(own.tells) {
			errs = append(errs, s.Links.plan(own.name, own.to, s.options.Toxiproxy))
		}
	}
	s.Target.Links = maps.Clone(s.Target.Links)
	if s.Target.Links == nil {
		s.Target.Links = map[string]targets.Link{}
	}
	for name := range s.Links.planned {
		s.Target.Links[name] = targets.Link{}
	}
	return errors.Join(errs...)
}

// databaseForProcess is the URL of the database as the process is told it: by the link, if one was planned.
func databaseForProcess(ctx context.Context, s *System) (string, error) {
	database := s.Target.Database.URL
	if !s.Links.planned[databaseLink] {
		return database, nil
	}
	link, err := s.openPlanned(ctx, databaseLink, databases.AddressOf(database))
	if err != nil {
		return "", err
	}
	s.Target.Links[databaseLink] = link
	return databases.Through(database, link.Listen), nil
}

// needLinks reports whether any of these scenarios has to do with a link, or may hold what passes it.
func needLinks(files []scenarios.File) bool {
	return slices.ContainsFunc(files, func(f scenarios.File) bool {
		return slices.ContainsFunc(f.Scenario.Needs, func(n scenarios.Need) bool {
			return slices.Contains([]scenarios.Need{scenarios.NeedsLink, scenarios.NeedsWork, scenarios.NeedsHeldEffect}, n)
		})
	})
}

// lacksLink says which link of a scenario the system does not have; empty: it has all.
func lacksLink(s *System, scenario scenarios.Scenario) string {
	for _, name := range scenario.LinksInUse() {
		if _, found := s.Target.Links[name]; found {
			continue
		}
		switch names := slices.Sorted(maps.Keys(s.Target.Links)); {
		case s.Links.missing[name] != "":
			return s.Links.missing[name]
		case s.BuiltIn() && name == storeLink:
			return noStoreAtAll
		case s.BuiltIn() && name == dependencyLink:
			return lacksDependency(s)
		case len(names) == 0:
			return noLinks
		default:
			return fmt.Sprintf("the target has no link %q, only %s", name, strings.Join(names, ", "))
		}
	}
	return ""
}

// letsLink says which line of the target file would let a scenario be played that a
// missing link leaves out; the zero value: none would.
func letsLink(s *System, scenario scenarios.Scenario) checker.Untried {
	if s.BuiltIn() {
		return checker.Untried{}
	}
	for _, name := range scenario.LinksInUse() {
		if _, found := s.Target.Links[name]; found {
			continue
		}
		family := map[string]checker.Family{databaseLink: checker.BrokenDatabase, storeLink: checker.BrokenStore, dependencyLink: checker.BrokenService}[name]
		if family != "" {
			return checker.Untried{What: family, Line: "links." + name}
		}
	}
	return checker.Untried{}
}

// lacksDependency says why no link leads to a service that a built-in target asks.
func lacksDependency(s *System) string {
	name, _ := builtInDesign(s.Name)
	if d, _ := s.options.design(name); d.Dependency {
		return hiddenDependency
	}
	return noDependency
}
