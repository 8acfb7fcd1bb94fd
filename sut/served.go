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
	if err := localDatabase("--database", o.Database); err != nil {
		return nil, err
	}
	target, on, err := o.Parts.Designs.Describe(design)
	if err != nil {
		return nil, runerror.Config(err)
	}
	engine, there := targets.Engine(cmp.Or(o.Database, string(targets.EngineSQLite))), false
	if dialect := databases.DialectOf(o.Database); dialect == databases.PostgreSQL || dialect == databases.MariaDB {
		engine, there = targets.Engine(dialect), true
	}
	store, err := o.StoreOption()
	if err != nil {
		return nil, err
	}
	engines := []targets.Engine{targets.EngineSQLite, targets.EnginePostgres, targets.EngineMariaDB}
	switch {
	case !slices.Contains(engines, engine):
		return nil, runerror.Configf("--database of %s is neither the kind of a private database nor a server; expected sqlite, postgres, mariadb, or a postgres or mariadb URL", name)
	case len(on) > 0 && !slices.Contains(on, string(engine)):
		return nil, runerror.Configf("%s is built for %s", name, strings.Join(on, " and "))
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
	target.Process = &targets.Process{
		Command:   []string{o.Program, "targets", "serve", design, "--listen", "127.0.0.1:{{.Port}}", "--keep"},
		Env:       map[string]string{DatabaseVariable: "{{.Database.URL}}"}, // arguments are for all of the machine to read
		Directory: ".",
		Ready:     targets.Ready{Path: target.Received.Path, Within: contract.Duration(30 * time.Second)},
		Stop:      targets.Stop{Signal: "SIGTERM", Within: contract.Duration(5 * time.Second)},
	}
	if slices.ContainsFunc(slices.Collect(maps.Values(target.Sinks)), targets.Sink.Answers) {
		target.Process.Command = append(target.Process.Command, "--outside", "{{.Sink."+target.SinkNames()[0]+".URL}}")
	}
	if known.Redis {
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
