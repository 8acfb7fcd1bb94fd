package cmd

import (
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// serving starts a built-in target as a process with a place of its own in PostgreSQL, and returns
// what it says about itself.
func serving(t *testing.T, design string) (*process, map[string]string) {
	t.Helper()
	return servingOn(t, design, os.Getenv(postgresVariable))
}

// servingOn is serving on a database; empty: SQLite.
func servingOn(t *testing.T, design, database string) (*process, map[string]string) {
	t.Helper()
	p := start(t, nil, "targets", "serve", design, "--listen", "127.0.0.1:0", "--database", database)
	eventually(t, "the target is ready", func() bool { return strings.Contains(p.out.String(), "until interrupted") })
	env := map[string]string{}
	for _, line := range strings.Split(p.out.String(), "\n") {
		if name, value, found := strings.Cut(line, "="); found {
			env[name] = strings.Trim(value, "'")
		}
	}
	require.NotEmpty(t, env["ORDERS_URL"], "%s", p.out)
	require.NotEmpty(t, env["DATABASE_URL"], "%s", p.out)
	return p, env
}

// TestATargetOfOnesOwn takes the road that a user takes: an API that is another process with its own
// database, and a target file of about 20 lines, the one in docs/examples.
func TestATargetOfOnesOwn(t *testing.T) {
	t.Parallel()
	const file = "../docs/examples/orders.yaml"
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	require.LessOrEqual(t, lines(string(source)), 25)
	mission := []string{"slow-road", "withheld-answer", "hang-up", "cut-reset", "cut-truncated", "burst-same-key",
		"tabs-one-key", "altered-after", "altered-race", "sequential-replay", "distinct-twins", "missing-key"}
	for design, code := range map[string]int{"unique-key": exitPass, "check-then-insert": exitFinding} {
		t.Run(design, func(t *testing.T) {
			t.Parallel()
			target, env := serving(t, design)
			x := trial{reports: t.TempDir()}
			got := callWith(t.Context(), env, append([]string{"run", "--reports", x.reports, "--target", file}, mission...)...)
			require.Equal(t, code, got.code, "%s", got)
			x.checked(t, got)
			address, err := url.Parse(os.Getenv(postgresVariable))
			require.NoError(t, err)
			password, _ := address.User.Password()
			require.NotContains(t, got.String(), password)
			requireNowhere(t, x.reports, password)

			require.NoError(t, target.cmd.Process.Signal(os.Interrupt))
			require.Equal(t, exitPass, target.wait(t), "%s", target.out)
			requireNobodyAt(t, env["ORDERS_URL"])
			gone := callWith(t.Context(), env, "run", "--reports", t.TempDir(), "--target", file, "plain-create")
			require.Equal(t, exitSurroundings, gone.code, "%s", gone)
			require.Contains(t, gone.err, "is the target running?")
		})
	}
}

func TestServeTellsShellsWhatTheyNeed(t *testing.T) {
	t.Parallel()
	p, env := serving(t, "unique-key")
	script := `eval "$1"; printf '%s %s' "$ORDERS_URL" "$DATABASE_URL"`
	out, err := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", strings.SplitN(p.out.String(), "serving", 2)[0]).Output()
	require.NoError(t, err)
	require.Equal(t, env["ORDERS_URL"]+" "+env["DATABASE_URL"], string(out))
}
