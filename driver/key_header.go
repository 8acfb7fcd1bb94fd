package driver

import (
	"net/http"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/targets"
)

// respellHeader writes the header with the key as the attempt's body says: its name in lower case, which is the same
// name (RFC 9110, section 5.1), or twice, the second time with another key.
func (r *requests) respellHeader(header http.Header, one rendered, a history.Attempt) {
	name := http.CanonicalHeaderKey(one.operation.Key.Name)
	switch {
	case len(header[name]) == 0:
	case a.Body == history.HeaderCase:
		header[strings.ToLower(name)] = header[name]
		delete(header, name)
	case a.Body == history.TwoHeaders:
		_, second := r.secondKey(one, a)
		header[name] = append(header[name], second)
	}
}

// secondKey is the key in the second of two headers, and how it is sent. All attempts with one key have the same.
func (r *requests) secondKey(one rendered, a history.Attempt) (key, sent string) {
	var request targets.Rendered
	key = one.operation.Key.Shaped(r.config.Names.Key(a.Intent, "beside "+a.Key))
	_ = one.operation.PlaceKey(&request, key) // it fits into a header
	return key, request.Header[one.operation.Key.Name]
}

// rehearseHeader writes the header with the key as respellHeader does, and returns the second key. The same name in two
// cases is twice the same header.
func (r *requests) rehearseHeader(header map[string]string, one rendered, a history.Attempt) (second string) {
	name := one.operation.Key.Name
	value, there := header[name]
	switch lower := strings.ToLower(name); {
	case !there || lower == name:
	case a.Body == history.HeaderCase:
		header[lower] = value
		delete(header, name)
	case a.Body == history.TwoHeaders:
		second, header[lower] = r.secondKey(one, a)
	}
	return second
}

// questionBody names the body with which the final retry asks. It says what the attempt said in the original spelling,
// unless that has one key and the attempt had two.
func questionBody(body string) string {
	if body == history.TwoHeaders {
		return body
	}
	return history.Meaning(body)
}
