package document

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Mistake is one thing that is wrong in a file, and where.
type Mistake struct {
	File   string
	Line   int    // from 1
	Column int    // from 1, in characters
	Key    string // dotted path, such as steps[1].send.lane; empty for the file as a whole
	Text   string

	touches []string // JSON pointers of the values that nothing can be said about any more
}

// String returns the mistake as one line: "file:line:column: key: text".
func (m Mistake) String() string {
	where := fmt.Sprintf("%s:%d:%d: ", m.File, m.Line, m.Column)
	if m.Key == "" {
		return where + m.Text
	}
	return where + m.Key + ": " + m.Text
}

// Mistakes is every mistake of one or more files.
type Mistakes []Mistake

// Error returns one line per mistake, in the order of their places.
func (m Mistakes) Error() string {
	lines := make([]string, 0, len(m))
	for _, one := range m.Sorted() {
		lines = append(lines, one.String())
	}
	return strings.Join(lines, "\n")
}

// Sorted returns the mistakes in the order of their places, each once.
func (m Mistakes) Sorted() Mistakes {
	sorted := slices.Clone(m)
	slices.SortStableFunc(sorted, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Text, b.Text))
	})
	// What stands behind an anchor is read once for each alias.
	return slices.CompactFunc(sorted, func(a, b Mistake) bool {
		return a.File == b.File && a.Line == b.Line && a.Column == b.Column && a.Text == b.Text
	})
}

// Err returns the mistakes as an error, or nil where there are none.
func (m Mistakes) Err() error {
	if len(m) == 0 {
		return nil
	}
	return m.Sorted()
}

// Wrong returns the error with which an UnmarshalYAML method reports a mistake in a node. Decode turns it
// into a Mistake. The text must not repeat the node's value, which may be a secret.
func Wrong(node *yaml.Node, format string, args ...any) error {
	text := fmt.Sprintf("line %d: column %d: %s", node.Line, node.Column, fmt.Sprintf(format, args...))
	return &yaml.TypeError{Errors: []string{text}}
}

// unfit is the mistake that a decoder reports: of Wrong where it has a column, of the YAML library elsewhere.
func (d *Document) unfit(text string) Mistake {
	parts := regexp.MustCompile(`(?s)^line (\d+): (?:column (\d+): (.*))?`).FindStringSubmatch(text)
	if parts == nil {
		return d.at(1, 1, "this is not what the file's schema describes")
	}
	line, _ := strconv.Atoi(parts[1])
	if parts[2] == "" {
		return d.at(line, 1, "a value on this line does not fit its key")
	}
	column, _ := strconv.Atoi(parts[2])
	m := d.at(line, column, parts[3])
	for pointer, p := range d.places {
		if p.value.Line == line && p.value.Column == column && len(p.path) > len(m.Key) {
			m.Key, m.touches = p.path, []string{pointer}
		}
	}
	return m
}

// unfitText is the mistake for an error of a type that reads itself from a text. Such a type knows the text
// but not its place, so that the first value with this text is taken.
func (d *Document) unfitText(err error) Mistake {
	var unfit interface{ Value() string }
	if !errors.As(err, &unfit) {
		return d.unfit("")
	}
	for _, pointer := range slices.Sorted(maps.Keys(d.places)) {
		if n := d.places[pointer].value; n != nil && n.Kind == yaml.ScalarNode && n.Value == unfit.Value() {
			return d.Mistake(pointer, "%s", err)
		}
	}
	return d.unfit("")
}

// at is a mistake at a place that belongs to no value, such as one of syntax. Nothing else can be
// said of the file then.
func (d *Document) at(line, column int, text string) Mistake {
	return Mistake{File: d.file, Line: max(line, 1), Column: max(column, 1), Text: text, touches: []string{""}}
}
