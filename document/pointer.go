package document

import (
	"fmt"
	"strconv"
	"strings"
)

// Pointer returns the JSON pointer that follows these keys and indices.
func Pointer(tokens ...any) string {
	var b strings.Builder
	for _, token := range tokens {
		switch token := token.(type) {
		case int:
			b.WriteString("/" + strconv.Itoa(token))
		default:
			b.WriteString("/" + escape(fmt.Sprint(token)))
		}
	}
	return b.String()
}

func escape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

// Unescape returns the key that a token of a JSON pointer stands for (RFC 6901).
func Unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// Resolve follows a JSON pointer (RFC 6901) through the mappings and lists of a JSON value. Found is false
// where nothing stands.
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

// cut splits the last token off a JSON pointer.
func cut(pointer string) (parent, token string) {
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return "", Unescape(pointer)
	}
	return pointer[:i], Unescape(pointer[i+1:])
}
