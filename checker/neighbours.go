package checker

import (
	"slices"
	"strings"
	"unicode"
)

// meet reports that something holds between an attempt of each of two traces.
func meet(one, other *trace, holds func(a, b *classified) bool) bool {
	return slices.ContainsFunc(one.attempts, func(a *classified) bool {
		return slices.ContainsFunc(other.attempts, func(b *classified) bool { return holds(a, b) })
	})
}

// equalKeys reports that two requests had one key. Requests without a key have none in common.
func equalKeys(a, b *classified) bool { return a.Key != "" && a.Key == b.Key }

// resemblingKeys reports that two keys begin alike, whatever the case of their letters. Blank keys do.
func resemblingKeys(a, b *classified) bool {
	half := min(len(a.Key), len(b.Key)) / 2
	return strings.EqualFold(a.Key[:half], b.Key[:half])
}

// alikeKeys reports that two keys differ at most in their digits, so that they have one form. Blank keys are alike.
func alikeKeys(a, b *classified) bool { return withoutDigits(a.Key) == withoutDigits(b.Key) }

// withoutDigits returns the form of a key: each digit, of any script, stands as 0.
func withoutDigits(key string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return r
	}, key)
}
