package sut

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/sut/services"
	"github.com/doubletap-harness/doubletap/targets"
)

// ProcessLogName is the file with what a target's process prints, inside a run's directory.
const ProcessLogName = "process.log"

// Process is what was started of a target: one process, or several behind a balancer. The zero value is none.
type Process struct {
	Fleet  services.Fleet // none: the target was there already
	Places []string       // host:port of each of several, also of those that were there already
	Took   time.Duration  // that one of the fleet took to start, until it was ready; 0: none was started

	each    []targets.Target // likewise, as targets of their own
	log     *os.File
	printed []*services.Log // to log, by each of the fleet
}

// Hide keeps secrets out of the process's log.
func (p Process) Hide(secrets []string) {
	for _, log := range p.printed {
		log.Hide(secrets...)
	}
}

// Learn has the process's log ask for secrets before it writes lines. Asking must be safe for concurrent use.
func (p Process) Learn(known func() []string) {
	for _, log := range p.printed {
		log.Learn(known)
	}
}

// Printed is a line that a process of the target printed.
type Printed struct {
	services.Printed
	Instance int // from 1, where there are several
}

// PrintedSince returns what the target's processes printed at or after a moment, in the order in which it came: of each the last
// that it printed, without secrets.
func (p Process) PrintedSince(moment time.Time) []Printed {
	var all []Printed
	for i, log := range p.printed {
		instance := 0
		if len(p.printed) > 1 {
			instance = i + 1
		}
		for _, line := range log.Since(moment) {
			all = append(all, Printed{line, instance})
		}
	}
	slices.SortStableFunc(all, func(a, b Printed) int { return a.At.Compare(b.At) })
	return all
}

// closeLog closes the log and masks what was printed before it was known to be a secret, such as a token that its service tells
// of as it issues it.
func (p *Process) closeLog() error {
	for _, log := range p.printed {
		_ = log.Flush() // a service that was stopped has said what is wrong
	}
	closing := p.log.Close() // the disk may be full; what is there is masked all the same
	text, err := os.ReadFile(p.log.Name())
	switch {
	case errors.Is(err, fs.ErrNotExist): // the directory went with the command
		return nil
	case err != nil:
		return errors.Join(closing, err)
	}
	masked := string(text)
	for _, log := range p.printed {
		masked = log.Mask(masked)
	}
	if masked != string(text) {
		closing = errors.Join(closing, os.WriteFile(p.log.Name(), []byte(masked), 0o600)) // in its place: no copy that is not masked stays
	}
	return closing
}

// Death is the end of a process of the target that nothing of ours ended.
type Death = services.Death

// Ended says how the target's process ended, if there is one and it ended by itself.
func (s *System) Ended() error { return s.Process.Fleet.Ended() }

// Start starts what the target file wants to be started, the database first, and returns
// when the target is ready: its file says how that is known. What it prints goes into
// process.log in the directory, which only the user can read (0600). A system without a
// process is there already. What was started is closed by Close also where Start fails.
func (s *System) Start(ctx context.Context, dir string) error {
	if s.Target.Process == nil {
		return nil
	}
	if err := errors.Join(s.startDatabase(ctx), s.startStore(ctx)); err != nil {
		return err
	}
	ports, err := s.findPorts()
	if err != nil {
		return err
	}
	where, err := place(ctx, s)
	if err != nil {
		return err
	}
	if s.Process.log, err = os.OpenFile(filepath.Join(dir, ProcessLogName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
		return runerror.Environment(fmt.Errorf("write the run's files: %w", err))
	}
	s.onClose(s.Process.closeLog)
	var all []services.Options
	for i, port := range ports {
		where.Port = port
		o, err := instance(s, where, s.newLog(s.logOf(i)))
		if err != nil {
			return err
		}
		all = append(all, o)
	}
	if s.BuiltIn() {
		left := s.Target.Store
		s.onClose(func() error { return forget(left) })
	}
	begun := time.Now()
	s.Process.Fleet, err = services.StartFleet(ctx, all)
	s.Process.Took = time.Since(begun) / time.Duration(len(all))
	s.onClose(s.Process.Fleet.Stop) // also of those that started before one failed
	if err != nil {
		return runerror.Environment(fmt.Errorf("start the process of %s: %w", s.Name, err))
	}
	return s.balance(ctx, ports)
}

// instance is how one of the target's instances is started.
func instance(s *System, where targets.Place, log *services.Log) (services.Options, error) {
	p := s.Target.Process
	command, env, err := p.Fill(where)
	if err != nil {
		return services.Options{}, runerror.Config(fmt.Errorf("%s: %w", s.Name, err))
	}
	itself, err := s.at(where.Port)
	if err != nil {
		return services.Options{}, err
	}
	s.Process.printed = append(s.Process.printed, log)
	return services.Options{
		Command: command, Dir: p.Directory, Env: env, Within: time.Duration(p.Ready.Within),
		Ready:  func(ctx context.Context) error { return answers(ctx, itself) },
		Signal: signals()[p.Stop.Signal], Grace: time.Duration(p.Stop.Within), Log: log,
	}, nil
}

// signals are those that process.stop may name.
func signals() map[string]syscall.Signal {
	return map[string]syscall.Signal{
		"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT, "SIGQUIT": syscall.SIGQUIT, "SIGHUP": syscall.SIGHUP, "SIGKILL": syscall.SIGKILL,
	}
}

// startDatabase starts the private database that a target file asks for, or makes a place
// of its own for a served design on a server that is there.
func (s *System) startDatabase(ctx context.Context) error {
	if s.newable {
		place, err := s.options.Parts.Designs.NewPlace(ctx, s.Target.Database.URL)
		if err != nil {
			return runerror.Environment(fmt.Errorf("%s: %w", s.Name, err))
		}
		s.Target.Database.URL, s.newable = place.URL(), false
		s.onClose(place.Close)
		return nil
	}
	kind := s.Target.Database.Ephemeral
	if kind == targets.NoEngine {
		return nil
	}
	if s.options.Parts.Ephemeral == nil {
		return noEphemeral(s.Name, "database.ephemeral")
	}
	d, err := s.options.Parts.Ephemeral.Database(ctx, string(kind), s.Target.Database.Schema)
	switch {
	case runerror.IsConfig(err):
		return runerror.Config(fmt.Errorf("%s: database.schema: %w", s.Name, err))
	case err != nil:
		return runerror.Environment(fmt.Errorf("%s: database.ephemeral: %w", s.Name, err))
	}
	s.Target.Database.URL = d.URL()
	s.onClose(d.Close)
	return nil
}

// place is what the process is told, but for its port.
func place(ctx context.Context, s *System) (targets.Place, error) {
	database, err := databaseForProcess(ctx, s)
	where := targets.Place{Database: targets.DatabasePlace{URL: database}}
	if err != nil {
		return where, err
	}
	if where.Store, err = storeForProcess(ctx, s); err != nil {
		return where, err
	}
	if where.Sink, err = sinksForProcess(ctx, s); err != nil {
		return where, err
	}
	u, err := url.Parse(database)
	if err != nil {
		return where, runerror.Configf("%s: database.url cannot be parsed", s.Name)
	}
	d := &where.Database
	if u.Scheme == string(targets.EngineSQLite) {
		d.Name = u.Host + u.Path + u.Opaque
		return where, nil
	}
	d.Host, d.Port, d.User, d.Name = u.Hostname(), u.Port(), u.User.Username(), strings.TrimPrefix(u.Path, "/")
	d.Password, _ = u.User.Password()
	return where, nil
}

// answers returns nil when a target is ready: what its file says, or that its port takes connections.
func answers(ctx context.Context, t targets.Target) error {
	if path := t.Process.Ready.Path; path != "" {
		return driver.Ready(ctx, t, path)
	}
	address, err := addressOf(t.BaseURL)
	if err != nil {
		return err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// newLog is the process's log, without what variables gave to the target file and without passwords.
func (s *System) newLog(to io.Writer) *services.Log {
	return services.NewLog(to, Hidden(s))
}
