package databases

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// source is what a URL means to database/sql.
type source struct {
	driver  string
	name    string // data source name; may hold a password
	dialect Dialect
	host    string
}

// parse understands the URL schemes of a target file.
func parse(databaseURL string, mode Mode) (source, error) {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return source{}, errors.New("the database URL cannot be parsed (it is not shown: it may hold a password)")
	}
	switch u.Scheme {
	case "sqlite":
		path := u.Host + u.Path + u.Opaque
		return source{driver: "sqlite", name: sqliteName(path, mode), dialect: SQLite, host: path}, nil
	case "postgres", "postgresql":
		return source{driver: "pgx", name: databaseURL, dialect: PostgreSQL, host: u.Host}, nil
	case "mysql", "mariadb":
		return source{driver: "mysql", name: mysqlName(u), dialect: MariaDB, host: u.Host}, nil
	default:
		return source{}, fmt.Errorf("the database URL's scheme is %q, expected sqlite, postgres, mysql or mariadb", u.Scheme)
	}
}

// DialectOf returns the kind of database that a URL is of; empty: of none that is known.
func DialectOf(databaseURL string) Dialect {
	s, _ := parse(databaseURL, ReadOnly)
	return s.dialect
}

func sqliteName(path string, mode Mode) string {
	settings := "?mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)"
	if mode == ReadWrite {
		settings = "?mode=rw&_pragma=busy_timeout(5000)"
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + settings
}

func mysqlName(u *url.URL) string {
	c := mysql.NewConfig()
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	c.Net, c.Addr = "tcp", u.Host
	if u.Port() == "" {
		c.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	c.DBName = strings.TrimPrefix(u.Path, "/")
	c.Timeout = reachTimeout
	c.Params = map[string]string{}
	for name, values := range u.Query() {
		c.Params[name] = values[0]
	}
	return c.FormatDSN()
}

// AddressOf returns the host:port at which a connection to the database is made; empty: there is no such
// thing, or no single one. The database is a file, is reached by a socket, or may be at several hosts.
func AddressOf(databaseURL string) string {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return ""
	}
	switch u.Scheme {
	case "postgres", "postgresql":
		config, err := pgconn.ParseConfig(databaseURL)
		if err != nil || strings.HasPrefix(config.Host, "/") {
			return ""
		}
		for _, fallback := range config.Fallbacks { // which also stand for the same host without TLS
			if fallback.Host != config.Host || fallback.Port != config.Port {
				return ""
			}
		}
		return net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	case "mysql", "mariadb":
		return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "3306"))
	default:
		return ""
	}
}

// Through returns the URL of a database as it is reached at another address, host:port.
func Through(databaseURL, address string) string {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return databaseURL
	}
	u.Host = address
	query := u.Query()
	query.Del("host") // which would outrank it in PostgreSQL
	query.Del("port")
	u.RawQuery = query.Encode()
	return u.String()
}

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
