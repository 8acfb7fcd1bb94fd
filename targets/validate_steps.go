package targets

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// stage is a list of steps of one purpose: where it stands in the file, and where templates find what it takes.
type stage struct {
	path  string
	steps []Step
	taken *map[string]string
	known map[string]string // before the first of them
}

// login looks at the steps that go ahead of everything. What they take is known to all templates.
func (v *validator) login() {
	v.steps(stage{path: "/login", steps: v.target.Login, taken: &v.taken.Login})
	for i, step := range v.target.Login {
		if usesIntent(step.Request) {
			v.addMistake(jsonpointer.Of("login", i, "request"), "there is one login for each principal and none for an intent: {{.Intent...}} is not known here")
		}
	}
}

// around looks at the steps around an operation's requests, in the order in which they are sent, and leaves
// what is taken for the request itself.
func (v *validator) around(path string, o Operation) {
	v.taken = Taken{Login: v.taken.Login}
	v.steps(stage{path: path + "/prepare", steps: o.Prepare, taken: &v.taken.Prepared})
	v.steps(stage{path: path + "/key/issued", steps: o.Key.Issued, taken: &v.taken.Issued})
	v.issued(path+"/key/issued", o.Key)
	v.taken.Issued = nil
	made := map[string]string{}
	if o.Identity.Declared() {
		made[MadeIdentity] = "sample"
	}
	v.steps(stage{path: path + "/remove", steps: o.Remove, taken: &v.taken.Made, known: made})
	v.taken.Made = nil
	if v.doc.Has(path+"/remove") && !aboutIntent(o.Remove) {
		v.addMistake(path+"/remove", "nothing in it says what is to be removed, such as {{.Made.Identity}} or {{.Intent.Marker}}: it would be everybody's")
	}
	v.steps(stage{path: path + "/cleanup", steps: o.Cleanup, taken: &v.taken.Cleanup})
	v.taken.Cleanup = nil
}

// knows makes what steps of prepare take known to the templates of a request.
func (v *validator) knows(prepare []Step) {
	v.taken = Taken{Login: sampleOf(v.target.Login), Prepared: sampleOf(prepare)}
}

// sampleOf is made-up data in place of what steps take.
func sampleOf(steps []Step) map[string]string {
	taken := map[string]string{}
	for _, step := range steps {
		for name := range step.Take {
			taken[name] = "sample"
		}
	}
	return taken
}

// steps looks at steps one after the other: each knows what those before it took.
func (v *validator) steps(s stage) {
	*s.taken = map[string]string{}
	maps.Copy(*s.taken, s.known)
	for i, step := range s.steps {
		path := s.path + jsonpointer.Of(i)
		o := Operation{Request: step.Request}
		v.payload(path, o)
		v.sign(path, o)
		v.templates(path, o)
		for _, name := range step.Names() {
			at := path + jsonpointer.Of("take", name)
			if _, taken := (*s.taken)[name]; taken {
				v.addMistake(at, "%s is known already; take it under another name", name)
			}
			if member, complaint := step.Take[name].wrong(); complaint != "" {
				v.addMistake(strings.TrimSuffix(at+"/"+member, "/"), "%s", complaint)
			}
		}
		maps.Copy(*s.taken, sampleOf([]Step{step}))
	}
}

// issued holds that the steps of key.issued take a key.
func (v *validator) issued(path string, k Key) {
	if !v.doc.Has(path) {
		return
	}
	takesKey := func(s Step) bool { _, takes := s.Take[IssuedKey]; return takes }
	if !slices.ContainsFunc(k.Issued, takesKey) {
		v.addMistake(path, "no step takes %s, which is the key that the target hands out", IssuedKey)
	}
}

// aboutIntent reports that steps have something in them that is an intent's own.
func aboutIntent(steps []Step) bool {
	text := fmt.Sprint(steps)
	return slices.ContainsFunc([]string{".Intent.", ".Made.", ".Prepared."}, func(own string) bool { return strings.Contains(text, own) })
}

// usesIntent reports that a template of a request asks for an intent.
func usesIntent(q Request) bool { return strings.Contains(fmt.Sprint(q), ".Intent") }

// prepares reports that a step of prepare carries the marker, so that rows can be found by what is changed.
func (v *validator) prepares(o Operation) bool {
	values := v.samples()[0].values
	return slices.ContainsFunc(o.Prepare, func(s Step) bool {
		carried, err := Operation{Request: s.Request}.carriesMarker(values, false)
		return carried && err == nil
	})
}

func (v *validator) rateLimit() {
	if l := v.target.RateLimit; l != nil && l.Requests > 0 && l.Every() <= 0 {
		v.addMistake("/rate_limit/per", "expected a time of more than 0s, such as 1s")
	}
}
