package doubletap_test

import (
	"database/sql"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap"
)

// designVariable makes TestOfAHandler one of a user's: it names the design.
const designVariable = "DOUBLETAP_TEST_DESIGN"

// TestOfAHandler is what a user's own test looks like. It is run by the tests below.
func TestOfAHandler(t *testing.T) {
	design := os.Getenv(designVariable)
	if design == "" {
		t.Skip("it is run by other tests")
	}
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "orders.db")+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.Exec("create table orders (id integer primary key, key text, note text)")
	require.NoError(t, err)
	handler := map[string]func(*sql.DB) shop{"hasty": hasty, "careful": careful}[design]
	doubletap.Test(t, doubletap.Options{Target: "docs/examples/handler.yaml", Handler: handler(db), DB: db})
}

// goTest runs TestOfAHandler with a design in a process of its own, as go test does.
func goTest(t *testing.T, design string, flags ...string) (passed bool, out string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], append(flags, "-test.count=1")...)
	command.Env = append(os.Environ(), designVariable+"="+design)
	text, err := command.CombinedOutput()
	var failed *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &failed)
	}
	return err == nil, string(text)
}

func TestAHandlerThatRacesFailsItsTestWithTheEvidence(t *testing.T) {
	t.Parallel()
	passed, out := goTest(t, "hasty", "-test.run", "^TestOfAHandler$/^(burst-same-key|burst-write-gate)$", "-test.v")
	require.False(t, passed, out)
	require.Contains(t, out, "--- FAIL: TestOfAHandler/burst-same-key")
	require.Contains(t, out, "F1  DUPLICATE")
	require.Contains(t, out, "again   go test -run '^TestOfAHandler$/^burst-same-key$'")
	require.NotContains(t, out, "doubletap replay", "no command line reaches a handler")
	require.Contains(t, out, "--- SKIP: TestOfAHandler/burst-write-gate")
	require.Contains(t, out, "whose writers are not held back")
	require.NotContains(t, out, "plain-create", "-run picks scenarios")
}

// TestWithoutReports is a user's test that fails and keeps no files. It is run by the test below.
func TestWithoutReports(t *testing.T) {
	o := doubletap.Options{Target: "builtin:check-then-insert", Scenarios: []string{"burst-same-key"}}
	switch os.Getenv(designVariable) {
	case "":
		t.Skip("it is run by another test")
	case "kept":
		o.Reports = t.TempDir()
	}
	doubletap.Test(t, o)
}

func TestWhatIsNotKeptIsNotReferredTo(t *testing.T) {
	t.Parallel()
	passed, out := goTest(t, "gone", "-test.run", "^TestWithoutReports$")
	require.False(t, passed, out)
	require.Contains(t, out, "again   go test -run '^TestWithoutReports$/^burst-same-key$'")
	require.NotContains(t, out, "/findings/F1")

	_, out = goTest(t, "kept", "-test.run", "^TestWithoutReports$")
	require.Regexp(t, `\n +doubletap replay .*/findings/F1`, out, "the test is not the program")
}

func TestShortPlaysLittleAndSaysSo(t *testing.T) {
	t.Parallel()
	passed, out := goTest(t, "careful", "-test.run", "^TestOfAHandler$/^(plain-create|burst-same-key|sweep)$", "-test.v", "-test.short")
	require.True(t, passed, out)
	require.Contains(t, out, "-short: at most the first 4 intents")
	require.Contains(t, out, "overlapped 4/4")
	require.Contains(t, out, "--- SKIP: TestOfAHandler/sweep")
	require.Contains(t, out, "left out with -short")
}

func TestWhatCannotBePlayedSaysWhy(t *testing.T) {
	t.Parallel()
	nothing := http.NotFoundHandler()
	db, err := sql.Open("sqlite", ":memory:")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	closed, err := sql.Open("sqlite", ":memory:")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	listed := filepath.Join(t.TempDir(), "listed.yaml")
	require.NoError(t, os.WriteFile(listed, []byte(`name: listed
base_url: http://orders.test
operations:
  create:
    request: {path: /orders, body: {note: "{{.Intent.Marker}}"}}
    rows: {http: {path: "/orders?note={{.Intent.Marker}}"}}
`), 0o644))
	const file = "docs/examples/handler.yaml"
	for name, row := range map[string]struct {
		options doubletap.Options
		says    string
	}{
		"no target":                  {doubletap.Options{Handler: nothing}, "expected a target file, or builtin:NAME"},
		"a target that is not there": {doubletap.Options{Target: "none.yaml"}, "target file none.yaml: file does not exist"},
		"an address of nobody":       {doubletap.Options{Target: file, DB: db}, "base_url points to orders.test, which is not this machine"},
		"a scenario of nobody":       {doubletap.Options{Target: file, Handler: nothing, Scenarios: []string{"none"}}, `no scenario "none"`},
		"a source with mistakes":     {doubletap.Options{Target: file, Handler: nothing, Source: "name: x"}, "steps"},
		"a handler of something":     {doubletap.Options{Target: file, Handler: nothing, DB: db, Scenarios: []string{"plain-create"}}, "no such table: orders"},
		"a database that is closed":  {doubletap.Options{Target: file, Handler: nothing, DB: closed, Scenarios: []string{"plain-create"}}, "reach the database that was given"},
		"rows that are not queried":  {doubletap.Options{Target: listed, Handler: nothing, DB: db}, "has no rows.query, and a database is given"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, err := doubletap.Play(t.Context(), row.options)
			require.Nil(t, report)
			require.ErrorContains(t, err, row.says)
		})
	}
}
