package orders

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"

	"github.com/doubletap-harness/doubletap/internal/leftovers"
)

// connections is how many connections one API may have to a database server.
const connections = 24

// dropTimeout bounds how long a store waits to remove what it made.
const dropTimeout = 10 * time.Second

// sweepTimeout bounds how long what other processes have left is looked for and removed.
const sweepTimeout = 5 * time.Second

// store is a place in a database that one API has for itself.
type store struct {
	db     *db
	tables func() (*sql.DB, error) // a pool that makes the tables, where the usual one goes another way; nil: it does not
	url    string                  // for a reader of this place
	drop   func() error            // removes what was made
	kept   bool                    // it is the database itself, and drop removes nothing
}

// openStore makes a place in the database of the options, or takes that database as it is.
func openStore(ctx context.Context, o Options) (*store, error) {
	switch {
	case o.Keep && o.Database == "":
		return nil, errors.New("a database that is to be kept needs a URL")
	case o.Keep && o.DatabaseProxy != "":
		return nil, errors.New("a database that is to be kept is reached at the address of its URL only")
	case o.Database == "":
		return openTemporary()
	}
	link, err := parse(o.Database)
	switch {
	case err != nil:
		return nil, err
	case o.Keep:
		return openKept(link, o.Database)
	case link.Scheme == "sqlite":
		return openFile(fileOf(link))
	}
	p, err := on(link, o.DatabaseProxy)
	if err != nil {
		return nil, err
	}
	if o.DatabaseProxy == "" {
		p.tables = nil
	}
	return p.open(ctx)
}

func parse(address string) (*url.URL, error) {
	link, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the database's URL cannot be read") // the error would show the password
	}
	return link, nil
}

// fileOf is the path of a SQLite file, by a URL with slashes or without: sqlite:///tmp/shop.db, sqlite://shop.db,
// sqlite:shop.db.
func fileOf(link *url.URL) string { return link.Host + link.Path + link.Opaque }

// Place is a schema, or a database, of its own on a server, for an API that is served with Options.Keep.
type Place struct {
	url  string
	drop func() error
}

// NewPlace makes a place on the server of a postgres or mariadb URL. It is empty.
func NewPlace(ctx context.Context, address string) (*Place, error) {
	link, err := parse(address)
	if err != nil {
		return nil, err
	}
	p, err := on(link, "")
	if err != nil {
		return nil, err
	}
	drop, err := p.make(ctx)
	return &Place{p.url, drop}, err
}

// URL is the address of the place, with the password if there is one.
func (p *Place) URL() string { return p.url }

// Close removes the place with all that is in it.
func (p *Place) Close() error { return p.drop() }

func (s *store) close() error {
	s.db.close()
	return s.drop()
}

// makeTables runs statements. They need no proxy.
func (s *store) makeTables(ctx context.Context, statements []string) error {
	on := s.db
	if s.tables != nil {
		pool, err := s.tables()
		if err != nil {
			return fmt.Errorf("open the database: %w", err)
		}
		defer pool.Close()
		on = newDB(pool, pool, s.db.dialect)
	}
	for _, statement := range statements {
		if err := on.exec(ctx, s.db.dialect.inBytes(statement)); err != nil {
			return fmt.Errorf("make the tables: %w", err)
		}
	}
	return nil
}

// inBytes has a statement that makes a table say that texts are equal only if their bytes are: a key is no prose. The
// database that is to hold the table may take it for that, as MariaDB's usual collations do.
func (d dialect) inBytes(statement string) string {
	makes := strings.HasPrefix(statement, "create table") && !strings.Contains(statement, " collate ")
	if d != dialectMariaDB || !makes {
		return statement
	}
	return statement + " character set utf8mb4 collate utf8mb4_nopad_bin"
}

func openTemporary() (*store, error) {
	_, _ = leftovers.Sweep() // what others have left does not keep us from beginning
	dir, err := leftovers.Folder("", "doubletap-orders-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the database: %w", err)
	}
	made, err := openFile(filepath.Join(dir, "orders.db"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	made.drop = func() error { return os.RemoveAll(dir) }
	return made, nil
}

// openFile uses a SQLite file that must not exist yet: its tables would be another's.
func openFile(path string) (*store, error) {
	if _, err := os.Stat(path); err == nil {
		return nil, fmt.Errorf("the SQLite file %s exists already", path)
	}
	return openFileAsItIs(path)
}

func openFileAsItIs(path string) (*store, error) {
	if path == "" {
		return nil, errors.New("the database's URL names no file")
	}
	query := url.Values{"_txlock": {"immediate"}, "_pragma": {"journal_mode(wal)", "synchronous(normal)", "busy_timeout(10000)"}}
	source := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + query.Encode()
	pool, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, fmt.Errorf("open the SQLite file %s: %w", path, err)
	}
	// SQLite has one writer at a time. Waiting for the one connection is fair; waiting in SQLite, by
	// sleeping and trying again, lets some starve. Readers never wait.
	pool.SetMaxOpenConns(1)
	readers, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the SQLite file %s: %w", path, err), pool.Close())
	}
	readers.SetMaxOpenConns(connections)
	readers.SetMaxIdleConns(connections)
	drop := func() error {
		var problems []error
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(path + suffix); !errors.Is(err, os.ErrNotExist) {
				problems = append(problems, err)
			}
		}
		return errors.Join(problems...)
	}
	link := url.URL{Scheme: "sqlite", Path: path}
	return &store{db: newDB(pool, readers, dialectSQLite), url: link.String(), drop: drop}, nil
}

// on is a namespace on the server of a URL, which APIs reach at the address of the proxy.
func on(link *url.URL, proxy string) (place, error) {
	switch link.Scheme {
	case "postgres", "postgresql":
		return onPostgres(link, proxy), nil
	case "mariadb", "mysql":
		return onMariaDB(link, proxy)
	default:
		return place{}, fmt.Errorf("the database's URL begins with %q: known are sqlite, postgres, mariadb and mysql", link.Scheme)
	}
}

// onPostgres is a schema that is put on the search path, so that the SQL of the designs is plain.
func onPostgres(link *url.URL, proxy string) place {
	schema := leftovers.Name(placePrefix)
	open := func(source string) func() (*sql.DB, error) {
		return func() (*sql.DB, error) { return sql.Open("pgx", source) }
	}
	own := *link
	query := own.Query()
	query.Set("search_path", schema)
	own.RawQuery = query.Encode()
	through := own
	if proxy != "" {
		query.Del("host")
		query.Del("port")
		through.Host, through.RawQuery = proxy, query.Encode()
	}
	return place{
		dialect: dialectPostgres, url: own.String(),
		names:  `select nspname from pg_namespace where nspname like 'doubletap\_%'`,
		create: "create schema " + schema,
		drop:   func(name string) string { return "drop schema if exists " + name + " cascade" }, name: schema,
		admin: open(link.String()), pool: open(through.String()), tables: open(own.String()),
	}
}

// onMariaDB is a database of its own: to MariaDB a schema is one.
func onMariaDB(link *url.URL, proxy string) (place, error) {
	config, err := mariadbConfig(link)
	if err != nil {
		return place{}, err
	}
	name := leftovers.Name(placePrefix)
	open := func(config *mysql.Config) func() (*sql.DB, error) {
		return func() (*sql.DB, error) {
			connector, err := mysql.NewConnector(config)
			if err != nil {
				return nil, err
			}
			return sql.OpenDB(connector), nil
		}
	}
	ownConfig := config.Clone()
	ownConfig.DBName = name
	throughConfig := ownConfig.Clone()
	throughConfig.Addr = cmp.Or(proxy, config.Addr)
	own := *link
	own.Path = "/" + name
	return place{
		dialect: dialectMariaDB, url: own.String(),
		names:  `select schema_name from information_schema.schemata where schema_name like 'doubletap\_%'`,
		create: "create database " + name,
		drop:   func(name string) string { return "drop database if exists " + name }, name: name,
		admin: open(config), pool: open(throughConfig), tables: open(ownConfig),
	}, nil
}

func mariadbConfig(link *url.URL) (*mysql.Config, error) {
	address := link.Host
	if link.Port() == "" {
		address = net.JoinHostPort(link.Hostname(), "3306")
	}
	config, err := mysql.ParseDSN("tcp(" + address + ")/" + strings.TrimPrefix(link.Path, "/") + "?" + link.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("read the URL %s: %w", link.Redacted(), err)
	}
	config.User = link.User.Username()
	config.Passwd, _ = link.User.Password()
	config.ClientFoundRows = true // an update counts the rows that it matched, as elsewhere
	config.Logger = &mysql.NopLogger{}
	return config, nil
}

// openKept uses the database at a URL as it is.
func openKept(link *url.URL, address string) (made *store, err error) {
	if link.Scheme == "sqlite" {
		made, err = openFileAsItIs(fileOf(link))
	} else {
		made, err = openThere(link)
	}
	if err != nil {
		return nil, err
	}
	made.url, made.kept, made.drop = address, true, func() error { return nil }
	return made, nil
}

// openThere opens the database on a server that a URL names, and no namespace of its own in it.
func openThere(link *url.URL) (*store, error) {
	p, err := on(link, "")
	if err != nil {
		return nil, err
	}
	db, err := openPool(p.dialect, p.admin)
	return &store{db: db}, err
}

func openPool(speaks dialect, open func() (*sql.DB, error)) (*db, error) {
	pool, err := open()
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return newDB(pool, pool, speaks), nil
}

// place is a namespace on a database server that is to be made.
type place struct {
	dialect dialect
	name    string
	url     string // of the namespace
	names   string // query of all that were ever made
	create  string // statement
	drop    func(name string) string
	admin   func() (*sql.DB, error)
	pool    func() (*sql.DB, error) // inside the namespace
	tables  func() (*sql.DB, error) // likewise, but not through the proxy
}

// placePrefix is what the names of places begin with.
const placePrefix = "doubletap_"

// Sweep removes the places on the server of a postgres or mariadb URL that processes of this machine have left there when they
// were killed, and returns their names.
func Sweep(ctx context.Context, address string) ([]string, error) {
	link, err := parse(address)
	if err != nil {
		return nil, err
	}
	p, err := on(link, "")
	if err != nil {
		return nil, err
	}
	pool, err := p.admin()
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	defer pool.Close()
	return p.sweep(ctx, pool)
}

func (p place) sweep(ctx context.Context, pool *sql.DB) (removed []string, err error) {
	rows, err := pool.QueryContext(ctx, p.names)
	if err != nil {
		return nil, fmt.Errorf("look for what was left: %w", err)
	}
	defer rows.Close()
	var left []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if dead := leftovers.Dead(name); dead != "" && name == placePrefix+dead {
			left = append(left, name)
		}
	}
	problems := []error{rows.Err()}
	for _, name := range left {
		if _, err := pool.ExecContext(ctx, p.drop(name)); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", p.drop(name), err))
			continue
		}
		removed = append(removed, name)
	}
	return removed, errors.Join(problems...)
}

// make returns what removes the namespace again. Until then it keeps a connection: to open one costs a server more than all that is asked
// on it.
func (p place) make(ctx context.Context) (drop func() error, err error) {
	pool, err := p.admin()
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	bounded, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	_, _ = p.sweep(bounded, pool) // what others have left does not keep us from beginning
	if err := p.asAdmin(ctx, pool, p.create); err != nil {
		_ = pool.Close()
		return nil, err
	}
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
		defer cancel()
		defer pool.Close()
		return p.asAdmin(ctx, pool, p.drop(p.name))
	}, nil
}

func (p place) open(ctx context.Context) (*store, error) {
	drop, err := p.make(ctx)
	if err != nil {
		return nil, err
	}
	db, err := openPool(p.dialect, p.pool)
	if err != nil {
		return nil, errors.Join(err, drop())
	}
	return &store{db: db, tables: p.tables, url: p.url, drop: drop}, nil
}

// asAdmin runs one statement outside the namespace. Whoever drops it may meet a transaction that has not ended, and be given up as
// the victim of a deadlock.
func (p place) asAdmin(ctx context.Context, pool *sql.DB, statement string) error {
	return newDB(pool, pool, p.dialect).retry(ctx, func() error {
		if _, err := pool.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		return nil
	})
}
