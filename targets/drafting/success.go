package drafting

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// Some APIs answer 200 to every request, and say in a member of the body whether it succeeded: {"code": 0, "data": {...}}, or that it did
// not: {"error": {...}}, as JSON-RPC does.

// Success is what such a member of an answer holds if the request succeeded. The zero value: there is none.
type Success struct {
	At     string   // JSON pointer
	Value  any      // a truth value, a whole number or a text; nil: it is not there, or null
	Beside []string // what an answer has that lacks such a member, one of which is not there where the request failed
	Within string   // JSON pointer to the part of an answer to a batch that names what was created, as /0; empty: it is no list
	Field  string   // of a form that leads elsewhere when it was taken: a page that has it is the form again; empty: it is no such form
}

// inPayload is the member by which what a mutation of GraphQL answers says that it was refused: many list such errors beside what was created, and
// none at the top.
func inPayload(p Proof, c Created) Success {
	segments := strings.Split(p.Named.JSON, "/")
	if len(segments) < 4 || segments[1] != "data" {
		return Success{}
	}
	within := strings.Join(segments[:3], "/")
	payload, _ := jsonpointer.Resolve(c.Answer, within)
	object, _ := payload.(map[string]any)
	return lacking(object).inside(within)
}

// inside is the member in a part of the answer.
func (s Success) inside(within string) Success {
	if s.Within = within; s.At != "" {
		s.At = within + s.At
	}
	return s
}

// InForm is how answers say that a create succeeded, in the form in which it was answered: a form that was answered by a redirect is known to be
// shown again, because of a mistake in it, by the field that has the marker.
func InForm(d Draft, p Proof, c Created) Success {
	if d.GraphQL {
		return inPayload(p, c)
	}
	s := successIn(c.Answer)
	if list, is := c.Answer.([]any); is {
		s = successWithin(list, p.Named.JSON)
	}
	if d.Form && c.Redirects() {
		s.Field = p.Text[strings.LastIndex(p.Text, "/")+1:]
	}
	return s
}

// shows reports that a page is the form again.
func (s Success) shows(a Answer) bool {
	return s.Field != "" && a.Status == http.StatusOK && slices.ContainsFunc(control.FindAllStringSubmatch(a.Text, -1), func(found []string) bool {
		return html.UnescapeString(found[1]+found[2]) == s.Field
	})
}

// control matches a field of a form, with its name.
var control = regexp.MustCompile(`(?is)<(?:input|textarea|select)\s[^>]*?\bname\s*=\s*(?:"([^"]*)"|'([^']*)')`)

// successIn finds the member by which an answer to a create that was done says so.
func successIn(answer any) Success {
	object, _ := answer.(map[string]any)
	if s := successOf(object); s.At != "" || len(object) == 0 {
		return s
	}
	return lacking(object)
}

// lacking finds the member by which an answer would say that it failed.
func lacking(object map[string]any) Success {
	s := Success{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if object[name] != nil {
			s.Beside = append(s.Beside, name)
		}
	}
	for _, name := range failures() {
		if object[name] == nil {
			s.At = jsonpointer.Of(name)
			return s
		}
	}
	return Success{}
}

// successWithin finds the member of the part of an answer to a batch that names what was created.
func successWithin(answer []any, named string) Success {
	index, _, deeper := strings.Cut(strings.TrimPrefix(named, "/"), "/")
	within := "/" + index
	part, there := jsonpointer.Resolve(answer, within)
	if !deeper || !there {
		return Success{}
	}
	return successIn(part).inside(within)
}

// failures are the members by which an answer says that a request failed, whose other answers lack it, or have an empty list.
func failures() []string { return []string{"error", "errors", "fault", "userErrors", "errorCode"} }

// successOf finds a member that says that it is done.
func successOf(object map[string]any) Success {
	found := func(names []string, means func(text string, value any) bool) Success {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			value := plain(object[name])
			if slices.Contains(names, squeezed(name)) && means(strings.ToLower(fmt.Sprint(value)), value) {
				return Success{At: jsonpointer.Of(name), Value: value}
			}
		}
		return Success{}
	}
	words := []string{"ok", "success", "succeeded"}
	for _, kind := range []struct {
		names []string
		means func(text string, value any) bool
	}{
		{[]string{"success", "succeeded", "ok"}, func(_ string, value any) bool { return value == true }},
		{[]string{"code", "errcode", "errorcode", "errno", "ret", "retcode", "returncode", "resultcode", "statuscode", "responsecode"}, func(text string, _ any) bool {
			return strings.Trim(text, "0") == "" && text != "" || text == "200" || slices.Contains(words, text)
		}},
		{[]string{"error", "iserror", "haserror", "failed"}, func(_ string, value any) bool { return value == false }},
		{[]string{"status", "result"}, func(text string, _ any) bool { return slices.Contains(words, text) }},
	} {
		if s := found(kind.names, kind.means); s.At != "" {
			return s
		}
	}
	return Success{}
}

// Read marks an answer that says otherwise though its status does not.
func (s Success) Read(a Answer) Answer {
	if a.Shown = s.shows(a); a.Shown {
		return a
	}
	if s.At != "" && s.Value == nil {
		return s.readFailure(a)
	}
	value, there := jsonpointer.Resolve(a.Body, s.At)
	if s.At != "" && there && a.Status < 300 && plain(value) != s.Value {
		a.Denied = map[string]any{s.At: plain(value)}
	}
	return a
}

// readFailure marks an answer that has a member which says that the request failed, and lacks what one has that was done. An answer to a
// batch may have both.
func (s Success) readFailure(a Answer) Answer {
	part, _ := jsonpointer.Resolve(a.Body, s.Within)
	object, _ := part.(map[string]any)
	if a.Status >= 300 || !slices.ContainsFunc(s.Beside, func(name string) bool { return object[name] == nil }) {
		return a
	}
	return failing(a, s.Within)
}

// Failing marks an answer that has a member which says that the request failed, at its top or in what it wraps.
func Failing(a Answer) Answer {
	told := failing(a, "")
	object, _ := a.Body.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if told.Denied == nil {
			told = failing(a, jsonpointer.Of(name))
		}
	}
	return told
}

// failing does so where that member stands in a part of the answer.
func failing(a Answer, within string) Answer {
	part, _ := jsonpointer.Resolve(a.Body, within)
	object, _ := part.(map[string]any)
	for _, name := range failures() {
		if failure := object[name]; says(failure) {
			a.Denied, a.Within, a.DeniedAt = map[string]any{}, within, within+jsonpointer.Of(name)
			switch held := failure.(type) {
			case string:
				a.Denied[a.DeniedAt] = held
			case []any: // others may have an empty one
				a.DeniedAt += "/0"
			}
			return a
		}
	}
	return a
}

// says reports that a member holds something.
func says(value any) bool {
	switch held := value.(type) {
	case string:
		return held != ""
	case map[string]any:
		return len(held) > 0
	case []any:
		return len(held) > 0
	}
	return false
}

// why is the member by which an answer says that it is not done, and what it says beside a mere no: where no member is known for it, the longest
// of its words.
func why(a Answer) map[string]any {
	where := maps.Clone(a.Denied)
	for _, value := range a.Denied {
		if _, no := value.(bool); !no {
			return where
		}
	}
	for _, at := range append(codes(), "/errors/0/code", "/message", "/msg", "/error/message", "/errors/0/message", "/errors/0") {
		at = a.Within + at
		value, _ := jsonpointer.Resolve(a.Body, at)
		if number, is := value.(json.Number); is {
			value = plain(number)
		} else if text, is := value.(string); !is || text == "" {
			continue
		}
		where[at] = value
		return where
	}
	said, within := "", strings.TrimSuffix(a.DeniedAt, "/0")
	if within == "" { // what else the answer has may be the request's own
		return where
	}
	failure, _ := jsonpointer.Resolve(a.Body, within)
	Scalars(within, failure, func(at string, value any) {
		if text, is := value.(string); is && sentence(text) && len(text) > len(said) {
			said = text
			clear(where)
			where[at] = text
		}
	})
	return where
}

// saidBy reports that an answer says that it is done in this way.
func (s Success) saidBy(a Answer) bool {
	value, there := jsonpointer.Resolve(a.Body, s.At)
	return (there || s.Value == nil) && plain(value) == s.Value
}

// plain is a number of JSON as a whole number, if it is one.
func plain(value any) any {
	if number, is := value.(json.Number); is {
		if whole, err := number.Int64(); err == nil {
			return whole
		}
		return number.String()
	}
	switch value.(type) {
	case string, bool, nil:
		return value
	default:
		return fmt.Sprint(value)
	}
}
