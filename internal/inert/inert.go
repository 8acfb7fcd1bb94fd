// Package inert makes text of others harmless: on one line, and without what a terminal obeys.
package inert

import (
	"fmt"
	"go/token"
	"strconv"
	"strings"
	"unicode"
)

// Line writes everything that does not print as a Go escape: an ESC becomes the four characters \x1b, a line feed \n. The same
// goes for marks piled on one character. Bytes that are not UTF-8 become U+FFFD.
func Line(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return s
	}
	const mostMarks = 4 // on one character; more of them grow into the lines around
	var b strings.Builder
	marks := 0
	for _, r := range s {
		if marks++; !unicode.IsMark(r) {
			marks = 0
		}
		if Hidden(r) || marks > mostMarks {
			b.WriteString(Escape(r))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Escape writes a character as Go escapes it in a string.
func Escape(r rune) string {
	if r < ' ' || r > '~' {
		return strings.Trim(strconv.QuoteRuneToASCII(r), "'")
	}
	return fmt.Sprintf(`\x%02x`, r)
}

// Hidden is true for control characters, of the C1 range too, and for those that turn the direction of text. Joiners stay:
// emoji and several scripts need them.
func Hidden(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return !unicode.IsGraphic(r) && r != nonJoiner && r != joiner
}

// Comment is a text for a comment that ends with its line. White space is one blank.
func Comment(text string) string { return Line(strings.Join(strings.Fields(text), " ")) }

// GoText writes a text as an expression of Go: several lines between backticks if that keeps them as they are.
func GoText(text string) string {
	lines := strings.Split(text, "\n")
	if len(lines) == 1 {
		return strconv.Quote(text)
	}
	for _, line := range lines {
		if Line(strings.ReplaceAll(line, "\t", " ")) != strings.ReplaceAll(line, "\t", " ") || strings.ContainsRune(line, '\uFFFD') {
			return strconv.Quote(text)
		}
	}
	return "`" + strings.ReplaceAll(text, "`", "` + \"`\" + `") + "`"
}

// GoName makes a part of a name of Go out of words: what is neither an ASCII letter nor a digit ends a word.
func GoName(words string) string {
	var name strings.Builder
	for _, word := range strings.FieldsFunc(words, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9')
	}) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	if !token.IsIdentifier("Test" + name.String()) {
		return "Finding"
	}
	return name.String()
}
