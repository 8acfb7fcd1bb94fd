package targets

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
)

// Process is how a target is started by the harness. Its texts may hold secrets.
type Process struct {
	Command   []string          `yaml:"command"`   // the program and its arguments; templates of Place
	Directory string            `yaml:"directory"` // where it runs; after Load no longer relative to the target file
	Env       map[string]string `yaml:"env"`       // beside the harness's own environment; templates of Place
	Ready     Ready             `yaml:"ready"`
	Stop      Stop              `yaml:"stop"`
	Instances int               `yaml:"instances"` // how many of it, each on a port of its own; after Load 1 or more
}

// Ready says when a process that was started takes requests.
type Ready struct {
	Path   string            `yaml:"path"`   // of a GET that is answered with less than 500; empty: the port takes connections
	Within contract.Duration `yaml:"within"` // after which it counts as not starting
}

// Stop is how a process is asked to end.
type Stop struct {
	Signal string            `yaml:"signal"` // SIGTERM, SIGINT, SIGQUIT, SIGHUP or SIGKILL, to the whole process group
	Within contract.Duration `yaml:"within"` // after which it is killed
}

// Engine is a kind of database that the harness can start.
type Engine string

// The engines. The zero value is none.
const (
	NoEngine       Engine = ""
	EnginePostgres Engine = "postgres"
	EngineMariaDB  Engine = "mariadb"
	EngineSQLite   Engine = "sqlite"
	EngineRedis    Engine = "redis" // only a store
)

// Declared reports whether there is a database: one that is named, or one that will be started.
func (d Database) Declared() bool { return d.URL != "" || d.Ephemeral != NoEngine }

// Declared reports whether there is a store: one that is named, or one that will be started.
func (s Store) Declared() bool { return s.URL != "" || s.Ephemeral != NoEngine }

// Place is what the templates of a process can use. It may hold a password.
type Place struct {
	Port     int // that the process is to listen on
	Database DatabasePlace
	Store    StorePlace
	Sink     map[string]SinkPlace // by name
}

// DatabasePlace is where a process finds its database, as a whole and in parts. Of an SQLite database only
// URL and Name, the path of the file, are set.
type DatabasePlace struct {
	URL, Host, Port, User, Password, Name string
}

// StorePlace is where a process finds its store, as a whole and in parts.
type StorePlace struct {
	URL, Host, Port, User, Password string
}

// Fill returns the command and the environment, as NAME=value and sorted, of a process in its place.
func (p Process) Fill(at Place) (command, env []string, err error) {
	for _, word := range p.Command {
		filled, err := fillWith(word, at)
		if err != nil {
			return nil, nil, fmt.Errorf("process.command: %w", err)
		}
		command = append(command, filled)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		filled, err := fillWith(p.Env[name], at)
		if err != nil {
			return nil, nil, fmt.Errorf("process.env.%s: %w", name, err)
		}
		env = append(env, name+"="+filled)
	}
	return command, env, nil
}

// MostInstances is how many instances of a process there may be.
const MostInstances = 16

// WithInstances returns the target with so many instances of its process, 1 to MostInstances. The error says in
// a sentence why there cannot be as many.
func (t Target) WithInstances(n int) (Target, error) {
	switch {
	case n < 1 || n > MostInstances:
		return t, fmt.Errorf("%d instances: expected 1 to %d", n, MostInstances)
	case t.Process == nil:
		return t, errors.New("only a target that the harness starts has instances; there is no process")
	}
	process := *t.Process
	process.Instances, t.Process = n, &process
	return t, t.unbalanced()
}

// unbalanced says why there cannot be as many instances as there are to be; nil: there can.
func (t Target) unbalanced() error {
	switch {
	case t.Process == nil || t.Process.Instances < 2:
		return nil
	case t.Socket != "":
		return errors.New("several instances are reached by TCP, each on a port of its own, and this target by a socket")
	case !t.Process.Tells(".Port"):
		return errors.New("the instances do not get their own ports; put {{.Port}} into command or env")
	default:
		return nil
	}
}

// Tells reports whether command or env of the process use a value, such as .Port, or one that begins so, such as
// .Database.
func (p Process) Tells(value string) bool {
	uses := func(text string) bool { return strings.Contains(text, "{{") && strings.Contains(text, value) }
	return slices.ContainsFunc(p.Command, uses) || slices.ContainsFunc(slices.Collect(maps.Values(p.Env)), uses)
}
