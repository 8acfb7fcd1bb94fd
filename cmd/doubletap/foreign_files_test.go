package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/shrink"
)

// oddFiles are files that are none, by name.
func oddFiles(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	odd := map[string]string{
		"a pipe": filepath.Join(dir, "pipe"), "a device": "/dev/zero", "a folder": filepath.Join(dir, "folder"), "a huge file": filepath.Join(dir, "huge"),
	}
	require.NoError(t, syscall.Mkfifo(odd["a pipe"], 0o644))
	require.NoError(t, os.Mkdir(odd["a folder"], 0o755))
	require.NoError(t, os.WriteFile(odd["a huge file"], nil, 0o644))
	require.NoError(t, os.Truncate(odd["a huge file"], 5<<30))
	return odd
}

const sqliteTarget = `name: files
base_url: http://127.0.0.1:1
database: {DATABASE}
TLS
operations:
  create:
    request: {path: /things, body: {note: "{{.Intent.Marker}}"}}
    key: {in: header}
    identity: /id
    rows: {query: "select id from things where note = :marker"}
`

// TestNoReaderWaitsForAFileThatIsNone gives every reader of a file that a user names a pipe that nobody writes to, a device
// without an end, a folder and a huge file.
func TestNoReaderWaitsForAFileThatIsNone(t *testing.T) {
	t.Parallel()
	finding := found(t, "replay-status-changed", "sequential-replay")
	run := filepath.Dir(filepath.Dir(finding))
	// as copies a folder, with a link to the odd file in place of one of its files.
	as := func(t *testing.T, folder, name, odd string) string {
		t.Helper()
		copied := t.TempDir()
		require.NoError(t, os.CopyFS(copied, os.DirFS(folder)))
		require.NoError(t, os.RemoveAll(filepath.Join(copied, name)))
		require.NoError(t, os.Symlink(odd, filepath.Join(copied, name)))
		return copied
	}
	target := func(t *testing.T, database, tls string) string {
		return writeFile(t, "target.yaml", strings.NewReplacer("DATABASE", database, "TLS", tls).Replace(sqliteTarget))
	}
	for name, args := range map[string]func(t *testing.T, odd string) []string{
		"validate":   func(_ *testing.T, odd string) []string { return []string{"validate", odd} },
		"explain":    func(_ *testing.T, odd string) []string { return []string{"explain", "--target", odd} },
		"a target":   func(_ *testing.T, odd string) []string { return []string{"run", "--target", odd} },
		"doctor":     func(_ *testing.T, odd string) []string { return []string{"doctor", "--target", odd} },
		"a register": func(_ *testing.T, odd string) []string { return []string{"demo", "--known", odd} },
		"a scenario": func(_ *testing.T, odd string) []string {
			return []string{"run", "--target", demoTarget, "--dry-run", odd}
		},
		"OpenAPI": func(_ *testing.T, odd string) []string { return []string{"init", "--openapi", odd} },
		"HAR":     func(_ *testing.T, odd string) []string { return []string{"init", "--har", odd} },
		"curl":    func(_ *testing.T, odd string) []string { return []string{"init", "--curl", "@" + odd} },
		"matrix":  func(_ *testing.T, odd string) []string { return []string{"matrix", "--targets", odd} },
		"resume":  func(_ *testing.T, odd string) []string { return []string{"matrix", "--resume", odd} },
		"a manifest": func(t *testing.T, odd string) []string {
			return []string{"check", as(t, run, rundir.ManifestName, odd)}
		},
		"an old manifest": func(t *testing.T, odd string) []string {
			return []string{"diff", as(t, run, rundir.ManifestName, odd), run}
		},
		"a history": func(t *testing.T, odd string) []string {
			return []string{"check", as(t, run, "sequential-replay/"+rundir.HistoryName, odd)}
		},
		"a finding": func(t *testing.T, odd string) []string {
			return []string{"replay", as(t, finding, rundir.FindingName, odd)}
		},
		"its scenario": func(t *testing.T, odd string) []string {
			return []string{"shrink", as(t, finding, rundir.ScenarioName, odd)}
		},
		"the smaller one": func(t *testing.T, odd string) []string {
			return []string{"export", as(t, finding, shrink.FileName, odd)}
		},
		"the copy of its target": func(t *testing.T, odd string) []string {
			copied := as(t, finding, rundir.TargetName, odd)
			text := strings.ReplaceAll(readFile(t, filepath.Join(copied, rundir.FindingName)), `"builtin:replay-status-changed"`, `"gone.yaml"`)
			require.NoError(t, os.WriteFile(filepath.Join(copied, rundir.FindingName), []byte(text), 0o644))
			return []string{"replay", copied}
		},
		"one of a folder of scenarios": func(t *testing.T, odd string) []string {
			dir := t.TempDir()
			require.NoError(t, os.Symlink(odd, filepath.Join(dir, "odd.yaml")))
			return []string{"run", "--target", demoTarget, "--dry-run", dir}
		},
		"a certificate": func(t *testing.T, odd string) []string {
			tls := "tls: {ca: " + odd + "}"
			return []string{"validate", strings.ReplaceAll(target(t, `url: "sqlite:///x"`, tls), "http:", "https:")}
		},
		"SQL": func(t *testing.T, odd string) []string {
			return []string{"run", "--pilot-timeout", "5s", "--target", target(t, "ephemeral: sqlite, schema: ["+odd+"]", `process: {command: ["true"]}`)}
		},
		"a SQLite file": func(t *testing.T, odd string) []string {
			return []string{"doctor", "--target", target(t, `url: "sqlite://`+odd+`"`, "")}
		},
		"what an OpenAPI document refers to": func(t *testing.T, odd string) []string {
			dir := t.TempDir()
			require.NoError(t, os.Symlink(odd, filepath.Join(dir, "odd.yaml")))
			path := filepath.Join(dir, "openapi.yaml")
			require.NoError(t, os.WriteFile(path, []byte("openapi: 3.0.0\ninfo: {title: a, version: '1'}\npaths: {/things: {$ref: odd.yaml}}\n"), 0o644))
			return []string{"init", "--openapi", path}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for kind, odd := range oddFiles(t) {
				given := args(t, odd)
				done := make(chan outcome, 1)
				go func() { done <- callWith(t.Context(), map[string]string{}, given...) }()
				select {
				case got := <-done:
					require.NotEqual(t, exitPass, got.code, "%s: %s", kind, got)
					require.Less(t, len(got.err), 1000, "%s: one message", kind)
				case <-time.After(time.Minute):
					require.Fail(t, "it does not come to an end", "%s: %s", kind, given)
				}
			}
		})
	}
}

func TestNoOutputGoesThroughALink(t *testing.T) {
	t.Parallel()
	finding := found(t, "replay-status-changed", "sequential-replay")
	for name, c := range map[string]struct {
		file string
		args []string
	}{
		"export": {"again.sh", []string{"export", finding}},
		"shrink": {"smaller.yaml", []string{"shrink", finding}},
		"init":   {"target.yaml", []string{"init", "--curl", "curl -d '{\"note\":\"x\"}' http://127.0.0.1:1/things"}},
		"matrix": {"matrix.md", []string{"matrix", "--dry-run", "--design", "unique-key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			victim := writeFile(t, "profile", "mine")
			link := filepath.Join(t.TempDir(), c.file)
			require.NoError(t, os.Symlink(victim, link))
			for path, says := range map[string]string{link: "is a symbolic link; --force", victim: "--force replaces it"} {
				if name == "matrix" && path == victim {
					continue // its ending says what is written
				}
				got := callWith(t.Context(), map[string]string{}, append(c.args, "--output", path)...)
				require.Equal(t, exitConfig, got.code, "%s", got)
				require.Contains(t, got.err, says)
			}
			require.Equal(t, "mine", readFile(t, victim))
		})
	}
	link := filepath.Join(finding, shrink.FileName)
	victim := writeFile(t, "profile", "mine")
	require.NoError(t, os.Symlink(victim, link))
	got := callWith(t.Context(), map[string]string{}, "shrink", finding)
	require.Equal(t, exitConfig, got.code, "%s", got)
	require.Contains(t, got.err, "is a symbolic link", "a finding may come with links")
}

// TestATargetFileThatCameWithAFindingDoesLittle has an enemy's target file beside a finding, or named by it: nothing of it is done until it is
// named.
func TestATargetFileThatCameWithAFindingDoesLittle(t *testing.T) {
	t.Parallel()
	source := filepath.Dir(filepath.Dir(found(t, "replay-status-changed", "sequential-replay")))
	const base = "base_url: http://127.0.0.1:1"
	for name, c := range map[string]struct{ line, says string }{
		"a program":                 {"base_url: http://127.0.0.1:0\nprocess: {command: [touch, PWNED, \"{{.Port}}\"]}", "starts a program"},
		"other hosts":               {"base_url: http://192.0.2.7:9/${HOME}\nallow_hosts: [192.0.2.7]", "sends to other hosts"},
		"a socket that obeys":       {base + "\nsocket: /var/run/docker.sock", "sends to a socket"},
		"a store that is to vanish": {base + "\nstore: {url: \"redis://127.0.0.1:6379/0\", flush: \"*\"}", "flushes a store"},
	} {
		for place, file := range map[string]string{"beside it": "findings/F1/" + rundir.TargetName, "named by it": "evil.yaml"} {
			t.Run(name+" "+place, func(t *testing.T) {
				t.Parallel()
				run, pwned := t.TempDir(), filepath.Join(t.TempDir(), "pwned")
				require.NoError(t, os.CopyFS(run, os.DirFS(source)))
				target, finding := filepath.Join(run, file), filepath.Join(run, "findings", "F1")
				text := strings.ReplaceAll(strings.NewReplacer("DATABASE", `url: "sqlite:///nowhere"`, "TLS", "", base, c.line, "create:", "create_order:").Replace(sqliteTarget), "PWNED", pwned)
				require.NoError(t, os.WriteFile(target, []byte(text), 0o600))
				record := filepath.Join(finding, rundir.FindingName)
				named := "nowhere.yaml"
				if place == "named by it" {
					named = target
				}
				require.NoError(t, os.WriteFile(record, []byte(strings.Replace(readFile(t, record), `"builtin:replay-status-changed"`, `"`+named+`"`, 1)), 0o600))
				for _, command := range []string{"replay", "shrink"} {
					got := typed(t, command, finding, "--reports", t.TempDir())
					require.Equal(t, exitConfig, got.code, "%s", got)
					require.Contains(t, got.err, "came with the finding, and "+c.says+": read it, and then name it: --target ")
					require.NoFileExists(t, pwned)
				}
				for _, as := range []string{"go", "curl"} {
					got := typed(t, "export", finding, "--as", as)
					require.Equal(t, exitConfig, got.code, "%s", got)
					require.Contains(t, got.err, "came with the finding, and "+c.says)
				}
				if name == "a program" {
					got := typed(t, "replay", finding, "--target", target, "--reports", t.TempDir())
					require.NotContains(t, got.err, "came with the finding")
				}
			})
		}
	}
}
