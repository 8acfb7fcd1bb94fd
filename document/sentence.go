package document

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/internal/english"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// add notes a mistake, unless there are more already than anyone reads. What it touches besides
// its place is no ground for other mistakes.
func (t *translator) add(e *jsonschema.ValidationError, at, text string, touches ...string) *Mistake {
	m := t.doc.Mistake(at, "%s", text)
	m.touches = append(m.touches, touches...)
	if len(t.found) < maxMistakes {
		t.found = append(t.found, found{Mistake: m, kind: e.ErrorKind})
		return &t.found[len(t.found)-1].Mistake
	}
	return &m
}

// leaf says one error in words.
func (t *translator) leaf(e *jsonschema.ValidationError, rule annotated, h hint) {
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, key := range k.Properties[:min(len(k.Properties), maxMistakes-len(t.found))] {
			t.unknownKey(e, rule, h.at, key)
		}
	case *kind.Required:
		for _, key := range k.Missing {
			t.missingKey(e, h.at, key)
		}
	case *kind.DependentRequired:
		t.add(e, h.at+jsonpointer.Of(k.Prop), fmt.Sprintf("%s needs %s beside it", quote(k.Prop), english.List(quoted(k.Missing), "and")))
	case *kind.MinProperties, *kind.MaxProperties:
		t.add(e, h.at, t.keyCount(rule, h.at))
	case *kind.Enum:
		t.enum(e, h, k.Want)
	case *kind.Const:
		t.enum(e, h, []any{k.Want})
	case *kind.Type:
		if h.expected == "" {
			h.expected = types(k.Want)
		}
		t.add(e, h.at, t.mismatch(h, nil))
	default:
		t.add(e, h.at, t.limit(e.ErrorKind, rule, h))
	}
}

// unknownKey says that a mapping knows no such key: which one was probably meant, or else which
// there are. A key that is there already was not meant.
func (t *translator) unknownKey(e *jsonschema.ValidationError, rule annotated, at, key string) {
	known := rule.keys()
	pointer := at + jsonpointer.Of(key)
	if nearest, ok := Nearest(key, known); ok && !t.doc.Has(at+jsonpointer.Of(nearest)) {
		text := fmt.Sprintf("unknown key %s, did you mean %s?", quote(key), quote(nearest))
		t.atKey(t.add(e, pointer, text, at+jsonpointer.Of(nearest)))
		return
	}
	text := fmt.Sprintf("unknown key %s; the keys here are %s", quote(key), english.List(known, "and"))
	if len(known) == 0 {
		text = fmt.Sprintf("unknown key %s; there are no keys here", quote(key))
	}
	if names := rule.text("x-names"); names != "" {
		text = fmt.Sprintf("expected %s, got %s", names, quote(key))
	}
	t.atKey(t.add(e, pointer, text))
}

// atKey moves a mistake to the key of its value.
func (t *translator) atKey(m *Mistake) {
	if key := t.doc.places[m.touches[0]].key; key != nil {
		m.Line, m.Column = key.Line, key.Column
	}
}

// missingKey says that a mapping lacks a key. The place is that of the mapping, as the key has
// none.
func (t *translator) missingKey(e *jsonschema.ValidationError, at, key string) {
	m := t.add(e, at+jsonpointer.Of(key), fmt.Sprintf("the key %s is missing", quote(key)))
	m.Key = t.doc.dotted(at)
}

// keyCount says how many keys of which a mapping must have, and which it has.
func (t *translator) keyCount(rule annotated, at string) string {
	least, most := rule.text("minProperties"), rule.text("maxProperties")
	bound, count := "at least", least
	switch {
	case least == most:
		bound = "exactly"
	case least == "":
		bound, count = "at most", most
	}
	keys, verb := "keys", "are"
	if count == "1" {
		count, keys, verb = "one", "key", "is"
	}
	if known := rule.keys(); known != nil {
		keys = "of " + english.List(known, "and")
	}
	return fmt.Sprintf("%s %s %s %s expected; found %s", bound, count, keys, verb, t.keysAt(at))
}

// keysAt lists the keys that the file has in a mapping.
func (t *translator) keysAt(at string) string {
	n := t.doc.places[at].value
	if n == nil || len(n.Content) == 0 {
		return "none"
	}
	var keys []string
	for i := 0; i < len(n.Content); i += 2 {
		keys = append(keys, n.Content[i].Value)
	}
	return english.List(keys, "and")
}

// enum says which words there are to choose from.
func (t *translator) enum(e *jsonschema.ValidationError, h hint, want []any) {
	words := texts(want)
	if h.expected == "" {
		h.expected = oneOf(words)
	}
	t.add(e, h.at, t.mismatch(h, words))
}

// mismatch is the sentence for a value that is not what was expected.
func (t *translator) mismatch(h hint, known []string) string {
	n := t.doc.places[h.at].value
	if n == nil {
		return "expected " + h.expected
	}
	suggestion := ""
	if n.Kind == yaml.ScalarNode {
		suggestion = DidYouMean(t.doc.asWritten(n), known)
	}
	return fmt.Sprintf("expected %s, got %s%s", h.expected, t.doc.describe(n), suggestion)
}

// limit is the sentence for a value that is out of bounds.
func (t *translator) limit(k jsonschema.ErrorKind, rule annotated, h hint) string {
	bound := "must be something else"
	switch k := k.(type) {
	case *kind.Minimum:
		bound = "must be at least " + number(k.Want)
	case *kind.Maximum:
		bound = "must be at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		bound = "must be more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		bound = "must be less than " + number(k.Want)
	case *kind.MultipleOf:
		bound = "must be a multiple of " + number(k.Want)
	case *kind.MinItems:
		if words := rule.text("x-empty"); words != "" {
			return words
		}
		return "needs at least " + entries(k.Want)
	case *kind.MaxItems:
		return "takes at most " + entries(k.Want)
	case *kind.UniqueItems:
		return fmt.Sprintf("entries %d and %d are the same", k.Duplicates[0]+1, k.Duplicates[1]+1)
	case *kind.MinLength:
		if t.doc.Expanded(h.at) {
			return fmt.Sprintf("must not be empty, and %s gives nothing: is its variable set, and empty?", t.doc.Shown(h.at))
		}
		return "must not be empty"
	case *kind.MaxLength:
		return fmt.Sprintf("must be at most %d characters long", k.Want)
	default:
		if h.expected != "" {
			return t.mismatch(h, nil)
		}
	}
	if n := t.doc.places[h.at].value; n != nil && n.Kind == yaml.ScalarNode {
		bound += ", got " + t.doc.asWritten(n)
	}
	return bound
}

// condensed returns the mistakes without those that follow from another one.
func (t *translator) condensed() Mistakes {
	var kept Mistakes
	for _, f := range t.found {
		if !t.follows(f) {
			kept = append(kept, f.Mistake)
		}
	}
	return kept
}

// follows reports that a mistake is there because of another one: where a key was mistyped, the
// right one is missing, and the keys are too many or too few.
func (t *translator) follows(f found) bool {
	return slices.ContainsFunc(t.found, func(other found) bool {
		if _, unknown := other.kind.(*kind.AdditionalProperties); !unknown {
			return false
		}
		switch f.kind.(type) {
		case *kind.Required: // it is there, mistyped
			return slices.Contains(other.touches[1:], f.touches[0])
		case *kind.MinProperties, *kind.MaxProperties:
			parent, _ := jsonpointer.Cut(other.touches[0])
			return parent == f.touches[0]
		}
		return false
	})
}

// number writes a bound of the schema as a person does.
func number(r *big.Rat) string {
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// types says types of JSON Schema in words.
func types(names []string) string {
	var words []string
	for _, name := range names {
		words = append(words, typeWords(name))
	}
	return alternatives(words)
}

// texts are the values of a choice as they are written.
func texts(values []any) []string {
	var words []string
	for _, v := range values {
		words = append(words, fmt.Sprint(v))
	}
	return words
}

// quoted puts each word in quotes.
func quoted(words []string) []string {
	var all []string
	for _, word := range words {
		all = append(all, quote(word))
	}
	return all
}
