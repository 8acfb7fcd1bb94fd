// Package sut opens the system under test: it turns a target file, or the name of a
// built-in design, into a system that is running, with its database, its store, its links
// and its instances, and closes in the reverse order whatever it opened.
//
//	Open           loads, and picks the operation; nothing is contacted yet
//	System.Guard   rejects every host that is neither this machine nor allowed
//	OpenLinks, Start, Connect   in the order of engine's bring-up
//	System.Close   the latest first
//
// The package knows what a target has, and so which scenarios can be played (needs.go). It
// sends no request of a scenario, and keeps passwords out of whatever is printed or
// written.
package sut

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/driver/writegate"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/snapshots"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/caches"
)

// System is a system under test. [Open] makes one. It is not safe for concurrent use, but
// for what Process, Links and Rows say. Its Target changes while it is brought up: ports,
// URLs of private servers and links take their places in it.
type System struct {
	Name       string             // as named: builtin:NAME, served:NAME or a file's path
	Target     targets.Target     // what was started for it has its place here
	Operations []driver.Operation // the run's, and then the others that take a key of the client's choice, by name
	Ways       []driver.Operation // the others that make the same as the run's, by name
	Principals []driver.Principal // by name; the first is the run's
	Process    Process            // what was started, by Start
	Links      Links              // inside the system
	Sinks      sinks.Sinks        // in place of other services; by OpenLinks
	Rows       *snapshots.Reader  // by Connect; nil: no database is declared
	Replicas   []Replica          // databases of instances, besides that of Rows; likewise
	Store      *caches.Store      // of the target, to be flushed; nil: no scenario needs it

	options Options
	loaded  targets.Target // as the file has it
	server  DesignServer   // nil: it does not run inside this process
	gates   []*writegate.Gate
	sinking bool // its sinks are there
	newable bool // it gets a place of its own on the server of its database, and has none yet
	closers []func() error
}

// Operation is the run's.
func (s *System) Operation() driver.Operation { return s.Operations[0] }

// NotPlayed names the target's other operations, unless each is played in turn. Scenarios play them at most beside the run's.
func (s *System) NotPlayed() []string {
	if s.options.EachOperation {
		return nil
	}
	return slices.DeleteFunc(s.Target.OperationNames(), func(name string) bool { return name == s.Operation().Name })
}

// OperationOf returns the operation that an intent was sent to. An empty name is the
// run's.
func (s *System) OperationOf(i history.Intent) driver.Operation {
	for _, o := range slices.Concat(s.Operations, s.Ways) {
		if o.Name == i.Operation {
			return o
		}
	}
	return s.Operation()
}

// Terms returns what the system is checked against. They go into the run's files, so they
// hold no request: headers may hold secrets.
func (s *System) Terms() checker.Terms {
	t := checker.Terms{Contract: s.Target.Contract, Operation: s.Operation().Judged(), Unwatched: s.options.Unwatched}
	for _, o := range slices.Concat(s.Operations[1:], s.Ways) {
		if t.Others == nil {
			t.Others = map[string]contract.Operation{}
		}
		t.Others[o.Name] = o.Judged()
	}
	return t
}

// onClose remembers what closes something that was opened.
func (s *System) onClose(closer func() error) { s.closers = append(s.closers, closer) }

// Close stops what was started and closes what was opened, the latest first: a process
// before its database, and that before its link. It tries all, whatever fails. Closing
// again does nothing.
func (s *System) Close() error {
	var errs []error
	for n := len(s.closers) - 1; n >= 0; n-- {
		errs = append(errs, s.closers[n]())
	}
	s.closers = nil
	if err := errors.Join(errs...); err != nil {
		return runerror.Environment(fmt.Errorf("tidy up after %s: %w", s.Name, err))
	}
	return nil
}

// Connect opens the database, begins to read at the brokers of sinks, and opens the write gates and the store where a scenario needs them.
func (s *System) Connect(ctx context.Context, needs func(scenarios.Need) bool) error {
	var err error
	switch {
	case s.options.DB != nil:
		s.Rows, err = snapshots.Over(ctx, s.options.DB)
	case s.Target.Database.URL != "":
		s.Rows, err = snapshots.Open(ctx, s.Target.Database.URL)
	}
	if err != nil {
		return runerror.Environment(err)
	}
	if s.Rows != nil {
		s.onClose(s.Rows.Close)
	}
	if err := connectReplicas(ctx, s); err != nil {
		return err
	}
	if err := followSinks(ctx, s); err != nil {
		return err
	}
	if needs(scenarios.NeedsFlush) {
		if s.Store, err = caches.Open(ctx, s.Target.Store.URL); err != nil {
			return runerror.Environment(fmt.Errorf("%s: store.url: %w", s.Name, err))
		}
	}
	if needs(scenarios.NeedsWriteGate) {
		return s.OpenGates(ctx)
	}
	return nil
}

// OpenGates makes sure that the writes to the tables that the target file names can be held back.
func (s *System) OpenGates(ctx context.Context) error {
	for _, table := range s.Target.Database.WriteGate.Tables {
		gate, err := writegate.Open(ctx, s.Target.Database.URL, table)
		if err != nil {
			return runerror.Environment(fmt.Errorf("%s: database.write_gate: %w", s.Name, err))
		}
		s.gates = append(s.gates, gate)
		s.onClose(gate.Close)
	}
	return nil
}

// WriteGates are the tables to which a driver may hold back writes.
func (s *System) WriteGates() []driver.WriteGate {
	var all []driver.WriteGate
	for i, gate := range s.gates {
		all = append(all, driver.WriteGate{
			Table: s.Target.Database.WriteGate.Tables[i], Longest: time.Duration(s.Target.Database.WriteGate.Longest),
			// A nil *Held in an interface would not be nil.
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

// Address is where the system is, for people.
func (s *System) Address() string {
	if names := s.Target.InstanceNames(); len(names) > 0 {
		var all []string
		for i, name := range names {
			all = append(all, name+" at "+s.Process.Places[i])
		}
		return fmt.Sprintf("%s, requests in turn to %s", PublicBase(s), strings.Join(all, ", "))
	}
	if s.Target.Socket != "" {
		return fmt.Sprintf("%s by the socket %s", PublicBase(s), s.Target.Socket)
	}
	return PublicBase(s)
}

// PublicBase is base_url for others to read. A token may stand in its path, as in the URL
// of a webhook: *** stands there for what a variable gives, if that is no URL itself.
func PublicBase(s *System) string {
	source, err := s.options.source()
	if err != nil || s.BuiltIn() {
		return s.Target.BaseURL
	}
	scheme, rest, _ := strings.Cut(s.Target.BaseURL, "://")
	host, path, within := strings.Cut(rest, "/")
	if !within {
		return s.Target.BaseURL
	}
	for _, found := range variableNames.FindAllSubmatch(source, -1) {
		if value, _ := s.options.env(string(found[1])); len(value) >= driver.ShortestSecret && !strings.Contains(value, "://") {
			for _, written := range driver.Writings(value) {
				path = strings.ReplaceAll(path, written, "***")
			}
		}
	}
	return scheme + "://" + host + "/" + path
}

// RowsSource is where the rows are read from, without user and password; empty: nowhere.
func (s *System) RowsSource() string {
	switch {
	case s.Target.AsksItself():
		return "the target's own listing"
	case s.options.DB != nil:
		return "the database that was given"
	}
	if kind := s.Target.Database.Ephemeral; kind != targets.NoEngine {
		return fmt.Sprintf("a private %s database", kind)
	}
	return PublicURL(s.Target.Database.URL)
}

// PublicURL shows a database's URL without its user, password and parameters; empty: it is none.
func PublicURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// DatabaseKind is a URL of the database from which its kind can be read; empty: there is no database.
func (s *System) DatabaseKind() string {
	if kind := s.Target.Database.Ephemeral; s.Target.Database.URL == "" && kind != targets.NoEngine {
		return string(kind) + ":"
	}
	return s.Target.Database.URL
}

// Upstream returns host:port of the system.
func (s *System) Upstream() (string, error) {
	address, err := addressOf(s.Target.BaseURL)
	if err != nil {
		return "", runerror.Configf("%s: base_url cannot be parsed", s.Name)
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
