package reports

import (
	"bytes"
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/doubletap-harness/doubletap/internal/inert"
)

// SafeWriter passes text on to a terminal or a log, and escapes what these would obey: control characters, escape
// sequences, characters that turn the direction of text, and the commands of GitHub Actions, Azure Pipelines and TeamCity. Line
// feeds and tabs stay. Bytes that are not UTF-8 become U+FFFD. It is not safe for concurrent use.
//
// An escape is written as in Go: ESC becomes \x1b. A command is "::name" at the beginning of a line, or "##[", "##vso[" or
// "##teamcity[" anywhere (github.com/actions/runner, ActionCommand.cs): the second colon or the bracket is escaped, of any word
// behind "##".
type SafeWriter struct {
	w       io.Writer
	colour  bool
	pending []byte // an unfinished character or colour sequence
	indent  bool   // nothing but white space was written since the line began
	last    rune
	hashes  int // that come together, and no more than a word has come since; 2: two or more
}

// NewSafeWriter returns a writer in front of w. With colour, the sequences that set colours pass, so whatever is not
// ours must have been sanitized before.
func NewSafeWriter(w io.Writer, colour bool) *SafeWriter {
	return &SafeWriter{w: w, colour: colour, indent: true}
}

// Write escapes p and passes it on. A character or a colour that p begins and does not end waits for the next call; at
// the end of a text it is dropped. The count is that of p, all of it or nothing.
func (s *SafeWriter) Write(p []byte) (int, error) {
	text := append(s.pending, p...)
	var b bytes.Buffer
	for len(text) > 0 {
		if n := s.sequence(text); n > 0 {
			b.Write(text[:n])
			text = text[n:]
			continue
		}
		if !utf8.FullRune(text) || s.unfinished(text) {
			break
		}
		r, n := utf8.DecodeRune(text)
		b.WriteString(s.escape(r))
		text = text[n:]
	}
	s.pending = bytes.Clone(text)
	if _, err := s.w.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// escape returns a character as it is written, and notes what a command may begin with.
func (s *SafeWriter) escape(r rune) string {
	command := s.indent && s.last == ':' && r == ':' || s.hashes == 2 && r == '['
	switch {
	case r == '\n':
		s.indent = true
	case !unicode.IsSpace(r) && (r != ':' || command):
		s.indent = false
	}
	switch inWord := r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r); {
	case r == '#' && s.last != '#':
		s.hashes = 1
	case r == '#':
		s.hashes = 2
	case s.hashes < 2 || !inWord:
		s.hashes = 0
	}
	s.last = r
	if command || inert.Hidden(r) && r != '\n' && r != '\t' {
		return inert.Escape(r)
	}
	return string(r)
}

// longestColour bounds the length of a sequence that sets colours, in bytes.
const longestColour = 32

// sequence returns the length of the colour sequence that text begins with; 0: with none, or there are to be none.
func (s *SafeWriter) sequence(text []byte) int {
	if end := s.parameters(text); end > 0 && end < len(text) && text[end] == 'm' {
		return end + 1
	}
	return 0
}

// unfinished reports that text may become a colour sequence.
func (s *SafeWriter) unfinished(text []byte) bool {
	if s.colour && len(text) == 1 && text[0] == '\x1b' {
		return true
	}
	end := s.parameters(text)
	return end > 0 && end == len(text) && end < longestColour
}

// parameters returns where the parameters of a control sequence end; 0: text begins with none.
func (s *SafeWriter) parameters(text []byte) int {
	if !s.colour || !bytes.HasPrefix(text, []byte("\x1b[")) {
		return 0
	}
	end := 2
	for end < min(len(text), longestColour) && (text[end] == ';' || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	return end
}
