// Package lightjson reads JSON text of a known shape several times faster than encoding/json, which looks up each member of each
// line by reflection. It reads what is common and refuses what is rare: of a text that it takes, encoding/json makes the same
// values; of one that it refuses, nothing is said, and encoding/json is to be asked.
package lightjson

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text is a JSON text and how far it has been read. Once something was refused, everything that is read is zero and [Text.Whole]
// is false. Strings that are read are parts of the text and keep it in memory. Not safe for concurrent use.
type Text struct {
	text    string
	at      int
	first   bool // nothing of the innermost object or array was read
	refused bool
}

// Of returns a text of which nothing is read.
func Of(text string) Text { return Text{text: text} }

// Whole reports that all of the text was read, and nothing was refused.
func (t *Text) Whole() bool {
	t.space()
	return !t.refused && t.at == len(t.text)
}

// Refuse stops the reading.
func (t *Text) Refuse() {
	t.refused = true
	t.at = len(t.text)
}

// space skips what may stand between tokens.
func (t *Text) space() {
	for t.at < len(t.text) {
		switch t.text[t.at] {
		case ' ', '\t', '\n', '\r':
			t.at++
		default:
			return
		}
	}
}

// peek returns the first byte of the next token; 0: there is none.
func (t *Text) peek() byte {
	t.space()
	if t.at == len(t.text) {
		return 0
	}
	return t.text[t.at]
}

// take reads one byte that is to come.
func (t *Text) take(c byte) {
	if t.peek() != c {
		t.Refuse()
		return
	}
	t.at++
}

// Open reads the beginning of an object or an array: { or [.
func (t *Text) Open(bracket byte) {
	t.take(bracket)
	t.first = true
}

// More reports whether an object or an array has another member, and reads its end, } or ], where it has none.
func (t *Text) More(end byte) bool {
	switch c := t.peek(); {
	case c == end:
		t.at++
		t.first = false
		return false
	case t.first:
		t.first = false
	default:
		t.take(',')
	}
	return !t.refused
}

// IsObject reports that an object comes next.
func (t *Text) IsObject() bool { return t.peek() == '{' }

// Name reads the name of a member.
func (t *Text) Name() string {
	name := t.String()
	t.take(':')
	return name
}

// String reads a string. It refuses surrogate halves and bytes that are not UTF-8, which encoding/json replaces.
func (t *Text) String() string {
	t.take('"')
	from := t.at
	foreign := false
	for i := from; i < len(t.text); i++ {
		c := t.text[i]
		if plain[c] {
			continue
		}
		switch {
		case c == '"':
			t.at = i + 1
			if foreign && !utf8.ValidString(t.text[from:i]) {
				t.Refuse()
				return ""
			}
			return t.text[from:i]
		case c == '\\':
			return t.escaped(from, i, foreign)
		case c < ' ':
			t.Refuse()
			return ""
		case c >= utf8.RuneSelf:
			foreign = true
		}
	}
	t.Refuse()
	return ""
}

// plain are the bytes of a string that stand for themselves: ASCII, but for ", \ and control characters.
var plain = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// escaped reads a string with an escape in it, the first of which is at i. Bytes before it may be foreign: not ASCII.
func (t *Text) escaped(from, i int, foreign bool) string {
	var out strings.Builder
	out.Grow(longest(t.text[i:]) + i - from)
	for copied := from; i < len(t.text); {
		c := t.text[i]
		if plain[c] {
			i++
			continue
		}
		switch {
		case c == '"':
			out.WriteString(t.text[copied:i])
			t.at = i + 1
			if foreign && !utf8.ValidString(out.String()) {
				t.Refuse()
				return ""
			}
			return out.String()
		case c < ' ':
			t.Refuse()
			return ""
		case c == '\\':
			out.WriteString(t.text[copied:i])
			r, n := escape(t.text[i:])
			if n == 0 {
				t.Refuse()
				return ""
			}
			out.WriteRune(r)
			i += n
			copied = i
		default:
			foreign = true
			i++
		}
	}
	t.Refuse()
	return ""
}

// longest returns how far it is to the end of a string, from a place in it on.
func longest(text string) int {
	for i := 0; i < len(text); i++ {
		if plain[text[i]] {
			continue
		}
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return 0
}

// escape reads an escape, and returns how long it is; 0: it is none, or half of a pair.
func escape(text string) (rune, int) {
	if len(text) < 2 {
		return 0, 0
	}
	switch text[1] {
	case '"', '\\', '/':
		return rune(text[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		if len(text) < 6 {
			return 0, 0
		}
		r := rune(0)
		for _, c := range []byte(text[2:6]) {
			digit := strings.IndexByte("0123456789abcdef", c|0x20)
			if digit < 0 || c < '0' || c > '9' && c < 'A' {
				return 0, 0
			}
			r = r<<4 | rune(digit)
		}
		if r >= 0xd800 && r < 0xe000 {
			return 0, 0
		}
		return r, 6
	}
	return 0, 0
}

// Number reads a number and returns how it is written.
func (t *Text) Number() string {
	t.space()
	from := t.at
	t.skip("-")
	whole := t.digits()
	if whole == 0 || whole > 1 && t.text[t.at-whole] == '0' {
		t.Refuse()
		return ""
	}
	if t.skip(".") && t.digits() == 0 {
		t.Refuse()
		return ""
	}
	if t.skip("eE") {
		t.skip("+-")
		if t.digits() == 0 {
			t.Refuse()
			return ""
		}
	}
	return t.text[from:t.at]
}

// skip reads one of some bytes, if it is there.
func (t *Text) skip(some string) bool {
	if t.at == len(t.text) || strings.IndexByte(some, t.text[t.at]) < 0 {
		return false
	}
	t.at++
	return true
}

// digits reads digits and returns how many there were.
func (t *Text) digits() int {
	from := t.at
	for t.at < len(t.text) && t.text[t.at]-'0' <= 9 {
		t.at++
	}
	return t.at - from
}

// Int reads a whole number.
func (t *Text) Int() int64 {
	if n, is := t.shortInt(); is {
		return n
	}
	text := t.Number()
	if t.refused {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Refuse()
		return 0
	}
	return n
}

// mostShort is the number of digits that an int64 has room for in any case.
const mostShort = 18

// shortInt reads a whole number that is not negative and short, as almost all are; false: it is another one, and nothing was read.
func (t *Text) shortInt() (int64, bool) {
	t.space()
	n, i := int64(0), t.at
	for ; i < len(t.text) && t.text[i]-'0' <= 9; i++ {
		n = 10*n + int64(t.text[i]-'0')
		if i-t.at == mostShort {
			return 0, false
		}
	}
	length := i - t.at
	if length == 0 || length > 1 && t.text[t.at] == '0' || i < len(t.text) && (t.text[i] == '.' || t.text[i]|' ' == 'e') {
		return 0, false
	}
	t.at = i
	return n, true
}

// Float reads a number.
func (t *Text) Float() float64 {
	text := t.Number()
	if t.refused {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Refuse()
		return 0
	}
	return n
}

// Bool reads true or false.
func (t *Text) Bool() bool {
	switch {
	case t.word("true"):
		return true
	case t.word("false"):
	default:
		t.Refuse()
	}
	return false
}

// word reads a word, if it is there.
func (t *Text) word(word string) bool {
	t.space()
	if !strings.HasPrefix(t.text[t.at:], word) {
		return false
	}
	t.at += len(word)
	return true
}

// deepest bounds how deep values are nested that are read. encoding/json takes deeper ones.
const deepest = 200

// Value reads any value, with numbers as number makes them of how they are written.
func (t *Text) Value(number func(text string) any) any { return t.value(number, deepest) }

// value reads a value that may nest so deep.
func (t *Text) value(number func(string) any, depth int) any {
	if depth == 0 {
		t.Refuse()
		return nil
	}
	switch c := t.peek(); c {
	case '"':
		return t.String()
	case '{':
		object := map[string]any{}
		for t.Open('{'); t.More('}'); {
			name := t.Name()
			object[name] = t.value(number, depth-1)
		}
		return object
	case '[':
		list := []any{}
		for t.Open('['); t.More(']'); {
			list = append(list, t.value(number, depth-1))
		}
		return list
	case 't', 'f':
		return t.Bool()
	case 'n':
		if !t.word("null") {
			t.Refuse()
		}
		return nil
	default:
		text := t.Number()
		if t.refused {
			return nil
		}
		return number(text)
	}
}

// Skip reads any value and drops it.
func (t *Text) Skip() { t.drop(deepest) }

// drop reads as much as value does, and keeps nothing.
func (t *Text) drop(depth int) {
	if depth == 0 {
		t.Refuse()
		return
	}
	switch t.peek() {
	case '"':
		_ = t.String()
	case '{':
		for t.Open('{'); t.More('}'); t.drop(depth - 1) {
			t.Name()
		}
	case '[':
		for t.Open('['); t.More(']'); {
			t.drop(depth - 1)
		}
	case 't', 'f':
		t.Bool()
	case 'n':
		if !t.word("null") {
			t.Refuse()
		}
	default:
		t.Number()
	}
}

// At is how many bytes are read.
func (t *Text) At() int { return t.at }

// Ahead is where the next token begins.
func (t *Text) Ahead() int {
	t.space()
	return t.at
}

// Texts reads an object of strings.
func (t *Text) Texts() map[string]string {
	all := map[string]string{}
	for t.Open('{'); t.More('}'); {
		name := t.Name()
		all[name] = t.String()
	}
	return all
}

// Fields tells members of an object apart by their numbers, from 0 to 63, and refuses one that comes twice: encoding/json would
// put the two together.
type Fields uint64

// Once notes a member.
func (f *Fields) Once(t *Text, number int) {
	if bit := Fields(1) << number; *f&bit != 0 {
		t.Refuse()
	} else {
		*f |= bit
	}
}
