// Package orders is the built-in system under test: an HTTP API that creates orders over SQLite,
// PostgreSQL or MariaDB, some with Redis or a service that they ask, in several designs, correct ones and broken
// ones. It turns the name of a design and a database into a running server and the targets.Target that describes it.
package orders

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// defaultWork is how long a payment authorisation takes unless Options say otherwise.
const defaultWork = 20 * time.Millisecond

// patience is how long a server that closes waits for the requests that are being executed.
const patience = 2 * time.Second

// ErrNoStore says that a design takes a Redis server, and there is none in the options.
var ErrNoStore = errors.New("it keeps its keys or its locks in Redis, and no store is given")

// Options says which design is served, and over what.
type Options struct {
	Design        string // name of a design, see Designs
	Database      string // URL: postgres, mariadb, mysql or sqlite; empty: a new SQLite file in a temporary folder
	Store         string // URL of a Redis server, for designs that take one
	DatabaseProxy string // host:port by which the API reaches the database server; empty: as the URL says

	StoreProxy  string // host:port by which the API reaches the Redis server; empty: as the URL says
	StorePrefix string // of the names of the API's keys in the store; empty: one that no other API has

	// Dependency is the address of the service that some designs ask, which is served with the API and ends with it;
	// empty: a free port on 127.0.0.1. DependencyProxy gets that address and returns host:port by which the API goes
	// there; nil: directly.
	Dependency      string
	DependencyProxy func(ctx context.Context, to string) (string, error)

	// Outside is the URL of a service outside of this process that some designs ask, such as for payments or mails; empty: they ask
	// nothing, and go on.
	Outside string

	Listen string        // address; empty: a free port on 127.0.0.1
	Keep   bool          // the tables lie in the database as it is, are made where they are missing, and stay
	Work   time.Duration // what a handler's payment authorisation takes; 0: 20ms, negative: nothing

	// Die ends the process, for designs that have such a defect; nil: it goes on.
	Die func(text string)

	// Authorise takes the place of the payment authorisation, for a caller that decides when each of them ends; nil: it
	// takes Work. The context ends when the client leaves, if the design cares, and when the server closes.
	Authorise func(ctx context.Context) error
}

// Server is one running orders API with a schema or database of its own. Its methods are safe for
// concurrent use.
type Server struct {
	design     Design
	url        string
	api        *api
	store      *store
	redis      *redisStore
	dependency *dependency
	http       *http.Server
	served     chan error

	once     sync.Once
	closeErr error
}

// Start makes the design's tables and serves it until Close. The context bounds the start only.
func Start(ctx context.Context, options Options) (*Server, error) {
	design, err := find(options.Design)
	if err != nil {
		return nil, err
	}
	if options.Work == 0 {
		options.Work = defaultWork
	}
	options.Work = max(options.Work, 0)
	if options.Listen == "" {
		options.Listen = "127.0.0.1:0"
	}
	server := &Server{design: design, served: make(chan error, 1)}
	if err := server.begin(ctx, options); err != nil {
		return nil, fmt.Errorf("start %s: %w", design.Name, err)
	}
	return server, nil
}

// begin opens the places in which the API keeps things, and then the API. What failed leaves nothing open.
func (s *Server) begin(ctx context.Context, o Options) (err error) {
	if s.design.Redis {
		if o.Store == "" {
			return ErrNoStore
		}
		if s.redis, err = openRedis(ctx, o); err != nil {
			return err
		}
	}
	if s.store, err = openStore(ctx, o); err != nil {
		return errors.Join(err, s.redis.close())
	}
	if s.design.Dependency {
		if s.dependency, err = openDependency(ctx, o); err != nil {
			return errors.Join(err, s.store.close(), s.redis.close())
		}
	}
	s.api = newAPI(s.design, s.store.db, s.redis, s.dependency, o.Work)
	s.api.authorise, s.api.outside.url = o.Authorise, o.Outside
	if o.Die != nil {
		s.api.die = o.Die
	}
	if err := s.open(ctx, o.Listen); err != nil {
		return errors.Join(err, s.dependency.close(), s.store.close(), s.redis.close())
	}
	return nil
}

// open makes the tables and begins to listen.
func (s *Server) open(ctx context.Context, address string) error {
	if speaks := string(s.store.db.dialect); !s.design.StandsOn(speaks) {
		return fmt.Errorf("it is built for %s, and the database is %s", strings.Join(s.design.On, " and "), speaks)
	}
	if err := s.store.makeTables(ctx, s.missing(ctx)); err != nil {
		return err
	}
	if s.design.resume != nil {
		s.api.later(func() { s.design.resume(s.api) })
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	s.url = "http://" + listener.Addr().String()
	if s.design.listen != nil {
		listener = s.design.listen(listener)
	}
	s.http = &http.Server{Handler: s.api.routes(), Protocols: new(http.Protocols), ReadHeaderTimeout: 10 * time.Second, ConnContext: keepConnection}
	s.http.Protocols.SetHTTP1(true)
	s.http.Protocols.SetUnencryptedHTTP2(s.design.listen == nil) // which has heads that listen cannot read
	go func() { s.served <- s.http.Serve(listener) }()
	return nil
}

// missing are the statements that make the tables, unless an earlier server has left them.
func (s *Server) missing(ctx context.Context) []string {
	n := 0
	if s.store.kept && s.store.db.queryRow(ctx, "select count(*) from orders").Scan(&n) == nil {
		return nil
	}
	return s.design.schema
}

// URL is the base URL of the API.
func (s *Server) URL() string { return s.url }

// DatabaseURL is where a reader finds this server's tables and no other's.
func (s *Server) DatabaseURL() string { return s.store.url }

// Design is the design that is served.
func (s *Server) Design() Design { return s.design }

// Close stops the server, lets running requests end for a moment, and drops the tables with
// everything else that Start made. Closing again does nothing.
func (s *Server) Close() error {
	s.once.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Server) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.api.stop()
	if serveErr := <-s.served; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return errors.Join(err, s.dependency.close(), s.store.close(), s.redis.close())
}
