package reports

import (
	"reflect"
	"unicode/utf8"

	"github.com/doubletap-harness/doubletap/internal/inert"
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

// clean is the beginning of a text on one line, without what a terminal obeys.
func clean(s string) string { return inert.Line(head(s, longest)) }

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
