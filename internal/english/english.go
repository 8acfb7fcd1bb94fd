// Package english writes numbers and lists as an English sentence has them.
package english

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Plural counts things: "1 row", "2 rows". Give the plural where it is not the singular with an s: Plural(n, "try",
// "tries").
func Plural(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return fmt.Sprintf("%d %s", n, many[0])
	default:
		return fmt.Sprintf("%d %ss", n, one)
	}
}

// List joins things before the last one by commas, and that by a word: "a", "a and b", "a, b and c". Of no things it is
// empty.
func List(things []string, last string) string {
	if len(things) < 2 {
		return strings.Join(things, "")
	}
	end := len(things) - 1
	return strings.Join(things[:end], ", ") + " " + last + " " + things[end]
}

// Word returns a text as it stands if it reads as one word, and in quotes otherwise: with a space, a control character,
// or nothing in it.
func Word(text string) string {
	strange := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if text == "" || strings.ContainsFunc(text, strange) {
		return strconv.Quote(text)
	}
	return text
}
