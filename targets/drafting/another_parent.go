package drafting

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
)

// TwoParents are things that the database holds, one of which a segment of the path names. The zero value: none are known.
type TwoParents struct {
	Name    string // that templates use
	Segment int    // of the path
	Values  []string
}

// ParentColumn finds the column of a row by which the path names it, with what variables stand for, and the segment that does; ok is false where none
// does. What is no key has to be long enough to stand there for it.
func ParentColumn(d Draft, b Book, row map[string]string, variable func(name string) (string, bool)) (column string, segment int, ok bool) {
	if d.Changes() || PathVaries(d) || d.Key.In == contract.KeyInPath {
		return "", 0, false
	}
	segments := pathSegments(d.Path)
	whole := regexp.MustCompile(`^\$\{(\w+)(:-([^}]*))?\}$`)
	for n, text := range segments {
		if named := whole.FindStringSubmatch(text); named != nil {
			given, _ := variable(named[1])
			segments[n] = cmp.Or(given, named[3])
		}
	}
	columns := slices.DeleteFunc(slices.Sorted(maps.Keys(row)), func(name string) bool { return name == b.Key })
	for n := len(segments) - 2; n > 0; n-- {
		for _, name := range append([]string{b.Key}, columns...) {
			if segments[n] != "" && row[name] == segments[n] && quotable.MatchString(segments[n]) && (name == b.Key || len(segments[n]) >= tellingSegment) {
				return name, n, true
			}
		}
	}
	return "", 0, false
}

// tellingSegment is how long a segment has to be that says which thing is meant, where its column is not the one that rows refer to.
const tellingSegment = 3

// LikeRow sorts rows so that those come first that have the most in common with one: they are most likely to take what it takes.
func LikeRow(row map[string]string, others []map[string]string) []map[string]string {
	common := func(other map[string]string) (n int) {
		for name, value := range row {
			if other[name] == value {
				n--
			}
		}
		return n
	}
	return slices.SortedStableFunc(slices.Values(others), func(a, b map[string]string) int { return common(a) - common(b) })
}

// NamedParent is a value in the place of a segment of the path; ok is false where it cannot stand there as it is.
func NamedParent(d Draft, b Book, segment int, other string) (p TwoParents, with Draft, ok bool) {
	one := pathSegments(d.Path)[segment]
	if other == "" || other == one || !quotable.MatchString(other) || strings.ContainsAny(other, " /+") {
		return p, d, false
	}
	name := Exported(singular(b.Of.Name))
	if name == "" {
		name = "Parent"
	}
	d.Path = withSegment(d.Path, segment, other)
	return TwoParents{Name: name, Segment: segment, Values: []string{one, other}}, d, true
}

// pathOf is the path as the file has it.
func pathOf(f *File) string {
	if p := f.learnt.parents; p.Name != "" {
		return withSegment(f.Draft.Path, p.Segment, "{{.Parent."+p.Name+"}}")
	}
	return f.Draft.Path
}

// writeParents writes the things that are there, of which the path names one.
func writeParents(f *File) {
	if p := f.learnt.parents; p.Name != "" {
		f.line("    parents: %s # that are there: intents with one key under two of them name another one each", flow(map[string][]string{p.Name: p.Values}))
	}
}
