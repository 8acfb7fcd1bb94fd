package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHelpFitsANarrowTerminal(t *testing.T) {
	t.Parallel()
	root := newRoot(streams{getenv: func(string) (string, bool) { return "", false }})
	commands := append(root.Commands(), root)
	require.Greater(t, len(commands), 15)
	for _, cmd := range commands {
		var text strings.Builder
		cmd.SetOut(&text)
		require.NoError(t, cmd.Help())
		whole, examples := strings.Fields(text.String()), false
		fitted := narrow(text.String(), 60)
		require.Equal(t, whole, strings.Fields(fitted), "no word is lost")
		for line := range strings.SplitSeq(fitted, "\n") {
			if examples = line == "Examples:" || examples && line != ""; examples {
				require.Contains(t, text.String(), line, "a command stays whole")
				continue
			}
			if len(line) > 60 { // one word, how the command is written, or a part of a file
				file := strings.HasPrefix(line, "    - {")
				require.True(t, file || len(strings.Fields(line)) == 1 || strings.HasPrefix(line, "  doubletap "), "%s: %s", cmd.Name(), line)
			}
		}
	}
}
