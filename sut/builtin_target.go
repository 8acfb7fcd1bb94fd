package sut

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/caches"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// builtInDesign returns the design that a target's name stands for, if it is no file.
func builtInDesign(name string) (design string, builtIn bool) {
	if design, builtIn = strings.CutPrefix(name, BuiltinPrefix); builtIn {
		return design, true
	}
	return strings.CutPrefix(name, ServedPrefix)
}

// IsBuiltIn reports that a target's name stands for a built-in design, and not for a file.
func IsBuiltIn(name string) bool {
	_, builtIn := builtInDesign(name)
	return builtIn
}

// BuiltIn reports that the system is no file.
func (s *System) BuiltIn() bool { return IsBuiltIn(s.Name) }

// BuiltOn is the kind of database that a built-in target stands on; empty: SQLite, or the system is a file.
func BuiltOn(s *System) string {
	dialect := databases.DialectOf(s.Target.Database.URL)
	if dialect == databases.SQLite || !s.BuiltIn() {
		return ""
	}
	return string(dialect)
}

// design tells of a built-in design, if this program has them.
func (o Options) design(name string) (Design, bool) {
	if o.Parts.Designs == nil {
		return Design{}, false
	}
	return o.Parts.Designs.Named(name)
}

// startBuiltin starts a built-in target inside this process, with links to what it talks
// to if they are wanted. The links come first, and the design is told of them. What fails
// on the way closes what is open.
func startBuiltin(ctx context.Context, o Options, design string, linked bool) (*System, error) {
	if o.Instances > 0 {
		return nil, runerror.Configf("--instances is for targets that are started as processes; expected a target file with process, or %s%s", ServedPrefix, design)
	}
	if o.Parts.Designs == nil {
		return nil, noDesigns(o.Target)
	}
	d := DesignOptions{Name: design}
	var err error
	if d.Database, err = o.DatabaseOption(); err != nil {
		return nil, err
	}
	if d.Database == "" && o.FoundOn != "" {
		return nil, runerror.Configf("the finding was made at %s on %s; expected such a server, as in --database %[2]s://127.0.0.1/test or $%[3]s (--target %[1]s plays it on SQLite)",
			o.Target, o.FoundOn, DatabaseVariable)
	}
	if d.Store, err = o.StoreOption(); err != nil {
		return nil, err
	}
	s := &System{Name: o.Target, options: o}
	if s.Target, _, err = o.Parts.Designs.Describe(design); err != nil { // there is no such design, and the error says which is near
		return nil, runerror.Config(err)
	}
	if err := openSinks(ctx, s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	links := map[string]targets.Link{}
	if linked {
		if err := s.openDesignLinks(ctx, d, links); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		d.DatabaseProxy, d.StoreProxy = links[databaseLink].Listen, links[storeLink].Listen
		d.DependencyProxy = s.dependencyProxy(links)
	}
	if d.Outside, err = outside(ctx, s, d.DependencyProxy); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.serveDesign(ctx, d); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if len(links) > 0 {
		s.Target.Links = links
	}
	return s, nil
}

// serveDesign starts the design, and takes over the target that it says it is.
func (s *System) serveDesign(ctx context.Context, d DesignOptions) error {
	known, found := s.options.design(d.Name)
	if known.Redis && d.Store == "" {
		return NoStore(d.Name)
	}
	server, err := s.options.Parts.Designs.Start(ctx, d)
	switch {
	case err != nil && found:
		return runerror.Environment(err)
	case err != nil: // there is no such design, and the error says which is near
		return runerror.Config(err)
	}
	s.server, s.Target = server, server.Target()
	s.loaded = s.Target
	s.onClose(server.Close)
	return nil
}

// outside is the address of the one sink that a built-in target is told of, by a link if there is one; empty: it has none.
func outside(ctx context.Context, s *System, linked func(context.Context, string) (string, error)) (string, error) {
	name := onlySink(s)
	if name == "" {
		return "", nil
	}
	place := s.Sinks.Places()[name]
	if linked == nil {
		return place.URL, nil
	}
	address, err := linked(ctx, net.JoinHostPort(place.Host, place.Port))
	return s.Target.Sinks[name].At(address).URL, err
}

// noDesigns says that this program was built without the built-in targets.
func noDesigns(name string) error {
	return runerror.Configf("%s is a built-in target, and this program has none; expected a target file, or Parts of the package sut/builtin", name)
}

// openDesignLinks puts links on the ways of a built-in target that is about to be started: into the map, or with
// the reason why there is none.
func (s *System) openDesignLinks(ctx context.Context, o DesignOptions, links map[string]targets.Link) error {
	d, _ := s.options.design(o.Name)
	store, dependency := "", ""
	if d.Redis && o.Store != "" {
		store, _ = caches.AddressOf(o.Store) // whose URL was read before
	}
	if d.Dependency || onlySink(s) != "" {
		dependency = notYetKnown
	}
	ways := []struct{ name, to string }{{databaseLink, databases.AddressOf(o.Database)}, {storeLink, store}, {dependencyLink, dependency}}
	for _, way := range ways {
		if err := s.Links.plan(way.name, way.to, s.options.Toxiproxy); err != nil {
			return err
		}
		if !s.Links.planned[way.name] || way.to == notYetKnown {
			continue
		}
		link, err := s.openPlanned(ctx, way.name, way.to)
		if err != nil {
			return err
		}
		links[way.name] = link
	}
	return nil
}

// dependencyProxy puts a link on the way of a built-in target to the service that it asks, and into the map, once it
// is known where that is; nil: no link was planned.
func (s *System) dependencyProxy(links map[string]targets.Link) func(context.Context, string) (string, error) {
	if !s.Links.planned[dependencyLink] {
		return nil
	}
	return func(ctx context.Context, to string) (string, error) {
		link, err := s.openPlanned(ctx, dependencyLink, to)
		links[dependencyLink] = link
		return link.Listen, err
	}
}
