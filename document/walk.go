package document

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// The tags of YAML that need a rule of their own.
const (
	nullTag  = "!!null"
	mergeTag = "!!merge"
)

// errTooMuch ends the walk: what follows cannot be read within bounds.
var errTooMuch = errors.New("the file holds too much")

// walker turns nodes into plain JSON values, and notes the place of each.
type walker struct {
	doc  *Document
	env  func(string) (string, bool)
	left int
	open map[*yaml.Node]bool // collections that the walk is inside of
	bare []string            // pointers of keys in braces that have no value

	instead map[string]string // see Options
}

// document walks through the whole file.
func (w *walker) document(root *yaml.Node) (any, error) {
	w.doc.places[""] = place{value: root}
	return w.value(root, "", 0)
}

// addMistake notes a mistake at a node, as long as there are not too many.
func (w *walker) addMistake(n *yaml.Node, at string, text string) {
	if len(w.doc.mistakes) >= maxMistakes {
		return
	}
	w.doc.mistakes = append(w.doc.mistakes, Mistake{
		File: w.doc.file, Line: max(n.Line, 1), Column: max(n.Column, 1), Key: w.doc.dotted(at),
		Text: text, touches: []string{at},
	})
}

// value walks through a value. It bounds what an alias can do: how many values there are, how deep
// they are nested, and that none contains itself. The error ends the walk; other mistakes do not.
func (w *walker) value(n *yaml.Node, at string, depth int) (any, error) {
	if w.left--; w.left < 0 {
		w.addMistake(n, "", "the file holds more than 100000 values, counting what its aliases stand for")
		return nil, errTooMuch
	}
	if depth > MaxDepth {
		w.addMistake(n, at, "this is nested deeper than 100 levels")
		return nil, errTooMuch
	}
	if n.Kind == yaml.ScalarNode {
		return w.scalar(n, at), nil
	}
	if w.open[n] {
		w.addMistake(n, at, "this value contains itself")
		return nil, errTooMuch
	}
	w.open[n] = true
	defer delete(w.open, n)
	if tag := n.ShortTag(); tag != "!!map" && tag != "!!seq" {
		w.addMistake(n, at, "the tag "+tag+" is not supported")
		return nil, nil
	}
	if n.Kind == yaml.SequenceNode {
		return w.list(n, at, depth)
	}
	return w.mapping(n, at, depth)
}

// list walks through the entries of a list.
func (w *walker) list(n *yaml.Node, at string, depth int) (any, error) {
	list := make([]any, 0, len(n.Content))
	for i, entry := range n.Content {
		entry = target(entry)
		pointer := at + jsonpointer.Of(i)
		w.doc.places[pointer] = place{value: entry, path: w.doc.dotted(pointer)}
		v, err := w.value(entry, pointer, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// mapping walks through the entries of a mapping. What a "<<" brings in comes first, wherever it
// stands, so that the mapping's own keys replace it.
func (w *walker) mapping(n *yaml.Node, at string, depth int) (any, error) {
	if keys := len(n.Content) / 2; keys > MaxKeys {
		w.addMistake(n, at, fmt.Sprintf("this has %d keys, expected %d at most", keys, MaxKeys))
		return nil, errTooMuch
	}
	out := make(map[string]any, len(n.Content)/2)
	lines := map[string]*yaml.Node{}
	var own []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], target(n.Content[i+1])
		switch {
		case !w.key(key, at, lines):
		case key.ShortTag() != mergeTag:
			own = append(own, key, value)
		default:
			if err := w.merge(out, value, at, depth); err != nil {
				return nil, err
			}
		}
	}
	for i := 0; i < len(own); i += 2 {
		if err := w.entry(out, own[i], own[i+1], at, depth, n.Style&yaml.FlowStyle != 0); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// key reports whether a key can be used, and adds a mistake if not.
func (w *walker) key(key *yaml.Node, at string, lines map[string]*yaml.Node) bool {
	if key.Kind != yaml.ScalarNode {
		text := "a key must be a plain text"
		if key.Kind == yaml.MappingNode && key.Style&yaml.FlowStyle != 0 {
			text = "a value that begins with {{ needs quotes, as in \"{{.Intent.Marker}}\""
		}
		w.addMistake(key, at, text)
		return false
	}
	if first, twice := lines[key.Value]; twice {
		w.addMistake(key, at, duplicate(key.Value, first.Line))
		return false
	}
	lines[key.Value] = key
	// In JSON every key is a text, however it looks.
	if key.ShortTag() != mergeTag {
		key.Tag = "!!str"
	}
	return true
}

// entry adds an entry of a mapping, which stands in braces or not.
func (w *walker) entry(out map[string]any, key, value *yaml.Node, at string, depth int, braces bool) error {
	pointer := at + jsonpointer.Of(key.Value)
	if _, merged := out[key.Value]; merged {
		w.forget(pointer)
	}
	w.doc.places[pointer] = place{key: key, value: value, path: w.doc.dotted(pointer)}
	if braces && value.ShortTag() == nullTag && value.Value == "" {
		w.bare = append(w.bare, pointer)
		if strings.ContainsFunc(key.Value, unusual) {
			w.addMistake(key, pointer, quote(key.Value)+noValue)
		}
	}
	v, err := w.value(value, pointer, depth+1)
	out[key.Value] = v
	return err
}

// noValue says what may be meant by a word in braces that is the key of nothing.
const noValue = " has no value (in { }, a text with a comma needs quotes)"

// tellBare says of words in braces that are keys of nothing what may be meant, where nothing better was said: that a key is unknown is.
func (w *walker) tellBare() {
	for _, pointer := range w.bare {
		key, told := w.doc.places[pointer].key, false
		if key == nil {
			continue
		}
		for i, m := range w.doc.mistakes {
			if slices.Contains(m.touches, pointer) {
				told = true
				if strings.HasSuffix(m.Text, "got nothing") {
					w.doc.mistakes[i].Text = quote(key.Value) + noValue
				}
			}
		}
		if !told {
			w.addMistake(key, pointer, quote(key.Value)+noValue)
		}
	}
}

// forget removes the places below a value that another one replaces.
func (w *walker) forget(pointer string) {
	for known := range w.doc.places {
		if strings.HasPrefix(known, pointer+"/") {
			delete(w.doc.places, known)
		}
	}
}

// merge adds the entries that a "<<" key brings in; those of the mapping itself come later and
// replace them.
func (w *walker) merge(out map[string]any, source *yaml.Node, at string, depth int) error {
	if depth > MaxDepth || w.open[source] {
		w.addMistake(source, at, "this value contains itself")
		return errTooMuch
	}
	switch source.Kind {
	case yaml.SequenceNode:
		for _, one := range slices.Backward(source.Content) {
			if err := w.merge(out, target(one), at, depth+1); err != nil {
				return err
			}
		}
		return nil
	case yaml.MappingNode:
		w.open[source] = true
		defer delete(w.open, source)
		v, err := w.mapping(source, at, depth+1)
		if err == nil {
			maps.Copy(out, v.(map[string]any))
		}
		return err
	}
	w.addMistake(source, at, "<< takes a mapping or a list of mappings")
	return nil
}

// scalar reads a scalar. A timestamp is the text that the file has: JSON has none. Numbers that
// are not finite have no JSON either.
func (w *walker) scalar(n *yaml.Node, at string) any {
	w.expand(n, at)
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!int", "!!float", "!!bool", nullTag:
	case "!!timestamp", mergeTag:
		n.Tag = "!!str"
	default:
		w.addMistake(n, at, "the tag "+tag+" is not supported")
		return nil
	}
	var v any
	if err := n.Decode(&v); err != nil {
		w.addMistake(n, at, "this value does not fit its tag "+n.ShortTag())
		return nil
	}
	if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		w.addMistake(n, at, "a number must be finite")
		return nil
	}
	return v
}

// target returns the node that an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}
