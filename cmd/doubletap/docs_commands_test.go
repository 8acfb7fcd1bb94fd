package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/standin"
	"github.com/doubletap-harness/doubletap/targets/orders"
)

// page is what a test knows of a page of the documentation: the design that stands behind orders.yaml, the
// exit codes of blocks that do not end with 0, by their last command, and what is left out.
type page struct {
	design string
	exits  map[string]int
	except map[string]string // command: why it is not run here
}

func documentation() map[string]page {
	return map[string]page{
		"README.md": {
			design: "unique-key",
			exits: map[string]int{
				"bin/doubletap run --target builtin:check-then-insert --seed 7": exitFinding,
			},
			except: map[string]string{
				"make run":  "it builds, and runs what the next block runs",
				"make test": "it is what runs this test",
				"go install github.com/doubletap-harness/doubletap/cmd/doubletap@latest": "it changes the machine",
			},
		},
		"docs/ci.md": {design: "unique-key", exits: map[string]int{"doubletap run --target orders.yaml --known known.yaml": exitFixed}},
		"docs/findings.md": {design: "check-then-insert", exits: map[string]int{
			"doubletap replay FINDING --times 100":          exitFinding,
			"doubletap hunt --target orders.yaml --for 10s": exitFinding,
		}},
		"docs/scenarios.md": {design: "unique-key"},
		"docs/your-api.md":  {design: "unique-key", exits: map[string]int{"doubletap run --target docs/examples/orders.yaml": exitFinding}},
	}
}

// TestTheCommandsOfTheDocumentation types what the pages tell the reader to type, page by page and block by
// block, in a directory that holds what the pages speak of.
func TestTheCommandsOfTheDocumentation(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	for _, path := range append(pages, "../../README.md") {
		name := strings.TrimPrefix(path, "../../")
		blocks, known := blocksOf(t, path), documentation()[name]
		var last []string
		for _, block := range blocks {
			last = append(last, block[len(block)-1])
		}
		for command := range known.exits {
			require.Contains(t, last, command, "%s does not tell it any more", name)
		}
		for command := range known.except {
			require.Contains(t, slices.Concat(blocks...), command, "%s does not tell it any more", name)
		}
		if len(blocks) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NotEmpty(t, known.design, "tell this test what stands behind the commands of %s", name)
			for _, block := range blocks {
				commands := slices.DeleteFunc(block, func(command string) bool { return known.except[command] != "" })
				if len(commands) > 0 {
					newDesk(t, known.design).types(t, commands, known.exits[commands[len(commands)-1]])
				}
			}
		})
	}
}

// blocksOf returns, for each block of code, the lines that begin with a prompt, without it and without remarks.
func blocksOf(t *testing.T, path string) [][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var blocks [][]string
	for i, block := range strings.Split(string(text), "```") {
		if i%2 == 0 {
			continue
		}
		var commands []string
		for line := range strings.Lines(block) {
			if command, is := strings.CutPrefix(line, "$ "); is {
				command, _, _ = strings.Cut(command, "  #")
				commands = append(commands, strings.TrimSpace(command))
			}
		}
		if len(commands) > 0 {
			blocks = append(blocks, commands)
		}
	}
	return blocks
}

// desk is a directory with what the pages speak of, and an API behind it: orders.yaml leads there, as does
// the URL of the pages; FINDING is one of it, and new has a run of yesterday's.
type desk struct {
	dir, url string
	env      []string
}

func newDesk(t *testing.T, design string) *desk {
	t.Helper()
	server, err := orders.Start(t.Context(), orders.Options{Design: design})
	require.NoError(t, err)
	t.Cleanup(func() { server.Close() })
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	d := &desk{dir: t.TempDir(), url: server.Target().BaseURL}
	d.env = append(os.Environ(), "PATH="+filepath.Join(d.dir, "path")+":"+os.Getenv("PATH"), "ORDERS_URL="+d.url, "DATABASE_URL="+server.Target().Database.URL, "ORDERS_TOKEN=alice")
	require.NoError(t, os.CopyFS(d.dir, os.DirFS("../../docs/examples")))
	for name, to := range map[string]string{
		"docs": filepath.Join(root, "docs"), "bin/doubletap": filepath.Join(d.dir, "path/doubletap"), "mine/own.yaml": filepath.Join(root, "scenarios/library/sequential-replay.yaml"),
		"FINDING": filepath.Join(d.dir, "earlier/findings/F1"),
	} {
		path := filepath.Join(d.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.Symlink(to, path))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(d.dir, "new/yesterday"), 0o755))
	putOnPath(t, filepath.Join(d.dir, "path"))
	return d
}

// putOnPath makes a folder with the program, which plays a few scenarios where none are named, and a twentieth of the rounds where many
// are asked for: they take a tenth of the time, and lead to the same exit codes.
func putOnPath(t *testing.T, folder string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(folder, 0o755))
	path := filepath.Join(folder, "doubletap")
	script := `#!/bin/bash
named=0 flags=() before=
for word; do
	case "$before $word" in
	"--times 100") word=5 ;;
	"--confidence 1%") word=20% ;;
	esac
	flags+=("$word") before=$word
done
while shift && [ $# -gt 0 ]; do
	case "$1" in --*) shift ;; *) named=1 ;; esac
done
if [ "${flags[0]}" = run ] && [ $named = 0 ]; then
	flags+=(plain-create burst-same-key withheld-answer)
fi
exec ` + usual(t) + ` "${flags[@]}"
`
	require.NoError(t, standin.Program(path, script))
}

// types has bash run commands one after the other, and wants the exit code of the last.
func (d *desk) types(t *testing.T, commands []string, code int) {
	t.Helper()
	text := strings.ReplaceAll(strings.Join(commands, "\n"), "http://localhost:8080", d.url)
	if strings.Contains(text, "FINDING") {
		d.bash(t, "doubletap run burst-same-key --target orders.yaml --reports runs || true; mv runs/* earlier")
	}
	if strings.Contains(text, "-o orders.yaml") {
		require.NoError(t, os.Remove(filepath.Join(d.dir, "orders.yaml")))
	}
	for _, name := range []string{"create.txt", "recorded.har"} {
		d.leadsHere(t, name)
	}
	got, out := d.bash(t, text)
	for tries := 2; got == exitInconclusive && code != exitInconclusive && tries > 0; tries-- {
		t.Log("a busy machine left something untried, so it is tried again")
		got, out = d.bash(t, commands[len(commands)-1])
	}
	require.Equal(t, code, got, "%s\n%s", text, out)
}

// leadsHere makes a file speak of the API behind the desk.
func (d *desk) leadsHere(t *testing.T, name string) {
	t.Helper()
	path := filepath.Join(d.dir, name)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytes.ReplaceAll(text, []byte("http://localhost:8080"), []byte(d.url)), 0o644))
}

// bash runs commands until one fails, and ends what they have left running.
func (d *desk) bash(t *testing.T, commands string) (code int, out string) {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "bash", "-e", "-c", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"+commands)
	shell.Dir, shell.Env = d.dir, d.env
	printed, err := shell.CombinedOutput()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return failed.ExitCode(), string(printed)
	}
	require.NoError(t, err)
	return 0, string(printed)
}
