// Package credentials knows what must not be on record by its name alone: what a service says to be let in, or to a payment provider,
// and what it gives to others for that. It uses the standard library alone.
package credentials

import (
	"regexp"
	"strings"
	"sync"
)

// names are what the names of credentials end in.
var names = func() []string {
	all := []string{"token", "secret", "password", "passwd", "passphrase", "signature", "card", "cvc", "cvv"}
	for _, joint := range []string{"", "_", "-"} {
		all = append(all, "card"+joint+"number", "api"+joint+"key", "access"+joint+"key", "secret"+joint+"key", "private"+joint+"key")
	}
	return all
}()

// named matches what has such a name: in a query or a form, or a text of JSON.
var named = sync.OnceValue(func() *regexp.Regexp {
	name := "(?:" + strings.Join(names, "|") + ")"
	return regexp.MustCompile(`(?i)((?:[?&]|^)[a-z0-9_.\[\]-]*` + name + `\]?=)([^"'&<>\s\\]+)|("[a-z0-9_.-]*` + name + `"\s*:\s*")((?:[^"\\]|\\.)+)`)
})

// Mask returns a text in which something stands instead of each credential, as it is written there. Instead is not asked about empty ones.
// Safe for concurrent use, if instead is.
func Mask(text string, instead func(credential string) string) string {
	if !mayHave(text) {
		return text
	}
	var out strings.Builder
	rest := 0
	for _, at := range named().FindAllStringSubmatchIndex(text, -1) {
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

// mayHave reports that a name ends in a text, as most have none: the pattern is a hundred times slower.
func mayHave(text string) bool {
	lower := strings.ToLower(text)
	for _, name := range names {
		for rest := lower; ; {
			at := strings.Index(rest, name)
			if at < 0 {
				break
			}
			if rest = rest[at+len(name):]; rest != "" && strings.IndexByte(`"=]`, rest[0]) >= 0 {
				return true
			}
		}
	}
	return false
}
