// Package document reads one YAML file that a person wrote and checks it against its JSON Schema.
// It turns the text into a Document that can be decoded, or into every mistake in it at once, each
// with its place (file, line, column) and in words that do not presuppose JSON Schema. One mistake
// at a time would take as many runs as there are mistakes. It knows nothing of scenarios or
// targets.
//
// [Parse] goes through four stages. read.go makes nodes of the text; walk.go makes plain JSON
// values of the nodes within bounds, notes the place of each, and expands variables (expand.go);
// schema_mistakes.go compares the value with the schema; sentence.go and words.go say in words
// what does not fit. reference.go writes a schema as a table for readers.
//
// Files come from others, too. So nothing is read without a bound, and no mistake repeats the
// value of a variable, which may be a secret.
package document

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// What a file may hold at most.
const (
	MaxBytes  = 1 << 20
	MaxDepth  = 100
	MaxValues = 100_000 // each alias counts as what it stands for
	MaxKeys   = 2000    // of one mapping: the YAML library compares each with each

	maxMistakes = 1000 // that one error lists
)

// Options says how a file is read.
type Options struct {
	File   string                      // its name, for the mistakes
	Schema []byte                      // JSON Schema, draft 2020-12; nil for a file that is known to fit its own
	Env    func(string) (string, bool) // for ${NAME} and ${NAME:-default}; nil leaves them as they are

	Instead map[string]string // texts that stand in place of the file's, by JSON pointer; where the file has none, none stands
}

// Document is a file that was read. It may hold secrets once its variables are expanded.
type Document struct {
	file     string
	source   []byte
	root     *yaml.Node
	places   map[string]place        // by JSON pointer
	written  map[*yaml.Node]string   // scalars that were expanded: as the file writes them
	given    map[*yaml.Node][]string // what came in place of their variables
	mistakes Mistakes
}

// place is where a value stands.
type place struct {
	key, value *yaml.Node // key is nil for the entry of a list and for the whole
	path       string     // dotted
}

// Parse reads a file. The error is Mistakes unless the schema itself is at fault. A file that is
// sound YAML yields a Document even where it has mistakes, so that a caller can look for more of them.
func Parse(data []byte, o Options) (*Document, error) {
	d := &Document{
		file: o.File, source: bytes.Clone(data),
		places: map[string]place{}, written: map[*yaml.Node]string{}, given: map[*yaml.Node][]string{},
	}
	root, mistakes := d.read()
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	d.root = root
	w := walker{doc: d, env: o.Env, instead: o.Instead, left: MaxValues, open: map[*yaml.Node]bool{}}
	value, err := w.document(root)
	if err != nil {
		return nil, d.mistakes.Err()
	}
	if o.Schema != nil {
		if other := d.otherKind(o.Schema); other != nil {
			return nil, Mistakes{*other}
		}
		if err := d.check(value, o.Schema); err != nil {
			return nil, fmt.Errorf("reading the schema of %s: %w", o.File, err)
		}
	}
	w.tellBare()
	return d, d.mistakes.Err()
}

// Source returns the text of the file as it was given, with nothing expanded.
func (d *Document) Source() []byte { return bytes.Clone(d.source) }

// Decode stores the file in a value. Values that into holds already stay where the file is silent.
// The error is Mistakes.
func (d *Document) Decode(into any) error {
	err := d.root.Decode(into)
	if err == nil {
		return nil
	}
	var unfit *yaml.TypeError
	if !errors.As(err, &unfit) {
		return Mistakes{d.unfitText(err)}
	}
	var mistakes Mistakes
	for _, text := range unfit.Errors {
		mistakes = append(mistakes, d.unfit(text))
	}
	return mistakes.Err()
}

// Mistake returns a mistake about the value that a JSON pointer names. Where there is no such value,
// its place is that of the nearest one around it. The arguments must not hold expanded values; Shown
// gives what can be printed.
func (d *Document) Mistake(path string, format string, args ...any) Mistake {
	line, column := d.position(path)
	return Mistake{
		File: d.file, Line: line, Column: column, Key: d.dotted(path),
		Text: fmt.Sprintf(format, args...), touches: []string{path},
	}
}

// Has reports whether the file has a value at a JSON pointer.
func (d *Document) Has(path string) bool {
	_, ok := d.places[path]
	return ok
}

// Length returns how many entries the list at a JSON pointer has.
func (d *Document) Length(path string) int {
	if n := d.places[path].value; n != nil && n.Kind == yaml.SequenceNode {
		return len(n.Content)
	}
	return 0
}

// Expanded reports whether the value at a JSON pointer is a text that held variables, or that another one stands for. A doubled
// dollar sign is no variable.
func (d *Document) Expanded(path string) bool { return len(d.Given(path)) > 0 }

// Given returns what came in place of the variables of the text at a JSON pointer, or of the text.
func (d *Document) Given(path string) []string { return d.given[d.places[path].value] }

// Shown returns the value at a JSON pointer as the file writes it, in quotes and never expanded.
func (d *Document) Shown(path string) string {
	if n := d.places[path].value; n != nil && n.Kind == yaml.ScalarNode {
		return quote(d.asWritten(n))
	}
	return "this value"
}

// Sound reports whether nothing is wrong so far with the values at these JSON pointers, with what is
// in them, or with what they are in.
func (d *Document) Sound(paths ...string) bool {
	for _, m := range d.mistakes {
		for _, touched := range m.touches {
			if slices.ContainsFunc(paths, func(path string) bool { return related(path, touched) }) {
				return false
			}
		}
	}
	return true
}

// related reports that one of two JSON pointers names what the other one is in, or the same.
func related(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

// asWritten is the text of a scalar before its variables were expanded.
func (d *Document) asWritten(n *yaml.Node) string {
	if text, ok := d.written[n]; ok {
		return text
	}
	return n.Value
}

// position is the place of a value, or of its key where the value is not on one line with certainty.
func (d *Document) position(pointer string) (line, column int) {
	p, ok := d.places[pointer]
	for !ok && pointer != "" {
		pointer, _ = jsonpointer.Cut(pointer)
		p, ok = d.places[pointer]
	}
	n := p.value
	if p.key != nil && (n.Kind != yaml.ScalarNode || n.ShortTag() == nullTag) {
		n = p.key
	}
	if n == nil {
		n = d.root
	}
	return max(n.Line, 1), max(n.Column, 1)
}

// dotted is a JSON pointer as people write a path: steps[1].send.lane.
func (d *Document) dotted(pointer string) string {
	if p, ok := d.places[pointer]; ok || pointer == "" {
		return p.path
	}
	parent, token := jsonpointer.Cut(pointer)
	if n := d.places[parent].value; n != nil && n.Kind == yaml.SequenceNode {
		return d.dotted(parent) + "[" + token + "]"
	}
	return join(d.dotted(parent), token)
}

// join adds a key to a dotted path, in brackets where it would be mistaken for several.
func join(parent, key string) string {
	switch {
	case key == "" || strings.ContainsFunc(key, unusual):
		return parent + "[" + quote(key) + "]"
	case parent == "":
		return key
	}
	return parent + "." + key
}

// unusual reports a character that a key in a dotted path cannot have.
func unusual(r rune) bool {
	return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}
