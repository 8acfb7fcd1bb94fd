package targets

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// stage is a list of steps of one purpose: where it stands in the file, and where templates find what it extracts.
type stage struct {
	path      string
	steps     []Step
	extracted *map[string]string
	known     map[string]string // before the first of them
}

// login checks the steps that are sent before everything else. All templates know what they extract.
func (v *validator) login() {
	v.steps(stage{path: "/login", steps: v.target.Login, extracted: &v.extracted.Login})
	for i, step := range v.target.Login {
		if usesIntent(step.Request) {
			v.addMistake(jsonpointer.Of("login", i, "request"), "a login is sent once per principal, not per intent: {{.Intent...}} is not known here")
		}
	}
}

// around checks the steps before and after an operation's requests, in the order in which they are sent, and leaves
// what the request itself can use.
func around(v *validator, path string, o Operation) {
	v.extracted = Extracted{Login: v.extracted.Login}
	v.steps(stage{path: path + "/prepare", steps: o.Prepare, extracted: &v.extracted.Prepared})
	v.steps(stage{path: path + "/key/issued", steps: o.Key.Issued, extracted: &v.extracted.Issued})
	issued(v, path+"/key/issued", o.Key)
	v.extracted.Issued = nil
	made := map[string]string{}
	if o.Identity.Declared() {
		made[MadeIdentity] = "sample"
	}
	v.steps(stage{path: path + "/remove", steps: o.Remove, extracted: &v.extracted.Made, known: made})
	v.extracted.Made = nil
	if v.doc.Has(path+"/remove") && !aboutIntent(o.Remove) {
		v.addMistake(path+"/remove", "nothing in it says what is to be removed, such as {{.Made.Identity}} or {{.Intent.Marker}}: it would remove the rows of every intent")
	}
	v.steps(stage{path: path + "/cleanup", steps: o.Cleanup, extracted: &v.extracted.Cleanup})
	v.extracted.Cleanup = nil
}

// knows makes known to the templates of a request what the steps of prepare extract, and one of each of its parents.
func (v *validator) knows(o Operation) {
	v.extracted, v.parent = Extracted{Login: sampleOf(v.target.Login), Prepared: sampleOf(o.Prepare)}, o.Parent(0)
}

// parents checks the things that are there already: there have to be two of each, as many of one as of the other, and the path has to name one.
func parents(v *validator, path string, o Operation) {
	names := slices.Sorted(maps.Keys(o.Parents))
	for _, name := range names {
		if first := o.Parents[names[0]]; len(o.Parents[name]) != len(first) {
			v.addMistake(path+jsonpointer.Of("parents", name), "expected %d values, as %s has: one of each belong together", len(first), names[0])
		}
	}
	if len(names) > 0 && !strings.Contains(o.Request.Path, ".Parent.") && v.doc.Has(path+"/parents") {
		v.addMistake(path+"/parents", "the path names none of them; it takes one as {{.Parent.%s}}", names[0])
	}
}

// sampleOf is made-up data in place of what steps extract.
func sampleOf(steps []Step) map[string]string {
	extracted := map[string]string{}
	for _, step := range steps {
		for name := range step.Extract {
			extracted[name] = "sample"
		}
	}
	return extracted
}

// steps checks steps one after the other: each knows what those before it extract.
func (v *validator) steps(s stage) {
	*s.extracted = map[string]string{}
	maps.Copy(*s.extracted, s.known)
	for i, step := range s.steps {
		path := s.path + jsonpointer.Of(i)
		key := extractKey(v, path)
		o := Operation{Request: step.Request}
		v.payload(path, o)
		v.sign(path, o)
		v.templates(path, o)
		for _, name := range step.Names() {
			at := path + jsonpointer.Of(key, name)
			if _, known := (*s.extracted)[name]; known {
				v.addMistake(at, "%s is known already; extract it under another name", name)
			}
			if member, mistake := step.Extract[name].mistake(); mistake != "" {
				v.addMistake(strings.TrimSuffix(at+"/"+member, "/"), "%s", mistake)
			}
		}
		maps.Copy(*s.extracted, sampleOf([]Step{step}))
	}
}

// issued checks that a step of key.issued extracts a key.
func issued(v *validator, path string, k Key) {
	if !v.doc.Has(path) {
		return
	}
	extractsKey := func(s Step) bool { _, is := s.Extract[IssuedKey]; return is }
	if !slices.ContainsFunc(k.Issued, extractsKey) {
		v.addMistake(path, "no step extracts %s, the key that the target issues", IssuedKey)
	}
}

// aboutIntent reports that steps hold a value that belongs to one intent.
func aboutIntent(steps []Step) bool {
	text := fmt.Sprint(steps)
	return slices.ContainsFunc([]string{".Intent.", ".Made.", ".Prepared."}, func(own string) bool { return strings.Contains(text, own) })
}

// usesIntent reports that a template of a request uses an intent.
func usesIntent(q Request) bool { return strings.Contains(fmt.Sprint(q), ".Intent") }

// prepares reports that a step of prepare carries the marker, so that rows can be found by what is changed.
func prepares(v *validator, o Operation) bool {
	values := v.samples()[0].values
	return slices.ContainsFunc(o.Prepare, func(s Step) bool {
		carried, err := Operation{Request: s.Request}.carriesMarker(values, AsItIs)
		return carried && err == nil
	})
}

// rateLimit looks for a limit whose shares of time round to nothing.
func (v *validator) rateLimit() {
	if l := v.target.RateLimit; l != nil && l.Requests > 0 && l.Every() <= 0 {
		v.addMistake("/rate_limit/per", "expected a time of more than 0s, such as 1s")
	}
}

// extractKey returns the key under which a step of the file says what it extracts: extract, or its older name take.
func extractKey(v *validator, path string) string {
	if !v.doc.Has(path + "/take") {
		return "extract"
	}
	if v.doc.Has(path + "/extract") {
		v.addMistake(path+"/take", "take is the older name of extract; leave it out")
		return "extract"
	}
	return "take"
}
