// Package readers takes snapshots: it turns the queries of a target's operations and lists of markers
// into what the database held for each at one moment. It only reads.
package readers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// Reader asks one database. Safe for concurrent use.
type Reader struct {
	db      *sql.DB
	dialect dialect
	host    string
}

// dialect is what differs between the databases.
type dialect struct {
	driver    string
	parameter func(n int) string // the n-th parameter of a statement, from 1
	read      sql.TxOptions      // a read-only view of one moment
}

// connections bounds what the harness takes of the database's connections.
const connections = 4

// Open connects to the database at url and checks that it answers. Errors never hold the password.
func Open(ctx context.Context, databaseURL string) (*Reader, error) {
	r, dsn, err := parse(databaseURL)
	if err != nil {
		return nil, err
	}
	if r.db, err = sql.Open(r.dialect.driver, dsn); err != nil {
		return nil, fmt.Errorf("open database at %s: %w", r.host, err)
	}
	r.db.SetMaxOpenConns(connections)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := r.db.PingContext(ctx); err != nil {
		r.db.Close()
		return nil, fmt.Errorf("reach database at %s: %s", r.host, oneLine(err))
	}
	return r, nil
}

// oneLine writes an error on one line: PostgreSQL's driver takes one for each address that it tried.
func oneLine(err error) string {
	var parts []string
	for _, line := range strings.Split(err.Error(), "\n") {
		if part := strings.TrimSpace(line); !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " ")
}

// Host returns the host and port of the database, or the path of its file.
func (r *Reader) Host() string { return r.host }

// Close ends all connections.
func (r *Reader) Close() error { return r.db.Close() }

// HostsOf returns every host that a connection to the database may go to, without ports: none for a
// file, the path of its folder for a socket. It asks the driver where the driver decides: a PostgreSQL
// URL can name hosts in its query, or leave them to the environment.
func HostsOf(databaseURL string) ([]string, error) {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return nil, errors.New("the database URL cannot be parsed (it is not shown: it may hold a password)")
	}
	switch u.Scheme {
	case "", "sqlite":
		return nil, nil
	case "postgres", "postgresql":
		config, err := pgconn.ParseConfig(databaseURL)
		if err != nil {
			return nil, errors.New("the database URL cannot be understood (it is not shown: it may hold a password)")
		}
		hosts := []string{config.Host}
		for _, fallback := range config.Fallbacks {
			hosts = append(hosts, fallback.Host)
		}
		slices.Sort(hosts)
		return slices.Compact(hosts), nil
	default:
		return []string{u.Hostname()}, nil
	}
}

// parse understands the URL schemes of a target file.
func parse(databaseURL string) (*Reader, string, error) {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return nil, "", errors.New("the database URL cannot be parsed (it is not shown: it may hold a password)")
	}
	snapshot := sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	switch u.Scheme {
	case "sqlite":
		path := u.Host + u.Path + u.Opaque
		return &Reader{dialect: dialect{driver: "sqlite", parameter: question}, host: path},
			"file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)", nil
	case "postgres", "postgresql":
		return &Reader{dialect: dialect{driver: "pgx", parameter: dollar, read: snapshot}, host: u.Host}, databaseURL, nil
	case "mysql", "mariadb":
		return &Reader{dialect: dialect{driver: "mysql", parameter: question, read: snapshot}, host: u.Host}, mysqlDSN(u), nil
	default:
		return nil, "", fmt.Errorf("the database URL's scheme is %q, expected sqlite, postgres, mysql or mariadb", u.Scheme)
	}
}

func question(int) string { return "?" }

func dollar(n int) string { return fmt.Sprintf("$%d", n) }

func mysqlDSN(u *url.URL) string {
	c := mysql.NewConfig()
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	c.Net, c.Addr = "tcp", u.Host
	if u.Port() == "" {
		c.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	c.DBName = strings.TrimPrefix(u.Path, "/")
	c.Timeout = 10 * time.Second
	c.Params = map[string]string{}
	for name, values := range u.Query() {
		c.Params[name] = values[0]
	}
	return c.FormatDSN()
}

// Rows returns the number of rows that a query with the parameter :marker finds for one marker.
func (r *Reader) Rows(ctx context.Context, query, marker string) (int, error) {
	found, err := r.rows(ctx, r.db, query, []string{marker})
	return len(found[marker]), err
}

// Alive reports whether the database still answers.
func (r *Reader) Alive() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return r.db.PingContext(ctx) == nil
}
