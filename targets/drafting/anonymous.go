package drafting

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets"
)

// PageWithCookie is the path of the page with the form that is asked for with a browser's cookie, or with none; empty: there is none.
func (d Draft) PageWithCookie() string {
	if len(d.Prepare) != 1 || d.Prepare[0].Method != http.MethodGet || strings.Contains(d.Prepare[0].Path, "{{") || strings.Contains(d.Prepare[0].Path, "${") {
		return ""
	}
	return d.Prepare[0].Path
}

// Cookie is the cookie of the browser; empty: the source has none.
func (d Draft) Cookie() string { return d.Given[strings.Trim(d.Header["Cookie"], "${}")] }

// OfAnyVisitor returns the draft with the cookies that the page of the form gives to everybody,
// where an answer to a visitor without any cookie shows the form. The cookie of a browser is good
// for one session only, and runs are many. False: the page is for those who have signed in, or
// gives no cookie.
func (d Draft) OfAnyVisitor(page *http.Response, body string) (Draft, bool) {
	if page.StatusCode != http.StatusOK || d.PageWithCookie() == "" {
		return d, false
	}
	step := d.Prepare[0]
	for _, place := range step.Extract {
		if place.shownIn(body) == "" {
			return d, false
		}
	}
	had := map[string]bool{} // none: the source has no cookie, and the page may give any
	sent, _ := http.ParseCookie(d.Cookie())
	for _, c := range sent {
		had[c.Name] = true
	}
	step.Extract = maps.Clone(step.Extract)
	var pairs []string
	for _, c := range page.Cookies() {
		name := Exported(c.Name)
		if _, taken := step.Extract[name]; taken || name == "" || len(had) > 0 && !had[c.Name] {
			continue
		}
		step.Extract[name] = Extract{Cookie: c.Name}
		pairs = append(pairs, Escape(c.Name)+"={{.Prepared."+name+"}}")
	}
	if len(pairs) == 0 {
		return d, false
	}
	slices.Sort(pairs)
	step.Header, d.Header = cloneTexts(step.Header), cloneTexts(d.Header)
	delete(step.Header, "Cookie")
	d.Header["Cookie"] = strings.Join(pairs, "; ")
	d.Prepare, d.Needed, d.Given = []Step{step}, slices.Clone(d.Needed), maps.Clone(d.Given)
	prune(&d)
	return d, true
}

// Anew are the members of the form that its page gives another value than the source has: hidden ones, each good for one page. What the
// source has sent is likely to be taken.
func (d Draft) Anew(body string) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(d.Body)) {
		pointer := jsonpointer.Of(name)
		value, isText := d.Body[name].(string)
		given := hiddenInput(name).shownIn(body)
		if isText && d.Templates[pointer] == "" && given != "" && given != value && d.PageWithCookie() != "" {
			found = append(found, pointer)
		}
	}
	return found
}

// FromPage returns the draft with members that its page gives. A single one is the key of the form, which the target issues.
func (d Draft) FromPage(pointers []string) Draft {
	if len(pointers) == 1 {
		_, name := jsonpointer.Cut(pointers[0])
		s := pageStep(d, d.PageWithCookie(), map[string]Extract{targets.IssuedKey: hiddenInput(name)})
		d = d.WithKeyIn(targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: memberName(pointers[0])}})
		d.KeySteps = []Step{s}
		return d
	}
	step := d.Prepare[0]
	step.Extract, d.Templates = maps.Clone(step.Extract), cloneTexts(d.Templates)
	for _, pointer := range pointers {
		_, name := jsonpointer.Cut(pointer)
		step.Extract[Exported(name)] = hiddenInput(name)
		d.Templates[pointer] = "{{.Prepared." + Exported(name) + "}}"
	}
	d.Prepare = []Step{step}
	d.Texts = slices.DeleteFunc(slices.Clone(d.Texts), func(p string) bool { return slices.Contains(pointers, p) })
	return d
}

// hiddenInput is the value of a hidden input of a page.
func hiddenInput(name string) Extract {
	return Extract{HTML: fmt.Sprintf("input[type=hidden][name=%q]", name), Attribute: "value"}
}

// shownIn is a value that a page shows; empty: it shows none.
func (e Extract) shownIn(body string) string {
	found, err := targets.Extract{HTML: e.HTML, Attribute: e.Attribute}.From(targets.Answer{Body: body})
	if err != nil {
		return ""
	}
	return found
}
