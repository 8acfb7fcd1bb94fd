package databases

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// mysqlPort is where MySQL and MariaDB listen unless told otherwise.
const mysqlPort = "3306"

// source is what a URL means to database/sql.
type source struct {
	name    string // data source name of the dialect's driver; may hold a password
	dialect Dialect
	host    string
}

// parse understands the URL schemes of a target file.
func parse(databaseURL string, mode Mode) (source, error) {
	databaseURL = withoutOthers(databaseURL)
	u, err := url.Parse(databaseURL)
	if err != nil {
		return source{}, errors.New("the database URL cannot be parsed (it is not shown: it may hold a password)")
	}
	switch u.Scheme {
	case "sqlite":
		path := u.Host + u.Path + u.Opaque
		if strings.HasPrefix(path, "//") { // sqlite:////tmp/shop.db, which the driver would take for a host
			path = "/" + strings.TrimLeft(path, "/")
		}
		return source{name: sqliteName(path, mode), dialect: SQLite, host: path}, nil
	case "postgres", "postgresql":
		return source{name: databaseURL, dialect: PostgreSQL, host: u.Host}, nil
	case "mysql", "mariadb":
		return source{name: mysqlName(u, mode), dialect: MariaDB, host: u.Host}, mysqlMistake(u)
	default:
		return source{}, fmt.Errorf("the database URL's scheme is %q, expected sqlite, postgres, mysql or mariadb", u.Scheme)
	}
}

// others are parameters that URLs have for other clients, such as Prisma's and those of pools and of JDBC. To the drivers here they would be settings
// of the server, which refuses what it does not know.
var others = []string{
	"connection_limit", "pool_timeout", "pgbouncer", "statement_cache_size", "socket_timeout", "sslaccept", "sslidentity", "max_connection_lifetime",
	"max_idle_connection_lifetime", "pool_max_conns", "pool_min_conns", "pool_max_conn_lifetime", "pool_max_conn_idle_time", "pool_health_check_period",
	"pool_size", "pool_recycle", "prepareThreshold", "currentSchema", "useSSL", "useUnicode", "characterEncoding", "serverTimezone",
	"allowPublicKeyRetrieval", "autoReconnect", "zeroDateTimeBehavior", "rewriteBatchedStatements",
}

// withoutOthers is a URL without the parameters of other clients. The schema that one of them names is the search path of PostgreSQL.
func withoutOthers(databaseURL string) string {
	before, query, asks := strings.Cut(databaseURL, "?")
	if !asks {
		return databaseURL
	}
	var kept []string
	for member := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(member, "=")
		switch {
		case (name == "schema" || name == "currentSchema") && strings.HasPrefix(databaseURL, "postgres"):
			kept = append(kept, "search_path="+value)
		case !slices.Contains(others, name):
			kept = append(kept, member)
		}
	}
	if len(kept) == 0 {
		return before
	}
	return before + "?" + strings.Join(kept, "&")
}

// NamesSchema reports that a URL says in which schemas of PostgreSQL tables are looked for.
func NamesSchema(databaseURL string) bool {
	u, err := url.Parse(withoutOthers(databaseURL))
	return err == nil && (u.Query().Has("search_path") || strings.Contains(u.Query().Get("options"), "search_path"))
}

// DialectOf returns the kind of database that a URL is of; empty: of none that is known.
func DialectOf(databaseURL string) Dialect {
	s, _ := parse(databaseURL, ReadOnly)
	return s.dialect
}

// sqliteName is the data source name of a file. Neither mode makes a file that is missing: a
// mistyped path would be an empty database without a row.
func sqliteName(path string, mode Mode) string {
	settings := "?mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)"
	if mode == ReadWrite {
		settings = "?mode=rw&_pragma=busy_timeout(5000)"
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + settings
}

// mysqlName writes user:password@tcp(host:port)/database?name=value, the form that the driver of MySQL reads. It takes
// user and password as they are: the last @ before the last / ends them.
func mysqlName(u *url.URL, mode Mode) string {
	account := u.User.Username()
	if password, _ := u.User.Password(); account != "" && password != "" {
		account += ":" + password
	}
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), mysqlPort)
	}
	settings := []string{"timeout=" + reachTimeout.String()}
	for _, name := range slices.Sorted(maps.Keys(u.Query())) {
		// A server may ask a client that allows it for any file. Who only reads has one statement.
		if name == "allowAllFiles" || name == "multiStatements" && mode == ReadOnly {
			continue
		}
		settings = append(settings, name+"="+url.QueryEscape(u.Query().Get(name)))
	}
	if account != "" {
		account += "@"
	}
	return account + "tcp(" + address + ")/" + url.PathEscape(strings.TrimPrefix(u.Path, "/")) + "?" + strings.Join(settings, "&")
}

// What a parameter of a MySQL URL may be. The driver's own form has no escapes for names, so that one with a slash, an @ or an ampersand would name
// another host or allow what the URL may not. What is no setting of the driver becomes SET name=value: the value is one literal.
var (
	mysqlSetting = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	mysqlLiteral = regexp.MustCompile(`^('[^'\\]*'|[A-Za-z0-9_.:/+, -]*)$`)
)

// mysqlMistake says what in a URL would reach more than the database that it names.
func mysqlMistake(u *url.URL) error {
	for _, name := range slices.Sorted(maps.Keys(u.Query())) {
		if !mysqlSetting.MatchString(name) || strings.EqualFold(name, "password") || !mysqlLiteral.MatchString(u.Query().Get(name)) {
			return fmt.Errorf("the database URL's parameter %q is no setting: expected a name of letters and digits, and one number, word or text in apostrophes", name)
		}
	}
	return nil
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
		all, err := postgresEndpoints(databaseURL)
		if err != nil || strings.HasPrefix(all[0].host, "/") || len(slices.Compact(all)) > 1 {
			return ""
		}
		return net.JoinHostPort(all[0].host, all[0].port)
	case "mysql", "mariadb":
		return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), mysqlPort))
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
// file, the path of its folder for a socket. A PostgreSQL URL can also name hosts in its query, or leave them to
// the environment.
func HostsOf(databaseURL string) ([]string, error) {
	u, err := url.Parse(databaseURL)
	if err != nil {
		return nil, errors.New("the database URL cannot be parsed (it is not shown: it may hold a password)")
	}
	switch u.Scheme {
	case "", "sqlite":
		return nil, nil
	case "postgres", "postgresql":
		all, err := postgresEndpoints(databaseURL)
		if err != nil {
			return nil, err
		}
		var hosts []string
		for _, one := range all {
			hosts = append(hosts, one.host)
		}
		slices.Sort(hosts)
		return slices.Compact(hosts), nil
	default:
		return []string{u.Hostname()}, mysqlMistake(u)
	}
}
