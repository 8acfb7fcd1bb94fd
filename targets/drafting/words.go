package drafting

import (
	"encoding/base64"
	"errors"
	"strconv"
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
		case r == '\\' && escapes && mark == '\'' && len(s.left) > 0:
			s.named()
		case r == '\\' && escapes && len(s.left) > 0:
			s.inQuotes()
		default:
			s.word.WriteRune(r)
		}
	}
	return errors.New("a quotation mark is not closed")
}

// inQuotes reads what follows a backslash in "...".
func (s *splitter) inQuotes() {
	switch r := s.take(); {
	case strings.ContainsRune("\\\"$`", r):
		s.word.WriteRune(r)
	case r == '\n':
	default:
		s.word.WriteRune('\\')
		s.word.WriteRune(r)
	}
}

// named reads what follows a backslash in $'...', where a character has a letter or its number: browsers copy ! as \u0021, and the end of a line as \r\n.
func (s *splitter) named() {
	const letters, meant = "abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v"
	r := s.take()
	if at := strings.IndexRune(letters, r); at >= 0 {
		s.word.WriteByte(meant[at])
		return
	}
	switch r {
	case 'x':
		s.numbered(r, 2, 16)
	case 'u':
		s.numbered(r, 4, 16)
	case 'U':
		s.numbered(r, 8, 16)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		s.left = append([]rune{r}, s.left...)
		s.numbered(r, 3, 8)
	case '\\', '\'', '"', '?':
		s.word.WriteRune(r)
	default: // a shell keeps the backslash of what it does not know
		s.word.WriteRune('\\')
		s.word.WriteRune(r)
	}
}

// numbered reads a character of up to so many digits. Those of \x and of octal numbers are bytes, several of which may be one character.
func (s *splitter) numbered(mark rune, most, base int) {
	digits := 0
	for digits < min(most, len(s.left)) {
		if _, err := strconv.ParseUint(string(s.left[digits]), base, 8); err != nil {
			break
		}
		digits++
	}
	number, err := strconv.ParseUint(string(s.left[:digits]), base, 32)
	s.left = s.left[digits:]
	switch {
	case err != nil: // no digit at all
		s.word.WriteRune('\\')
		s.word.WriteRune(mark)
	case mark == 'u' || mark == 'U':
		s.word.WriteRune(rune(number))
	default:
		s.word.WriteByte(byte(number))
	}
}
