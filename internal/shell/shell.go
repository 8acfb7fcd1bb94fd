// Package shell writes words and comments for a POSIX shell. Whatever a text holds, nothing of it is obeyed.
package shell

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/inert"
)

var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// Quote writes a text so that a shell takes it as one word, on one line. What a terminal might obey, and a line feed, is an
// octal escape in $'...', which bash, zsh and POSIX 2024 know. An older shell takes the word for another text, and obeys
// nothing of it either: an apostrophe stands there as \047.
func Quote(text string) string {
	if plain.MatchString(text) {
		return text
	}
	if inert.Line(text) == text {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for _, c := range []byte(text) {
		switch {
		case c == '\\':
			b.WriteString(`\\`)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\'' || c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}

// Operand quotes a path for a command that takes flags: one that begins with a dash would be taken for some.
func Operand(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return Quote(path)
}

// Part is a piece of a word: a text, or the variable whose value stands there.
type Part struct {
	Text string
	Name string // of a variable, or an expansion of one such as marker#?; empty: Text
	By   string // function that writes the value in another way; empty: it stands as it is
}

// value is the variable's, between double quotes.
func (p Part) value() string {
	if p.By == "" {
		return "${" + p.Name + "}"
	}
	return "$(" + p.By + ` "${` + p.Name + `}")`
}

// inQuotes is text of which a shell obeys nothing between double quotes.
var inQuotes = regexp.MustCompile(`^[A-Za-z0-9 _@%+=:;,./?&(){}<>|~#*'-]*$`)

// Word writes one word of texts and variables. Names are the caller's own: they are obeyed.
func Word(parts ...Part) string {
	simple, variables := true, 0
	for _, p := range parts {
		simple = simple && inQuotes.MatchString(p.Text)
		if p.Name != "" {
			variables++
		}
	}
	var b strings.Builder
	if simple && variables > 0 {
		for _, p := range parts {
			b.WriteString(p.Text)
			if p.Name != "" {
				b.WriteString(p.value())
			}
		}
		return `"` + b.String() + `"`
	}
	for _, p := range parts {
		switch {
		case p.Name != "":
			b.WriteString(`"` + p.value() + `"`)
		case p.Text != "":
			b.WriteString(Quote(p.Text))
		}
	}
	if b.Len() == 0 {
		return "''"
	}
	return b.String()
}

var unnamed = regexp.MustCompile(`[^A-Z0-9]+`)

// Name makes the name of a variable out of a text, such as the name of a header. It begins with a prefix where the text gives
// none, or one that means something to a shell or to programs.
func Name(text string) string {
	name := strings.Trim(unnamed.ReplaceAllString(strings.ToUpper(text), "_"), "_")
	switch {
	case name == "" || name[0] <= '9':
		return "HEADER_" + name
	case meant.MatchString(name):
		return "HEADER_" + name
	}
	return name
}

// meant are names of variables that others have a use for.
var meant = regexp.MustCompile(`^(PATH|HOME|PWD|OLDPWD|USER|SHELL|TERM|LANG|HOST|HOSTNAME|IFS|ENV|UID|EUID|PPID|RANDOM|SECONDS|LINENO|REPLY|` +
	`BASE_URL|DATABASE_URL|SOCKET|CRASH|FLUSH|REMOVE|SIGNING_SECRET|(TLS|LC|LD|PS|BASH|PG|MYSQL|CURL|HTTP|SSL)_?.*|.*_PROXY)$`)

// Simple reports that a text is one command of words and nothing else: no other command, no redirection, no expansion but
// "$NAME" as a whole word.
func Simple(text string) bool { return simple.MatchString(text) }

var simple = regexp.MustCompile(`^(?:` + word + `)(?: (?:` + word + `))*$`)

const word = `"\$[A-Z_]+"|(?:[A-Za-z0-9_@%+=:,./{}-]|'[^'\n]*'|\\'|\$'(?:[^'\\\n]|\\[^'\n])*')+`
