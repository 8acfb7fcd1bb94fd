package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/standin"
)

// playOne has a day with a shell script in place of doubletap.
func playOne(t *testing.T, script string, change func(*day, *bench)) end {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "command")
	require.NoError(t, standin.Program(binary, "#!/bin/sh\n"+script))
	d := day{class: "test", name: t.Name(), exits: []int{0}, set: func(context.Context, *bench) error { return nil }}
	b := &bench{binary: binary, dir: filepath.Join(dir, "day")}
	if change != nil {
		change(&d, b)
	}
	return d.play(t.Context(), b)
}

func TestADayGoesRightOrWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, wrong string }{
		"nothing happens":             {"exit 0", ""},
		"another exit code":           {"exit 7", "exit code 7, expected 0"},
		"a crash":                     {"echo; echo 'panic: oh no'", "it crashed"},
		"a control character":         {`printf '\033[2J'`, "it printed"},
		"a workflow command":          {"echo '::error::" + pwned + "'", "it printed"},
		"a temporary file":            {`touch "$TMPDIR/left"`, "it left left"},
		"an enemy that is obeyed":     {"touch " + pwned, "obeyed"},
		"a secret on standard output": {"echo " + canary + "x", "it printed the secret"},
		"a secret in a file":          {"echo " + canary + "x > file", "is in file"},
		"a process":                   {"sleep 20 >/dev/null 2>&1 &", "it left a process behind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(playOne(t, c.script, func(_ *day, b *bench) { b.secrets = []string{canary + "x"} }).wrong, "\n")
			if c.wrong == "" {
				require.Empty(t, got)
			}
			require.Contains(t, got, c.wrong)
		})
	}
}

func TestThePageHasEveryDay(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reliability.md")
	require.NoError(t, err)
	names := map[string]bool{}
	for _, d := range everyDay() {
		require.Contains(t, string(page), "| "+d.class+" | "+d.name+" |", "make hostile")
		require.False(t, names[d.class+d.name], "%s: %s is there twice", d.class, d.name)
		names[d.class+d.name] = true
	}
	require.GreaterOrEqual(t, len(names), 150)
}
