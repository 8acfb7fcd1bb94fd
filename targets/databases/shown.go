package databases

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// Shown is how answers write the key of a row: with text around it, or in another spelling. The zero value: as the database has it.
type Shown struct {
	before, after string
	spelling      spelling
	width         int  // of a number with zeros in front
	encoded       bool // all of that in base64
	unpadded      bool // without the = at its end
}

// spelling is how a key is written in an answer.
type spelling string

// The spellings of a key that is no plain copy of it.
const (
	asStored    spelling = ""
	withZeros   spelling = "zeros"
	upperCase   spelling = "upper case"
	bareUUID    spelling = "a UUID without its hyphens"
	bareUpper   spelling = "a UUID in upper case without its hyphens"
	hexBytes    spelling = "bytes in hex"
	bytesAsUUID spelling = "bytes as a UUID"
)

const (
	bytesOfAUUID = 16
	telling      = 12 // how long a key is that nothing else in an answer equals by chance
	longest      = 72 // text in base64: PostgreSQL breaks longer ones into lines
)

var (
	// around matches what may stand in front of a short key: the name of a kind, and nothing that counts.
	around = regexp.MustCompile(`^[A-Za-z_:/.#-]*[_:/.#-]$|^[A-Za-z]{1,5}$`)
	// harmless matches what may stand around a long one.
	harmless = regexp.MustCompile(`^[A-Za-z0-9_:/.#~-]*$`)
	// aUUID matches a UUID.
	aUUID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	// printable matches what a text in base64 says of a thing and its key.
	printable = regexp.MustCompile(`^[\x20-\x7e]+$`)
)

// Showing finds how a text of an answer shows the key of a row that the database has as value.
func Showing(value, text string) (Shown, bool) {
	if text == "" || text == value {
		return Shown{}, text != ""
	}
	if s, found := spelled(value, text); found {
		return s, true
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding} {
		decoded, err := encoding.DecodeString(text)
		if err != nil || !printable.Match(decoded) || len(text) > longest {
			continue
		}
		if s, found := spelled(value, string(decoded)); found && s.before != "" {
			s.encoded, s.unpadded = true, encoding == base64.RawStdEncoding && len(text)%4 != 0
			return s, true
		}
	}
	return Shown{}, false
}

// spelled finds how a text shows a key that is not encoded.
func spelled(value, text string) (Shown, bool) {
	for _, as := range []spelling{asStored, upperCase, bareUUID, bareUpper, hexBytes, bytesAsUUID} {
		key := as.of(value)
		if len(key) < telling || !strings.Contains(text, key) {
			continue
		}
		at := strings.LastIndex(text, key)
		s := Shown{before: text[:at], after: text[at+len(key):], spelling: as}
		return s, harmless.MatchString(s.before + s.after)
	}
	if !digits.MatchString(value) || !strings.HasSuffix(text, value) {
		return Shown{}, false
	}
	s := Shown{before: strings.TrimRight(strings.TrimSuffix(text, value), "0")}
	if width := len(text) - len(s.before); width > len(value) {
		s.spelling, s.width = withZeros, width
	}
	return s, (s.before == "" && s.width > 0) || around.MatchString(s.before)
}

// of spells a key; empty: it cannot be spelled so.
func (s spelling) of(value string) string {
	isUUID := aUUID.MatchString(value)
	bare := hex.EncodeToString([]byte(value))
	switch {
	case s == asStored && printable.MatchString(value):
		return value
	case s == upperCase && printable.MatchString(value):
		return strings.ToUpper(value)
	case s == bareUUID && isUUID:
		return strings.ReplaceAll(value, "-", "")
	case s == bareUpper && isUUID:
		return strings.ToUpper(strings.ReplaceAll(value, "-", ""))
	case s == hexBytes && len(value) == bytesOfAUUID && !printable.MatchString(value):
		return bare
	case s == bytesAsUUID && len(value) == bytesOfAUUID && !printable.MatchString(value):
		return strings.Join([]string{bare[:8], bare[8:12], bare[12:16], bare[16:20], bare[20:]}, "-")
	}
	return ""
}

// Of is what answers call a row whose key the database has as value.
func (s Shown) Of(value string) string {
	text := value
	switch {
	case s.spelling == withZeros:
		text = strings.Repeat("0", max(0, s.width-len(value))) + value
	case s.spelling != asStored:
		text = s.spelling.of(value)
	}
	text = s.before + text + s.after
	switch {
	case s.unpadded:
		return base64.RawStdEncoding.EncodeToString([]byte(text))
	case s.encoded:
		return base64.StdEncoding.EncodeToString([]byte(text))
	}
	return text
}

// In is the SQL by which a database shows a column so.
func (s Shown) In(d Dialect, column string) string {
	if s == (Shown{}) {
		return column
	}
	var parts []string
	for _, part := range []string{literal(s.before), s.spelledIn(d, column), literal(s.after)} {
		if part != "''" {
			parts = append(parts, part)
		}
	}
	text := joined(d, parts...)
	switch {
	case s.encoded && d == PostgreSQL:
		text = "encode(convert_to(" + text + ", 'UTF8'), 'base64')"
	case s.encoded:
		text = "to_base64(" + text + ")"
	}
	if s.unpadded {
		text = "trim(trailing '=' from " + text + ")"
	}
	return text
}

// Possible reports that a database can show a column so: SQLite has no base64.
func (s Shown) Possible(d Dialect) bool { return !s.encoded || d != SQLite }

// spelledIn is the SQL for the spelling of a column.
func (s Shown) spelledIn(d Dialect, column string) string {
	text, hexed := "cast("+column+" as text)", "lower(hex("+column+"))"
	switch d {
	case MariaDB:
		text = "cast(" + column + " as char)"
	case PostgreSQL:
		hexed = "encode(" + column + ", 'hex')"
	}
	switch s.spelling {
	case upperCase:
		return "upper(" + text + ")"
	case bareUUID:
		return "replace(" + text + ", '-', '')"
	case bareUpper:
		return "upper(replace(" + text + ", '-', ''))"
	case hexBytes:
		return hexed
	case bytesAsUUID:
		var parts []string
		for _, part := range [][2]int{{1, 8}, {9, 4}, {13, 4}, {17, 4}, {21, 12}} {
			parts = append(parts, fmt.Sprintf("substr(%s, %d, %d)", hexed, part[0], part[1]), "'-'")
		}
		return joined(d, parts[:len(parts)-1]...)
	case withZeros:
		if d == SQLite {
			return fmt.Sprintf("printf('%%0%dd', %s)", s.width, column)
		}
		return fmt.Sprintf("lpad(%s, greatest(%d, length(%[1]s)), '0')", text, s.width)
	}
	return text
}

// literal is a text of SQL.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// joined is the SQL for several texts in a row.
func joined(d Dialect, parts ...string) string {
	switch {
	case len(parts) == 1:
		return parts[0]
	case d == MariaDB:
		return "concat(" + strings.Join(parts, ", ") + ")"
	}
	return strings.Join(parts, " || ")
}
