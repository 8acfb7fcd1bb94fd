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
func (r *reviewer) login() {
	r.steps(stage{path: "/login", steps: r.target.Login, taken: &r.taken.Login})
	for i, step := range r.target.Login {
		if usesIntent(step.Request) {
			r.complain(jsonpointer.Of("login", i, "request"), "there is one login for each principal and none for an intent: {{.Intent...}} is not known here")
		}
	}
}

// around looks at the steps around an operation's requests, in the order in which they are sent, and leaves
// what is taken for the request itself.
func (r *reviewer) around(path string, o Operation) {
	r.taken = Taken{Login: r.taken.Login}
	r.steps(stage{path: path + "/prepare", steps: o.Prepare, taken: &r.taken.Prepared})
	r.steps(stage{path: path + "/key/issued", steps: o.Key.Issued, taken: &r.taken.Issued})
	r.issued(path+"/key/issued", o.Key)
	r.taken.Issued = nil
	made := map[string]string{}
	if o.Identity.Declared() {
		made[MadeIdentity] = "sample"
	}
	r.steps(stage{path: path + "/remove", steps: o.Remove, taken: &r.taken.Made, known: made})
	r.taken.Made = nil
	if r.doc.Has(path+"/remove") && !aboutIntent(o.Remove) {
		r.complain(path+"/remove", "nothing in it says what is to be removed, such as {{.Made.Identity}} or {{.Intent.Marker}}: it would be everybody's")
	}
	r.steps(stage{path: path + "/cleanup", steps: o.Cleanup, taken: &r.taken.Cleanup})
	r.taken.Cleanup = nil
}

// knows makes what steps of prepare take known to the templates of a request.
func (r *reviewer) knows(prepare []Step) {
	r.taken = Taken{Login: sampleOf(r.target.Login), Prepared: sampleOf(prepare)}
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
func (r *reviewer) steps(s stage) {
	*s.taken = map[string]string{}
	maps.Copy(*s.taken, s.known)
	for i, step := range s.steps {
		path := s.path + jsonpointer.Of(i)
		o := Operation{Request: step.Request}
		r.payload(path, o)
		r.sign(path, o)
		r.templates(path, o)
		for _, name := range step.Names() {
			at := path + jsonpointer.Of("take", name)
			if _, taken := (*s.taken)[name]; taken {
				r.complain(at, "%s is known already; take it under another name", name)
			}
			if member, complaint := step.Take[name].wrong(); complaint != "" {
				r.complain(strings.TrimSuffix(at+"/"+member, "/"), "%s", complaint)
			}
		}
		maps.Copy(*s.taken, sampleOf([]Step{step}))
	}
}

// issued holds that the steps of key.issued take a key.
func (r *reviewer) issued(path string, k Key) {
	if !r.doc.Has(path) {
		return
	}
	takesKey := func(s Step) bool { _, takes := s.Take[IssuedKey]; return takes }
	if !slices.ContainsFunc(k.Issued, takesKey) {
		r.complain(path, "no step takes %s, which is the key that the target hands out", IssuedKey)
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
func (r *reviewer) prepares(o Operation) bool {
	values := r.samples()[0].values
	return slices.ContainsFunc(o.Prepare, func(s Step) bool {
		carried, err := Operation{Request: s.Request}.carriesMarker(values, false)
		return carried && err == nil
	})
}

func (r *reviewer) rateLimit() {
	if l := r.target.RateLimit; l != nil && l.Requests > 0 && l.Every() <= 0 {
		r.complain("/rate_limit/per", "expected a time of more than 0s, such as 1s")
	}
}
