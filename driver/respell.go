package driver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// respell writes a request's JSON body in the spelling that a body's name stands for. The
// value stays the same (RFC 8259): members have no order, spaces between tokens mean
// nothing, an escaped character is that character, and 1 is the number 1.0. A target that
// compares bodies byte by byte takes it for another request. It fails where the body has
// one spelling only.
func respell(r *targets.Rendered, body string, promise contract.Contract) error {
	if !slices.Contains([]string{history.Reordered, history.Renumbered, history.OtherNaming}, body) {
		return nil
	}
	if r.Body == nil {
		return errors.New("there is no body to spell in another way")
	}
	if r.Says != nil {
		return errors.New("the body is a form, which is not spelled in another way")
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return fmt.Errorf("spell the body in another way: %w", err)
	}
	var out bytes.Buffer
	switch body {
	case history.Renumbered:
		renumber(&out, value)
	case history.OtherNaming:
		out.WriteString(inQuotes(targets.OtherNaming(value, promise)))
	default:
		reorder(&out, value)
	}
	if bytes.Equal(out.Bytes(), r.Body) {
		return fmt.Errorf("the body cannot be %s: there is only one way to write it", body)
	}
	r.Body = out.Bytes()
	return nil
}

// reorder writes a value with its members in reverse order, with spaces, and with an escape in every
// text that begins with a letter.
func reorder(out *bytes.Buffer, value any) {
	object, isObject := value.(map[string]any)
	list, isList := value.([]any)
	text, isText := value.(string)
	switch {
	case isObject:
		names := slices.Sorted(maps.Keys(object))
		slices.Reverse(names)
		writeObject(out, names, ", ", func(name string) { reorder(out, object[name]) })
	case isList:
		writeList(out, list, ", ", reorder)
	case isText && startsWithLetter(text):
		fmt.Fprintf(out, `"\u%04x%s`, text[0], inQuotes(text[1:])[1:])
	default:
		out.WriteString(inQuotes(value))
	}
}

// startsWithLetter finds the texts whose first character can be escaped without a
// surrogate.
func startsWithLetter(text string) bool {
	return text != "" && text[0] < unicode.MaxASCII && unicode.IsLetter(rune(text[0]))
}

// renumber writes a value with a fraction of zero at its whole numbers.
func renumber(out *bytes.Buffer, value any) {
	object, isObject := value.(map[string]any)
	list, isList := value.([]any)
	number, isNumber := value.(json.Number)
	switch {
	case isObject:
		writeObject(out, slices.Sorted(maps.Keys(object)), ",", func(name string) { renumber(out, object[name]) })
	case isList:
		writeList(out, list, ",", renumber)
	case isNumber && !strings.ContainsAny(number.String(), ".eE"):
		out.WriteString(number.String() + ".0")
	default:
		out.WriteString(inQuotes(value))
	}
}

// writeObject writes members in the order given. The comma brings its own spaces, and the
// colon the same.
func writeObject(out *bytes.Buffer, names []string, comma string, member func(name string)) {
	out.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			out.WriteString(comma)
		}
		out.WriteString(inQuotes(name) + strings.Replace(comma, ",", ":", 1))
		member(name)
	}
	out.WriteByte('}')
}

// writeList writes a list with a comma of the caller's choice, which may have spaces around it.
func writeList(out *bytes.Buffer, list []any, comma string, element func(*bytes.Buffer, any)) {
	out.WriteByte('[')
	for i, value := range list {
		if i > 0 {
			out.WriteString(comma)
		}
		element(out, value)
	}
	out.WriteByte(']')
}

// inQuotes writes a plain value as JSON.
func inQuotes(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // texts, numbers, truth values and null cannot fail
	return strings.TrimSuffix(out.String(), "\n")
}
