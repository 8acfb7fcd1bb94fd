package doubletap_test

import (
	"database/sql"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap"
	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/targets"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

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
		options doubletap.Config
		says    string
	}{
		"no target":                           {doubletap.Config{Handler: nothing}, "expected a target file"},
		"a target that is not there":          {doubletap.Config{Target: "none.yaml"}, "target file none.yaml: file does not exist"},
		"an address that is not this machine": {doubletap.Config{Target: file, DB: db}, "base_url points to orders.test, which is not this machine"},
		"a scenario that there is not":        {doubletap.Config{Target: file, Handler: nothing, Scenarios: []string{"none"}}, `no scenario "none"`},
		"a source with mistakes":              {doubletap.Config{Target: file, Handler: nothing, Source: "name: x"}, "steps"},
		"a handler of something":              {doubletap.Config{Target: file, Handler: nothing, DB: db, Scenarios: []string{"plain-create"}}, "no such table: orders"},
		"a database that is closed":           {doubletap.Config{Target: file, Handler: nothing, DB: closed, Scenarios: []string{"plain-create"}}, "reach the database that was given"},
		"rows that are not queried":           {doubletap.Config{Target: listed, Handler: nothing, DB: db}, "has no rows.query, and a database is given"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, err := doubletap.Run(t.Context(), row.options)
			require.Nil(t, report)
			require.ErrorContains(t, err, row.says)
		})
	}
}

func TestAHuntInAProgram(t *testing.T) {
	t.Parallel()
	server, err := orders.Start(t.Context(), orders.Options{Design: "check-then-insert"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	spec := server.Target()
	report, err := doubletap.Hunt(t.Context(), doubletap.Config{Target: "orders", Spec: &spec, Scenarios: []string{"burst-same-key"}}, doubletap.HuntLimits{Until: 0.1})
	require.NoError(t, err)
	require.Equal(t, checker.Fail, report.Verdict)
	require.Equal(t, checker.HuntFound, report.Hunt.Ended)
}

func TestATargetIsAValue(t *testing.T) {
	t.Parallel()
	server, err := orders.Start(t.Context(), orders.Options{Design: "unique-key"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	spec := server.Target()
	report, err := doubletap.Run(t.Context(), doubletap.Config{Target: "orders", Spec: &spec, Scenarios: []string{"sequential-replay"}, Intents: 2})
	require.NoError(t, err)
	require.Equal(t, checker.Pass, report.Verdict, "%+v", report.Results)

	_, err = doubletap.Run(t.Context(), doubletap.Config{Target: "orders", Spec: new(targets.Target)})
	var config *doubletap.ConfigError
	require.ErrorAs(t, err, &config)
	require.ErrorContains(t, err, "orders has no operation")
}

func TestATargetThatIsNotThereIsNoConfigError(t *testing.T) {
	t.Parallel()
	_, err := doubletap.Run(t.Context(), doubletap.Config{Target: "gone", TargetText: `name: gone
base_url: http://127.0.0.1:1
operations: {create: {request: {path: /things, body: {note: "{{.Intent.Marker}}"}}, key: {in: header}}}
`, Scenarios: []string{"plain-create"}})
	var environment *doubletap.EnvironmentError
	require.ErrorAs(t, err, &environment)
	require.ErrorContains(t, err, "is the target running?")
}
