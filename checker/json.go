package checker

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/internal/lightjson"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/outline"
)

// parse reads one JSON value. Numbers become exact: 1, 1.0 and 1e0 are equal afterwards.
func parse(text string) (any, bool) {
	in := lightjson.Of(text)
	if value := in.Value(exactNumber); in.Whole() {
		return value, true
	}
	return parseRare(text)
}

// valid reports that a text is one JSON value.
func valid(text string) bool {
	in := lightjson.Of(text)
	if in.Skip(); in.Whole() {
		return true
	}
	_, ok := parseRare(text)
	return ok
}

// find returns what stands at a pointer in a JSON text, as parse has it, without the rest; ok: it is one JSON value.
func find(text, pointer string) (value any, found, ok bool) {
	in := lightjson.Of(text)
	if value, found = findIn(&in, pointer); in.Whole() {
		return value, found, true
	}
	all, ok := parseRare(text)
	value, found = jsonpointer.Resolve(all, pointer)
	return value, found, ok
}

// findIn returns what stands at a pointer, and reads no further into other members than it has to.
// Where a name stands twice in an object, the last one counts, as it does for encoding/json. It
// leaves the text behind the value, so that the caller can tell whether all of it is JSON.
func findIn(in *lightjson.Text, pointer string) (value any, found bool) {
	_, below, deeper := strings.Cut(pointer, "/")
	if !deeper || !in.IsObject() {
		return jsonpointer.Resolve(in.Value(exactNumber), pointer)
	}
	token, _, _ := strings.Cut(below, "/")
	name, rest := jsonpointer.Unescape(token), below[len(token):]
	for in.Open('{'); in.More('}'); {
		switch {
		case in.Name() != name:
			in.Skip()
		case rest == "":
			value, found = in.Value(exactNumber), true
		default:
			value, found = findIn(in, rest)
		}
	}
	return value, found
}

// parseRare reads what the fast reader refuses.
func parseRare(text string) (any, bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil, false
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, false
	}
	return normalise(value), true
}

// number is an exact number in its shortest form.
type number string

// normalise brings values from JSON, YAML and database drivers into one form.
func normalise(value any) any {
	switch v := value.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			object[name] = normalise(member)
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = normalise(element)
		}
		return list
	case json.Number:
		return exact(v.String())
	case int, int64, uint64, float64:
		return exact(fmt.Sprint(v))
	default:
		return v
	}
}

// exactNumber reads a number as the fast reader hands it over.
func exactNumber(text string) any { return exact(text) }

// exact brings a number into its shortest form without a float64, which cannot hold a long
// identity.
func exact(text string) number { return number(outline.Exact(text)) }

// MarshalJSON writes the number as it is.
func (n number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// equal reports that two normalised values do not differ anywhere.
func equal(a, b any) bool { return len(differences("", a, b, nil)) == 0 }

// difference is one place in which two values differ.
type difference struct{ where, first, then string }

// differences lists where two normalised values differ, by JSON pointer, leaving out what stands
// at or below an ignored pointer.
func differences(at string, a, b any, ignore []string) []difference {
	if slices.Contains(ignore, at) {
		return nil
	}
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return objectDifferences(at, a, b, ignore)
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			var all []difference
			for i := range a {
				all = append(all, differences(fmt.Sprintf("%s/%d", at, i), a[i], b[i], ignore)...)
			}
			return all
		}
	default:
		if a == b {
			return nil
		}
	}
	return []difference{{at, show(a), show(b)}}
}

// objectDifferences lists where two objects differ, in the order of the names. A member that one
// of them lacks is a difference at that member, so that an ignored pointer excuses it.
func objectDifferences(at string, a, b map[string]any, ignore []string) []difference {
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	var all []difference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		where := at + jsonpointer.Of(name)
		first, inA := a[name]
		then, inB := b[name]
		switch {
		case inA && inB:
			all = append(all, differences(where, first, then, ignore)...)
		case slices.Contains(ignore, where):
		case inA:
			all = append(all, difference{where, show(first), "absent"})
		default:
			all = append(all, difference{where, "absent", show(then)})
		}
	}
	return all
}

// show renders a normalised value for a reader.
func show(value any) string {
	if n, ok := value.(number); ok {
		return string(n)
	}
	text, _ := json.Marshal(value) // only a number that is none could fail
	return string(text)
}

// plain renders a value as an identity: a text without its quotes.
func plain(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return show(value)
}
