package doubletaptest_test

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap"
	"github.com/doubletap-harness/doubletap/doubletaptest"
	"github.com/doubletap-harness/doubletap/sut/builtin"
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
	doubletaptest.Test(t, doubletap.Config{Target: "../docs/examples/handler.yaml", Handler: handler(db), DB: db})
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
	require.Contains(t, out, "so writes to it are not held back")
	require.NotContains(t, out, "plain-create", "-run picks scenarios")
	require.Regexp(t, `doubletaptest_test\.go:\d+: \n? *(✗ )?`, out, "failures point at the line that calls Test")
	require.NotRegexp(t, `doubletaptest\.go:\d+:`, out, "and not into the library")
}

// TestWithoutReports is a user's test that fails and keeps no files. It is run by the test below.
func TestWithoutReports(t *testing.T) {
	o := doubletap.Config{Target: "builtin:check-then-insert", Parts: builtin.Parts(), Scenarios: []string{"burst-same-key"}}
	switch os.Getenv(designVariable) {
	case "":
		t.Skip("it is run by another test")
	case "kept":
		o.Reports = t.TempDir()
	}
	doubletaptest.Test(t, o)
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
