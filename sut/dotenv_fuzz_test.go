package sut

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzDotEnv reads anything as the .env beside a target file. What it gives stands in one line of it, and is expanded by nobody.
func FuzzDotEnv(f *testing.F) {
	for _, text := range []string{"A=1\nexport B = \"x # y\" # z\r\nC='", "\ufeffA=$(touch pwned) `id` ${B}", "A\x00=1", "=x\nA==\n1A=x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, value := range parseDotEnv(text) {
			require.Regexp(t, `^[A-Za-z_][A-Za-z0-9_]*$`, name)
			require.NotContains(t, value, "\n")
			require.True(t, strings.Contains(text, value), value)
		}
	})
}
