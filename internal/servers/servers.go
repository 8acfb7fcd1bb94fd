// Package servers starts private, throw-away PostgreSQL, MariaDB, Redis and RabbitMQ servers from the programs that
// are installed on this machine, for tests and trials. It turns an installed package into a URL that
// works until Stop, and leaves nothing behind, even when the process that asked for it is killed.
//
// The parts: servers.go has the plan that all kinds of server follow, and a file for each kind (postgres.go,
// mariadb.go, redis.go, rabbitmq.go, nats.go) what differs, with greet.go for the first words to each. process.go
// has the keeper that ends a server when we are gone, folder.go the same for a folder, and owner.go the user as
// whom a server runs. install.go and node.go install what is missing, and serving.go is for the tests of a
// package.
package servers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/internal/ports"
)

// Default limits of a server.
const (
	defaultConnections = 400
	startTimeout       = 3 * time.Minute
	startTries         = 3
)

// account is the name of the user and of the database that every server is given.
const account = "doubletap"

// Options says how a server is started. The zero value is ready to use.
type Options struct {
	Programs       string    // folder of the server's programs; empty: where Debian puts them, then PATH
	Dir            string    // folder in which the server's own temporary folder is made; empty: os.TempDir
	MaxConnections int       // 0: 400
	CheapLogin     bool      // PostgreSQL keeps its random password by MD5: SCRAM hashes 4096 times for each connection
	Log            io.Writer // what the server prints; nil: kept only to explain a failed start
}

// Server is a running private database server. Its methods are safe for concurrent use.
type Server struct {
	url     string
	process *process
}

// URL is the address of the server's database, with the user's password. The user may create
// schemas and databases; on Redis, it may do everything.
func (s *Server) URL() string { return s.url }

// Stop ends the server at once and removes its files. Stopping again does nothing.
func (s *Server) Stop() error { return s.process.stop() }

// plan is what differs between the kinds of server.
type plan struct {
	name    string // in errors and in the name of the folder
	program string // that serves
	user    string // of the operating system, where we are root and the server refuses to be
	signal  string // that ends the server at once
	more    int    // ports that it takes beside the one where it listens
	missing error
	prepare func(ctx context.Context, site site) error
	args    func(site site) []string
	greet   func(ctx context.Context, site site) error // succeeds when the server takes queries
	url     func(site site) string
}

// site is one place where one server may run.
type site struct {
	owner       owner
	dir         string // everything of the server is in here
	port        int
	more        []int // other ports, as the plan says
	reserved    []*ports.Port
	password    string
	connections int
}

// address is where the server listens.
func (s site) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// link is the server's URL with the given scheme.
func (s site) link(scheme, query string) string {
	link := url.URL{
		Scheme: scheme, User: url.UserPassword(account, s.password),
		Host: s.address(), Path: "/" + account, RawQuery: query,
	}
	return link.String()
}

// start runs a plan. Another program may take the free port before the server does, so that a start
// that failed for this reason is tried again.
func (p plan) start(ctx context.Context, options Options) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for try := 1; ; try++ {
		server, err := p.startOnce(ctx, options)
		if err == nil {
			return server, nil
		}
		if try == startTries || !strings.Contains(strings.ToLower(err.Error()), "in use") {
			return nil, fmt.Errorf("start a private %s server: %w", p.name, err)
		}
	}
}

// startOnce makes a place for a server, starts it there and waits until it takes queries. Where
// that fails, nothing is left.
func (p plan) startOnce(ctx context.Context, options Options) (*Server, error) {
	where, err := p.settle(options)
	if err != nil {
		return nil, err
	}
	if err := p.prepare(ctx, where); err != nil {
		return nil, where.abandon(err)
	}
	running, err := launch(where, p.signal, append([]string{p.program}, p.args(where)...), options.Log)
	if err != nil {
		return nil, where.abandon(err)
	}
	if err := running.waitUntil(ctx, func() error { return greet(ctx, p, where) }); err != nil {
		_ = running.stop()
		return nil, err
	}
	return &Server{url: p.url(where), process: running}, nil
}

// settle chooses and makes the place for one server.
func (p plan) settle(options Options) (site, error) {
	where := site{password: rand.Text(), connections: options.MaxConnections}
	if where.connections == 0 {
		where.connections = defaultConnections
	}
	var err error
	if where.owner, err = findOwner(p.user); err != nil {
		return where, fmt.Errorf("%w (%w)", p.missing, err)
	}
	for range 1 + p.more {
		port, err := ports.Reserve("127.0.0.1")
		if err != nil {
			return where, errors.Join(err, where.release())
		}
		where.reserved, where.more = append(where.reserved, port), append(where.more, port.Number)
	}
	where.port, where.more = where.more[0], where.more[1:]
	if where.dir, err = where.owner.makeDir(options.Dir, "doubletap-"+p.name+"-"); err != nil {
		return where, errors.Join(err, where.release())
	}
	return where, nil
}

// release lets others have the ports.
func (s site) release() error {
	var errs []error
	for _, port := range s.reserved {
		errs = append(errs, port.Release())
	}
	return errors.Join(errs...)
}

// greet waits for an answer only so long: the next try may find the server ready.
func greet(ctx context.Context, p plan, where site) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return p.greet(ctx, where)
}
