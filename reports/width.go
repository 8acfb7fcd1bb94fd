package reports

import (
	"strings"

	"github.com/rivo/uniseg"
)

// cells returns the columns that a text takes on a terminal.
func cells(s string) int { return uniseg.StringWidth(s) }

// fit cuts s to n columns, between characters as people see them. Bytes are limited too: one
// character may carry any number of combining marks.
func fit(s string, n int) string {
	s = head(s, 16*n)
	if cells(s) <= n {
		return s
	}
	if n <= 1 {
		return strings.Repeat("…", max(n, 0))
	}
	var b strings.Builder
	state, used := -1, 0
	for s != "" {
		var cluster string
		var width int
		cluster, s, width, state = uniseg.FirstGraphemeClusterInString(s, state)
		if used+width > n-1 {
			break
		}
		used += width
		b.WriteString(cluster)
	}
	return b.String() + "…"
}

// pad fits s into exactly n columns.
func pad(s string, n int) string {
	s = fit(s, n)
	return s + strings.Repeat(" ", max(n-cells(s), 0))
}

// padLeft is pad with the text at the right end.
func padLeft(s string, n int) string {
	s = fit(s, n)
	return strings.Repeat(" ", max(n-cells(s), 0)) + s
}

// name cuts what should be a short name.
func name(s string) string { return fit(s, 60) }

// prose returns a sentence that may have been folded over several lines in a file as one line.
func prose(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, `\n`, " ")), " ")
}

// wrap breaks prose into lines of at most n columns; a word that is longer is cut.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		word = fit(word, n)
		switch {
		case line == "":
			line = word
		case cells(line)+1+cells(word) <= n:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// Wrap breaks a text into lines of at most n columns, each after the first behind an indent, and each with a line feed. A longer word
// stays whole: it may be a path.
func Wrap(s, indent string, n int) string {
	var b strings.Builder
	used := 0
	for word := range strings.FieldsSeq(s) {
		switch width := cells(word); {
		case used == 0:
			used = width
		case used+1+width > n:
			b.WriteString("\n" + indent)
			used = width
		default:
			b.WriteByte(' ')
			used += 1 + width
		}
		b.WriteString(word)
	}
	return b.String() + "\n"
}
