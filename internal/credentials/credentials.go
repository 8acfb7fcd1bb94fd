// Package credentials knows what must not be on record by its name alone: what a service says to be let in, or to a payment provider,
// and what it gives to others for that. It uses the standard library alone.
package credentials

import (
	"regexp"
	"strings"
)

// names of credentials, each with a word that is in it: few texts have one of these words, and the patterns are slow.
var names = []struct{ word, pattern string }{
	{"key", `(?:api|access|secret|private)[-_]?key`}, {"token", "token"}, {"secret", "secret"}, {"passw", "passw(?:or)?d"}, {"passphrase", "passphrase"},
	{"signature", "signature"}, {"card", `card(?:[-_]?number)?`}, {"cvc", "cvc"}, {"cvv", "cvv"},
}

// named matches what has such a name: in a query or a form, or a text of JSON.
var named = func() *regexp.Regexp {
	var patterns []string
	for _, n := range names {
		patterns = append(patterns, n.pattern)
	}
	name := "(?:" + strings.Join(patterns, "|") + ")"
	return regexp.MustCompile(`(?i)((?:[?&]|^)[a-z0-9_.\[\]-]*` + name + `\]?=)([^"'&<>\s\\]+)|("[a-z0-9_.-]*` + name + `"\s*:\s*")((?:[^"\\]|\\.)+)`)
}()

// Hush returns a text in which something stands instead of each credential, as it is written there. Instead is not asked about empty ones.
// Safe for concurrent use, if instead is.
func Hush(text string, instead func(credential string) string) string {
	if !mayHave(text) {
		return text
	}
	var out strings.Builder
	rest := 0
	for _, at := range named.FindAllStringSubmatchIndex(text, -1) {
		from, to := at[4], at[5]
		if from < 0 {
			from, to = at[8], at[9]
		}
		out.WriteString(text[rest:from])
		out.WriteString(instead(text[from:to]))
		rest = to
	}
	return out.String() + text[rest:]
}

// mayHave reports that a text has a word of some name.
func mayHave(text string) bool {
	lower := strings.ToLower(text)
	for _, n := range names {
		if strings.Contains(lower, n.word) {
			return true
		}
	}
	return false
}
