package targets

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// payload looks for two payloads in one request, and for a type that only the payload knows.
func (v *validator) payload(path string, o Operation) {
	first, _ := o.Request.Payload()
	for _, kind := range []PayloadKind{FormPayload, MultipartPayload, TextPayload, QueryPayload} {
		if at := path + jsonpointer.Of("request", string(kind)); kind != first && v.doc.Has(at) {
			v.addMistake(at, "the request has a %s already; it carries one of body, form, multipart, text and query", first)
		}
	}
	if first == MultipartPayload {
		leaveHeader(v, path, o, "Content-Type", "multipart names it, with its boundary")
	}
	switch at := path + "/request/written"; {
	case o.Request.Text == nil && v.doc.Has(at):
		v.addMistake(at, "there is no text with the members that it writes")
	case o.Request.Text != nil && !v.doc.Has(at):
		v.addMistake(path+"/request/text", "nothing says how the members are written; expected written beside it")
	case first == TextPayload:
		written(v, at, o)
	}
}

// written sees that a text has a place for the key.
func written(v *validator, at string, o Operation) {
	const key = "dtkey7q2m9"
	says, _ := encode(o.Request.Text) // what cannot be encoded is a mistake elsewhere
	r := Rendered{Says: says}
	if o.Key.In == contract.KeyInBody && o.Key.Name != "" && o.PlaceKey(&r, key) == nil && !bytes.Contains(r.Body, []byte(key)) {
		v.addMistake(at, "the text has no place for the key; expected {{.%s}}", strings.ReplaceAll(strings.TrimPrefix(jsonpointer.Member(o.Key.Name), "/"), "/", "."))
	}
}

// sign looks for headers that would have two values.
func (v *validator) sign(path string, o Operation) {
	s := o.Request.Sign
	if s == nil {
		return
	}
	leaveHeader(v, path, o, s.Header, "this header is the signature's; leave it to the signature")
	taken := map[string]string{http.CanonicalHeaderKey(s.Header): "the signature"}
	if s.stampHeader() != "" {
		leaveHeader(v, path, o, s.Time.Header, "this header is that of the signature's time; leave it to the signature")
		if strings.EqualFold(s.Time.Header, s.Header) {
			v.addMistake(path+"/request/sign/time/header", "this header is the signature's; the time needs another one")
		}
		taken[http.CanonicalHeaderKey(s.Time.Header)] = "the signature's time"
	}
	if whose, both := taken[http.CanonicalHeaderKey(o.Key.Name)]; both && o.Key.In == contract.KeyInHeader {
		v.addMistake(path+"/request/sign", "the header of the key cannot be that of %s", whose)
	}
}

// credential looks for headers that no request has, and for the key's, without which a request is refused for another reason.
func credential(v *validator, path string, o Operation) {
	for n, name := range o.Request.Credential {
		at := path + jsonpointer.Of("request", "credential", n)
		switch {
		case o.Key.In == contract.KeyInHeader && strings.EqualFold(name, o.Key.Name):
			v.addMistake(at, "this header is the key's, which says nothing of who sends")
		case !o.Request.has(name):
			v.addMistake(at, "the request has no header %s; expected one of headers, or that of sign", name)
		}
	}
}

// has reports that a header stands in a request, or is that of its signature.
func (q Request) has(name string) bool {
	for header := range q.Header {
		if strings.EqualFold(header, name) {
			return true
		}
	}
	return q.Sign != nil && strings.EqualFold(q.Sign.Header, name)
}

// leaveHeader adds a mistake if the request names a header that it must not.
func leaveHeader(v *validator, path string, o Operation, name, why string) {
	for header := range o.Request.Header {
		if strings.EqualFold(header, name) {
			v.addMistake(path+jsonpointer.Of("request", "headers", header), "%s", why)
		}
	}
}
