package drafting

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// recordedStep is a recorded request that must be sent before a create: a later request sends a value of its answer.
type recordedStep struct {
	Step
	entry entry
	space string // of templates: Login or Prepared
}

// recording is what precedes a recorded create: the login, and the pages whose forms hold tokens.
type recording struct {
	draft  *Draft
	prefix string
	steps  []*recordedStep
	asked  []string // variables for what else the login's body holds
}

// Draft drafts the request. The login and the page that were recorded before it become steps where the request sent a
// value of their answers, and so do the creates of what its path names. Values that a step extracts need no variables.
func (r Recorded) Draft(prefix string) Draft {
	d := r.Request.Draft(prefix)
	rec := &recording{draft: &d, prefix: prefix}
	k, login := r.login()
	if k >= 0 {
		rec.page(r.before[:k], login, "Login")
		rec.signIn(r.before[:k], r.before[k], login)
	}
	rec.page(r.before, r.Request, "Prepared")
	linked := rec.link(&d, r.Request)
	rec.ahead(&d, r.Request, r.before)
	rec.referred(&d, r.Request, r.before)
	rec.keep()
	rec.doubtLogin()
	prune(&d)
	if k >= 0 && len(d.Login) == 0 {
		d.Doubts = append(d.Doubts, fmt.Sprintf("How to log in: the recording has a login, POST %s, but the create sends nothing of its answer. Browsers leave cookies and tokens out of HAR files unless you ask them to keep them.", login.URL.Path))
	}
	if unknown := linked.unknown; len(linked.cookies) > 0 && len(unknown) > 0 {
		d.Doubts = append(d.Doubts, fmt.Sprintf("Whether these cookies may be left out: no recorded answer sets them: %s.", strings.Join(unknown, ", ")))
	}
	return d
}

// page makes the page before a request a step, if the request sent something that stands in it.
func (rec *recording) page(before []entry, r Request, space string) {
	for _, e := range slices.Backward(before) {
		page, ok := e.request()
		if !ok || page.Method != http.MethodGet || page.URL.Host != r.URL.Host || page.Status != http.StatusOK {
			continue
		}
		holds := func(name, value string) bool {
			return (HoldsSecret(name) || r.Form && drawn(value)) && tokenIn(e, name, value) != (Extract{})
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(r.said())), func(name string) bool { return holds(name, r.said()[name]) }) {
			continue
		}
		d := page.Draft(rec.prefix)
		rec.arrive(&d, rec.link(&d, page), space)
		rec.add(e, d.step(), space, d)
		return
	}
}

// said are the headers and the members of the body that are texts, by name.
func (c Request) said() map[string]string {
	all := map[string]string{}
	for _, h := range c.Header {
		all[h[0]] = h[1]
	}
	for name, value := range c.Body {
		if text, isText := value.(string); isText {
			all[name] = text
		}
	}
	return all
}

// add appends a step. What its draft needs, the create's draft needs.
func (rec *recording) add(e entry, s Step, space string, d Draft) {
	s.Extract = map[string]Extract{}
	rec.steps = append(rec.steps, &recordedStep{Step: s, entry: e, space: space})
	for _, name := range d.Needed {
		rec.draft.variable(name, d.Given[name])
	}
}

// step is the draft's request without what makes it a create.
func (d Draft) step() Step {
	return Step{Method: d.Method, Path: d.Path, Header: d.Header, Body: d.Body, Form: d.Form, Multipart: d.Multipart, Templates: d.Templates}
}

// linked is what of a request earlier steps give.
type linked struct{ cookies, unknown []string }

// arrive leaves the cookies out of a login request, unless an earlier step gave them: they belong to another session.
func (rec *recording) arrive(d *Draft, l linked, space string) {
	if space == "Login" && len(l.cookies) == 0 {
		maps.DeleteFunc(d.Header, func(name, _ string) bool { return strings.EqualFold(name, "Cookie") })
	}
}

// link puts what earlier answers gave in the place of what was recorded.
func (rec *recording) link(d *Draft, r Request) linked {
	var l linked
	for _, h := range r.Header {
		if strings.EqualFold(h[0], "Cookie") {
			l = rec.cookies(d, h)
			continue
		}
		scheme, secret, two := strings.Cut(h[1], " ")
		if !two {
			scheme, secret = "", h[1]
		}
		if text := rec.from(h[0], secret); text != "" && d.Header[h[0]] != "" {
			d.Header[h[0]] = strings.TrimSpace(scheme + " " + text)
		}
	}
	Scalars("", r.Body, func(pointer string, value any) {
		sent, isText := value.(string)
		variable := strings.HasPrefix(d.Templates[pointer], "${")
		hidden := r.Form && d.Templates[pointer] == "" && drawn(sent) // in the form's page, such as the id of a submission
		if !isText || !variable && !hidden {
			return
		}
		if text := rec.from(pointer[strings.LastIndex(pointer, "/")+1:], sent); text != "" {
			d.Templates[pointer] = text
		}
	})
	return l
}

// cookies makes those that earlier answers set the only ones.
func (rec *recording) cookies(d *Draft, header [2]string) linked {
	var l linked
	var drawn []string
	for pair := range strings.SplitSeq(header[1], ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if text := rec.cookie(name, value); text != "" {
			l.cookies = append(l.cookies, name+"="+text)
		} else if d == rec.draft && mayBeKey(name, value) { // of the client, and perhaps the key
			if d.Keyed() {
				continue
			}
			drawn = append(drawn, name+"="+d.variable(Variable(rec.prefix, name), value))
		} else {
			l.unknown = append(l.unknown, name)
		}
	}
	if len(l.cookies) > 0 {
		d.Header[header[0]] = strings.Join(append(slices.Clone(l.cookies), drawn...), "; ")
	}
	return l
}

// keep puts the steps into the draft from which something is extracted.
func (rec *recording) keep() {
	for _, s := range rec.steps {
		switch {
		case len(s.Extract) == 0:
		case s.space == "Login":
			rec.draft.Login = append(rec.draft.Login, s.Step)
		default:
			rec.draft.Prepare = append(rec.draft.Prepare, s.Step)
		}
	}
	if len(rec.draft.Login) == 0 && rec.draft.Principal != (Principal{}) {
		rec.draft.Principal = Principal{}
	}
}

// prune keeps the variables that anything refers to.
func prune(d *Draft) {
	texts := fmt.Sprint(d.Path, d.Header, d.Templates, d.Login, d.Principal, d.Prepare, d.KeySteps)
	d.Needed = slices.DeleteFunc(d.Needed, func(name string) bool { return !strings.Contains(texts, "${"+name+"}") })
	maps.DeleteFunc(d.Given, func(name, _ string) bool { return !slices.Contains(d.Needed, name) })
}

// textAt is a text in a body, by its JSON pointer.
func textAt(body map[string]any, pointer string) string {
	value, _ := jsonpointer.Resolve(body, pointer)
	text, _ := value.(string)
	return text
}

// tokenName matches the names of members whose value the form's page gives, so that no other page can send the form.
var tokenName = regexp.MustCompile(`(?i)csrf|xsrf|authenticity_?token|^_?token$|verification_?token|(form|request|submission|submit|order|checkout)_?token`)

// PageMember is the member of the body that the form's page gives, another one for each create, and that is no defence against other pages;
// empty: there is none.
func (d Draft) PageMember() string {
	for _, pointer := range slices.Sorted(maps.Keys(d.Templates)) {
		if _, name := jsonpointer.Cut(pointer); strings.HasPrefix(d.Templates[pointer], "{{.Prepared.") && d.Form && !tokenName.MatchString(name) {
			return pointer
		}
	}
	return ""
}

// page makes the page with the form a step, where the form has tokens that stand in its page.
func (d *Draft) page(path string) {
	extract, names := map[string]Extract{}, []string(nil)
	for _, name := range slices.Sorted(maps.Keys(d.Body)) {
		pointer := jsonpointer.Of(name)
		if !tokenName.MatchString(name) || !strings.HasPrefix(d.Templates[pointer], "${") {
			continue
		}
		d.Templates[pointer] = "{{.Prepared." + Exported(name) + "}}"
		extract[Exported(name)] = Extract{HTML: fmt.Sprintf("input[name=%q]", name), Attribute: "value"}
		names = append(names, name)
	}
	if len(names) == 0 {
		return
	}
	d.Prepare = append(d.Prepare, pageStep(*d, path, extract))
	d.Doubts = append(d.Doubts, fmt.Sprintf("Whether the form with its %s stands at %s: the Referer of the command says so.", strings.Join(names, " and "), path))
	prune(d)
}

// pageStep asks for a page with the cookie of the create, and extracts values from it.
func pageStep(d Draft, path string, extract map[string]Extract) Step {
	s := Step{Method: http.MethodGet, Path: path, Header: map[string]string{}, Extract: extract}
	if cookie := d.Header["Cookie"]; cookie != "" {
		s.Header["Cookie"] = cookie
	}
	return s
}
