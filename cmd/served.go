package cmd

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/databases"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// servedPrefix marks the name of a built-in target that is a process of its own, which can be killed.
const servedPrefix = "served:"

// builtInDesign returns the design that a target's name stands for, if it is no file.
func builtInDesign(name string) (design string, builtIn bool) {
	if design, builtIn = strings.CutPrefix(name, builtinPrefix); builtIn {
		return design, true
	}
	return strings.CutPrefix(name, servedPrefix)
}

// builtIn reports that the subject is no file.
func (s *subject) builtIn() bool {
	_, builtIn := builtInDesign(s.name)
	return builtIn
}

// describeServed is a built-in design that this program serves as another process, over a private database of
// the kind that is named, empty: SQLite, or over a place of its own on the server of a URL.
func describeServed(name, design string, options runOptions, s streams) (*subject, error) {
	if s.program == "" {
		return nil, mistakef("%s is for the command line of doubletap, which would start itself; expected a target file or %s%s", name, builtinPrefix, design)
	}
	if err := localDatabase("--database", options.database); err != nil {
		return nil, err
	}
	target, on, err := orders.Describe(design)
	if err != nil {
		return nil, mistake(err)
	}
	engine, there := targets.Engine(cmp.Or(options.database, string(targets.EngineSQLite))), false
	if dialect := databases.DialectOf(options.database); dialect == databases.PostgreSQL || dialect == databases.MariaDB {
		engine, there = targets.Engine(dialect), true
	}
	store, err := storeOf(options.store, s)
	if err != nil {
		return nil, err
	}
	engines := []targets.Engine{targets.EngineSQLite, targets.EnginePostgres, targets.EngineMariaDB}
	switch {
	case !slices.Contains(engines, engine):
		return nil, mistakef("--database of %s is neither the kind of a private database nor a server; expected sqlite, postgres, mariadb, or a postgres or mariadb URL", name)
	case len(on) > 0 && !slices.Contains(on, string(engine)):
		return nil, mistakef("%s is built for %s", name, strings.Join(on, " and "))
	}
	known, _ := orders.Named(design)
	if known.Redis && store == "" {
		return nil, noStore(name)
	}
	target.Name, target.BaseURL = name, "http://127.0.0.1:0"
	if there {
		target.Database.URL = options.database
	} else {
		target.Database.Ephemeral = engine
	}
	target.Process = &targets.Process{
		Command:   []string{s.program, "targets", "serve", design, "--listen", "127.0.0.1:{{.Port}}", "--database", "{{.Database.URL}}", "--keep"},
		Directory: ".",
		Ready:     targets.Ready{Path: target.Received.Path, Within: contract.Duration(30 * time.Second)},
		Stop:      targets.Stop{Signal: "SIGTERM", Within: contract.Duration(5 * time.Second)},
	}
	if known.Redis {
		prefix := "doubletap_" + strings.ToLower(rand.Text()) + ":"
		target.Store = targets.Store{URL: store, Flush: prefix + "*"}
		target.Process.Env = map[string]string{storeVariable: "{{.Store.URL}}"}
		target.Process.Command = append(target.Process.Command, "--store-prefix", prefix)
	}
	if target, err = withInstances(target, name, cmp.Or(options.instances, known.Instances, 1)); err != nil {
		return nil, err
	}
	return &subject{name: name, target: target, loaded: target, placeless: there}, nil
}
