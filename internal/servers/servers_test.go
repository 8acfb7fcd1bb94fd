package servers_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/doubletap-harness/doubletap/internal/servers"
	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // opened by their names
	"github.com/doubletap-harness/doubletap/internal/standin"
)

// childKind makes this test program start one server, print its URL and wait to be killed.
const childKind = "DOUBLETAP_TEST_SERVER"

type starter func(context.Context, servers.Options) (*servers.Server, error)

func starters() map[string]starter {
	return map[string]starter{"postgres": servers.Postgres, "mariadb": servers.MariaDB, "redis": servers.Redis, "nats": servers.NATS}
}

func TestMain(m *testing.M) {
	switch kind := os.Getenv(childKind); kind {
	case "":
	case childFolder:
		keepFolderUntilKilled()
	default:
		serveUntilKilled(kind)
	}
	if err := servers.Install(context.Background(), os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "the tests need real database servers:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func serveUntilKilled(kind string) {
	server, err := starters()[kind](context.Background(), servers.Options{Dir: os.Getenv("DOUBLETAP_TEST_DIR")})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(server.URL())
	select {}
}

// source turns a server's URL into a driver and its data source name.
func source(t *testing.T, address string) (driver, name string) {
	t.Helper()
	link, err := url.Parse(address)
	require.NoError(t, err)
	if link.Scheme == "postgres" {
		return "pgx", address
	}
	require.Equal(t, "mariadb", link.Scheme)
	config := mysql.NewConfig()
	config.User = link.User.Username()
	config.Passwd, _ = link.User.Password()
	config.Net, config.Addr, config.DBName = "tcp", link.Host, strings.TrimPrefix(link.Path, "/")
	config.Logger = &mysql.NopLogger{}
	return "mysql", config.FormatDSN()
}

func open(t *testing.T, address string) *sql.DB {
	t.Helper()
	driver, name := source(t, address)
	pool, err := sql.Open(driver, name)
	require.NoError(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// pinger asks a server whether it is there.
func pinger(t *testing.T, address string) func() error {
	t.Helper()
	if strings.HasPrefix(address, "nats:") {
		return func() error {
			conn, err := nats.Connect(address)
			if err == nil {
				conn.Close()
			}
			return err
		}
	}
	if !strings.HasPrefix(address, "redis:") {
		return open(t, address).Ping
	}
	options, err := redis.ParseURL(address)
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return func() error { return client.Ping(context.Background()).Err() }
}

func TestRedisKeepsWhatItIsToldUntilItIsStopped(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	parent := sharedDir(t)
	server, err := servers.Redis(t.Context(), servers.Options{Dir: parent})
	require.NoError(t, err)
	defer server.Stop()
	options, err := redis.ParseURL(server.URL())
	require.NoError(t, err)
	client := redis.NewClient(options)
	require.NoError(t, client.Set(t.Context(), "thing", "mine", 0).Err())
	require.Equal(t, "mine", client.Get(t.Context(), "thing").Val())
	require.Equal(t, map[string]string{"maxclients": "400"}, client.ConfigGet(t.Context(), "maxclients").Val())
	require.Equal(t, map[string]string{"bind": "127.0.0.1"}, client.ConfigGet(t.Context(), "bind").Val())

	stranger := redis.NewClient(&redis.Options{Addr: options.Addr})
	require.ErrorContains(t, stranger.Get(t.Context(), "thing").Err(), "NOAUTH")
	require.NoError(t, stranger.Close())

	require.NoError(t, server.Stop())
	require.NoError(t, server.Stop(), "stopping again does nothing")
	require.Error(t, client.Ping(t.Context()).Err())
	require.NoError(t, client.Close())
	require.Empty(t, entries(t, parent))
}

func TestServerTakesQueriesUntilItIsStopped(t *testing.T) {
	for _, kind := range []string{"postgres", "mariadb"} {
		start := starters()[kind]
		t.Run(kind, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			parent := sharedDir(t)
			server, err := start(t.Context(), servers.Options{Dir: parent})
			require.NoError(t, err)
			defer server.Stop()

			pool := open(t, server.URL())
			_, err = pool.Exec("create table things (id int primary key)")
			require.NoError(t, err)
			space := map[string]string{"postgres": "create schema mine", "mariadb": "create database mine"}[kind]
			_, err = pool.Exec(space)
			require.NoError(t, err)
			setting := map[string]string{"postgres": "show max_connections", "mariadb": "select @@max_connections"}[kind]
			var connections int
			require.NoError(t, pool.QueryRow(setting).Scan(&connections))
			require.Equal(t, 400, connections)

			require.NoError(t, server.Stop())
			require.NoError(t, server.Stop(), "stopping again does nothing")
			require.Error(t, pool.Ping())
			require.NoError(t, pool.Close())
			require.Empty(t, entries(t, parent))
		})
	}
}

func TestServerEndsWithTheProcessThatStartedIt(t *testing.T) {
	for kind := range starters() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			parent := sharedDir(t)
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), childKind+"="+kind, "DOUBLETAP_TEST_DIR="+parent)
			child.Stderr = os.Stderr
			stdout, err := child.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, child.Start())
			line, err := bufio.NewReader(stdout).ReadString('\n')
			require.NoError(t, err)
			ping := pinger(t, strings.TrimSpace(line))
			require.NoError(t, ping())

			require.NoError(t, child.Process.Kill())
			_ = child.Wait()
			require.Eventually(t, func() bool { return ping() != nil }, time.Minute, 20*time.Millisecond)
			require.Eventually(t, func() bool { return len(entries(t, parent)) == 0 }, time.Minute, 20*time.Millisecond)
		})
	}
}

func TestMissingProgramsNameThePackage(t *testing.T) {
	t.Parallel()
	for kind, advice := range map[string]string{
		"postgres": "apt-get install postgresql", "mariadb": "apt-get install mariadb-server",
		"redis": "apt-get install redis-server", "nats": "apt-get install nats-server",
	} {
		_, err := starters()[kind](t.Context(), servers.Options{Programs: t.TempDir()})
		require.ErrorContains(t, err, advice)
	}
}

func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	programs := sharedDir(t)
	for _, name := range []string{"initdb", "postgres", "mariadb-install-db", "mariadbd", "redis-server", "nats-server"} {
		require.NoError(t, standin.Program(filepath.Join(programs, name), "#!/bin/sh\necho no luck today\nexit 3\n"))
	}
	for kind, start := range starters() {
		parent := sharedDir(t)
		_, err := start(t.Context(), servers.Options{Programs: programs, Dir: parent, Log: io.Discard})
		require.ErrorContains(t, err, "no luck today", kind)
		require.Empty(t, entries(t, parent), kind)
	}
}

func TestInstallDoesNothingWhenEverythingIsThere(t *testing.T) {
	t.Parallel()
	var printed strings.Builder
	require.NoError(t, servers.Install(t.Context(), &printed))
	require.Empty(t, printed.String())
}

func TestMissingToolsAreNamedWhereNobodyMayInstallThem(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	require.ErrorContains(t, servers.InstallTools(t.Context(), io.Discard), "gcc libc6-dev")
}

// sharedDir is a temporary folder in which the servers' users may make and remove things.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "doubletap-test-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777))
	return dir
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	return found
}
