package drafting

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// ahead makes the recorded creates of what a request's path names steps before it: the cart of POST /carts/7/items, if POST /carts was answered with
// that id. Its texts differ from intent to intent.
func (rec *recording) ahead(d *Draft, r Request, before []entry) {
	segments := strings.Split(r.URL.EscapedPath(), "/")
	for n := 2; n < len(segments); n++ {
		id, err := url.PathUnescape(segments[n])
		if err != nil || id == "" {
			continue
		}
		for k, e := range slices.Backward(before) {
			parent, ok := e.creating(r.URL.Host, strings.Join(segments[:n], "/"))
			made := parent.Draft(rec.prefix)
			if !ok || made.Identity == "" || made.Keyed() && made.Key.Required || idText(parent.Answer, made.Identity) != id {
				continue
			}
			rec.link(&made, parent)
			rec.ahead(&made, parent, before[:k])
			for _, name := range made.Needed {
				rec.draft.variable(name, made.Given[name])
			}
			name := Exported(strings.TrimSuffix(segments[n-1], "s"))
			made.Principal = d.Principal // who signs in is known before how
			d.Ahead(made, name)
			d.Path = withSegment(d.Path, n, "{{.Prepared."+name+"}}")
			break
		}
	}
}

// creating is the request of an entry that was a POST to a path of a host, with or without a body, and that has created something.
func (e entry) creating(host, path string) (Request, bool) {
	r, ok := e.request()
	if ok && e.Request.PostData != nil && e.Request.PostData.Text != "" {
		var recorded Recorded
		recorded, ok = e.recorded()
		r = recorded.Request
	}
	if !ok || r.Method != http.MethodPost || r.URL.Host != host || strings.TrimSuffix(r.URL.EscapedPath(), "/") != path || r.Status < 200 || r.Status > 299 {
		return Request{URL: &url.URL{}}, false
	}
	return r, true
}

// idText is an id in an answer as a path has it; empty: it is neither a text nor a number.
func idText(answer any, pointer string) string {
	value, _ := jsonpointer.Resolve(answer, pointer)
	switch value := value.(type) {
	case string:
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return ""
}

// withSegment is a path, and its query, with another text for a segment.
func withSegment(path string, n int, text string) string {
	path, query, asks := strings.Cut(path, "?")
	segments := strings.Split(path, "/")
	if n < len(segments) {
		segments[n] = text
	}
	if path = strings.Join(segments, "/"); asks {
		path += "?" + query
	}
	return path
}
