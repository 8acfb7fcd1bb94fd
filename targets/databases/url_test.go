package databases

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// dialled lists where the driver itself would connect.
func dialled(config *pgconn.Config) []endpoint {
	all := []endpoint{{config.Host, strconv.Itoa(int(config.Port))}}
	for _, f := range config.Fallbacks { // one more for the same place, without TLS
		if next := (endpoint{f.Host, strconv.Itoa(int(f.Port))}); next != all[len(all)-1] {
			all = append(all, next)
		}
	}
	return all
}

// postgresURL draws URLs from parts that parsers read in more than one way.
func postgresURL() *rapid.Generator[string] {
	const one = `(|one\.example|two|127\.0\.0\.1|\[::1\]|\[\]|/run|%2Frun|h%41|a@b| |h#x|\+)(|:|:5432|:65|:p)`
	host := rapid.StringMatching(one)
	member := rapid.SampledFrom([]string{
		"host=three", "host=", "host=/tmp", "host=three,four", "host=a%2Cb", "host=a+b", "host=%zz", "port=1", "port=1,2", "port=", "Host=upper",
		"sslmode=disable", "sslmode=prefer", "sslmode=perhaps", "sslmode=", "ssl=true", "service=shop", "service=", "service=none", "host", "a=b=c",
		"x=a@elsewhere/d", "dbname=d", "", "host=last",
	})
	return rapid.Custom(func(t *rapid.T) string {
		text := rapid.SampledFrom([]string{"postgres://", "postgresql://"}).Draw(t, "scheme")
		text += rapid.SampledFrom([]string{"", "u@", "u:p@", "u:p%40w@", "u:p@x@", "u:a/b@", "u:a?b@"}).Draw(t, "account")
		text += strings.Join(rapid.SliceOfN(host, 1, 3).Draw(t, "hosts"), ",")
		text += rapid.SampledFrom([]string{"", "/", "/d", "/d@e", "/d#f"}).Draw(t, "path")
		if members := rapid.SliceOfN(member, 0, 3).Draw(t, "query"); len(members) > 0 {
			text += "?" + strings.Join(members, "&")
		}
		return text
	})
}

// TestTheHostsOfAPostgresURLAreThoseOfTheDriver holds the safety rule: what passes as a URL here goes where the driver
// goes. What the driver takes may be refused.
func TestTheHostsOfAPostgresURLAreThoseOfTheDriver(t *testing.T) {
	services := filepath.Join(t.TempDir(), "services")
	require.NoError(t, os.WriteFile(services, []byte("# ours\n[other]\nhost=wrong\n\n[shop]\nhost = service.example\nport=7\ndbname=d\n"), 0o600))
	understood := 0
	for name, environment := range map[string]map[string]string{
		"plain":         {},
		"a host":        {"PGHOST": "env.example", "PGPORT": "8"},
		"several hosts": {"PGHOST": "env.example,,env2.example"},
		"a service":     {"PGSERVICE": "shop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PGSERVICEFILE", services)
			for _, variable := range []string{"PGHOST", "PGPORT", "PGSERVICE"} {
				t.Setenv(variable, environment[variable])
			}
			rapid.Check(t, func(t *rapid.T) {
				address := postgresURL().Draw(t, "url")
				got, err := postgresEndpoints(address)
				config, theirs := pgconn.ParseConfig(address)
				if err != nil || theirs != nil {
					return
				}
				understood++
				var once []endpoint
				for i, e := range got {
					if i == 0 || e != got[i-1] {
						once = append(once, e)
					}
				}
				require.Equal(t, dialled(config), once, address)
			})
		})
	}
	require.Greater(t, understood, 40, "the URLs are not all refused")
}

// TestThePostgresURLsOfEveryDayAreUnderstood keeps the strictness from refusing what people write.
func TestThePostgresURLsOfEveryDayAreUnderstood(t *testing.T) {
	services := filepath.Join(t.TempDir(), "services")
	require.NoError(t, os.WriteFile(services, []byte("[shop]\nhost=service.example\n"), 0o600))
	t.Setenv("PGSERVICEFILE", services)
	for _, address := range []string{
		"postgres://u:p@db.example:5432/d?sslmode=disable", "postgresql://db.example/d", "postgres://u:p%40w@[::1]:1/d?application_name=a%20b",
		"postgres:///d", "postgres:///d?host=/run/postgresql&port=6000", "postgres://one,two:2/d", "postgres:///d?service=shop", "postgres://u@h?connect_timeout=3",
	} {
		got, err := postgresEndpoints(address)
		require.NoError(t, err, address)
		config, err := pgconn.ParseConfig(address)
		require.NoError(t, err, address)
		require.Equal(t, dialled(config), got, address)
	}
	for _, address := range []string{
		"postgres://u:p@h/d?hostaddr=10.0.0.1", "postgres://u?x@evil.example", "postgres://a@b@h/d", "postgres://h#x/d", "postgres:///d?service=missing",
	} {
		_, err := postgresEndpoints(address)
		require.ErrorIs(t, err, errUnclear, address)
	}
}

func TestTheNameOfAMySQLDatabaseIsReadByItsDriver(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"mysql://h/d", "mysql://u@h:3307/d", "mariadb://u:p%40s%2Fs%3A%3F@[::1]/d", "mysql://u:p@h/a%2Fb?multiStatements=true&charset=utf8mb4", "mysql://u:p@h/d?timeout=3s&loc=Europe%2FBerlin",
	} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		config, err := mysql.ParseDSN(mysqlName(u, ReadWrite))
		require.NoError(t, err, address)
		password, _ := u.User.Password()
		require.Equal(t, []string{u.User.Username(), password, strings.TrimPrefix(u.Path, "/")}, []string{config.User, config.Passwd, config.DBName}, address)
		require.Equal(t, AddressOf(address), config.Addr)
		require.Equal(t, u.Query().Has("multiStatements"), config.MultiStatements)
		if u.Query().Has("timeout") {
			require.Equal(t, u.Query().Get("timeout"), config.Timeout.String())
		}
	}
}

// mysqlURL draws URLs from parts that parsers read in more than one way.
func mysqlURL() *rapid.Generator[string] {
	member := rapid.SampledFrom([]string{
		"timeout=3s", "charset=utf8mb4", "a/b=c", "a%2Fb=c", "x@tcp(evil.example:1)/y=1", "x%40tcp(evil.example%3A1)%2Fy=1", "x%40unix(%2Frun%2Fevil)%2Fy=1", "x%26allowAllFiles%3Dtrue%26y=1",
		"x&allowAllFiles=true", "AllowAllFiles=true", "x%26multiStatements%3Dtrue=1", "sql_mode=%27ANSI%27", "wait_timeout=9", "x=1%2C%20GLOBAL%20max_connections%3D1", "password=%27x%27", "PASSWORD=x",
		"x=(select%20sleep(9))", "GLOBAL%20x=1", "%40%40global.x=1", "=1", "x", "", "tls=skip-verify", "loc=Europe%2FBerlin",
	})
	return rapid.Custom(func(t *rapid.T) string {
		text := rapid.SampledFrom([]string{"mysql://", "mariadb://"}).Draw(t, "scheme")
		text += rapid.SampledFrom([]string{"", "u@", "u:p@", "u:p%40w@", "u%40tcp(evil.example:1)%2F:p@", "u:p%40tcp(evil.example:1)%2Fd%3F@", "u%3Ap@"}).Draw(t, "account")
		text += rapid.SampledFrom([]string{"", "h.example", "h.example:3307", "[::1]", "[::1]:1", "127.0.0.1", "h)", "h:1)%2Fx@tcp(evil.example", "tcp(evil.example"}).Draw(t, "host")
		text += rapid.SampledFrom([]string{"", "/", "/d", "/d@tcp(evil.example)%2Fe", "/d%3Fx=y", "/d%2Fe", "/d/e"}).Draw(t, "path")
		if members := rapid.SliceOfN(member, 0, 3).Draw(t, "query"); len(members) > 0 {
			text += "?" + strings.Join(members, "&")
		}
		return text
	})
}

// TestTheHostOfAMySQLURLIsThatOfTheDriver holds the same rule. A server gets no file of this machine, and no statement that a URL brings.
func TestTheHostOfAMySQLURLIsThatOfTheDriver(t *testing.T) {
	t.Parallel()
	understood := 0
	rapid.Check(t, func(t *rapid.T) {
		address := mysqlURL().Draw(t, "url")
		s, err := parse(address, ReadOnly)
		if err != nil {
			return
		}
		config, err := mysql.ParseDSN(s.name)
		if err != nil {
			return
		}
		understood++
		host, _, err := net.SplitHostPort(config.Addr)
		require.NoError(t, err, address)
		hosts, err := HostsOf(address)
		require.NoError(t, err, address)
		require.Equal(t, hosts, []string{host}, address)
		require.Equal(t, AddressOf(address), config.Addr, address)
		require.Equal(t, "tcp", config.Net, address)
		require.False(t, config.AllowAllFiles, address)
		require.False(t, config.MultiStatements, address)
		for name, value := range config.Params { // the driver sends SET name=value
			require.Regexp(t, `^[A-Za-z_]+$`, name, address)
			require.NotEqual(t, "password", strings.ToLower(name), address)
			require.NotRegexp(t, `[=(;]|'.*'.*'`, value, address)
		}
	})
	require.Greater(t, understood, 20, "the URLs are not all refused")
}

// TestAMySQLURLNamesNoOtherHostInAParameter refuses what the driver would take for the host, or for more than a setting.
func TestAMySQLURLNamesNoOtherHostInAParameter(t *testing.T) {
	t.Parallel()
	for _, parameter := range []string{"x%40tcp(evil.example%3A3306)%2Fy=1", "x%26allowAllFiles%3Dtrue%26y=1", "PASSWORD=x", "x=1%2C%20GLOBAL%20max_connections%3D1", "x=(select%20sleep(9))"} {
		_, err := HostsOf("mysql://u:s3cr3t@127.0.0.1/d?" + parameter)
		require.ErrorContains(t, err, "is no setting", parameter)
		require.NotContains(t, err.Error(), "s3cr3t")
	}
	_, err := HostsOf("mysql://u@127.0.0.1/d?loc=Europe%2FBerlin&sql_mode=%27ANSI,TRADITIONAL%27&timeout=3s&tls=skip-verify")
	require.NoError(t, err)
}
