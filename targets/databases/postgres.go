package databases

import (
	"bufio"
	"cmp"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/files"
)

// errUnclear does not show the URL: it may hold a password.
var errUnclear = errors.New("the database URL cannot be understood (it is not shown: it may hold a password); one looks like postgres://USER:PASSWORD@HOST:5432/NAME?sslmode=disable")

// postgresPort is where PostgreSQL listens unless told otherwise.
const postgresPort = "5432"

// endpoint is one place to which a driver may connect.
type endpoint struct {
	host string // a path, which starts with a slash, is the folder of a Unix domain socket
	port string
}

// postgresEndpoints returns every place to which the driver "pgx" may connect for a URL. The guard of allowed hosts
// rests on it, and the driver is not imported here. So it follows the rules of libpq that pgx follows (section 32.1
// of the manual of PostgreSQL), and refuses each URL that a parser could read in two ways.
func postgresEndpoints(databaseURL string) ([]endpoint, error) {
	given, err := postgresSettings(databaseURL)
	if err != nil {
		return nil, err
	}
	set := map[string]string{"host": os.Getenv("PGHOST"), "port": os.Getenv("PGPORT")}
	if err := addService(set, given); err != nil {
		return nil, err
	}
	for _, name := range []string{"host", "port"} {
		if value, is := given[name]; is {
			set[name] = value
		}
	}
	hosts, ports := strings.Split(set["host"], ","), strings.Split(set["port"], ",")
	if len(ports) != 1 && len(ports) != len(hosts) {
		return nil, errUnclear
	}
	all := make([]endpoint, len(hosts))
	for i, host := range hosts {
		all[i] = endpoint{host: cmp.Or(host, defaultPostgresHost()), port: cmp.Or(ports[i%len(ports)], postgresPort)}
	}
	return all, nil
}

// postgresSettings returns what a URL itself sets: the members of its query, and those of its authority where the
// query does not name them.
func postgresSettings(databaseURL string) (map[string]string, error) {
	_, rest, _ := strings.Cut(databaseURL, "://")
	before, query, _ := strings.Cut(rest, "?")
	authority, _, hasPath := strings.Cut(before, "/")
	user, hosts, has := strings.Cut(authority, "@")
	if !has {
		user, hosts = "", authority
	}
	// A second @, one in the query of a URL without a path, a fragment and an escaped host are read differently by
	// different parsers.
	if strings.ContainsAny(hosts, "@% ") || strings.ContainsAny(user, " ") || strings.ContainsAny(databaseURL, "#\x00") ||
		!hasPath && strings.Contains(query, "@") {
		return nil, errUnclear
	}
	set := map[string]string{}
	if err := splitEndpoints(hosts, set); err != nil {
		return nil, err
	}
	return set, addQuery(set, query)
}

// splitEndpoints notes host[:port],host[:port] as two lists of the same length.
func splitEndpoints(text string, set map[string]string) error {
	var hosts, ports []string
	for part := range strings.SplitSeq(text, ",") {
		host, port := part, ""
		switch bracket := strings.IndexByte(part, ']'); {
		case strings.HasPrefix(part, "[") && bracket > 1:
			host, port = part[1:bracket], part[bracket+1:]
			if port != "" && port[0] != ':' {
				return errUnclear
			}
			port = strings.TrimPrefix(port, ":")
		case strings.ContainsAny(part, "[]"):
			return errUnclear
		default:
			host, port, _ = strings.Cut(part, ":")
		}
		hosts, ports = append(hosts, host), append(ports, port)
	}
	if list := strings.Join(hosts, ","); list != "" {
		set["host"] = list
	}
	if list := strings.Join(ports, ","); list != "" {
		set["port"] = list
	}
	return nil
}

// addQuery notes the members of a query; the last one of a name counts. A plus sign is no space here.
func addQuery(set map[string]string, query string) error {
	for member := range strings.SplitSeq(query, "&") {
		if member == "" {
			continue
		}
		rawName, rawValue, is := strings.Cut(member, "=")
		name, err := url.PathUnescape(rawName)
		value, err2 := url.PathUnescape(rawValue)
		if !is || err != nil || err2 != nil || strings.ContainsAny(member, " ") || strings.Contains(rawValue, "=") {
			return errUnclear
		}
		if name == "hostaddr" { // libpq connects there, whatever the host is; pgx does not know it
			return errUnclear
		}
		set[name] = value
	}
	modes := []string{"", "disable", "allow", "prefer", "require", "verify-ca", "verify-full"}
	if !slices.Contains(modes, set["sslmode"]) {
		return errUnclear
	}
	return nil
}

// addService notes the host and the port that a service of pg_service.conf stands for, if one is named.
func addService(set, given map[string]string) error {
	name, named := given["service"]
	if !named {
		name = os.Getenv("PGSERVICE")
	}
	if name == "" && !named {
		return nil
	}
	// The file is looked for where the driver does. One that cannot be read, or that has no such service, leaves it unclear which
	// server is meant, and nothing is guessed.
	path := cmp.Or(given["servicefile"], os.Getenv("PGSERVICEFILE"))
	if home, err := os.UserHomeDir(); path == "" && err == nil {
		path = filepath.Join(home, ".pg_service.conf")
	}
	file, err := files.Open(path, files.MostText)
	if err != nil {
		return errUnclear
	}
	defer file.Close()
	section, found := "", false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		key, value, assigns := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			section = line[1 : len(line)-1]
			found = found || section == name
		case assigns && section == name && !strings.HasPrefix(line, "#"):
			set[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	if !found {
		return errUnclear
	}
	return nil
}

// defaultPostgresHost is where the driver connects if nothing names a host: the usual folder of the socket, if it is
// there.
func defaultPostgresHost() string {
	for _, folder := range []string{"/var/run/postgresql", "/private/tmp", "/tmp"} {
		if _, err := os.Stat(folder); err == nil {
			return folder
		}
	}
	return "localhost"
}
