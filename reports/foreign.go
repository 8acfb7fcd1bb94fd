package reports

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// longest is where strings of a report are cut for people. The JSON report keeps them whole.
const longest = 4 << 10

// legible returns a deep copy in which every string is one line of printable text. Doing it to the
// whole value at once leaves no member that a renderer could forget.
func legible[T any](v T) T {
	copied := legibleValue(reflect.ValueOf(&v).Elem())
	return copied.Interface().(T)
}

func legibleValue(in reflect.Value) reflect.Value {
	out := reflect.New(in.Type()).Elem()
	switch in.Kind() {
	case reflect.String:
		out.SetString(clean(in.String()))
	case reflect.Struct:
		for i := range in.NumField() {
			out.Field(i).Set(legibleValue(in.Field(i)))
		}
	case reflect.Slice:
		legibleSlice(in, out)
	case reflect.Map:
		legibleMap(in, out)
	case reflect.Pointer:
		if !in.IsNil() {
			out.Set(reflect.New(in.Type().Elem()))
			out.Elem().Set(legibleValue(in.Elem()))
		}
	case reflect.Interface:
		if !in.IsNil() {
			out.Set(legibleValue(in.Elem()))
		}
	default:
		out.Set(in)
	}
	return out
}

func legibleSlice(in, out reflect.Value) {
	if in.IsNil() {
		return
	}
	out.Set(reflect.MakeSlice(in.Type(), in.Len(), in.Len()))
	for i := range in.Len() {
		out.Index(i).Set(legibleValue(in.Index(i)))
	}
}

func legibleMap(in, out reflect.Value) {
	if in.IsNil() {
		return
	}
	out.Set(reflect.MakeMapWithSize(in.Type(), in.Len()))
	for _, key := range in.MapKeys() {
		out.SetMapIndex(legibleValue(key), legibleValue(in.MapIndex(key)))
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
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
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

// cell writes a database value as SQL clients do.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return v
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case map[string]any, []any:
		if text, err := json.Marshal(v); err == nil {
			return clean(string(text))
		}
	}
	return clean(fmt.Sprint(v))
}
