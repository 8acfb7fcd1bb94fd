package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAStartAllocatesLittle holds what the packages set up before a command does anything: each start pays for it, also that of a shell's completion.
// One regular expression has cost more than all that is left.
func TestAStartAllocatesLittle(t *testing.T) {
	t.Parallel()
	const most, mostOfOurs = 6 << 20, 2 << 20 // bytes
	command := exec.Command(usual(t), "--version")
	command.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := command.CombinedOutput()
	require.NoError(t, err)
	inits := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(string(trace), -1)
	require.Greater(t, len(inits), 20, "%s", trace)
	ours, all := regexp.MustCompile(`doubletap`), 0
	for _, init := range inits {
		bytes, err := strconv.Atoi(init[2])
		require.NoError(t, err)
		all += bytes
		if ours.MatchString(init[1]) {
			require.LessOrEqual(t, bytes, mostOfOurs, init[1])
		}
	}
	require.LessOrEqual(t, all, most, "%s", trace)
}
