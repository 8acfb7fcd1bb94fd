// Package jsonpointer builds and follows JSON pointers (RFC 6901), which name one value inside a JSON
// value: "/items/0/id". It imports nothing of doubletap and is safe for concurrent use.
package jsonpointer

import (
	"fmt"
	"strconv"
	"strings"
)

// Of returns the pointer of these keys and indices: an int is an index of a list, anything else is
// the key of an object. Without tokens it is empty, the pointer to the whole value.
func Of(tokens ...any) string {
	var b strings.Builder
	for _, token := range tokens {
		switch token := token.(type) {
		case int:
			b.WriteString("/" + strconv.Itoa(token))
		default:
			b.WriteString("/" + Escape(fmt.Sprint(token)))
		}
	}
	return b.String()
}

// Member returns the pointer to a member that is named: by its key, or by a pointer, which begins with a slash.
func Member(name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return Of(name)
}

// Escape returns the token that stands for a key (RFC 6901, section 3).
func Escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// Unescape returns the key that a token stands for. The order matters: "~01" is the key "~1".
func Unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// Resolve returns what stands at a pointer in a value of maps, slices and scalars, as encoding/json
// makes them. Found is false where nothing stands; the empty pointer finds the value itself.
func Resolve(value any, pointer string) (at any, found bool) {
	for _, token := range strings.Split(pointer, "/")[1:] {
		switch inner := value.(type) {
		case map[string]any:
			if value, found = inner[Unescape(token)]; !found {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(inner) {
				return nil, false
			}
			value = inner[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// Cut splits a pointer into the pointer of its parent and its last key. A text without a slash has no
// parent and is the key.
func Cut(pointer string) (parent, key string) {
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return "", Unescape(pointer)
	}
	return pointer[:i], Unescape(pointer[i+1:])
}
