package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/sut"
)

// found runs a scenario against a broken design and returns the directory of its first finding. Where that
// takes a race, a busy machine may lose it a few times.
func found(t *testing.T, design, scenario string, flags ...string) string {
	t.Helper()
	const tries = 5
	var got outcome
	for range tries {
		reports := t.TempDir()
		got = callWith(t.Context(), nil, append([]string{"run", scenario, "--reports", reports, "--target", sut.BuiltinPrefix + design, "--seed", "3", "--operation", "create_order"}, flags...)...)
		if got.code == exitFinding {
			return filepath.Join(onlyRun(t, reports), rundir.FindingsName, "F1")
		}
	}
	require.Equal(t, exitFinding, got.code, "%s", got)
	return ""
}

// exported exports a finding to a file.
func exported(t *testing.T, finding, as string, env map[string]string, flags ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "again_test.go")
	got := callWith(t.Context(), env, append([]string{"export", finding, "--as", as, "--output", file}, flags...)...)
	require.Equal(t, exitPass, got.code, "%s", got)
	return file
}

// script runs an exported script against a target.
func script(t *testing.T, file string, env map[string]string) (int, string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "bash", file)
	command.Env = append(os.Environ(), "BASE_URL="+env["ORDERS_URL"], "DATABASE_URL="+env["DATABASE_URL"])
	for name, value := range env {
		command.Env = append(command.Env, name+"="+value)
	}
	out, err := command.CombinedOutput()
	if command.ProcessState == nil {
		require.NoError(t, err)
	}
	return command.ProcessState.ExitCode(), string(out)
}

// databaseURLs are the databases that a built-in target runs on; SQLite is the empty one.
func databaseURLs() map[string]string {
	return map[string]string{"sqlite": "", "postgres": os.Getenv(postgresVariable), "mariadb": os.Getenv(mariadbVariable)}
}

// onDatabase are the flags that name such a database.
func onDatabase(database string) []string {
	if database == "" {
		return nil
	}
	return []string{"--database", database}
}

func TestAScriptShowsADuplicateWithCurlAlone(t *testing.T) {
	t.Parallel()
	finding := found(t, "check-then-insert", "burst-same-key")
	for store, database := range databaseURLs() {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			file := exported(t, finding, "curl", nil, onDatabase(database)...)
			_, broken := servingOn(t, "check-then-insert", database)
			code, out := script(t, file, broken)
			require.Equal(t, 1, code, "%s", out)
			require.Contains(t, out, "it happened again")

			_, mended := servingOn(t, "unique-key", database)
			code, out = script(t, file, mended)
			require.Equal(t, 0, code, "%s", out)
			require.Regexp(t, `rows with dt[a-z2-7]{16}: 1\n`, out)

			mended["ORDERS_URL"] += "/nowhere"
			code, out = script(t, file, mended)
			require.Equal(t, 2, code, "%s", out)
			require.Contains(t, out, "no request took effect")

			mended["ORDERS_URL"], mended["DATABASE_URL"] = broken["ORDERS_URL"], ""
			code, out = script(t, file, mended)
			require.Equal(t, 2, code, "%s", out)
			require.Contains(t, out, "DATABASE_URL must be set")
		})
	}
}

// A script waits for as long as the contract says, and takes what comes after that for new.
func TestAScriptKnowsWhenAKeyIsForgotten(t *testing.T) {
	t.Parallel()
	file := exported(t, found(t, "expiry-too-short", "key-expired"), "curl", nil)
	for design, code := range map[string]int{"expiry-too-short": 1, "unique-key": 0} {
		_, env := servingOn(t, design, "")
		got, out := script(t, file, env)
		require.Equal(t, code, got, "%s", out)
	}
}

// A script says in its head what curl cannot do; what it can do is all there.
func TestAScriptHasRetriesTabsAndWaits(t *testing.T) {
	t.Parallel()
	finding := found(t, "check-then-insert", "testdata/export/steps.yaml")
	_, env := servingOn(t, "check-then-insert", "")
	file := exported(t, finding, "curl", nil)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "# In place of the lane slow, clients give up earlier, by what a request takes on it.\n")
	code, out := script(t, file, env)
	require.Contains(t, []int{0, 1}, code, "%s", out) // separate processes race as they please
	for line, why := range map[string]string{"201 ": "created", "000 ": "gave up", "422 ": "refused for its body", "rows with ": "counted"} {
		require.Regexp(t, "(?m)^"+line, out, why)
	}
}

// exportedFrom exports the first finding at a target of one's own, and returns the run's reports directory,
// the script's file and its text.
func exportedFrom(t *testing.T, target string, env map[string]string) (reports, file, text string) {
	t.Helper()
	reports = t.TempDir()
	got := callWith(t.Context(), env, "run", "burst-same-key", "--reports", reports, "--target", target, "--seed", "3")
	require.Equal(t, exitFinding, got.code, "%s", got)
	file = exported(t, filepath.Join(onlyRun(t, reports), rundir.FindingsName, "F1"), "curl", env)
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	return reports, file, string(source)
}

func TestAScriptLeavesSecretsToTheEnvironment(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-t0ken-of-alice"
	_, env := serving(t, "check-then-insert")
	env["ORDERS_TOKEN"] = secret
	reports, file, text := exportedFrom(t, "../../docs/examples/orders.yaml", env)
	require.NotContains(t, text, secret)
	require.Contains(t, text, `--header "Authorization: Bearer ${ORDERS_TOKEN}"`)
	code, out := script(t, file, env)
	require.Equal(t, 1, code, "%s", out)

	// The finding is all that it takes, with the environment.
	copied := filepath.Join(t.TempDir(), "F1")
	require.NoError(t, os.CopyFS(copied, os.DirFS(filepath.Join(onlyRun(t, reports), rundir.FindingsName, "F1"))))
	again, err := rundir.ReadFinding(copied)
	require.NoError(t, err)
	again.Target = filepath.Join(t.TempDir(), "gone.yaml")
	require.NoError(t, rundir.Dir{Path: filepath.Dir(copied)}.WriteJSON(again, "F1", rundir.FindingName))
	got := callWith(t.Context(), env, "replay", copied, "--reports", t.TempDir())
	require.Equal(t, exitFinding, got.code, "%s", got)
	plan, err := os.ReadFile(filepath.Join(copied, rundir.PlanName))
	require.NoError(t, err)
	require.Equal(t, 1+1, lines(string(plan)), "the head and the one intent that broke")

	delete(env, "ORDERS_TOKEN")
	code, out = script(t, file, env)
	require.Equal(t, 2, code, "%s", out)
	require.Contains(t, out, "ORDERS_TOKEN must be set")
}

// A header that the target file spells out is as secret as one from a variable.
func TestAScriptDoesNotHoldASecretThatTheTargetFileSpellsOut(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-t0ken-of-bob"
	_, env := serving(t, "check-then-insert")
	source, err := os.ReadFile("../../docs/examples/orders.yaml")
	require.NoError(t, err)
	target := writeFile(t, "orders.yaml", strings.ReplaceAll(string(source), "${ORDERS_TOKEN:-alice}", secret))
	reports, file, text := exportedFrom(t, target, env)
	require.NotContains(t, text, secret)
	requireNowhere(t, reports, secret)
	require.NoFileExists(t, filepath.Join(onlyRun(t, reports), rundir.FindingsName, "F1", rundir.TargetName))
	env["AUTHORIZATION"] = "Bearer " + secret
	code, out := script(t, file, env)
	require.Equal(t, 1, code, "%s", out)
}

// An exported Go test is a module of another's that uses ours. Both tests are in one, so that it is linked once.
func TestAGoTestShowsADuplicate(t *testing.T) {
	t.Parallel()
	finding := found(t, "check-then-insert", "burst-same-key")
	const name = "TestDuplicateBurstSameKey"
	dir := t.TempDir()
	for design, called := range map[string]string{"check-then-insert": name, "unique-key": name + "Mended"} {
		text := readFile(t, exported(t, finding, "go", nil, "--target", sut.BuiltinPrefix+design))
		require.Contains(t, text, "func "+name+"(")
		text = strings.ReplaceAll(text, "func "+name+"(", "func "+called+"(")
		require.NoError(t, os.WriteFile(filepath.Join(dir, strings.ReplaceAll(design, "-", "_")+"_test.go"), []byte(text), 0o644))
	}
	moduleThatUsesOurs(t, dir)
	command := exec.CommandContext(t.Context(), "go", "test", "-mod=mod", "-vet=off", "-v", ".")
	command.Dir = dir
	out, _ := command.CombinedOutput() // one of them fails
	require.Contains(t, string(out), "--- FAIL: "+name+" ", "%s", out)
	require.Contains(t, string(out), "--- PASS: "+name+"Mended ", "%s", out)
}

// moduleThatUsesOurs makes a folder a module that takes this one as a library.
func moduleThatUsesOurs(t *testing.T, dir string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	_, requirements, _ := strings.Cut(readFile(t, "../../go.mod"), "\n")
	theirs := "module again\n" + requirements + "\nrequire " + module + " v0.0.0\nreplace " + module + " => " + root + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(theirs), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), []byte(readFile(t, "../../go.sum")), 0o644))
}

// Each execution adds to one row, and a script sees in the sum how many there were.
func TestAScriptSeesInASumWhatWasAddedTwice(t *testing.T) {
	t.Parallel()
	finding := found(t, "adds-again", "sequential-replay")
	for store, database := range databaseURLs() {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			file := exported(t, finding, "curl", nil, onDatabase(database)...)
			_, broken := servingOn(t, "adds-again", database)
			code, out := script(t, file, broken)
			require.Equal(t, 1, code, "%s", out)
			require.Regexp(t, `rows with dt[a-z2-7]{16}: 3\n`, out)
			_, mended := servingOn(t, "adds-to-line", database)
			code, out = script(t, file, mended)
			require.Equal(t, 0, code, "%s", out)
			require.Regexp(t, `rows with dt[a-z2-7]{16}: 1\n`, out)
		})
	}
}

// A Go test runs in its own folder, from which the target file has to be named.
func TestAGoTestElsewhereFindsItsTargetFile(t *testing.T) {
	t.Parallel()
	require.Equal(t, filepath.ToSlash(filepath.Join("..", filepath.Base(mustAbs(t, ".")), "export.go")), seenFrom(filepath.Join("..", "tests", "again_test.go"), "export.go"))
	require.Equal(t, "export.go", seenFrom("again_test.go", "export.go"))
	require.Equal(t, "builtin:unique-key", seenFrom("../tests/again_test.go", "builtin:unique-key"))
	require.Equal(t, "export.go", seenFrom("", "export.go"))
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	return path
}
