package main

import (
	"bytes"
	"errors"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
)

// process is doubletap in a process of its own.
type process struct {
	cmd   *exec.Cmd
	tmp   string // its folder for temporary files
	out   *text
	ended chan error
}

// text is a buffer that may be read while a process writes to it.
type text struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *text) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *text) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// start starts doubletap. It is killed at the end of the test, if it still runs.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(usual(t), args...), tmp: t.TempDir(), out: &text{}, ended: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), append([]string{"TMPDIR=" + p.tmp}, env...)...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	require.NoError(t, p.cmd.Start())
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() { p.cmd.Process.Kill() })
	return p
}

// wait waits for the end of the process and returns its exit code; -1 if a signal killed it.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case err := <-p.ended:
		var failed *exec.ExitError
		if !errors.As(err, &failed) {
			require.NoError(t, err)
			return 0
		}
		return failed.ExitCode()
	case <-time.After(10 * time.Minute):
		t.Fatalf("the process did not end\n%s", p.out)
		return -1
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, 5*time.Minute, 10*time.Millisecond, what)
}

// long is a scenario that is still busy when a test interferes.
const long = `name: long
summary: A thousand creates, one after the other.
intents: 1000
concurrency: 2
steps: [{send: {}}]
exercised: [acknowledged]
`

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

// busyWith reports that a run has begun so many attempts of a scenario.
func busyWith(reports, scenario string, attempts int) func() bool {
	return func() bool {
		found, _ := filepath.Glob(filepath.Join(reports, "*", scenario, rundir.HistoryName))
		if len(found) != 1 {
			return false
		}
		history, err := os.ReadFile(found[0])
		return err == nil && bytes.Count(history, []byte(`{"begun":`)) >= attempts
	}
}

func TestAStoppedRunLosesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal os.Signal
		code   int
		twice  bool // it comes from what wraps the command, too
	}{
		"by Ctrl-C":        {signal: os.Interrupt, code: exitInterrupted},
		"by Ctrl-C, twice": {signal: os.Interrupt, code: exitInterrupted, twice: true},
		"by SIGTERM":       {signal: syscall.SIGTERM, code: exitTerminated},
		"by SIGHUP":        {signal: syscall.SIGHUP, code: exitHungUp},
		"by SIGQUIT":       {signal: syscall.SIGQUIT, code: exitQuit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reports := t.TempDir()
			p := start(t, nil, "run", "--parallel=1", "--target", demoTarget, "--reports", reports, "plain-create", writeFile(t, "long.yaml", long), "double-click")
			eventually(t, "the run is under way", busyWith(reports, "long", 20))
			require.NoError(t, p.cmd.Process.Signal(c.signal))
			if c.twice {
				time.Sleep(10 * time.Millisecond) // two at once would be one to the process
				require.NoError(t, p.cmd.Process.Signal(c.signal))
			}
			require.Equal(t, c.code, p.wait(t), "%s", p.out)

			require.Contains(t, p.out.String(), "plain-create  pass", "what was done is reported")
			require.Contains(t, p.out.String(), "stopped by a signal")
			require.Contains(t, p.out.String(), "it was not run: the run was interrupted")
			run := onlyRun(t, reports)
			require.FileExists(t, filepath.Join(run, "junit.xml"))
			require.NotEmpty(t, histories(t, run), "the histories are readable")
			again := callWith(t.Context(), nil, "check", run)
			require.Equal(t, exitInconclusive, again.code, "%s", again)

			left, err := os.ReadDir(p.tmp)
			require.NoError(t, err)
			require.Empty(t, left, "nothing is left of the built-in target")
			requireNobodyAt(t, baseURL(t, run))
		})
	}
}

func baseURL(t *testing.T, run string) string {
	m, err := rundir.Dir{Path: run}.ReadManifest()
	require.NoError(t, err)
	return m.BaseURL
}

func requireNobodyAt(t *testing.T, address string) {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	eventually(t, "nobody listens any more", func() bool { // another test may have the port by now, for a moment
		conn, err := net.DialTimeout("tcp", u.Host, time.Second)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
}

func TestARunThatIsStoppedInItsPilotSaysSo(t *testing.T) {
	t.Parallel()
	reports := t.TempDir()
	target := writeFile(t, "target.yaml", shopFile)
	silent := listener(t, func(c net.Conn) { request(c); select {} })
	p := start(t, []string{"SHOP_URL=" + silent, "SHOP_DATABASE=sqlite://" + newShop(t, nil).path}, "run", "--reports", reports, "--target", target)
	eventually(t, "the pilot is under way", busyWith(reports, rundir.FirstPilotName, 1))
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	require.Equal(t, exitInterrupted, p.wait(t), "%s", p.out)
	require.Contains(t, p.out.String(), "interrupted before the first scenario")
	require.FileExists(t, filepath.Join(onlyRun(t, reports), "junit.xml"))
}

func TestARunThatIsStoppedWhileItCalibratesIsNotBroken(t *testing.T) {
	t.Parallel()
	reports := t.TempDir()
	slow := writeFile(t, "slow.yaml", `name: slow
summary: Bursts on a slow lane, which take a while to be calibrated.
intents: 1
lanes: {slow: [{latency: {delay: 400ms}}]}
steps: [{burst: {copies: 2, lane: slow}}]
exercised: [overlapped]
`)
	p := start(t, nil, "run", "--target", demoTarget, "--reports", reports, "plain-create", slow, "double-click")
	eventually(t, "the scenario has begun", busyWith(reports, "slow", 0))
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	require.Equal(t, exitInterrupted, p.wait(t), "%s", p.out)
	require.Regexp(t, `slow +inconclusive .*it was not run: the run was interrupted`, p.out.String())
	require.Regexp(t, `double-click: inconclusive\s+it was not run: the run was interrupted`, p.out.String())
	require.NotContains(t, p.out.String(), "failed")
	again := callWith(t.Context(), nil, "check", onlyRun(t, reports))
	require.Equal(t, exitInconclusive, again.code, "%s", again)
}

func TestAKilledRunIsInconclusive(t *testing.T) {
	t.Parallel()
	reports := t.TempDir()
	p := start(t, nil, "run", "--parallel=1", "--target", demoTarget, "--reports", reports, "plain-create", writeFile(t, "long.yaml", long), "double-click")
	eventually(t, "the run is under way", busyWith(reports, "long", 20))
	require.NoError(t, p.cmd.Process.Kill())
	require.Equal(t, -1, p.wait(t))
	again := callWith(t.Context(), nil, "check", onlyRun(t, reports))
	require.Equal(t, exitInconclusive, again.code, "%s", again)
	require.Contains(t, again.out, "plain-create  pass")
	require.Contains(t, again.out, "the run was killed")
	require.Contains(t, again.out, "it was not run")
}

func TestTwoRunsAtATimeDoNotMeet(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	x := s.trial(t, "plain-create", "sequential-replay")
	first := make(chan outcome)
	go func() { first <- x.run(t) }()
	second := x.run(t)
	require.Equal(t, exitPass, second.code, "%s", second)
	require.Equal(t, exitPass, (<-first).code)
	found, err := filepath.Glob(filepath.Join(x.reports, "2*", "report.json"))
	require.NoError(t, err)
	require.Len(t, found, 2)
}

// killAt kills the target at an address when a run has so much of a scenario on record. Its port is kept, so that no server of
// another test answers there.
func killAt(t *testing.T, target *process, address, reports, scenario string, attempts int) {
	t.Helper()
	eventually(t, "the run is under way", busyWith(reports, scenario, attempts))
	require.NoError(t, target.cmd.Process.Kill())
	keepPort(t, address)
}

// keepPort binds the port of an address without listening there: connections are refused.
func keepPort(t *testing.T, address string) {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	port, err := strconv.Atoi(u.Port())
	require.NoError(t, err)
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(socket) })
	require.NoError(t, syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	eventually(t, "the port is free", func() bool {
		return syscall.Bind(socket, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}) == nil
	})
	// A socket that does not listen shares its port with a listener of another test, as long as both say that they would.
	require.NoError(t, syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0))
}

func TestATargetThatDies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attempts int
		says     string
	}{
		"inside a scenario":    {20, "its last answer was 201 to attempt"},
		"as a scenario begins": {1, "it answered nothing at all in this scenario|its last answer was 201"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, env := serving(t, "unique-key")
			reports := t.TempDir()
			ran := make(chan outcome)
			go func() {
				ran <- callWith(t.Context(), env, "run", "--parallel=1", "--reports", reports, "--target", "../../docs/examples/orders.yaml",
					"plain-create", writeFile(t, "long.yaml", long), "burst-same-key", "tabs-natural-key")
			}()
			killAt(t, target, env["ORDERS_URL"], reports, "long", c.attempts)
			got := <-ran
			require.Equal(t, exitEnvironment, got.code, "%s", got)
			report := onlyReport(t, reports)
			require.Len(t, report.Results, 4)
			for i, verdict := range []string{"pass", "broken", "broken", "not-applicable"} {
				require.Equal(t, verdict, report.Results[i].Verdict.String(), "%s\n%s", report.Results[i].Scenario, got)
				require.Empty(t, report.Results[i].Findings, "%s", report.Results[i].Scenario)
			}
			why := strings.Join(report.Results[1].Reasons, "\n")
			require.Regexp(t, c.says, why)
			require.Regexp(t, "then i[0-9.]+ at", why, "the last attempts are the evidence")
			require.Contains(t, got.out, "it was not run: the target is gone")
			trial{reports: reports}.checked(t, got)
		})
	}
}

func TestATargetThatDiesAfterAFindingHasStillBrokenItsPromise(t *testing.T) {
	t.Parallel()
	target, env := serving(t, "check-then-insert")
	reports := t.TempDir()
	ran := make(chan outcome)
	go func() {
		ran <- callWith(t.Context(), env, "run", "--reports", reports, "--target", "../../docs/examples/orders.yaml",
			"burst-same-key", writeFile(t, "long.yaml", long))
	}()
	killAt(t, target, env["ORDERS_URL"], reports, "long", 20)
	got := <-ran
	require.Equal(t, exitFinding, got.code, "%s", got)
	report := onlyReport(t, reports)
	require.NotEmpty(t, report.Results[0].Findings)
	require.Equal(t, "broken", report.Results[1].Verdict.String())
	trial{reports: reports}.checked(t, got)
}
