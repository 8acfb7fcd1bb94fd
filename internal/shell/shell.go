// Package shell writes words for a POSIX shell.
package shell

import (
	"regexp"
	"strings"
)

var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// Quote writes a text so that a POSIX shell takes it as one word, whatever it holds.
func Quote(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
