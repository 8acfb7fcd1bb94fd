package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/sut/services"
)

// serviceFile is a target file that serves a built-in design as a process over a private database. The
// process writes its number to a file, and is replaced by the design.
func serviceFile(t *testing.T, design, database string) (file, pid string) {
	t.Helper()
	source, err := os.ReadFile("../../docs/examples/process.yaml")
	require.NoError(t, err)
	pid = filepath.Join(t.TempDir(), "pid")
	text := strings.NewReplacer(
		"[doubletap, ", `[sh, -c, 'echo $$$$ > "$0"; exec "$@"', '`+pid+"', doubletap, ",
		"ephemeral: sqlite", "ephemeral: "+database,
		"${DESIGN:-unique-key}", design,
	).Replace(string(source))
	return writeFile(t, "process.yaml", text), pid
}

// portsIn are the addresses that a run's instances have printed.
func portsIn(t *testing.T, run string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(run, sut.ProcessLogName))
	require.NoError(t, err)
	var all []string
	for _, found := range regexp.MustCompile(`ORDERS_URL=http://(\S+)`).FindAllStringSubmatch(string(text), -1) {
		all = append(all, found[1])
	}
	require.NotEmpty(t, all)
	return all
}

func numberIn(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return n
}

// openFolder is a folder for temporary files, as open to other users as that of the system.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "doubletap-test-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o777|os.ModeSticky))
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestNothingOfAServiceOutlivesItsRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		database string
		signal   os.Signal
		code     int
		flags    []string
	}{
		"stopped by Ctrl-C":           {"sqlite", os.Interrupt, exitInterrupted, nil},
		"stopped by SIGTERM":          {"postgres", syscall.SIGTERM, exitTerminated, nil},
		"killed":                      {"sqlite", os.Kill, -1, nil},
		"killed, with a server to it": {"postgres", os.Kill, -1, nil},
		"three of it, stopped":        {"sqlite", os.Interrupt, exitInterrupted, []string{"--instances", "3"}},
		"three of it, killed":         {"sqlite", os.Kill, -1, []string{"--instances", "3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reports, tmp := t.TempDir(), openFolder(t)
			file, _ := serviceFile(t, "unique-key", c.database)
			args := append([]string{"run", "--reports", reports, "--target", file, writeFile(t, "long.yaml", long)}, c.flags...)
			p := start(t, []string{"TMPDIR=" + tmp}, args...)
			eventually(t, "the run is under way", busyWith(reports, "long", 20))
			require.NoError(t, p.cmd.Process.Signal(c.signal))
			require.Equal(t, c.code, p.wait(t), "%s", p.out)
			eventually(t, "no folder is left", func() bool { left, err := os.ReadDir(tmp); return err == nil && len(left) == 0 })
			base := strings.TrimPrefix(baseURL(t, onlyRun(t, reports)), "http://")
			eventually(t, "nobody listens any more", func() bool { return !services.Taken(base) })
			if c.signal == os.Kill {
				return // what the instances printed last waited for its secrets to be hidden
			}
			places := portsIn(t, onlyRun(t, reports))
			require.Len(t, places, map[bool]int{true: 3, false: 1}[c.flags != nil])
			for _, address := range places {
				eventually(t, "no instance listens any more", func() bool { return !services.Taken(address) })
			}
		})
	}
}

// shorter is long for runs that go on to its end.
var shorter = strings.Replace(long, "intents: 1000", "intents: 300", 1)

func TestAServiceThatDiesInARunIsNamed(t *testing.T) {
	t.Parallel()
	reports := t.TempDir()
	file, pid := serviceFile(t, "unique-key", "sqlite")
	p := start(t, nil, "run", "--parallel=1", "--reports", reports, "--target", file, "plain-create", writeFile(t, "long.yaml", shorter), "double-click")
	eventually(t, "the run is under way", busyWith(reports, "long", 20))
	require.NoError(t, syscall.Kill(numberIn(t, pid), syscall.SIGKILL))
	require.Equal(t, exitFinding, p.wait(t), "%s", p.out)
	report := onlyReport(t, reports)
	require.Equal(t, "pass", report.Results[0].Verdict.String())
	requireDeath(t, report.Results[1], "the process ended by itself (signal: killed: by the system for want of memory, or by somebody else)")
	require.Contains(t, report.Results[1].Findings[0].Observed, "serving unique-key until interrupted")
	require.Equal(t, "pass", report.Results[2].Verdict.String(), "the run went on")
	require.FileExists(t, filepath.Join(onlyRun(t, reports), sut.ProcessLogName))
}

// requireDeath holds that a scenario told of one process that ended, and of nothing else.
func requireDeath(t *testing.T, r checker.Result, observed string) {
	t.Helper()
	require.Equal(t, "fail", r.Verdict.String())
	require.Len(t, r.Findings, 1)
	require.Equal(t, checker.TargetDied, r.Findings[0].Kind)
	require.Contains(t, r.Findings[0].Observed, observed)
}

func TestOneOfSeveralInstancesThatDiesIsStartedAgain(t *testing.T) {
	t.Parallel()
	reports := t.TempDir()
	file, pid := serviceFile(t, "unique-key", "sqlite") // the number is that of the last to be started
	p := start(t, nil, "run", "--reports", reports, "--target", file, "--instances", "2", writeFile(t, "long.yaml", shorter), "double-click")
	eventually(t, "the run is under way", busyWith(reports, "long", 20))
	require.NoError(t, syscall.Kill(numberIn(t, pid), syscall.SIGKILL))
	require.Equal(t, exitFinding, p.wait(t), "%s", p.out)
	report := onlyReport(t, reports)
	requireDeath(t, report.Results[0], "the process of instance 2 ended by itself (signal: killed")
	require.Equal(t, "pass", report.Results[1].Verdict.String(), "the run went on")
}

// TestAServiceThatDiesAndStaysDead ends the run; the finding stays.
func TestAServiceThatDiesAndStaysDead(t *testing.T) {
	t.Parallel()
	reports := t.TempDir()
	file, pid := serviceFile(t, "unique-key", "sqlite")
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	once := strings.Replace(string(source), "sh, -c, '", `sh, -c, 'if [ -e "$0" ]; then exit 5; fi; `, 1)
	p := start(t, nil, "run", "--reports", reports, "--target", writeFile(t, "once.yaml", once), writeFile(t, "long.yaml", shorter), "double-click")
	eventually(t, "the run is under way", busyWith(reports, "long", 20))
	require.NoError(t, syscall.Kill(numberIn(t, pid), syscall.SIGKILL))
	require.Equal(t, exitFinding, p.wait(t), "%s", p.out)
	report := onlyReport(t, reports)
	require.Equal(t, checker.TargetDied, report.Results[0].Findings[0].Kind)
	require.Contains(t, report.Results[0].Findings[0].Observed, "it does not start again: it ended before it was ready (exit status 5)")
	require.Contains(t, report.Results[1].Reasons, "it was not run: the target is gone")
}

func TestAServiceOverEveryPrivateDatabase(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"sqlite", "postgres", "mariadb"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			file, _ := serviceFile(t, "check-then-insert", database)
			p := start(t, []string{"TMPDIR=" + openFolder(t)}, "run", "--reports", t.TempDir(), "--target", file, "plain-create", "burst-same-key")
			require.Equal(t, exitFinding, p.wait(t), "%s", p.out)
			require.Contains(t, p.out.String(), "✗ burst-same-key  fail")
			require.Contains(t, p.out.String(), "✓ plain-create    pass")
			require.Contains(t, p.out.String(), "rows read from a private "+database+" database")
		})
	}
}

func TestAProcessDoesNotIgnoreThatNobodyReads(t *testing.T) {
	t.Parallel()
	reports := t.TempDir()
	file := strings.Replace(softShop, "command: [doubletap,", `command: [sh, -c, 'grep SigIgn /proc/self/status; exec "$0" "$@"', doubletap,`, 1)
	got := typed(t, "run", "--target", writeFile(t, "shop.yaml", file), "--reports", reports, "plain-create")
	require.Equal(t, exitPass, got.code, "%s", got)
	text, err := os.ReadFile(filepath.Join(onlyRun(t, reports), sut.ProcessLogName))
	require.NoError(t, err)
	require.Regexp(t, `(?m)^SigIgn:\s+[0-9a-f]+[02468ace][0-9a-f]{3}$`, string(text), "SIGPIPE is 0x1000")
}
