package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/doubletap-harness/doubletap/targets/servers"
)

// TestMain lets test scripts call this program under its name, and starts the servers that the
// tests need: a missing one fails them.
func TestMain(m *testing.M) {
	testscript.Main(served{m}, map[string]func(){"doubletap": main})
}

// postgresVariable and mariadbVariable hold the URLs of the private servers.
const (
	postgresVariable = "TEST_POSTGRES"
	mariadbVariable  = "TEST_MARIADB"
)

// served starts the servers around the tests.
type served struct{ tests *testing.M }

// Run starts the servers, runs the tests and stops the servers.
func (s served) Run() int {
	ctx := context.Background()
	if err := servers.Install(ctx, os.Stderr); err != nil {
		return unserved(err)
	}
	postgres, err := servers.Postgres(ctx, servers.Options{})
	if err != nil {
		return unserved(err)
	}
	defer postgres.Stop()
	mariadb, err := servers.MariaDB(ctx, servers.Options{})
	if err != nil {
		return unserved(err)
	}
	defer mariadb.Stop()
	os.Setenv(postgresVariable, postgres.URL())
	os.Setenv(mariadbVariable, mariadb.URL())
	os.Unsetenv("GITHUB_ACTIONS") // our own job is not to show what the tests' runs find
	return s.tests.Run()
}

func unserved(err error) int {
	fmt.Fprintln(os.Stderr, "the tests need real database servers:", err)
	return 1
}

// call runs one command line in this process and returns its exit code and what it printed.
func call(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := execute(t.Context(), args, streams{out: &out, err: &out, getenv: os.LookupEnv})
	return code, out.String()
}
