package drafting

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets"
)

// An API may refuse another body under a known key with the status that it has for other mistakes as well, such as a key that it does not take.
// What it says then tells them apart, be it a word for programs or a sentence.

// sentence reports that a text is likely to stay the same: a number in it may be the time, or what the request has said.
func sentence(text string) bool {
	odd := func(r rune) bool { return unicode.Is(unicode.C, r) || '0' <= r && r <= '9' }
	return text != "" && utf8.RuneCountInString(text) <= 200 && !strings.ContainsFunc(text, odd)
}

// sayings are the members in which answers say what went wrong, besides those that name it for programs.
func sayings() []string {
	return append(codes(), "/error/message", "/message", "/msg", "/errors/0/message", "/errors/0/detail", "/errors/0", "/detail", "/error_description", "/title")
}

// reasons are the members in which answers say why they refuse, as a word, a number or a sentence.
func reasons() []string {
	return append(sayings(), "/error_code", "/errorCode", "/errcode", "/errno", "/error_message", "/errorMessage")
}

// mismatched is what the refusal of another body is known by: its status, and a member that says the same each time, nothing that the request
// has said, and something else in each other refusal of this status.
func mismatched(f *File, r Repeated) contract.Signature {
	s := signature(*r.Altered)
	if r.Altered.Denied != nil || len(r.Mismatches) == 0 {
		return s
	}
	shared := func(at string) bool { // with a refusal of another kind
		text, _ := jsonpointer.Resolve(r.Altered.Body, at)
		return slices.ContainsFunc(unlike(r), func(a Answer) bool {
			other, _ := jsonpointer.Resolve(a.Body, at)
			return a.Refused() && a.Status == r.Altered.Status && other == text
		})
	}
	for at := range s.Where {
		if !shared(at) {
			return s
		}
	}
	s.Where = nil
	for _, at := range append(sayings(), spoken(r.Altered.Body)...) {
		value, _ := jsonpointer.Resolve(r.Altered.Body, at)
		text, _ := value.(string)
		if sentence(text) && text != http.StatusText(r.Altered.Status) && text != "about:blank" && !quotes(f, text) && !shared(at) && alwaysSays(r, at, text) {
			s.Where = map[string]any{at: text}
			return s
		}
	}
	return s
}

// unlike are the answers that were seen to requests other than another body under a known key.
func unlike(r Repeated) []Answer {
	all := slices.Concat(r.Unlike, r.Keyless, r.Declined, []Answer{orNone(r.Taken)})
	for _, c := range r.Bursts {
		all = append(all, c.Copies...)
	}
	return all
}

// alwaysSays reports that every refusal of another body says the same.
func alwaysSays(r Repeated, at, text string) bool {
	return !slices.ContainsFunc(r.Mismatches, func(a Answer) bool {
		said, _ := jsonpointer.Resolve(a.Body, at)
		return said != text
	})
}

// words cuts a text where no letter stands.
var words = regexp.MustCompile(`\PL+`)

// quotes reports that a text has a value of the body in it.
func quotes(f *File, text string) (has bool) {
	spaced := func(text string) string { return " " + words.ReplaceAllString(strings.ToLower(text), " ") + " " }
	Scalars("", f.Draft.Body, func(_ string, value any) {
		said := strings.TrimSpace(spaced(fmt.Sprint(value)))
		has = has || said != "" && strings.Contains(spaced(text), " "+said+" ")
	})
	return has
}

// WithoutAltered is the file with a body that lacks the member which an altered body changes, so that the target may refuse it; of a text
// that is a template, it is empty. False: there is none.
func WithoutAltered(f File) (File, bool) {
	_, pointer, ok := Altered(f)
	parent, name := jsonpointer.Cut(pointer)
	held, _ := jsonpointer.Resolve(f.Draft.Body, parent)
	object, isObject := held.(map[string]any)
	if !ok || !isObject || len(object) < 2 {
		return f, false
	}
	object = maps.Clone(object)
	if delete(object, name); f.Draft.Written != "" && !f.Draft.listed() {
		object[name] = "" // the template asks for it
	}
	f.Draft.Body, ok = Put(f.Draft.Body, parent, object).(map[string]any)
	f.Draft.Others = nil
	return f, ok
}

// WithKeysOfForms are files whose requests have keys of a form that the target may refuse: long, and with a mark in it.
func WithKeysOfForms(f File) (all []File) {
	d := f.Draft
	if d.Key.In != contract.KeyInHeader || f.Proof != nil && f.Proof.ByKey { // rows could not be asked for
		return nil
	}
	for _, form := range []string{strings.Repeat("k", 260) + `{{unique "text"}}`, `{{unique "text"}}"`} {
		other := f
		other.Draft.Header, other.Draft.Key = cloneTexts(d.Header), targets.Key{}
		other.Draft.Header[d.Key.Name] = form
		all = append(all, other)
	}
	return all
}
