package reports

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is where strings of a report are cut for people. The JSON report keeps them whole.
const longest = 4 << 10

// sanitize returns a deep copy in which every string is one line of printable text. Doing it to the
// whole value at once leaves no member that a renderer could forget.
func sanitize[T any](v T) T {
	copied := sanitizeValue(reflect.ValueOf(&v).Elem())
	return copied.Interface().(T)
}

// sanitizeValue copies one value. Kinds without a string in them are copied as they are.
func sanitizeValue(in reflect.Value) reflect.Value {
	out := reflect.New(in.Type()).Elem()
	switch in.Kind() {
	case reflect.String:
		out.SetString(clean(in.String()))
	case reflect.Struct:
		for i := range in.NumField() {
			out.Field(i).Set(sanitizeValue(in.Field(i)))
		}
	case reflect.Slice:
		sanitizeSlice(in, out)
	case reflect.Map:
		sanitizeMap(in, out)
	case reflect.Pointer:
		if !in.IsNil() {
			out.Set(reflect.New(in.Type().Elem()))
			out.Elem().Set(sanitizeValue(in.Elem()))
		}
	case reflect.Interface:
		if !in.IsNil() {
			out.Set(sanitizeValue(in.Elem()))
		}
	default:
		out.Set(in)
	}
	return out
}

// sanitizeSlice copies a list. Nil stays nil, which JSON tells from an empty list.
func sanitizeSlice(in, out reflect.Value) {
	if in.IsNil() {
		return
	}
	out.Set(reflect.MakeSlice(in.Type(), in.Len(), in.Len()))
	for i := range in.Len() {
		out.Index(i).Set(sanitizeValue(in.Index(i)))
	}
}

// sanitizeMap copies a map. Keys are strings from outside too.
func sanitizeMap(in, out reflect.Value) {
	if in.IsNil() {
		return
	}
	out.Set(reflect.MakeMapWithSize(in.Type(), in.Len()))
	for _, key := range in.MapKeys() {
		out.SetMapIndex(sanitizeValue(key), sanitizeValue(in.MapIndex(key)))
	}
}

// clean writes everything that does not print as a Go escape: an ESC becomes the four characters
// \x1b, a line feed \n. The same goes for marks piled on one character. Bytes that are not UTF-8 become U+FFFD.
func clean(s string) string {
	s = head(s, longest)
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
		if hidden(r) || marks > mostMarks {
			b.WriteString(goEscape(r))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// goEscape writes a character as Go escapes it in a string.
func goEscape(r rune) string {
	if r < ' ' || r > '~' {
		return strings.Trim(strconv.QuoteRuneToASCII(r), "'")
	}
	return fmt.Sprintf(`\x%02x`, r)
}

// hidden is true for control characters, of the C1 range too, and for those that turn the direction
// of text. Joiners stay: emoji and several scripts need them.
func hidden(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return !unicode.IsGraphic(r) && r != nonJoiner && r != joiner
}

// head returns at most n bytes of s, ending in an ellipsis if that is not all.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
