package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
	"github.com/doubletap-harness/doubletap/rundir"
)

// shards plays scenarios against a built-in design in so many shards, numbered as Kubernetes does it, and returns their directories.
func shards(t *testing.T, target string, of int, names ...string) []string {
	t.Helper()
	var dirs []string
	for index := range of {
		reports := t.TempDir()
		args := append([]string{"run", "--target", target, "--seed", "7", "--shard", fmt.Sprint("/", of), "--reports", reports}, names...)
		got := callWith(t.Context(), map[string]string{jobIndex: fmt.Sprint(index)}, args...)
		require.Less(t, got.code, exitConfig, "%s", got)
		dirs = append(dirs, onlyRun(t, reports))
	}
	return dirs
}

// merge calls merge, and returns the directory of the merged run as well.
func merge(t *testing.T, dirs ...string) (outcome, string) {
	t.Helper()
	into := t.TempDir()
	got := callWith(t.Context(), nil, append([]string{"merge", "--reports", into}, dirs...)...)
	found, err := filepath.Glob(filepath.Join(into, "2*"))
	require.NoError(t, err)
	if len(found) == 0 {
		return got, ""
	}
	require.Len(t, found, 1)
	return got, found[0]
}

func readReport(t *testing.T, dir string) checker.Report {
	t.Helper()
	report, err := rundir.Dir{Path: dir}.ReadReport()
	require.NoError(t, err)
	return report
}

// TestShardsAreMerged sends the intents of some scenarios from three runs, and judges them as one.
func TestShardsAreMerged(t *testing.T) {
	t.Parallel()
	dirs := shards(t, "builtin:check-then-insert", 3, "long-work", "sequential-replay", "key-quote")
	got, dir := merge(t, dirs[2], dirs[0], dirs[1])
	require.Equal(t, exitFinding, got.code, "%s", got)
	require.Regexp(t, `long-work +fail.* 3 of 3 intents.*worked-long 3/3`, got.out)
	require.Regexp(t, `sequential-replay +pass.*replayed 8/8`, got.out)
	require.Regexp(t, `key-quote +pass.*neighbours-answered 12/12`, got.out)
	report := readReport(t, dir)
	require.NotContains(t, report.Again, "--shard")
	require.Contains(t, report.Again, "--seed 7")
	require.Contains(t, report.Replay, dir)
	for _, name := range []string{"F1", "F2", "F3"} {
		f, err := rundir.ReadFinding(filepath.Join(dir, rundir.FindingsName, name))
		require.NoError(t, err)
		require.Equal(t, name, f.Finding.ID)
		require.Equal(t, 3, f.Shown)
		require.Equal(t, 3, f.Of)
	}
	one := len(report.Results)
	again := callWith(t.Context(), nil, "replay", filepath.Join(dir, rundir.FindingsName, "F1"), "--reports", t.TempDir())
	require.Equal(t, exitFinding, again.code, "%s", again)
	require.Equal(t, 3, one)

	lacking, part := merge(t, dirs[0], dirs[2])
	require.Equal(t, exitFinding, lacking.code, "what broke broke")
	require.Contains(t, lacking.out, "shards are missing: 2 of 3")
	requireJudgedAgain(t, part)
	requireJudgedAgain(t, dir)
	useMerged(t, dir, dirs)
}

// requireJudgedAgain holds that check says of a merged run what its report says.
func requireJudgedAgain(t *testing.T, dir string) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join(dir, "report.json"))
	require.NoError(t, err)
	report, _, err := rundir.Dir{Path: dir}.Rejudge(nil)
	require.NoError(t, err)
	var got bytes.Buffer
	require.NoError(t, reports.JSON(&got, *report))
	require.Equal(t, string(want), got.String())
	again := callWith(t.Context(), nil, "check", dir)
	require.Equal(t, map[checker.Verdict]int{checker.Fail: exitFinding, checker.Pass: exitPass, checker.Inconclusive: exitInconclusive}[report.Verdict], again.code, "%s", again)
	require.Contains(t, again.out, strings.ToUpper(report.Verdict.String()))
}

// useMerged does with a merged run, which has findings, what one does with a run.
func useMerged(t *testing.T, dir string, dirs []string) {
	same := callWith(t.Context(), nil, "diff", dir, dir)
	require.Equal(t, exitPass, same.code, "%s", same)
	newer := callWith(t.Context(), nil, "diff", dirs[0], dir)
	require.Less(t, newer.code, exitConfig, "%s", newer)
	twice, _ := merge(t, dir)
	require.Equal(t, exitConfig, twice.code)
	require.Contains(t, twice.err, "is a merged run: name the directories of its shards")

	// On another machine, with its shards and without.
	moved := t.TempDir()
	for i, d := range append([]string{dir}, dirs...) {
		to := filepath.Join(moved, strings.TrimPrefix(d, os.TempDir()))
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.CopyFS(to, os.DirFS(d)), i)
	}
	there := filepath.Join(moved, strings.TrimPrefix(dir, os.TempDir()))
	judged := callWith(t.Context(), nil, "check", there)
	require.Equal(t, exitFinding, judged.code, "%s", judged)
	require.NoError(t, os.RemoveAll(filepath.Join(moved, strings.TrimPrefix(dirs[1], os.TempDir()))))
	for _, args := range [][]string{{"check", there}, {"diff", there, dir}} {
		gone := callWith(t.Context(), nil, args...)
		require.Equal(t, exitConfig, gone.code, "%s", gone)
		require.Contains(t, gone.err, "was merged from 3 shards, and has their histories where they were, but not any more at "+moved)
		require.Empty(t, gone.out)
		require.Equal(t, 2, lines(gone.err), "%s", gone)
	}
	finding := filepath.Join(there, rundir.FindingsName, "F1")
	for _, as := range []string{"curl", "go", "scenario"} {
		exported(t, finding, as, nil)
	}
	shrunk := callWith(t.Context(), nil, "shrink", finding, "--reports", t.TempDir(), "--dry-run")
	require.Equal(t, exitPass, shrunk.code, "%s", shrunk)
}

// A scenario with fewer intents than shards is played by the first ones.
func TestShardsOfACorrectDesignPass(t *testing.T) {
	t.Parallel()
	dirs := shards(t, "builtin:unique-key", 4, "long-work", "plain-create")
	got, whole := merge(t, dirs...)
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Regexp(t, `plain-create +pass.*acknowledged 8/8`, got.out)
	require.Regexp(t, `long-work +pass.*worked-long 3/3`, got.out)
	requireJudgedAgain(t, whole)

	lacking, part := merge(t, dirs[0], dirs[1], dirs[2])
	require.Equal(t, exitInconclusive, lacking.code, "%s", lacking)
	requireJudgedAgain(t, part)
	require.Contains(t, lacking.out, "shards are missing: 4 of 4")

	killed := dirs[1]
	require.NoError(t, os.Remove(filepath.Join(killed, "plain-create", rundir.HistoryName)))
	lost, _ := merge(t, dirs...)
	require.Equal(t, exitInconclusive, lost.code, "%s", lost)
	require.Contains(t, lost.out, "shard 2/4: it was not run: the run ended before it")
}

func TestWhatIsNoShardOfARun(t *testing.T) {
	t.Parallel()
	run := func(args ...string) string {
		reports := t.TempDir()
		got := callWith(t.Context(), nil, append([]string{"run", "--target", "builtin:unique-key", "key-long", "--reports", reports}, args...)...)
		require.Less(t, got.code, exitConfig, "%s", got)
		return onlyRun(t, reports)
	}
	first, whole := run("--seed=1", "--shard=1/2"), run("--seed=1")
	for want, dirs := range map[string][]string{
		"are both shard 1/2":                          {first, first},
		"is not a shard":                              {first, whole},
		"are not shards of one run: seed 1, and 2":    {first, run("--seed=2", "--shard=2/2")},
		"are not shards of one run: shard 1/2, and 2": {first, run("--seed=1", "--shard=2/3")},
		"is not the directory of a run":               {first, t.TempDir()},
	} {
		got, _ := merge(t, dirs...)
		require.Equal(t, exitConfig, got.code, "%s", got)
		require.Contains(t, got.err, want)
		require.LessOrEqual(t, lines(got.err), 2, "%s", got.err)
	}
	got, _ := merge(t, whole)
	require.Equal(t, exitPass, got.code, "a whole run is all there is: %s", got)
}

func TestAShardIsNamedRightly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "3", "0/2", "3/2", "-1/2", "a/2", "1/0", "/", "1/2/3", "1/99999999"} {
		got := callWith(t.Context(), nil, "run", "--target", "builtin:unique-key", "--seed", "1", "--shard", text)
		require.Equal(t, exitConfig, got.code, "%q: %s", text, got)
		require.Contains(t, got.err, "such as 3/8", text)
	}
	for _, index := range []string{"", "2", "-1", "x"} {
		got := callWith(t.Context(), map[string]string{jobIndex: index}, "run", "--target", "builtin:unique-key", "--seed", "1", "--shard", "/2")
		require.Equal(t, exitConfig, got.code, "%q: %s", index, got)
		require.Contains(t, got.err, "expected 0 to 1", strings.TrimSpace(got.err))
	}
	got := callWith(t.Context(), nil, "run", "--target", "builtin:unique-key", "--shard", "1/2")
	require.Equal(t, exitConfig, got.code)
	require.Contains(t, got.err, "without --seed")
}
