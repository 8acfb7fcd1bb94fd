package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/servers"
	"github.com/doubletap-harness/doubletap/sut"
)

// TestMain lets tests call this program under its name, and a service that prints too much, and starts the servers that the
// tests need: a missing one fails them.
func TestMain(m *testing.M) {
	testscript.Main(served{m}, map[string]func(){"doubletap": func() { main() }, "gossip": gossip, "wanderer": wanderer, "toxiproxy-server": serveToxiproxy})
}

// postgresVariable, mariadbVariable and sut.StoreVariable hold the URLs of the private servers.
const (
	postgresVariable = "TEST_POSTGRES"
	mariadbVariable  = "TEST_MARIADB"
)

// served starts the servers around the tests.
type served struct{ tests *testing.M }

// Run starts the servers, runs the tests and stops the servers.
func (s served) Run() int {
	if signal.Ignored(syscall.SIGHUP) { // as under nohup: what the tests start would ignore it as well
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	return servers.Serving(func(postgres, mariadb string) int {
		os.Setenv(postgresVariable, postgres)
		os.Setenv(mariadbVariable, mariadb)
		os.Unsetenv("GITHUB_ACTIONS") // our own job is not to show what the tests' runs find
		builds, err := os.MkdirTemp("", "doubletap-built-")
		if err != nil {
			log.Print(err)
			return 1
		}
		defer os.RemoveAll(builds)
		built.dir = builds
		return servers.ServingRedis(func(redis string) int {
			os.Setenv(sut.StoreVariable, redis)
			return s.tests.Run()
		})
	})
}

// built is the program as users have it, without the race detector, which takes several times the computing:
// for tests that are about what is typed and not about what happens at once. It is of the same version as the tests,
// which no commit is stamped on.
var built struct {
	dir  string
	once sync.Once
	err  error
}

// usual returns the path of that program.
func usual(t *testing.T) string {
	t.Helper()
	path := filepath.Join(built.dir, "doubletap")
	built.once.Do(func() {
		out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", path, ".").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("build doubletap: %w\n%s", err, out)
		}
	})
	require.NoError(t, built.err)
	return path
}
