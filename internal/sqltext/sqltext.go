// Package sqltext says of a text whether it is one SQL query that only reads. It is no parser: what a server makes of the text is
// the server's affair, in a transaction that only reads. It keeps a text from being more than one statement, from leaving the
// statement that it is put into, and from calling what reads or writes files, waits, locks or talks to others.
package sqltext

import (
	"fmt"
	"regexp"
	"strings"
)

// Dialect says how a text is read.
type Dialect string

// The dialects.
const (
	SQLite     Dialect = "sqlite"
	PostgreSQL Dialect = "postgres"
	MariaDB    Dialect = "mariadb"
)

// forbidden are functions of servers and their clients that do more than read rows.
var forbidden = regexp.MustCompile(`^(load_file|sleep|benchmark|get_lock|release_lock|release_all_locks|master_pos_wait|sys_exec|sys_eval|` +
	`pg_read_\w+|pg_ls_\w+|pg_stat_file|lo_\w+|dblink\w*|pg_sleep\w*|pg_advisory\w*|pg_try_advisory\w*|pg_terminate_backend|pg_cancel_backend|` +
	`pg_reload_conf|pg_rotate_logfile|pg_switch_wal|pg_notify|pg_logical_\w+|pg_replication_\w+|pg_create_\w+|set_config|setval|nextval|` +
	`(query|table|cursor|schema|database)_to_xml\w*|load_extension|readfile|writefile|edit|fts3_tokenizer|zipfile|sqlar_\w+|fsdir|lsdir)$`)

// Query returns an error if a text is more or less than one query that only reads. A semicolon at its end is none of it.
func Query(text string, d Dialect) error {
	s := scanner{text: text, dialect: d}
	for s.at < len(s.text) {
		if err := s.step(); err != nil {
			return err
		}
	}
	switch {
	case s.depth > 0:
		return fmt.Errorf("%d parentheses are not closed", s.depth)
	case s.words == 0:
		return fmt.Errorf("expected a query, such as select id from orders where note = :marker")
	}
	return nil
}

// Outside returns a text with blanks in place of what it has in quotes, but for names, and of its comments. What it cannot read stays as
// it is.
func Outside(text string, d Dialect) string {
	s, out := scanner{text: text, dialect: d}, []byte(text)
	for s.at < len(s.text) {
		begin, _ := s.opens()
		from := s.at
		if s.step() != nil {
			break
		}
		name := begin == "`" || begin == "[" || begin == `"` && d != MariaDB
		arithmetic := begin == "--" && s.at == from+len(begin)
		if begin != "" && !name && !arithmetic {
			for i := from; i < min(s.at, len(out)); i++ {
				out[i] = ' '
			}
		}
	}
	return string(out)
}

// scanner goes through a text.
type scanner struct {
	text    string
	dialect Dialect
	at      int
	depth   int    // of parentheses
	words   int    // so far
	last    string // the word before, in lower case, unless something else came after it
	ended   bool   // a semicolon was there
}

// opens says what ends what begins with a text, in each dialect.
func (s *scanner) opens() (begin, end string) {
	rest := s.text[s.at:]
	if tag := dollar.FindString(rest); tag != "" && s.dialect == PostgreSQL {
		return tag, tag
	}
	for _, pair := range [][3]string{
		{"--", "\n", ""}, {"/*", "*/", ""}, {"'", "'", ""}, {`"`, `"`, ""}, {"`", "`", ""}, {"[", "]", string(SQLite)}, {"#", "\n", string(MariaDB)},
	} {
		if strings.HasPrefix(rest, pair[0]) && (pair[2] == "" || pair[2] == string(s.dialect)) {
			return pair[0], pair[1]
		}
	}
	return "", ""
}

var dollar = regexp.MustCompile(`^\$([A-Za-z_][A-Za-z0-9_]*)?\$`)

// step takes the next piece of the text.
func (s *scanner) step() error {
	begin, end := s.opens()
	c := s.text[s.at]
	switch {
	case begin == "--" && s.dialect == MariaDB && !blank(s.text[s.at+2:]):
		s.at += 2 // two signs of arithmetic
		return nil
	case begin == "--" || begin == "#":
		n := strings.IndexByte(s.text[s.at:], '\n')
		if n < 0 {
			n = len(s.text) - s.at - 1
		}
		s.at += n + 1
		return nil
	case begin == "/*":
		return s.comment()
	case begin != "":
		return s.quoted(begin, end)
	case c == ';':
		s.ended, s.last = true, ""
		s.at++
		return nil
	case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
		s.at++
		return nil
	case s.ended:
		return fmt.Errorf("a second statement begins after the semicolon; a query is one statement")
	case c == '\\' || c == 0:
		return fmt.Errorf("%q stands outside of quotes, where clients of databases take it for a command", c)
	case c == '(':
		return s.open()
	case c == ')':
		if s.depth--; s.depth < 0 {
			return fmt.Errorf("a parenthesis is closed that was not opened")
		}
	case letter(c):
		return s.word()
	}
	s.at++
	s.last = ""
	return nil
}

// blank reports that a text is empty or begins with white space.
func blank(text string) bool { return text == "" || strings.IndexByte(" \t\r\n\f\v", text[0]) >= 0 }

// letter reports that a byte may be part of a name. Bytes of other scripts are.
func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80 || c >= '0' && c <= '9'
}

// open takes a parenthesis, and looks at what is called if something is.
func (s *scanner) open() error {
	if forbidden.MatchString(s.last) {
		return fmt.Errorf("%s() does more than read rows", s.last)
	}
	s.depth++
	s.at++
	s.last = ""
	if s.words == 0 {
		s.words = 1 // (select ...) union (select ...)
	}
	return nil
}

// word takes a word.
func (s *scanner) word() error {
	from := s.at
	for s.at < len(s.text) && (letter(s.text[s.at]) || s.text[s.at] == '$') {
		s.at++
	}
	word, before := strings.ToLower(s.text[from:s.at]), s.last
	s.words++
	s.last = word
	switch {
	case s.words == 1 && word != "select" && word != "with" && word != "values" && word != "table":
		return fmt.Errorf("expected a query that begins with select, with, values or table")
	case word == "into":
		return fmt.Errorf("INTO writes; a query only reads")
	case before == "for" && (word == "update" || word == "share" || word == "no" || word == "key"), before == "lock" && word == "in":
		return fmt.Errorf("it locks rows; a query only reads")
	}
	return nil
}

// comment takes a comment. MariaDB runs one that begins with an exclamation mark, and PostgreSQL has them inside of others.
func (s *scanner) comment() error {
	if strings.HasPrefix(s.text[s.at:], "/*!") || strings.HasPrefix(s.text[s.at:], "/*M!") {
		return fmt.Errorf("a comment that begins with ! is run by MariaDB")
	}
	depth := 0
	for s.at < len(s.text) {
		switch {
		case strings.HasPrefix(s.text[s.at:], "/*") && (depth == 0 || s.dialect == PostgreSQL):
			depth++
			s.at += 2
		case strings.HasPrefix(s.text[s.at:], "*/"):
			s.at += 2
			if depth--; depth == 0 {
				return nil
			}
		default:
			s.at++
		}
	}
	return fmt.Errorf("a comment is not closed")
}

// quoted takes a text or a name in quotes. Twice the end stands for itself.
func (s *scanner) quoted(begin, end string) error {
	if s.ended {
		return fmt.Errorf("a second statement begins after the semicolon; a query is one statement")
	}
	escapes := s.dialect == MariaDB && (begin == "'" || begin == `"`) || s.dialect == PostgreSQL && begin == "'" && s.last == "e"
	from := s.at + len(begin)
	for s.at = from; s.at < len(s.text); s.at++ {
		rest := s.text[s.at:]
		switch {
		case escapes && rest[0] == '\\':
			s.at++
		case begin != "[" && len(end) == 1 && strings.HasPrefix(rest, end+end):
			s.at++
		case strings.HasPrefix(rest, end):
			s.last = ""
			if begin != "'" {
				s.last = strings.ToLower(s.text[from:s.at])
			}
			s.at += len(end)
			s.words++
			return nil
		}
	}
	return fmt.Errorf("%s is not closed", begin)
}
