package drafting

import (
	"encoding/base64"
	"errors"
	"strings"
)

// base64Of is what Basic credentials are written in (RFC 7617).
func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// split cuts a command line into words as a shell does, but fills in no variables.
func split(command string) ([]string, error) {
	s := splitter{left: []rune(command)}
	for len(s.left) > 0 {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	s.end()
	return s.words, nil
}

// splitter is half way through a command line.
type splitter struct {
	left  []rune
	words []string
	word  strings.Builder
	open  bool // a word has begun
}

// end finishes a word. An empty one counts if it was quoted.
func (s *splitter) end() {
	if s.open {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.open = false
}

// take returns the next character, of which there is one.
func (s *splitter) take() rune {
	r := s.left[0]
	s.left = s.left[1:]
	return r
}

// next reads a blank, a quoted part or one character.
func (s *splitter) next() error {
	switch r := s.take(); {
	case strings.ContainsRune(" \t\r\n", r):
		s.end()
	case r == '\\':
		s.escaped()
	case r == '$' && len(s.left) > 0 && s.left[0] == '\'':
		s.take()
		return s.quoted('\'', true)
	case r == '\'' || r == '"':
		return s.quoted(r, r == '"')
	default:
		s.open = true
		s.word.WriteRune(r)
	}
	return nil
}

// escaped reads what follows a backslash outside of quotes; a line that ends with one goes on.
func (s *splitter) escaped() {
	if len(s.left) == 0 {
		return
	}
	if s.left[0] == '\r' {
		s.take()
	}
	if len(s.left) == 0 {
		return
	}
	if r := s.take(); r != '\n' {
		s.open = true
		s.word.WriteRune(r)
	}
}

// quoted reads up to the closing quotation mark.
func (s *splitter) quoted(mark rune, escapes bool) error {
	s.open = true
	for len(s.left) > 0 {
		r := s.take()
		switch {
		case r == mark:
			return nil
		case r == '\\' && escapes && len(s.left) > 0:
			s.inQuotes(mark)
		default:
			s.word.WriteRune(r)
		}
	}
	return errors.New("a quotation mark is not closed")
}

// inQuotes reads what follows a backslash in "..." or $'...'.
func (s *splitter) inQuotes(mark rune) {
	r := s.take()
	switch {
	case mark == '\'' && r == 'n':
		s.word.WriteRune('\n')
	case mark == '\'' && r == 't':
		s.word.WriteRune('\t')
	case mark == '\'' || strings.ContainsRune("\\\"$`", r):
		s.word.WriteRune(r)
	case r == '\n':
	default:
		s.word.WriteRune('\\')
		s.word.WriteRune(r)
	}
}
