package sut

import (
	"cmp"
	"crypto/rand"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// describeServed is a built-in design that this program serves as another process, over a
// private database of the kind that is named (empty: SQLite), or over a place of its own
// on the server of a URL. A process can be killed, which a design inside this process
// cannot. It is described as a target file would describe it, so Start treats both alike.
func describeServed(o Options, design string) (*System, error) {
	name := o.Target
	if o.Parts.Designs == nil {
		return nil, noDesigns(name)
	}
	if o.Program == "" {
		return nil, runerror.Configf("%s is for the command line of doubletap, which would start itself; expected a target file or %s%s", name, BuiltinPrefix, design)
	}
	o.Database = cmp.Or(o.Database, o.FoundOn)
	if err := localDatabase("--database", o.Database); err != nil {
		return nil, err
	}
	target, on, err := o.Parts.Designs.Describe(design)
	if err != nil {
		return nil, runerror.Config(err)
	}
	engine, there, err := o.servedOn(on)
	if err != nil {
		return nil, err
	}
	store, err := o.StoreOption()
	if err != nil {
		return nil, err
	}
	known, _ := o.design(design)
	if known.Redis && store == "" {
		return nil, NoStore(name)
	}
	target.Name, target.BaseURL = name, "http://127.0.0.1:0"
	if there {
		target.Database.URL = o.Database
	} else {
		target.Database.Ephemeral = engine
	}
	target.Process = servingProcess(o.Program, design, target.Received.Path)
	// A design that calls another service has one sink, which answers in its place.
	if slices.ContainsFunc(slices.Collect(maps.Values(target.Sinks)), targets.Sink.Answers) {
		target.Process.Command = append(target.Process.Command, "--outside", "{{.Sink."+target.SinkNames()[0]+".URL}}")
	}
	if known.Redis {
		// The server may hold other keys, and other designs at the same time: each has its own prefix, and only
		// that is emptied.
		prefix := "doubletap_" + strings.ToLower(rand.Text()) + ":"
		target.Store = targets.Store{URL: store, Flush: prefix + "*"}
		target.Sinks = targets.InStore(target.Sinks, prefix)
		target.Process.Env[StoreVariable] = "{{.Store.URL}}"
		target.Process.Command = append(target.Process.Command, "--store-prefix", prefix)
	}
	if target, err = withInstances(target, name, cmp.Or(o.Instances, known.Instances, 1)); err != nil {
		return nil, err
	}
	return &System{Name: name, Target: target, loaded: target, options: o, newable: there}, nil
}

// servedOn says on which engine a served design runs, and whether it is there already: on
// the server of a URL. On are the engines that the design is built for; none: all.
func (o Options) servedOn(on []string) (engine targets.Engine, there bool, err error) {
	engine = targets.Engine(cmp.Or(o.Database, string(targets.EngineSQLite)))
	if dialect := databases.DialectOf(o.Database); dialect == databases.PostgreSQL || dialect == databases.MariaDB {
		engine, there = targets.Engine(dialect), true
	}
	engines := []targets.Engine{targets.EngineSQLite, targets.EnginePostgres, targets.EngineMariaDB}
	switch {
	case !slices.Contains(engines, engine):
		return "", false, runerror.Configf("--database of %s is neither the kind of a private database nor a server; expected sqlite, postgres, mariadb, or a postgres or mariadb URL", o.Target)
	case len(on) > 0 && !slices.Contains(on, string(engine)):
		return "", false, runerror.Configf("%s is built for %s", o.Target, strings.Join(on, " and "))
	}
	return engine, there, nil
}

// servingProcess is the process that serves a design: this program, started once more. The
// database's URL goes into its environment, as arguments are for all of the machine to read.
func servingProcess(program, design, ready string) *targets.Process {
	return &targets.Process{
		Command:   []string{program, "targets", "serve", design, "--listen", "127.0.0.1:{{.Port}}", "--keep"},
		Env:       map[string]string{DatabaseVariable: "{{.Database.URL}}"},
		Directory: ".",
		Ready:     targets.Ready{Path: ready, Within: contract.Duration(30 * time.Second)},
		Stop:      targets.Stop{Signal: "SIGTERM", Within: contract.Duration(5 * time.Second)},
	}
}
