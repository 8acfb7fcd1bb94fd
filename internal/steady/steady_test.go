package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain lets a test be a busy process.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == busyArgument {
		spin()
	}
	os.Exit(m.Run())
}

func play(t *testing.T, script string, args ...string) (code int, table []string) {
	t.Helper()
	var out bytes.Buffer
	code, err := steady(t.Context(), append(args, "sh", "-c", script), &out)
	require.NoError(t, err)
	return code, strings.Split(strings.TrimSpace(out.String()), "\n")[2:]
}

func TestEachRunHasARow(t *testing.T) {
	code, table := play(t, `echo '{"Action":"pass","Package":"x/fast","Elapsed":1}'; echo '{"Action":"pass","Package":"x/slow","Elapsed":61}'`, "-n", "3", "-load", "2")
	require.Zero(t, code)
	require.Equal(t, []string{
		"| 1 | 0 | 0.0 | green |  | slow 61 s, fast 1 s |",
		"| 2 | 2 | 0.0 | green |  | slow 61 s, fast 1 s |",
		"| 3 | 0 | 0.0 | green |  | slow 61 s, fast 1 s |",
	}, table)
}

func TestARedRunNamesItsTests(t *testing.T) {
	events := `make says this
{"Action":"fail","Package":"x/a","Test":"TestOne/part"}
{"Action":"fail","Package":"x/a","Test":"TestOne"}
{"Action":"fail","Package":"x/a","Elapsed":2}
{"Action":"fail","Package":"x/b","Elapsed":1}
`
	path := filepath.Join(t.TempDir(), "events")
	require.NoError(t, os.WriteFile(path, []byte(events), 0o644))
	code, table := play(t, "cat "+path+"; exit 1", "-n", "1")
	require.Equal(t, 1, code)
	require.Equal(t, []string{"| 1 | 0 | 0.0 | RED | a.TestOne/part x/b | a 2 s, b 1 s |"}, table)
}

// A command that fails before a test says anything, as one that does not compile, is not green.
func TestACommandThatFailsIsRed(t *testing.T) {
	code, table := play(t, "exit 7", "-n", "1")
	require.Equal(t, 1, code)
	require.Equal(t, []string{"| 1 | 0 | 0.0 | RED | exit status 7 |  |"}, table)
}

func TestARunThatTakesTooLongIsEndedAndRed(t *testing.T) {
	code, table := play(t, "sleep 600 & sleep 600", "-n", "1", "-timeout", "100ms")
	require.Equal(t, 1, code)
	require.Contains(t, table[0], "| RED | signal: terminated |")
}

func TestTheOutputOfEachRunIsKept(t *testing.T) {
	logs := filepath.Join(t.TempDir(), "logs")
	play(t, "echo one; echo two >&2", "-n", "2", "-load", "0", "-logs", logs)
	for _, name := range []string{"run-01.json", "run-02.json"} {
		text, err := os.ReadFile(filepath.Join(logs, name))
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"one", "two"}, strings.Fields(string(text)))
	}
}

func TestAnInterruptionEndsTheRuns(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	begun := filepath.Join(t.TempDir(), "begun")
	go func() {
		defer cancel()
		for _, err := os.Stat(begun); err != nil; _, err = os.Stat(begun) {
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := steady(ctx, []string{"-n", "100", "sh", "-c", "touch " + begun + "; sleep 600"}, new(bytes.Buffer))
	require.ErrorIs(t, err, context.Canceled)
}

func TestBusyProcessesEndWithTheRun(t *testing.T) {
	idle, err := keepBusy(2)
	require.NoError(t, err)
	idle()
	idle() // and may be asked again
}

func TestACommandIsAsked(t *testing.T) {
	_, err := steady(t.Context(), nil, new(bytes.Buffer))
	require.ErrorContains(t, err, "name the command")
}
