package learn

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/doubletap-harness/doubletap/targets/drafting"
)

// versions are the places from which a change may take the version of what it changes.
type versions struct {
	asked bool // an answer has asked for one
	begun bool
	left  []drafting.Draft
}

// asksForVersion reports that an answer says that the request lacks the version of what it changes, or has another one. A request for what is not
// there yet has none.
func asksForVersion(d drafting.Draft, a drafting.Answer, content string) bool {
	return !drafting.OnlyCreates(d) && (a.Status == http.StatusPreconditionRequired || a.Status == http.StatusPreconditionFailed && !saysTaken(d, a) ||
		a.Refused() && strings.Contains(strings.ToLower(content), "if-match"))
}

// saysTaken reports that the status alone says that there is already what a request would make. 412 does if the request can have no condition
// but that: a store of events answers so where a stream is not new.
func saysTaken(d drafting.Draft, a drafting.Answer) bool {
	return a.Status == http.StatusConflict ||
		a.Status == http.StatusPreconditionFailed && (drafting.OnlyCreates(d) || d.Method == http.MethodPost && !drafting.NamesVersion(d))
}

// conditioned has the next create, which is a change, say by If-Match which version it is for, from the next place that may tell it, and
// reports whether there is one. A source that names the header has no value for it that could be right.
func conditioned(i *inquiry, answer drafting.Answer) bool {
	v := &i.versions
	if !v.asked && !drafting.NamesVersion(i.file.Draft) {
		return false
	}
	if !v.begun {
		v.begun, v.left = true, drafting.Conditioned(i.file.Draft)
	}
	if len(v.left) == 0 {
		if v.asked {
			doubtVersion(i, answer.Status)
		}
		return false
	}
	i.file.Draft, v.left = v.left[0], v.left[1:]
	fmt.Fprintf(i.Said, "the version of what is changed is taken %s\n", drafting.VersionFrom(i.file.Draft))
	return true
}

// doubtVersion says which lines are missing.
func doubtVersion(i *inquiry, status int) {
	i.file.Doubt("Which version each request is for: it was answered %d, and each change makes another version. Let every intent change a thing of its own, "+
		"by a step of prepare that creates it, such as prepare: [{request: {method: POST, path: /things, body: {name: '{{.Intent.Reference}}'}}, extract: {ID: {json: /id}, Version: {header: ETag}}}], "+
		"and take both into the request: path: '/things/{{.Prepared.ID}}', headers: {If-Match: '{{.Prepared.Version}}'}. From an OpenAPI document that has the POST, init does so.", status)
}
