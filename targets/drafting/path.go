package drafting

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// Elsewhere is a draft whose path names another thing in each create, by a segment before the end.
type Elsewhere struct {
	Draft   Draft
	Segment string // as the source has it
}

// mostElsewhere bounds how many such drafts there are.
const mostElsewhere = 6

var (
	versionLike = regexp.MustCompile(`^[vV]\d+(\.\d+)*$`)
	hasDigit    = regexp.MustCompile(`\d`)
	numbered    = regexp.MustCompile(`^(.*[^0-9])\d+$`)
)

// OtherPaths are the drafts whose path names another thing by a segment before the end, such as SN-1 in /devices/SN-1/activation: segments with a
// digit come first, and then words behind the name of a collection; the likeliest is nearest to the end.
// What looks drawn is left out, as it may be the key.
func OtherPaths(d Draft) []Elsewhere {
	if d.Changes() {
		return nil
	}
	return slices.DeleteFunc(within(d), func(e Elsewhere) bool { return drawn(e.Segment) })
}

// within are such drafts with all segments that may name a thing.
func within(d Draft) []Elsewhere {
	path, _, _ := strings.Cut(d.Path, "?")
	segments := strings.Split(path, "/")
	var telling, words []Elsewhere
	for n := len(segments) - 2; n > 0; n-- {
		segment := segments[n]
		behind := strings.HasSuffix(segments[n-1], "s") && !strings.HasSuffix(segment, "s")
		switch {
		case segment == "" || strings.Contains(segment, "{{") || versionLike.MatchString(segment):
		case hasDigit.MatchString(segment) || aVariable.MatchString(segment):
			for _, template := range ofSegment(segment) {
				telling = append(telling, elsewhere(d, segments, n, template))
			}
		case behind:
			words = append(words, elsewhere(d, segments, n, ofSegment(segment)[0]))
		}
	}
	all := append(telling, words...)
	return all[:min(len(all), mostElsewhere)]
}

// ofSegment are templates of another value for a segment, in its form: a number may have to stay one.
func ofSegment(segment string) []string {
	const number = `{{unique "int"}}`
	switch parts := numbered.FindStringSubmatch(segment); {
	case aVariable.MatchString(segment):
		return []string{referenceTemplate, number}
	case plainNumber.MatchString(segment):
		return []string{number}
	case parts != nil && !uuidLike.MatchString(segment):
		return []string{differing(segment), Escape(parts[1]) + number}
	}
	return []string{differing(segment)}
}

// elsewhere is the draft with a template in the place of a segment of its path. A variable that stood there is needed no more.
func elsewhere(d Draft, segments []string, n int, template string) Elsewhere {
	segment := segments[n]
	_, query, asks := strings.Cut(d.Path, "?")
	changed := slices.Clone(segments)
	changed[n] = template
	if d.Path = strings.Join(changed, "/"); asks {
		d.Path += "?" + query
	}
	if variable := aVariable.FindStringSubmatch(segment); variable != nil && !strings.Contains(d.Path, segment) {
		d.Needed, d.Given = slices.Clone(d.Needed), maps.Clone(d.Given)
		prune(&d)
	}
	return Elsewhere{d, segment}
}

// PathVaries reports that the path of each create names another thing, which a step before it has made or which nobody has used before.
func PathVaries(d Draft) bool {
	path, _, _ := strings.Cut(d.Path, "?")
	return !d.Changes() && (Prepares(d) || strings.Contains(path, referenceTemplate) || strings.Contains(path, "{{unique "))
}

// Prepares reports that the path names what a step before the create has made.
func Prepares(d Draft) bool {
	path, _, _ := strings.Cut(d.Path, "?")
	return strings.Contains(path, preparedValue)
}

// Stepping says how each create gets a thing of its own that a segment of the path names, where that has to be there first.
func Stepping(f *File, status int) {
	all := within(f.Draft)
	if len(all) == 0 || f.Draft.Changes() || len(f.Draft.Prepare) > 0 {
		return
	}
	segment := all[0].Segment
	path, _, _ := strings.Cut(f.Draft.Path, "?")
	before, behind, _ := strings.Cut(path, "/"+segment)
	if before == "" {
		before = "/things"
	}
	f.Doubt("Whether %s in the path takes more than one create: one was answered %d, and with another thing named there none was done, so what the path names may have to be there first. "+
		"Then let each create have one of its own, by a step of prepare that makes it, such as prepare: [{request: {method: POST, path: %s, body: {name: '{{.Intent.Reference}}'}}, extract: {ID: {json: /id}}}], "+
		"take it into the path: '%s/{{.Prepared.ID}}%s', and say natural_key: [path] in the contract. From an OpenAPI document that has that POST, init does so.",
		segment, status, before, before, behind)
}

// Suspected are the members that may make two creates at one path one, or two: those whose value differs from create to create, but for the one
// that carries the marker.
func Suspected(f File) []string {
	if f.settle() != nil {
		return nil
	}
	var all []string
	for pointer, template := range f.Draft.Templates {
		if pointer != f.Proof.Text && strings.Contains(template, referenceTemplate) {
			all = append(all, pointer)
		}
	}
	slices.Sort(all)
	return all
}

// AlterOnly is what another body replaces in which a member has another value, or but for another marker none has: the whole of the outermost
// member that it stands in.
func AlterOnly(f File, pointer string) map[string]any {
	if f.settle() != nil {
		return nil
	}
	body := filled(f.Draft.Body, f.Draft.Templates)
	if template := f.Draft.Templates[pointer]; pointer != f.Proof.Text {
		body = Put(body, pointer, strings.Replace(template, referenceTemplate, referenceTemplate+"0", 1)) // no other member has that
	}
	outermost := strings.SplitN(pointer, "/", 3)[1]
	value, _ := jsonpointer.Resolve(body, "/"+outermost)
	return map[string]any{jsonpointer.Unescape(outermost): value}
}

// PutsAt reports that what a request makes is named by its path.
func PutsAt(d Draft) bool { return d.Method == http.MethodPut && !d.Keyed() }
