package drafting

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// A change says by If-Match which version of the thing it was made for (RFC 9110, section 13.1.1).
const (
	ifMatch         = "If-Match"
	versionName     = "Version" // what steps extract it as
	versionTemplate = "{{.Prepared." + versionName + "}}"
)

// Conditional reports that a request says which version of the thing it changes, as a step before it has found it.
func Conditional(d Draft) bool {
	return strings.Contains(d.Header[ifMatch], versionTemplate) || slices.Contains(slices.Collect(maps.Values(d.Templates)), "{{.Prepared."+versionName+" | json}}")
}

// NamesVersion reports that the source has a header or a member that says which version a request is for.
func NamesVersion(d Draft) bool {
	for name := range d.Header {
		if strings.EqualFold(name, ifMatch) {
			return true
		}
	}
	return versionMember(d) != ""
}

// versionMember is the member of the body with the number of the version that a change was made for; empty: there is none.
func versionMember(d Draft) string {
	for name, value := range d.Body {
		if _, isNumber := value.(int64); isNumber && versionColumn.MatchString(name) {
			return name
		}
	}
	return ""
}

// Conditioned are the draft with the version of what it changes, as each place may tell it: the member of the same name in what the create
// of the thing is answered, the ETag of that answer, or of a GET, and a member such as version; at last it is as its source has it.
func Conditioned(d Draft) []Draft {
	if !d.Changes() || len(d.Prepare) == 0 {
		return nil
	}
	last := len(d.Prepare) - 1
	told := func(e Extract, header string) Draft {
		c := d
		c.Prepare = withExtract(d.Prepare, e)
		return withVersion(c, header)
	}
	var all []Draft
	if name := versionMember(d); name != "" {
		c := d
		c.Prepare = withExtract(d.Prepare, Extract{JSON: besideID(d.Prepare[last]) + jsonpointer.Of(name)})
		c.Refer(jsonpointer.Of(name), "Prepared."+versionName, d.Body[name])
		all = append(all, c)
	}
	asked := withVersion(d, versionTemplate)
	asked.Prepare = append(slices.Clone(d.Prepare), Step{Method: http.MethodGet, Path: d.Path, Header: withoutVersion(d.Header), Extract: map[string]Extract{versionName: {Header: "ETag"}}})
	all = append(all, told(Extract{Header: "ETag"}, versionTemplate), asked)
	for _, name := range []string{"version", "etag", "revision", "lock_version"} {
		at := besideID(d.Prepare[last]) + jsonpointer.Of(name)
		all = append(all, told(Extract{JSON: at}, `"`+versionTemplate+`"`), told(Extract{JSON: at}, versionTemplate))
	}
	return append(all, d)
}

// withExtract is steps of which the last one takes the version from its answer.
func withExtract(steps []Step, e Extract) []Step {
	steps = slices.Clone(steps)
	last := &steps[len(steps)-1]
	last.Extract = maps.Clone(last.Extract)
	last.Extract[versionName] = e
	return steps
}

// VersionFrom says from where a conditional request has its version.
func VersionFrom(d Draft) string {
	for _, s := range d.Prepare {
		if e, there := s.Extract[versionName]; there {
			at := e.JSON
			if e.Header != "" {
				at = e.Header
			}
			return fmt.Sprintf("from %s of the answer to %s %s", at, s.Method, s.Path)
		}
	}
	return "as the source has it"
}

// withVersion is the draft with a template for If-Match.
func withVersion(d Draft, template string) Draft {
	d.Header = withoutVersion(d.Header)
	d.Header[ifMatch] = template
	return d
}

// withoutVersion is a copy of headers without If-Match.
func withoutVersion(header map[string]string) map[string]string {
	left := cloneTexts(header)
	maps.DeleteFunc(left, func(name, _ string) bool { return strings.EqualFold(name, ifMatch) })
	return left
}

// besideID points to the object in an answer that has the id of the thing which a step creates.
func besideID(s Step) string {
	for _, e := range s.Extract {
		if e.JSON != "" {
			parent, _ := jsonpointer.Cut(e.JSON)
			return parent
		}
	}
	return ""
}

// versionColumn matches names of columns that count the changes of a row.
var versionColumn = regexp.MustCompile(`(?i)(version|revision|^rev|_rev)(_?(no|number|id))?$`)

// versionOf is the column that counts the changes of the row, and its value before the one change that was sent; empty: none does.
func versionOf(f *File) (column string, before int64) {
	if !Conditional(f.Draft) || f.Proof == nil {
		return "", 0
	}
	for _, c := range f.Proof.Table.Columns {
		n, err := strconv.ParseInt(f.Proof.Row[c.Name], 10, 32)
		if err == nil && n > 0 && versionColumn.MatchString(c.Name) {
			return c.Name, n - 1
		}
	}
	return "", 0
}
