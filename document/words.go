package document

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/internal/english"
)

// longestShown is how much of a value a message repeats, in characters.
const longestShown = 60

// Nearest returns the known word that a mistyped one probably stands for.
func Nearest(word string, known []string) (string, bool) {
	if word == "" || utf8.RuneCountInString(word) > longestShown {
		return "", false
	}
	best, shortest, said := "", tolerated(word)+1, plain(word)
	for _, candidate := range known {
		meant := plain(candidate)
		distance := levenshtein.ComputeDistance(said, meant)
		if distance > 2 && !strings.HasPrefix(meant, said[:1]) && !strings.Contains(said, meant) { // as listen and intent
			continue
		}
		if distance < shortest && distance*2 <= len(candidate) {
			best, shortest = candidate, distance
		}
	}
	return best, best != ""
}

// tolerated is how many slips still make the same word.
func tolerated(word string) int {
	return min(max(utf8.RuneCountInString(word)/2, 1), 3)
}

// plain is a word without what people mix up: letters of either case, "_" and "-".
func plain(word string) string {
	return strings.ReplaceAll(strings.ToLower(word), "_", "-")
}

// DidYouMean returns `, did you mean "x"?` for the known word nearest to a mistyped one, or nothing.
func DidYouMean(word string, known []string) string {
	nearest, ok := Nearest(word, known)
	if !ok {
		return ""
	}
	return ", did you mean " + quote(nearest) + "?"
}

// duplicate is the mistake of a key that stands there twice. YAML libraries differ in which of the
// two they take.
func duplicate(key string, line int) string {
	return fmt.Sprintf("the key %s is already there in line %d", quote(key), line)
}

// quote puts a text in quotes, and cuts a long one.
func quote(text string) string {
	if utf8.RuneCountInString(text) > longestShown {
		text = string([]rune(text)[:longestShown]) + "..."
	}
	return `"` + strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text) + `"`
}

// describe says what a node is, as the file writes it: `a text ("many")`.
func (d *Document) describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if _, expanded := d.written[n]; expanded {
		return fmt.Sprintf("%s (from %s)", typeWords(strings.TrimPrefix(n.ShortTag(), "!!")), quote(d.asWritten(n)))
	}
	switch n.ShortTag() {
	case nullTag:
		return "nothing"
	case "!!bool":
		return n.Value
	case "!!int", "!!float":
		return "a number (" + n.Value + ")"
	}
	return "a text (" + quote(n.Value) + ")"
}

// typeWords says a type of JSON Schema or a tag of YAML in words.
func typeWords(name string) string {
	switch name {
	case "object", "map":
		return "a mapping"
	case "array", "seq":
		return "a list"
	case "string", "str":
		return "a text"
	case "integer":
		return "a whole number"
	case "number", "int", "float":
		return "a number"
	case "boolean", "bool":
		return "true or false"
	}
	return "nothing"
}

// alternatives joins words as in "a, b or c".
func alternatives(words []string) string { return english.List(words, "or") }

// oneOf joins words that are to be written as they are.
func oneOf(words []string) string {
	if len(words) > 2 {
		return "one of " + alternatives(words)
	}
	return alternatives(words)
}

// entries counts the entries of a list.
func entries(n int) string {
	if n == 1 {
		return "one entry"
	}
	return strconv.Itoa(n) + " entries"
}
