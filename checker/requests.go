package checker

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// Request is what some attempts of a finding sent, secrets masked. Attempts that sent the
// same share one: two requests in a finding are two that differ.
type Request struct {
	Attempts []string          `json:"attempts"`
	Method   string            `json:"method"`
	Path     string            `json:"path"`
	Header   map[string]string `json:"header,omitempty"` // with the key, where it is sent in a header
	Content  string            `json:"content,omitempty"`
}

// requests lists what attempts sent, in the order of sending.
func (e *evaluation) requests(attempts []history.Attempt) []Request {
	if e.intents == nil {
		e.intents = map[string]history.Intent{}
		for _, i := range e.history.Intents {
			e.intents[i.ID] = i
		}
	}
	var all []Request
	for _, a := range attempts {
		intent := e.intents[a.Intent]
		body, known := intent.Bodies[a.Body]
		if !known {
			body = intent.Bodies[history.Meaning(a.Body)]
		}
		r := requestOf(a, body, e.terms.operationFor(intent, a.Body).Key)
		at := len(all)
		for i, other := range all {
			if reflect.DeepEqual(r, other.unnamed()) {
				at = i
			}
		}
		if at == len(all) {
			all = append(all, r)
		}
		all[at].Attempts = append(all[at].Attempts, a.ID)
	}
	return all
}

// unnamed is the request without the attempts that sent it.
func (r Request) unnamed() Request {
	r.Attempts = nil
	return r
}

// requestOf puts an attempt's request together: the body of its intent, what it had for itself, and its key.
func requestOf(a history.Attempt, body history.Body, key contract.Key) Request {
	r := Request{Method: body.Method, Path: body.Path, Header: maps.Clone(body.Header), Content: body.Content}
	if r.Header == nil {
		r.Header = map[string]string{}
	}
	members := map[string]any{}
	for place, value := range a.Own {
		if strings.HasPrefix(place, "/") {
			members[place] = value
			continue
		}
		r.Header[place] = value
	}
	if a.Key != "" || a.BlankKey {
		r.place(a, key, members)
	}
	r.Content = withMembers(r.Content, body.Says != "", members)
	return r
}

// keyInPath stands in the path of a recorded request for the key of an attempt.
const keyInPath = "{{.Key}}"

// place puts the key of an attempt where its operation takes it: header, query, path or cookie. A
// key in the body is noted among the members, which are set together. A quoted key is a
// string of structured fields (RFC 9651, section 3.3.3), as the IETF draft of
// Idempotency-Key has it.
func (r *Request) place(a history.Attempt, key contract.Key, members map[string]any) {
	switch key.In {
	case contract.KeyInHeader:
		name, value := key.Name, a.Key
		if a.Body == history.HeaderCase {
			name = strings.ToLower(name)
		}
		if key.Quoted {
			value = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
		}
		r.Header[name] = value
	case contract.KeyInBody:
		members[jsonpointer.Member(key.Name)] = a.Key
	case contract.KeyInQuery:
		joint := "?"
		if strings.Contains(r.Path, "?") {
			joint = "&"
		}
		r.Path += joint + strings.ReplaceAll(url.QueryEscape(key.Name)+"="+url.QueryEscape(a.Key), "+", "%20")
	case contract.KeyInCookie:
		contract.SetCookie(r.Header, key.Name, a.Key)
	case contract.KeyInPath:
		r.Path = strings.ReplaceAll(r.Path, keyInPath, url.PathEscape(a.Key))
	}
}

// withMembers sets members of a body, by JSON pointer. A body that is neither JSON nor a form, or has no such place,
// stays as it is.
func withMembers(content string, form bool, members map[string]any) string {
	if len(members) == 0 {
		return content
	}
	if form {
		return withFields(content, members)
	}
	decoder := json.NewDecoder(strings.NewReader(content))
	// Numbers stay as they were written: a float64 would change long ones.
	decoder.UseNumber()
	var body any
	if decoder.Decode(&body) != nil {
		return content
	}
	for pointer, value := range members {
		parent, name := jsonpointer.Cut(pointer)
		at, _ := jsonpointer.Resolve(body, parent)
		if object, ok := at.(map[string]any); ok {
			object[name] = value
		}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(body) != nil {
		return content
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// withFields sets fields of a form that is written as a query is. One of several parts stays as it is.
func withFields(content string, members map[string]any) string {
	fields, err := url.ParseQuery(content)
	if err != nil || strings.Contains(content, "\n") {
		return content
	}
	for pointer, value := range members {
		text, ok := value.(string)
		if _, name := jsonpointer.Cut(pointer); ok && name != "" {
			fields.Set(name, text)
		}
	}
	return fields.Encode()
}
