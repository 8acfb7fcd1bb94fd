package cmd

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
	"github.com/doubletap-harness/doubletap/internal/ephemeral"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/sut/services"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/caches"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// processLogName is what a target's process prints, inside a run's directory.
const processLogName = "process.log"

// forgetTimeout is how long a store may take to delete what a run has left in it.
const forgetTimeout = 10 * time.Second

// started is what was started for a subject.
type started struct {
	fleet    services.Fleet   // none: the target was there already
	balancer *proxy.Balancer  // in front of several; nil: there are none
	places   []string         // host:port of each of several
	each     []targets.Target // likewise, as targets of their own
	database io.Closer        // nil: it was there
	store    *ephemeral.Database
	left     targets.Store // what a served design leaves in a store that is not its own: the keys that fit its flush
	log      *os.File
	printed  []*services.Log // to log, by each of the fleet
}

// hide keeps secrets out of the process's log.
func (s started) hide(secrets []string) {
	for _, log := range s.printed {
		log.Hide(secrets...)
	}
}

// clean masks what was printed before it was known to be a secret: a token that its service tells of as it gives it.
func (s started) clean() error {
	text, err := os.ReadFile(s.log.Name())
	switch {
	case errors.Is(err, fs.ErrNotExist): // the directory went with the command
		return nil
	case err != nil:
		return err
	}
	masked := string(text)
	for _, log := range s.printed {
		masked = log.Mask(masked)
	}
	if masked != string(text) {
		return os.WriteFile(s.log.Name(), []byte(masked), 0o644)
	}
	return nil
}

// forget deletes what a served design has left in a store that is not its own.
func (s started) forget() error {
	if !s.left.Declared() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), forgetTimeout)
	defer cancel()
	store, err := caches.Open(ctx, s.left.URL)
	if err == nil {
		_, err = store.Flush(ctx, s.left.Flush)
	}
	return errors.Join(err, store.Close())
}

// close stops the process before its database and its store, and then the log has ended.
func (s started) close() error {
	var errs []error
	if s.balancer != nil {
		errs = append(errs, s.balancer.Close())
	}
	errs = append(errs, s.fleet.Stop(), s.forget())
	if s.database != nil {
		errs = append(errs, s.database.Close())
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	if s.log != nil {
		errs = append(errs, s.log.Close(), s.clean())
	}
	return errors.Join(errs...)
}

// start starts what the target file wants to be started, the database first, and returns when the target is
// ready. What it prints goes into the directory. A subject without a process is there already.
func (s *subject) start(ctx context.Context, dir runDir, from streams) error {
	p := s.target.Process
	if p == nil {
		return nil
	}
	if err := errors.Join(s.startDatabase(ctx), s.startStore(ctx)); err != nil {
		return err
	}
	ports, err := s.findPorts()
	if err != nil {
		return err
	}
	where, err := s.place(ctx)
	if err != nil {
		return err
	}
	if s.started.log, err = os.Create(filepath.Join(dir.path, processLogName)); err != nil {
		return surroundings(fmt.Errorf("write the run's files: %w", err))
	}
	var all []services.Options
	for i, port := range ports {
		where.Port = port
		o, err := s.instance(where, s.newLog(s.logOf(i), from))
		if err != nil {
			return err
		}
		all = append(all, o)
	}
	if s.builtIn() {
		s.started.left = s.target.Store
	}
	if s.started.fleet, err = services.StartFleet(ctx, all); err != nil {
		return surroundings(fmt.Errorf("start the process of %s: %w", s.name, err))
	}
	return s.balance(ctx, ports)
}

// instance is how one of the target's instances is started.
func (s *subject) instance(where targets.Place, log *services.Log) (services.Options, error) {
	p := s.target.Process
	command, env, err := p.Fill(where)
	if err != nil {
		return services.Options{}, mistake(fmt.Errorf("%s: %w", s.name, err))
	}
	itself, err := s.at(where.Port)
	if err != nil {
		return services.Options{}, err
	}
	s.started.printed = append(s.started.printed, log)
	return services.Options{
		Command: command, Dir: p.Directory, Env: env, Within: time.Duration(p.Ready.Within),
		Ready:  func(ctx context.Context) error { return answers(ctx, itself) },
		Signal: signals()[p.Stop.Signal], Grace: time.Duration(p.Stop.Within), Log: log,
	}, nil
}

func signals() map[string]syscall.Signal {
	return map[string]syscall.Signal{
		"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT, "SIGQUIT": syscall.SIGQUIT, "SIGHUP": syscall.SIGHUP, "SIGKILL": syscall.SIGKILL,
	}
}

func (s *subject) startDatabase(ctx context.Context) error {
	if s.placeless {
		place, err := orders.NewPlace(ctx, s.target.Database.URL)
		if err != nil {
			return surroundings(fmt.Errorf("%s: %w", s.name, err))
		}
		s.started.database, s.target.Database.URL, s.placeless = place, place.URL(), false
		return nil
	}
	if s.target.Database.Ephemeral == targets.NoEngine {
		return nil
	}
	d, err := ephemeral.Start(ctx, string(s.target.Database.Ephemeral), s.target.Database.Schema)
	switch {
	case errors.Is(err, ephemeral.ErrSchema):
		return mistake(fmt.Errorf("%s: database.schema: %w", s.name, err))
	case err != nil:
		return surroundings(fmt.Errorf("%s: database.ephemeral: %w", s.name, err))
	}
	s.started.database, s.target.Database.URL = d, d.URL()
	return nil
}

// place is what the process is told, but for its port.
func (s *subject) place(ctx context.Context) (targets.Place, error) {
	database, err := s.databaseForProcess(ctx)
	where := targets.Place{Database: targets.DatabasePlace{URL: database}}
	if err != nil {
		return where, err
	}
	if where.Store, err = s.storeForProcess(ctx); err != nil {
		return where, err
	}
	u, err := url.Parse(database)
	if err != nil {
		return where, mistakef("%s: database.url cannot be parsed", s.name)
	}
	d := &where.Database
	if u.Scheme == ephemeral.SQLite {
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
func (s *subject) newLog(to io.Writer, from streams) *services.Log {
	secrets := append(passwordIn(s.target.Database.URL), passwordIn(s.target.Store.URL)...)
	source, _ := os.ReadFile(s.name) // it was read a moment ago
	for _, found := range variableNames.FindAllSubmatch(source, -1) {
		if value, set := from.getenv(string(found[1])); set && len(value) >= driver.ShortestSecret {
			secrets = slices.Concat(secrets, driver.Writings(value), passwordIn(value))
		}
	}
	return services.NewLog(to, secrets)
}

// ended says how the target's process ended, if there is one and it ended by itself.
func (s *subject) ended() error {
	return s.started.fleet.Ended()
}

// databaseDeclared is a URL of the database for those who look at its kind only, and for none if there is none.
func (s *subject) databaseDeclared() string {
	if kind := s.target.Database.Ephemeral; s.target.Database.URL == "" && kind != targets.NoEngine {
		return string(kind) + ":"
	}
	return s.target.Database.URL
}
