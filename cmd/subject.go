package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/driver/writegate"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/snapshots"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/caches"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// builtinPrefix marks the name of a built-in target.
const builtinPrefix = "builtin:"

// defaultTarget is what runs when no target is named.
const defaultTarget = builtinPrefix + "unique-key"

// targetFlag is the value of --target. Empty, as a variable makes it that nobody has set, it would be the built-in
// API, which passes.
type targetFlag string

func (f *targetFlag) Set(text string) error {
	if text == "" {
		return errors.New("expected a target file, or " + builtinPrefix + "NAME")
	}
	*f = targetFlag(text)
	return nil
}

func (f *targetFlag) String() string { return string(*f) }

func (f *targetFlag) Type() string { return "string" }

// databaseVariable holds the database URL of a built-in target where no flag gives one.
const databaseVariable = "DOUBLETAP_DATABASE"

// subject is the system under test, ready to be driven.
type subject struct {
	name       string             // as given: builtin:NAME or a file's path
	target     targets.Target     // what was started for it has its place here
	loaded     targets.Target     // as the file has it
	operations []driver.Operation // the run's, and then the others that take a key of the client's choice, by name
	principals []driver.Principal // by name; the first is the run's
	given      given
	server     *orders.Server
	reader     *snapshots.Reader // nil: no database is declared, see rowReader
	gates      []*writegate.Gate // none: no scenario of the run needs them
	started    started           // by start
	wires      wires             // links inside the target
	linkless   map[string]string // why a link is not there that the harness would make, by its name
	placeless  bool              // the target gets a place of its own on the server of its database, and has none yet
	ownLinks   map[string]bool   // links between a process and what it talks to, which are not there yet
	toxiproxy  string            // of these
	store      *caches.Store     // of the target, to be flushed; nil: nobody wants it
}

// operation is the run's.
func (s *subject) operation() driver.Operation { return s.operations[0] }

// operationOf returns the operation that an intent was sent to.
func (s *subject) operationOf(i history.Intent) driver.Operation {
	for _, o := range s.operations {
		if o.Name == i.Operation {
			return o
		}
	}
	return s.operation()
}

// terms returns what the subject is held against. They hold no request, whose headers may hold secrets.
func (s *subject) terms() checker.Terms {
	t := checker.Terms{Contract: s.target.Contract, Operation: s.operation().Judged()}
	for _, o := range s.operations[1:] {
		if t.Others == nil {
			t.Others = map[string]contract.Operation{}
		}
		t.Others[o.Name] = o.Judged()
	}
	return t
}

// close stops what was started.
func (s *subject) close() error {
	var errs []error
	for _, g := range s.gates {
		errs = append(errs, g.Close())
	}
	if s.reader != nil {
		errs = append(errs, s.reader.Close())
	}
	if s.server != nil {
		errs = append(errs, s.server.Close())
	}
	errs = append(errs, s.started.close(), s.wires.close(), s.store.Close())
	if err := errors.Join(errs...); err != nil {
		return surroundings(fmt.Errorf("tidy up after %s: %w", s.name, err))
	}
	return nil
}

// openSubject starts a built-in target or loads a target file, and picks the operation that the
// options or the scenarios ask for.
func openSubject(ctx context.Context, files []scenarios.File, o runOptions, s streams) (*subject, error) {
	sub, err := loadSubject(ctx, o, needLinks(files), s)
	if err != nil {
		return nil, err
	}
	if err := sub.choose(o.operation, files); err != nil {
		return nil, errors.Join(err, sub.close())
	}
	if needLinks(files) {
		if err := sub.planOwnLinks(o.toxiproxy); err != nil {
			return nil, errors.Join(err, sub.close())
		}
	}
	return sub, nil
}

// loadSubject starts a built-in target, with a link to its database if one is wanted, or loads a target file.
func loadSubject(ctx context.Context, o runOptions, linked bool, s streams) (*subject, error) {
	name := o.target
	if design, builtin := strings.CutPrefix(name, builtinPrefix); builtin {
		if o.instances > 0 {
			return nil, mistakef("--instances is for targets that are started as processes; expected a target file with process, or %s%s", servedPrefix, design)
		}
		return startBuiltin(ctx, o, linked, s)
	}
	if design, served := strings.CutPrefix(name, servedPrefix); served {
		return describeServed(name, design, o, s)
	}
	if o.database != "" {
		return nil, mistakef("--database is for built-in targets; %s has its own database.url", name)
	}
	if o.store != "" {
		return nil, mistakef("--store is for built-in targets; %s says itself where it keeps its keys", name)
	}
	target, err := readTarget(name, s)
	if err != nil {
		return nil, err
	}
	if target, err = withInstances(target, name, o.instances); err != nil {
		return nil, err
	}
	return &subject{name: name, target: target, loaded: target, given: s.given}, nil
}

func readTarget(name string, s streams) (targets.Target, error) {
	source, err := os.ReadFile(name)
	if err != nil {
		return targets.Target{}, mistake(describeMissing("target file", name, err))
	}
	target, err := s.given.load(name, source, s.getenv)
	if err != nil {
		return targets.Target{}, mistake(err)
	}
	return target, nil
}

// mistakesInTarget says what is wrong with a target file that will not be used, so that all mistakes
// come at once.
func mistakesInTarget(name string, s streams) error {
	if design, builtIn := builtInDesign(name); builtIn {
		if knownDesign(design) {
			return nil
		}
		return mistakef("there is no built-in target %q", design)
	}
	_, err := readTarget(name, s)
	return err
}

func startBuiltin(ctx context.Context, o runOptions, linked bool, s streams) (*subject, error) {
	sub := &subject{name: o.target}
	options := orders.Options{Design: strings.TrimPrefix(o.target, builtinPrefix)}
	var err error
	if options.Database, err = databaseOf(o.database, s); err != nil {
		return nil, err
	}
	if options.Store, err = storeOf(o.store, s); err != nil {
		return nil, err
	}
	links := map[string]targets.Link{}
	if linked {
		sub.toxiproxy = o.toxiproxy
		if err := sub.openBuiltinLinks(ctx, options, links); err != nil {
			return nil, errors.Join(err, sub.wires.close())
		}
		options.Road, options.StoreRoad = links[databaseLink].Listen, links[storeLink].Listen
		options.DependencyRoad = sub.dependencyRoad(links)
	}
	if sub.server, err = orders.Start(ctx, options); err != nil {
		return nil, errors.Join(blame(options.Design, err), sub.wires.close())
	}
	sub.target = sub.server.Target()
	if len(links) > 0 {
		sub.target.Links = links
	}
	return sub, nil
}

// databaseOf is the database of a built-in target: what the flag says, else the variable; empty: a SQLite file.
func databaseOf(flag string, s streams) (string, error) {
	if flag != "" {
		return flag, localDatabase("--database", flag)
	}
	database, _ := s.getenv(databaseVariable)
	return database, localDatabase(databaseVariable, database)
}

// localDatabase holds that a database is on this machine. A built-in target makes its tables when it starts, before
// anything else is allowed.
func localDatabase(what, database string) error {
	hosts, err := databases.HostsOf(database)
	if err != nil {
		return mistakef("%s: %w", what, err)
	}
	return localServers(allowlist(nil).foreign(what, hosts...))
}

func knownDesign(name string) bool {
	_, known := orders.Named(name)
	return known
}

// choose picks the run's operation: the one that was named, or the one that the scenarios name, else the
// first by name. The first principal by name is the run's.
func (s *subject) choose(operation string, files []scenarios.File) error {
	names := s.target.OperationNames()
	asker := "--operation"
	for _, f := range files {
		wanted := f.Scenario.Operation
		switch {
		case wanted == "" || wanted == operation:
		case operation != "":
			return mistakef("%s is for the operation %q, and %s for %q: one run has one operation", f.Path, wanted, asker, operation)
		default:
			operation, asker = wanted, f.Path
		}
	}
	if operation == "" {
		operation = names[0]
	}
	op, found := s.target.Operations[operation]
	if !found {
		return mistakef("%s asks for the operation %q, and %s has %s", asker, operation, s.name, strings.Join(names, ", "))
	}
	s.operations = []driver.Operation{{Name: operation, Operation: op}}
	for _, name := range names {
		if other := s.target.Operations[name]; name != operation && other.Key.In != contract.KeyNowhere && len(other.Key.Issued) == 0 {
			s.operations = append(s.operations, driver.Operation{Name: name, Operation: other})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.target.Principals)) {
		s.principals = append(s.principals, driver.Principal{Name: name, Values: s.target.Principals[name]})
	}
	return nil
}

// connect opens the database, once it is known that its host may be asked, and its write gates and the store
// where they are needed.
func (s *subject) connect(ctx context.Context, needs func(scenarios.Need) bool) error {
	var err error
	switch {
	case s.given.db != nil:
		s.reader, err = snapshots.Over(ctx, s.given.db)
	case s.target.Database.URL != "":
		s.reader, err = snapshots.Open(ctx, s.target.Database.URL)
	}
	if err != nil {
		return surroundings(err)
	}
	if needs(scenarios.NeedsFlush) {
		if s.store, err = caches.Open(ctx, s.target.Store.URL); err != nil {
			return surroundings(fmt.Errorf("%s: store.url: %w", s.name, err))
		}
	}
	if needs(scenarios.NeedsWriteGate) {
		return s.openGates(ctx)
	}
	return nil
}

// openGates makes sure that the writers of the tables that the target file names can be held back.
func (s *subject) openGates(ctx context.Context) error {
	for _, table := range s.target.Database.WriteGate.Tables {
		gate, err := writegate.Open(ctx, s.target.Database.URL, table)
		if err != nil {
			return surroundings(fmt.Errorf("%s: database.write_gate: %w", s.name, err))
		}
		s.gates = append(s.gates, gate)
	}
	return nil
}

// writeGates are the tables whose writers a driver may hold back.
func (s *subject) writeGates() []driver.WriteGate {
	var all []driver.WriteGate
	for i, gate := range s.gates {
		all = append(all, driver.WriteGate{
			Table: s.target.Database.WriteGate.Tables[i], Longest: time.Duration(s.target.Database.WriteGate.Longest),
			Hold: func(ctx context.Context, longest time.Duration) (driver.Held, error) {
				held, err := gate.Hold(ctx, longest)
				if err != nil {
					return nil, err
				}
				return held, nil
			},
		})
	}
	return all
}

// opaque reports that a doorstep cannot tell one request from another: they travel in TLS, or several of
// them on one connection.
func (s *subject) opaque() bool {
	return strings.HasPrefix(s.target.BaseURL, "https:") || s.target.Protocol == targets.HTTP2
}

// place is where the target is, for people.
func (s *subject) whereabouts() string {
	if s.target.Socket != "" {
		return fmt.Sprintf("%s by the socket %s", s.target.BaseURL, s.target.Socket)
	}
	return s.target.BaseURL
}

// rowsPlace says where the rows are read from, without user and password; empty: nowhere.
func (s *subject) rowsPlace() string {
	switch {
	case s.target.AsksItself():
		return "the target's own listing"
	case s.given.db != nil:
		return "the database that was given"
	}
	if kind := s.target.Database.Ephemeral; kind != targets.NoEngine {
		return fmt.Sprintf("a private %s database", kind)
	}
	return databasePlace(s.target.Database.URL)
}

// upstream returns host:port of the target.
func (s *subject) upstream() (string, error) {
	address, err := addressOf(s.target.BaseURL)
	if err != nil {
		return "", mistakef("%s: base_url cannot be parsed", s.name)
	}
	return address, nil
}

// addressOf returns host:port of a URL.
func addressOf(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// describeMissing makes a file error that says what the file was wanted for.
func describeMissing(what, path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %s: %w", what, path, fs.ErrNotExist)
	}
	return fmt.Errorf("read %s: %w", what, err)
}
