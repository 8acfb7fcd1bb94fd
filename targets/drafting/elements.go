package drafting

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// element is a member of an element of a list.
type element struct {
	list  string // JSON pointer
	index int
	rest  string // pointer within the element; empty: the element itself
}

// elementOf is the place of a member in the outermost list that it stands in; false: it stands in none.
func elementOf(body any, pointer string) (element, bool) {
	list, rest := listAbove(body, pointer)
	if list == "" {
		return element{}, false
	}
	index, inner, deeper := strings.Cut(rest[1:], "/")
	n, err := strconv.Atoi(index)
	if deeper {
		inner = "/" + inner
	}
	return element{list, n, inner}, err == nil
}

// at is the same member of another element.
func (e element) at(index int) string { return e.list + jsonpointer.Of(index) + e.rest }

// count is how many elements there are.
func (e element) count(body any) int {
	value, _ := jsonpointer.Resolve(body, e.list)
	list, _ := value.([]any)
	return len(list)
}

// differingIn is a template for another value of a member in each create. What differs between the elements of a list in the source does so in each
// create, too.
func differingIn(d Draft, pointer, text string) string {
	template := differing(text)
	e, is := elementOf(d.Body, pointer)
	if !is {
		return template
	}
	for n := range e.count(d.Body) {
		if value, there := jsonpointer.Resolve(d.Body, e.at(n)); n == e.index || there && reflect.DeepEqual(value, text) {
			e.index = n
			break
		}
	}
	if e.index == 0 {
		return template
	}
	return strings.Replace(template, referenceTemplate, referenceTemplate+strconv.Itoa(e.index+1), 1)
}

// elements lets a member differ from create to create in every element of a list, where it does in one of a create that was done.
func elements(f *File) {
	if f.Proof == nil {
		return
	}
	for _, pointer := range slices.Sorted(maps.Keys(f.Draft.Templates)) {
		e, is := elementOf(f.Draft.Body, pointer)
		template := f.Draft.Templates[pointer]
		if !is || !strings.Contains(template, "{{.Intent.") && !strings.Contains(template, "{{unique ") {
			continue
		}
		own, _ := jsonpointer.Resolve(f.Draft.Body, pointer)
		for n := range e.count(f.Draft.Body) {
			other := e.at(n)
			value, there := jsonpointer.Resolve(f.Draft.Body, other)
			text, isText := value.(string)
			marks := strings.Contains(template, markerTemplate[:len(markerTemplate)-2])
			switch {
			case n == e.index || !there || f.Draft.Templates[other] != "" || slices.Contains(f.same, other):
			case marks && isText && value != own:
				f.Draft.Templates[other] = referenceTemplate + strconv.Itoa(n+1)
			case marks:
			case !isText || reflect.DeepEqual(value, own):
				f.Draft.Templates[other] = template
			default:
				f.Draft.Templates[other] = differingIn(f.Draft, other, text)
			}
		}
	}
}

// ofAnother reports that a member is that of another element than the one that has the marker, or than the first one that differs.
func ofAnother(f *File, pointer string) bool {
	e, is := elementOf(f.Draft.Body, pointer)
	if !is {
		return false
	}
	if marked, is := elementOf(f.Draft.Body, f.Proof.Text); is && marked.list == e.list {
		return e.index != marked.index
	}
	return slices.ContainsFunc(slices.Collect(maps.Keys(f.Draft.Templates)), func(other string) bool {
		o, is := elementOf(f.Draft.Body, other)
		return is && o.list == e.list && o.rest == e.rest && o.index < e.index
	})
}

// OfElements reports that a table has a row for each element of a list of which one has the marker, as far as can be seen: so the others are
// counted as a whole.
func OfElements(f *File, t databases.Table) bool {
	e, is := elementOf(f.Draft.Body, f.Proof.Text)
	return is && e.count(f.Draft.Body) > 1 && len(f.Proof.Several.Rows) == 0 && t.FullName() == f.Proof.Table.FullName()
}

// Elements notes how many rows each create adds to the table that has one for each element of a list.
func Elements(f *File, rows int) {
	e, _ := elementOf(f.Draft.Body, f.Proof.Text)
	f.Doubt("Whether anything but creates adds rows to %s: each create adds %d, and only that for %s has the marker, so runs count all that there are. If others write there, leave the effect out.",
		f.Proof.Table.FullName(), rows, e.list+jsonpointer.Of(e.index))
	f.Proof.Others = append(f.Proof.Others, Beside{Table: f.Proof.Table, Rows: rows})
}
