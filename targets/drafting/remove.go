package drafting

import (
	"regexp"
	"strings"

	"github.com/doubletap-harness/doubletap/targets"
)

// Removal is what is left of a row that was removed. The zero value: nothing.
type Removal struct {
	Column string // by which a row that was only marked is known; empty: the row is gone
	Living string // what it holds in other rows; empty: null
}

// condition is true for rows that were not removed.
func (r Removal) condition(f *File) string {
	column := f.Dialect.TableName(f.Proof.Table) + "." + f.Dialect.Name(r.Column)
	if r.Living == "" {
		return column + " is null"
	}
	return column + " = '" + r.Living + "'"
}

// removalColumn matches names of columns that say that a row was removed.
var removalColumn = regexp.MustCompile(`(?i)delet|remov|archiv|cancel|active|enabled|status|state|visible|trash`)

// plainValue matches what a column may hold that stands in a query as it is.
var plainValue = regexp.MustCompile(`^[A-Za-z0-9_ -]{1,30}$`)

// RemovalIn compares a row that was removed with one that was not; nil: nothing tells them apart.
func RemovalIn(f File, living, removed map[string]string) *Removal {
	for _, c := range f.Proof.Table.Columns {
		was, now := living[c.Name], removed[c.Name]
		if was != now && removalColumn.MatchString(c.Name) && (was == "" || plainValue.MatchString(was)) {
			return &Removal{Column: c.Name, Living: was}
		}
	}
	return nil
}

// WithRemoval is the file in which what was made is removed, and what that leaves.
func WithRemoval(f File, left *Removal) File {
	proof := *f.Proof
	proof.Removal, f.Proof = left, &proof
	return f
}

// Removes reports that the source says how what is created is removed, that answers name it, and that a natural key makes it one: then
// it may be made again or not.
func Removes(f File, r Repeated) bool {
	return len(f.Draft.Remove) > 0 && f.named().Declared() && !f.Draft.Changes() && len(f.NaturalKey(r)) == 1
}

// NameIn is what an answer calls the created thing; empty: it does not name it.
func NameIn(f File, a Answer) string { return f.name(a) }

// speaksOfRemoval matches what a refusal says that knows what was removed.
var speaksOfRemoval = regexp.MustCompile(`(?i)delet|remov|archiv|retire|reserv|former|no longer|trash|gone|reuse`)

// SpeaksOfRemoval reports that an answer knows that the thing was removed.
func (a Answer) SpeaksOfRemoval() bool {
	if a.Status == 410 || speaksOfRemoval.MatchString(a.Text) {
		return true
	}
	speaks := false
	Scalars("", a.Body, func(_ string, value any) {
		text, isText := value.(string)
		speaks = speaks || isText && speaksOfRemoval.MatchString(text)
	})
	return speaks
}

// Removing is the step that deletes what a create has made, below its own path.
func Removing(d Draft) Step {
	path, _, _ := strings.Cut(d.Path, "?")
	header := withoutVersion(d.Header)
	for name := range header {
		if strings.EqualFold(name, "Content-Type") || strings.EqualFold(name, "Prefer") {
			delete(header, name)
		}
	}
	return Step{Method: "DELETE", Path: strings.TrimRight(path, "/") + "/{{.Made." + targets.MadeIdentity + "}}", Header: header}
}
