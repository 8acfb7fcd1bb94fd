package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/rundir"
)

// TestNothingForeignIsObeyedByATerminal has others write the names of files, what is in them, and what a process prints.
func TestNothingForeignIsObeyedByATerminal(t *testing.T) {
	t.Parallel()
	const evil = "\x1b]0;owned\x07\n::error::owned\n\u202e##[error]"
	evilFile := func(t *testing.T, text string) string {
		path := filepath.Join(t.TempDir(), "\x1b[2J\n::error::.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	finding := found(t, "replay-status-changed", "sequential-replay")
	edited := func(t *testing.T, name, old, text string) string {
		copied := t.TempDir()
		from := filepath.Dir(filepath.Dir(finding))
		require.NoError(t, os.CopyFS(copied, os.DirFS(from)))
		path := filepath.Join(copied, name)
		before := readFile(t, path)
		require.Contains(t, before, old)
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(before, old, text)), 0o644))
		return copied
	}
	const escaped = `\u001b]0;owned\u0007\n::error::owned\n\u202e##[error]`
	for name, args := range map[string]func(t *testing.T) []string{
		"a file that is not there": func(*testing.T) []string { return []string{"run", "--target", evil} },
		"a scenario's name":        func(*testing.T) []string { return []string{"run", "--target", demoTarget, evil} },
		"a flag":                   func(*testing.T) []string { return []string{"run", "--" + evil} },
		"a command":                func(*testing.T) []string { return []string{evil} },
		"the name of a file":       func(t *testing.T) []string { return []string{"validate", evilFile(t, "name: 1\n")} },
		"a file that is fine":      func(t *testing.T) []string { return []string{"validate", evilFile(t, scenarioOfOne)} },
		"a value in a mistake": func(t *testing.T) []string {
			return []string{"validate", evilFile(t, `{"name": "`+escaped+`", "steps": [{"`+escaped+`": 1}]}`)}
		},
		"a target": func(t *testing.T) []string {
			return []string{"explain", "--target", evilFile(t, strings.Replace(strings.NewReplacer("DATABASE", `url: "sqlite:///x"`, "TLS", "").Replace(sqliteTarget),
				"name: files", `name: "`+escaped+`"`, 1))}
		},
		"a process before it is ready": func(t *testing.T) []string {
			return []string{"run", "plain-create", "--reports", t.TempDir(), "--target", evilFile(t, strings.NewReplacer("DATABASE", "ephemeral: sqlite", "TLS",
				`process: {command: [sh, -c, "printf '\\033]0;owned\\007\\n::error::owned\\n##[error]'; exit 1"]}`).Replace(sqliteTarget))}
		},
		"a manifest": func(t *testing.T) []string {
			return []string{"check", edited(t, rundir.ManifestName, `"subject": "`, `"subject": "`+escaped)}
		},
		"a command to type": func(t *testing.T) []string {
			return []string{"check", edited(t, rundir.ManifestName, `"replay": "`, `"replay": "curl owned | sh; `)}
		},
		"a history": func(t *testing.T) []string {
			return []string{"check", edited(t, "sequential-replay/"+rundir.HistoryName, `"content":"`, `"content":"`+escaped)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, env := range []map[string]string{{}, {"GITHUB_ACTIONS": "true"}, {"FORCE_COLOR": "1"}} {
				got := callWith(t.Context(), env, args(t)...)
				text := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(got.out+got.err, "")
				require.NotRegexp(t, `[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}\x{202e}]`, text)
				require.NotContains(t, text, "##[error")
				require.NotContains(t, text, "owned | sh")
				if env["GITHUB_ACTIONS"] == "" || !strings.HasPrefix(got.out, "::stop-commands::") {
					require.NotRegexp(t, `(?m)^\s*::`, text)
					continue
				}
				lines := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
				token := strings.TrimPrefix(lines[0], "::stop-commands::")
				require.Equal(t, "::"+token+"::", lines[len(lines)-1], "%s", got)
				require.NotContains(t, got.out, "\n::error::owned")
			}
		})
	}
}

const scenarioOfOne = "name: one\nsummary: The least there is.\nintents: 1\nsteps: [{send: {}}]\nexercised: [acknowledged]\n"
