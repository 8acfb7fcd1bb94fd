package drafting

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
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
			parent, ok := e.creating(r.URL.Host)
			if ok = ok && strings.TrimSuffix(parent.URL.EscapedPath(), "/") == strings.Join(segments[:n], "/"); !ok {
				continue
			}
			made := parent.Draft(rec.prefix)
			if made.Identity == "" || made.Keyed() && made.Key.Required || idText(parent.Answer, made.Identity) != id {
				continue
			}
			name := Exported(strings.TrimSuffix(segments[n-1], "s"))
			rec.goAhead(d, made, parent, before[:k], name)
			d.Path = withSegment(d.Path, n, "{{.Prepared."+name+"}}")
			break
		}
	}
}

// goAhead makes the create of something that a draft needs a step before it, with what that needs itself.
func (rec *recording) goAhead(d *Draft, made Draft, parent Request, before []entry, name string) {
	rec.link(&made, parent)
	rec.ahead(&made, parent, before)
	rec.referred(&made, parent, before)
	for _, name := range made.Needed {
		rec.draft.variable(name, made.Given[name])
	}
	made.Principal = d.Principal // who signs in is known before how
	d.Ahead(made, name)
}

// referred makes the recorded creates of what a body refers to steps before it: of the cart whose id the order has, or of the ticket that
// an upload uses up.
func (rec *recording) referred(d *Draft, r Request, before []entry) {
	Scalars("", r.Body, func(pointer string, value any) {
		if now := d.Templates[pointer]; now != "" && !strings.HasPrefix(now, "${") || d.Key.In == contract.KeyInBody && memberName(pointer) == d.Key.Name {
			return
		}
		for k, e := range slices.Backward(before) {
			parent, ok := e.creating(r.URL.Host)
			if _, _, signsIn := parent.credentials(); !ok || signsIn || slices.Contains(scalars(parent.Body), value) {
				continue
			}
			made := parent.Draft(rec.prefix)
			if made.Identity = toldAt(parent, pointer, value); made.Identity == "" || made.Keyed() && made.Key.Required {
				continue
			}
			_, member := jsonpointer.Cut(pointer)
			name := Exported(member)
			rec.goAhead(d, made, parent, before[:k], name)
			d.Refer(pointer, "Prepared."+name, value)
			return
		}
	})
}

// toldAt is where the answer to a create has a value that a later body sends: a text that the target has drawn, or the created thing's number in a
// member that is called like the thing; empty: nowhere.
func toldAt(parent Request, pointer string, value any) (at string) {
	if text, isText := value.(string); isText {
		Scalars("", parent.Answer, func(pointer string, told any) {
			if at == "" && told == value && len(text) >= shortestToken && drawn(text) {
				at = pointer
			}
		})
		return at
	}
	_, member := jsonpointer.Cut(pointer)
	path := strings.TrimSuffix(parent.URL.EscapedPath(), "/")
	thing := squeezed(strings.TrimSuffix(path[strings.LastIndex(path, "/")+1:], "s"))
	if id := idIn(parent.Answer); id != "" && idText(parent.Answer, id) == fmt.Sprint(value) && slices.Contains([]string{thing, thing + "id"}, squeezed(member)) {
		return id
	}
	return ""
}

// scalars are all texts, numbers and switches in a value.
func scalars(value any) (all []any) {
	Scalars("", value, func(_ string, one any) { all = append(all, one) })
	return all
}

// creating is the request of an entry that was a POST to a host, with or without a body, and that has created something.
func (e entry) creating(host string) (Request, bool) {
	r, ok := e.request()
	if ok && e.Request.PostData != nil && e.Request.PostData.Text != "" {
		var recorded Recorded
		recorded, ok = e.recorded()
		r = recorded.Request
	}
	if !ok || r.Method != http.MethodPost || r.URL.Host != host || r.Status < 200 || r.Status > 299 {
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
