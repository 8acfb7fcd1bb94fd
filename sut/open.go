package sut

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/internal/files"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// How a name says that a target is built in: inside this process, or as a process of its own, which can be killed.
const (
	BuiltinPrefix = "builtin:"
	ServedPrefix  = "served:"
)

// Environment variables that give a built-in target its database and its Redis server where no option does.
const (
	DatabaseVariable = "DOUBLETAP_DATABASE"
	StoreVariable    = "DOUBLETAP_STORE"
)

// Options say which system to open, and what takes the place of parts of its target file.
type Options struct {
	Target        string                      // builtin:NAME, served:NAME or a file's path
	Source        []byte                      // text of the target file, where Target only names it; nil: Target is read
	HandedOver    bool                        // Target came with a finding, and the user has not named it; see Trusted
	Spec          *targets.Target             // the target itself, where Target only names it; nil: it is read
	Database      string                      // URL, of a built-in target; of a served one also sqlite, postgres or mariadb, for a private one
	FoundOn       string                      // kind of database that a finding was made on, for a built-in target that is given none; empty: any
	Store         string                      // URL of the Redis server of a built-in target
	Operation     string                      // empty: what the scenarios ask for, else the first by name
	Resent        string                      // the operation of a finding that is sent again, where none is named; a target that has only another one plays that
	EachOperation bool                        // the others are played in runs of their own, so that none is left out
	Instances     int                         // of a process; 0: as the target file or the design says
	Toxiproxy     string                      // URL of a toxiproxy server; empty: in process
	Getenv        func(string) (string, bool) // environment variables; nil: those of this process
	Program       string                      // path of the doubletap command, which serves served:NAME; empty: no such target
	BaseURL       string                      // in place of base_url, for an API that is served by the caller; empty: base_url
	Unwatched     bool                        // sinks answer, and nothing counts what reaches them
	DB            *sql.DB                     // in place of database.url; nil: that. It is not closed
	Parts         Parts
}

// env returns the value of an environment variable.
func (o Options) env(name string) (string, bool) {
	if o.Getenv == nil {
		return os.LookupEnv(name)
	}
	return o.Getenv(name)
}

// Open starts a built-in target or loads a target file, and picks the operation that the
// options or the scenarios ask for. Nothing is sent, and a target file's process is not
// started: call Guard first. The caller closes the system. Mistakes in the file are config
// errors.
func Open(ctx context.Context, o Options, files []scenarios.File) (*System, error) {
	s, err := load(ctx, o, needLinks(files))
	if err != nil {
		return nil, err
	}
	if err := s.choose(files); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if needLinks(files) {
		if err := s.planProcessLinks(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Load starts a built-in target or loads a target file. It has no operation yet: Open is for those who send.
func Load(ctx context.Context, o Options) (*System, error) { return load(ctx, o, false) }

// load is Load; linked says that a built-in target gets links, which have to be there
// before it opens its database.
func load(ctx context.Context, o Options, linked bool) (*System, error) {
	if design, builtin := strings.CutPrefix(o.Target, BuiltinPrefix); builtin {
		return startBuiltin(ctx, o, design, linked)
	}
	if design, served := strings.CutPrefix(o.Target, ServedPrefix); served {
		return describeServed(o, design)
	}
	if o.Database != "" {
		return nil, runerror.Configf("--database is for built-in targets; %s has its own database.url", o.Target)
	}
	if o.Store != "" {
		return nil, runerror.Configf("--store is for built-in targets; %s says itself where it keeps its keys", o.Target)
	}
	o, err := o.besideTarget()
	if err != nil {
		return nil, err
	}
	target, err := o.readTarget()
	if err != nil {
		return nil, err
	}
	if target, err = withInstances(target, o.Target, o.Instances); err != nil {
		return nil, err
	}
	s := &System{Name: o.Target, Target: target, loaded: target, options: o}
	return s, findAddresses(s)
}

// source is the text of the target file.
func (o Options) source() ([]byte, error) {
	if o.Source != nil || o.Spec != nil {
		return o.Source, nil
	}
	source, err := files.Read(o.Target, files.MostText)
	if err != nil {
		return nil, runerror.Config(runerror.Unreadable("target file", o.Target, err))
	}
	return source, nil
}

// Warnings says what is no mistake in the target file of a system, and may not be meant.
func Warnings(s *System) (all []string) {
	source, has := fileOf(s)
	if !has {
		return nil
	}
	for _, w := range targets.Warnings(s.Name, source, s.Target) {
		all = append(all, w.String())
	}
	return all
}

// Unsure counts what the target file of a system still lists that init was unsure of.
func Unsure(s *System) int {
	source, _ := fileOf(s)
	return targets.Unsure(source)
}

// fileOf is the text of a system's target file; false: it has none.
func fileOf(s *System) (source []byte, has bool) {
	if s.BuiltIn() {
		return nil, false
	}
	source, err := s.options.source()
	return source, err == nil // it was read before
}

// readTarget loads the target file, or takes the target that the caller gave.
func (o Options) readTarget() (targets.Target, error) {
	if o.Spec != nil {
		return o.override(*o.Spec)
	}
	source, err := o.source()
	if err != nil {
		return targets.Target{}, err
	}
	target, err := o.loadWith(source, o.env)
	if err != nil {
		return targets.Target{}, runerror.Config(err)
	}
	return target, nil
}

// Mistakes says what is wrong with a target that will not be opened, so that all config errors come at once.
func Mistakes(o Options) error {
	if design, builtIn := builtInDesign(o.Target); builtIn {
		if _, known := o.design(design); known {
			return nil
		}
		return runerror.Configf("there is no built-in target %q", design)
	}
	o, err := o.besideTarget()
	if err != nil {
		return err
	}
	_, err = o.readTarget()
	return err
}

// choose picks the run's operation: the one that was named, or the one that the scenarios
// name, else the first by name. The first principal by name is the run's. Names are
// sorted, so that two runs of one file choose alike. The other operations are kept for
// neighbours and other ways, where a key means the same to them.
func (s *System) choose(files []scenarios.File) error {
	operation, err := s.Asked()
	if err != nil {
		return err
	}
	names, asker := s.Target.OperationNames(), "--operation"
	if s.options.Operation == "" {
		asker = "the finding"
	}
	for _, f := range files {
		wanted := f.Scenario.Operation
		switch {
		case wanted == "" || wanted == operation:
		case operation != "":
			return runerror.Configf("%s is for the operation %q, and %s for %q: one run has one operation", f.Path, wanted, asker, operation)
		default:
			operation, asker = wanted, f.Path
		}
	}
	operation = cmp.Or(operation, names[0])
	if err := named(s, operation, asker); err != nil {
		return err
	}
	op := s.Target.Operations[operation]
	s.Operations = []driver.Operation{{Name: operation, Operation: op}}
	ways := s.Target.Ways(operation)
	s.Ways = nil
	// Of another way, either both take keys of the client's, or a natural key joins them. Neighbours share keys
	// only.
	for _, name := range names {
		other := driver.Operation{Name: name, Operation: s.Target.Operations[name]}
		switch keyed := other.Key.In != contract.KeyNowhere && len(other.Key.Issued) == 0; {
		case name == operation:
		case slices.Contains(ways, name):
			if keyed && op.Key.In != contract.KeyNowhere && len(op.Key.Issued) == 0 || len(s.Target.Contract.NaturalKey) > 0 {
				s.Ways = append(s.Ways, other)
			}
		case keyed:
			s.Operations = append(s.Operations, other)
		}
	}
	s.Principals = nil
	for _, name := range slices.Sorted(maps.Keys(s.Target.Principals)) {
		s.Principals = append(s.Principals, driver.Principal{Name: name, Values: s.Target.Principals[name]})
	}
	return nil
}

// Asked is the operation that was named, or that of the finding which is sent again; empty: what the scenarios name is played.
func (s *System) Asked() (string, error) {
	switch names := s.Target.OperationNames(); {
	case s.options.Operation != "":
		return s.options.Operation, named(s, s.options.Operation, "--operation")
	case s.options.Resent == "" || len(names) == 1 && names[0] != s.options.Resent:
		return "", nil
	default:
		return s.options.Resent, named(s, s.options.Resent, "the finding")
	}
}

// named is an error where a target has no operation of a name that was asked for.
func named(s *System, operation, asker string) error {
	if names := s.Target.OperationNames(); !slices.Contains(names, operation) {
		return runerror.Configf("%s asks for the operation %q, and %s has %s", asker, operation, s.Name, strings.Join(names, ", "))
	}
	return nil
}

// DatabaseOption is the database of a built-in target: what the option says, else the variable; empty: a SQLite file.
func (o Options) DatabaseOption() (string, error) {
	if o.Database != "" {
		return o.Database, localDatabase("--database", o.Database)
	}
	database, _ := o.env(DatabaseVariable)
	return database, localDatabase(DatabaseVariable, database)
}

// localDatabase rejects a database that is not on this machine. A built-in target makes its tables when it starts, before
// hosts are guarded.
func localDatabase(what, database string) error {
	hosts, err := databases.HostsOf(database)
	if err != nil {
		return runerror.Configf("%s: %w", what, err)
	}
	return Local(what, hosts...)
}
