package leftovers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/internal/leftovers"
)

const variable = "LEFTOVERS_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(variable) != "" { // a process that is gone when its name is looked at
		os.Stdout.WriteString(leftovers.Name("doubletap-"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func nameOfTheDead(t *testing.T) string {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	command := exec.Command(program)
	command.Env = append(os.Environ(), variable+"=1")
	name, err := command.Output()
	require.NoError(t, err)
	return string(name)
}

func TestWhoMadeSomethingIsInItsName(t *testing.T) {
	t.Parallel()
	mine, theirs := leftovers.Name("doubletap_"), nameOfTheDead(t)
	require.Regexp(t, "^doubletap_[0-9a-z]{19}$", mine)
	require.NotEqual(t, mine, leftovers.Name("doubletap_"))
	require.Empty(t, leftovers.Dead(mine))
	require.Equal(t, strings.TrimPrefix(theirs, "doubletap-"), leftovers.Dead(theirs))
	require.NotEmpty(t, leftovers.Dead(theirs+":lock:key"))
	require.NotEmpty(t, leftovers.Dead("doubletap-20261123T060541Z-"+strings.TrimPrefix(theirs, "doubletap-")+"-clean"))
	require.Empty(t, leftovers.Dead("doubletap_orders"))

	at := func(text string, place int, other string) string {
		place += len("doubletap_")
		return text[:place] + other + text[place+len(other):]
	}
	require.Empty(t, leftovers.Dead(at(theirs, 0, "zzzzz")), "another machine's processes are not known")
	for _, other := range []string{"y", "z"} { // one of them is not this boot
		if mine[len("doubletap_")+5:][:1] != other {
			require.NotEmpty(t, leftovers.Dead(at(mine, 5, other)), "no process outlives the machine")
		}
	}
	require.NotEmpty(t, leftovers.Dead(at(mine, 11, "zzzz")), "another process has its number now")
}

// It has a folder for temporary files of its own, so it is not parallel.
func TestFoldersOfTheDeadAreRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dead := filepath.Join(os.TempDir(), nameOfTheDead(t))
	require.NoError(t, os.MkdirAll(filepath.Join(dead, "data"), 0o700))
	other := filepath.Join(os.TempDir(), "doubletap-notes")
	require.NoError(t, os.Mkdir(other, 0o700))
	mine, err := leftovers.Folder("", "doubletap-orders-")
	require.NoError(t, err)

	removed, err := leftovers.Sweep()
	require.NoError(t, err)
	require.Equal(t, []string{dead}, removed)
	require.NoDirExists(t, dead)
	require.DirExists(t, mine)
	require.DirExists(t, other)
}

func TestAProcessGetsNoNameTwice(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 20_000 {
		name := leftovers.Name("x-")
		require.False(t, seen[name], name)
		seen[name] = true
	}
}
