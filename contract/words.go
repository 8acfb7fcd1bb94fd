package contract

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// String returns the signature in words: "409 where /code is key_reused".
func (s Signature) String() string {
	text := AnyOf(s.Statuses)
	var conditions []string
	for _, pointer := range slices.Sorted(maps.Keys(s.Where)) {
		conditions = append(conditions, word(pointer)+" is "+valueWord(s.Where[pointer]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		conditions = append(conditions, word(name)+" matches "+word(s.Headers[name]))
	}
	if len(conditions) > 0 {
		text += " where " + strings.Join(conditions, " and ")
	}
	return text
}

// AnyOf joins statuses as in "200, 201 or 204".
func AnyOf(statuses []int) string {
	var words []string
	for _, status := range statuses {
		words = append(words, strconv.Itoa(status))
	}
	return enumerate(words, "or")
}

// enumerate joins words by commas, and the last by a word such as "or".
func enumerate(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	head, tail := words[:len(words)-1], words[len(words)-1]
	return strings.Join(head, ", ") + " " + last + " " + tail
}

// valueWord names a value of JSON for a reader.
func valueWord(value any) string {
	switch value := value.(type) {
	case nil:
		return "null or missing"
	case string:
		return word(value)
	default:
		return fmt.Sprint(value)
	}
}

// word returns a text that a file holds as it stands, in quotes where it would not read as one word.
func word(text string) string {
	strange := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if text == "" || strings.ContainsFunc(text, strange) {
		return strconv.Quote(text)
	}
	return text
}
