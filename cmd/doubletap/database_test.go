package main

import (
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/sut"
)

func TestDatabasesThatCannotBeReached(t *testing.T) {
	t.Parallel()
	nobody := strings.TrimPrefix(freeAddress(t), "http://")
	for name, c := range map[string]struct{ url, says string }{
		"PostgreSQL is not there":         {"postgres://me:hunter22@" + nobody + "/shop", nobody},
		"PostgreSQL refuses the password": {withPassword(t, postgresVariable, "hunter22"), "password authentication failed"},
		"MariaDB is not there":            {"mariadb://me:hunter22@" + nobody + "/shop", nobody},
		"MariaDB refuses the password":    {withPassword(t, mariadbVariable, "hunter22"), "Access denied"},
		"the file is not there":           {"sqlite:///nowhere/shop.db", "/nowhere/shop.db"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, nil)
			x := s.trial(t)
			x.env["SHOP_DATABASE"] = c.url
			got := x.run(t)
			require.Equal(t, exitEnvironment, got.code, "%s", got)
			require.Contains(t, got.err, "reach database at")
			require.Contains(t, got.err, c.says)
			require.NotContains(t, got.String(), "hunter22")
			require.Equal(t, 1, lines(got.err), "one message: %s", got.err)
			require.Zero(t, s.things(t), "nothing was sent")
			requireNowhere(t, x.reports, "hunter22")
		})
	}
}

func TestBuiltinTargetsWithoutTheirDatabase(t *testing.T) {
	t.Parallel()
	for _, variable := range []string{postgresVariable, mariadbVariable} {
		got := callWith(t.Context(), nil, "run", "--target", demoTarget, "--reports", t.TempDir(), "--database", withPassword(t, variable, "hunter22"), "plain-create")
		require.Equal(t, exitEnvironment, got.code, "%s", got)
		require.NotContains(t, got.String(), "hunter22")
		got = callWith(t.Context(), nil, "targets", "serve", "unique-key", "--database", withPassword(t, variable, "hunter22"))
		require.Equal(t, exitEnvironment, got.code, "%s", got)
		require.NotContains(t, got.String(), "hunter22")
	}
}

func TestABuiltinTargetAsksNoServerElsewhere(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "0.0.0.0:0") // this machine, and no loopback address
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	var asked atomic.Int64
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			asked.Add(1)
			conn.Close()
		}
	}()
	database, store := "postgres://me:hunter22@"+l.Addr().String()+"/shop", "redis://:hunter22@"+l.Addr().String()
	for _, scheme := range []string{"postgres", "mariadb"} {
		env := map[string]string{sut.DatabaseVariable: strings.Replace(database, "postgres", scheme, 1)}
		for _, args := range [][]string{{"demo", "plain-create"}, {"run", "--target", demoTarget, "--dry-run", "slow-database"}, {"explain", "--target", demoTarget}, {"doctor", "--target", demoTarget}} {
			got := callWith(t.Context(), env, args...)
			require.Equal(t, exitConfig, got.code, "%s: %s", args, got)
			require.Contains(t, got.err, sut.DatabaseVariable+" points to 0.0.0.0, which is not this machine\na built-in target takes only servers on this machine")
		}
	}
	finding := found(t, "replay-status-changed", "sequential-replay")
	for _, args := range [][]string{
		{"run", "--target", demoTarget, "--database", database, "plain-create"},
		{"run", "--store", store, "--target", "builtin:redis-claim-and-record", "plain-create"},
		{"shrink", "--target", demoTarget, "--database", database, finding},
		{"replay", "--target", demoTarget, "--database", database, finding},
		{"export", "--target", demoTarget, "--database", database, finding},
		{"matrix", "--design", "unique-key", "--database", database, "plain-create"},
		{"targets", "serve", "unique-key", "--database", database},
		{"targets", "serve", "redis-claim-and-record", "--store", store},
		{"targets", "serve", "unique-key", "--database-proxy", l.Addr().String()},
		{"targets", "serve", "redis-claim-and-record", "--store-proxy", l.Addr().String()},
		{"targets", "serve", "dependency-error-frees-key", "--dependency-proxy", l.Addr().String()},
		{"targets", "serve", "charge-key-of-request", "--outside", "http://" + l.Addr().String()},
	} {
		got := callWith(t.Context(), nil, args...)
		require.NotEqual(t, exitPass, got.code, "%s: %s", args, got)
		require.Contains(t, got.err, "points to 0.0.0.0, which is not this machine", "%s", args)
		require.NotContains(t, got.String(), "hunter22")
	}
	got := typed(t, "run", "--target", "served:unique-key", "--database", database, "plain-create")
	require.Equal(t, exitConfig, got.code, "%s", got)
	require.Contains(t, got.err, "--database points to 0.0.0.0, which is not this machine")
	require.Zero(t, asked.Load())
}

func TestAFindingIsPlayedOnTheKindOfDatabaseThatItWasMadeOn(t *testing.T) {
	t.Parallel()
	env := map[string]string{sut.DatabaseVariable: os.Getenv(postgresVariable)}
	finding := found(t, "replay-status-changed", "sequential-replay", "--database", os.Getenv(postgresVariable))
	for _, command := range []string{"replay", "shrink"} {
		got := callWith(t.Context(), nil, command, finding, "--reports", t.TempDir())
		require.Equal(t, exitConfig, got.code, "%s", got)
		require.Contains(t, got.err, "the finding was made at builtin:replay-status-changed on postgres; expected such a server, as in --database postgres://127.0.0.1/test or $"+sut.DatabaseVariable)
	}
	for name, again := range map[string]outcome{
		"there":                callWith(t.Context(), env, "replay", finding, "--times", "1", "--reports", t.TempDir()),
		"on SQLite, as wanted": callWith(t.Context(), nil, "replay", finding, "--times", "1", "--reports", t.TempDir(), "--target", "builtin:replay-status-changed"),
	} {
		require.Equal(t, exitFinding, again.code, "%s: %s", name, again)
	}
}

func withPassword(t *testing.T, variable, password string) string {
	u, err := url.Parse(os.Getenv(variable))
	require.NoError(t, err)
	u.User = url.UserPassword(u.User.Username(), password)
	return u.String()
}

// relay is a road to a database that can be taken away.
type relay struct {
	listener net.Listener
	mu       sync.Mutex
	conns    []net.Conn
	closed   bool
}

// newRelay returns a relay to the server of a URL, and the URL through it.
func newRelay(t *testing.T, address string) (*relay, string) {
	u, err := url.Parse(address)
	require.NoError(t, err)
	server := u.Host
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{listener: l}
	t.Cleanup(r.close)
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", server)
			if err != nil || !r.keep(from, to) {
				from.Close()
				continue
			}
			go func() { io.Copy(to, from); to.Close() }()
			go func() { io.Copy(from, to); from.Close() }()
		}
	}()
	u.Host = l.Addr().String()
	return r, u.String()
}

func (r *relay) keep(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, conns...)
	return !r.closed
}

func (r *relay) close() {
	r.listener.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, c := range r.conns {
		c.Close()
	}
}

func TestADatabaseThatGoesAwayInTheMiddleLeavesRowsUnknown(t *testing.T) {
	t.Parallel()
	_, env := serving(t, "unique-key")
	road, through := newRelay(t, env["DATABASE_URL"])
	env["DATABASE_URL"] = through
	x := trial{reports: t.TempDir()}
	ran := make(chan outcome)
	go func() {
		ran <- callWith(t.Context(), env, "run", "--parallel=1", "--reports", x.reports, "--target", "../../docs/examples/orders.yaml",
			"plain-create", writeFile(t, "some.yaml", strings.NewReplacer("long", "some", "1000", "100").Replace(long)), "withheld-answer", "cut-reset")
	}()
	eventually(t, "the run is under way", busyWith(x.reports, "some", 20))
	road.close()
	got := <-ran
	require.Equal(t, exitEnvironment, got.code, "%s", got)
	report := onlyReport(t, x.reports)
	require.Equal(t, checker.Pass, report.Results[0].Verdict)
	for _, r := range report.Results[1:] {
		require.Equal(t, checker.Inconclusive, r.Verdict, "%s\n%s", r.Scenario, got)
		require.Empty(t, r.Findings)
	}
	require.Contains(t, strings.Join(report.Results[1].Reasons, "\n"), "rows are unknown")
	require.Contains(t, got.out, "it was not run: the database is gone")
	for _, h := range histories(t, onlyRun(t, x.reports)) {
		for _, a := range h.Attempts {
			require.False(t, a.Probe && h.Run.Scenario == "some", "what cannot be judged is not asked")
		}
	}
	x.checked(t, got)
	warned := callWith(t.Context(), nil, "check", onlyRun(t, x.reports), "--inconclusive", "warn")
	require.Equal(t, exitEnvironment, warned.code, "a run without its database is never green")
}

func TestWithoutADatabaseNothingIsProven(t *testing.T) {
	t.Parallel()
	x := newShop(t, nil).trial(t)
	x.file = strings.Split(shopFile, "database:")[0] + "operations:" + strings.Split(strings.Split(shopFile, "operations:")[1], "    rows:")[0]
	got := x.run(t)
	require.Equal(t, exitInconclusive, got.code, "%s", got)
	require.Contains(t, got.out, "the target file names no database")
	x.checked(t, got)
}

func TestReportsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "a-file", "")
	for name, dir := range map[string]string{"below a file": filepath.Join(file, "runs"), "where nobody can": "/proc/doubletap"} {
		s := newShop(t, nil)
		x := s.trial(t)
		x.reports = dir
		got := x.run(t)
		require.Equal(t, exitEnvironment, got.code, "%s: %s", name, got)
		require.Contains(t, got.err, "make the reports directory")
		require.Equal(t, 1, lines(got.err), name)
		require.Zero(t, s.things(t), "nothing was sent")
	}
}

func TestAColumnThatIsNeverTheSameIsNamed(t *testing.T) {
	t.Parallel()
	x := newShop(t, nil).trial(t)
	x.file = strings.Replace(x.file, "select id from things where note = :marker", `"select id, random() as luck from things where note = :marker"`, 1)
	begun := time.Now()
	got := x.run(t)
	require.Equal(t, exitConfig, got.code, "%s", got)
	require.Contains(t, got.err, "the column luck of operations.create.rows.query has another value in every look")
	require.Less(t, time.Since(begun), 30*time.Second)
}
