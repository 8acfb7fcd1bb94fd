package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/shrink"
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
	return servingBy(t, design, database, "")
}

// servings counts what this process serves.
var servings atomic.Uint32

// ownAddress is an address of this machine at which nobody else listens: what is gone from there leaves its port to no other test.
// Linux has 127.0.0.0/8 for it; elsewhere there is one address.
func ownAddress() string {
	if runtime.GOOS != "linux" {
		return "127.0.0.1"
	}
	own := uint32(os.Getpid())<<8 | servings.Add(1)&0xff
	return fmt.Sprintf("127.%d.%d.%d", 1+own>>16%250, own>>8&0xff, own&0xff)
}

// servingBy is serving on a database that is reached by a road; empty: as its URL says.
func servingBy(t *testing.T, design, database, road string) (*process, map[string]string) {
	t.Helper()
	p := start(t, nil, "targets", "serve", design, "--listen", ownAddress()+":0", "--database", database, "--database-proxy", road)
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
	const file = "../../docs/examples/orders.yaml"
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
			require.Equal(t, exitEnvironment, gone.code, "%s", gone)
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

// TestFromRedToReproduced is the road of a finding at an API of one's own: seen again, made small, seen
// again in a fresh process, and not any more when it is mended.
func TestFromRedToReproduced(t *testing.T) {
	t.Parallel()
	const file = "../../docs/examples/orders.yaml"
	first, env := serving(t, "check-then-insert")
	reports := t.TempDir()
	got := callWith(t.Context(), env, "run", "burst-same-key", "--reports", reports, "--target", file, "--seed", "5")
	require.Equal(t, exitFinding, got.code, "%s", got)
	finding := filepath.Join(onlyRun(t, reports), rundir.FindingsName, "F1")

	got = callWith(t.Context(), env, "replay", finding, "--times", "5", "--reports", t.TempDir())
	require.Equal(t, exitFinding, got.code, "%s", got)
	require.Regexp(t, `(?m)^reproduced: duplicate in \d of 5 tries`, got.out)
	got = callWith(t.Context(), env, "shrink", finding, "--reports", t.TempDir())
	require.Equal(t, exitPass, got.code, "%s", got)
	small := filepath.Join(finding, shrink.FileName)
	require.FileExists(t, small)

	require.NoError(t, first.cmd.Process.Signal(os.Interrupt))
	require.Equal(t, exitPass, first.wait(t), "%s", first.out)
	_, again := serving(t, "check-then-insert")
	got = callWith(t.Context(), again, "run", small, "--confidence", "20%", "--reports", t.TempDir(), "--target", file)
	require.Equal(t, exitFinding, got.code, "%s", got)

	_, mended := serving(t, "unique-key")
	got = callWith(t.Context(), mended, "replay", finding, "--times", "5", "--reports", t.TempDir())
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, got.out, "not reproduced: no duplicate in 5 exercised of 5 tries")
}
