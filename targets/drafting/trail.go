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

// footstep is a recorded request that has to be sent before a create, because something of its answer is sent later.
type footstep struct {
	Step
	entry entry
	space string // of templates: Login or Prepared
}

// trail is what leads to a recorded create: the login before it, and the pages whose forms hold tokens.
type trail struct {
	draft  *Draft
	prefix string
	steps  []*footstep
	asked  []string // variables for what else the login's body holds
}

// Draft is that of the request, with the login and the page that were recorded before it as steps, where something
// of their answers was sent with it. Values that such steps take need no variables.
func (r Recorded) Draft(prefix string) Draft {
	d := r.Request.Draft(prefix)
	t := &trail{draft: &d, prefix: prefix}
	k, login := r.login()
	if k >= 0 {
		t.page(r.before[:k], login, "Login")
		t.signIn(r.before[k], login)
	}
	t.page(r.before, r.Request, "Prepared")
	linked := t.link(&d, r.Request)
	t.keep()
	t.doubtLogin()
	d.prune()
	if k >= 0 && len(d.Login) == 0 {
		d.Doubts = append(d.Doubts, fmt.Sprintf("How one signs in: somebody did, with POST %s, and nothing of the answer was sent with the create; browsers leave cookies and tokens out of HAR files unless they are asked to keep them.", login.URL.Path))
	}
	if unknown := linked.unknown; len(linked.cookies) > 0 && len(unknown) > 0 {
		d.Doubts = append(d.Doubts, fmt.Sprintf("Whether these cookies may be left out, which nobody was seen to set: %s.", strings.Join(unknown, ", ")))
	}
	return d
}

// page makes the page before a request a step, if the request sent something that stands in it.
func (t *trail) page(before []entry, r Request, space string) {
	for _, e := range slices.Backward(before) {
		page, ok := e.request()
		if !ok || page.Method != http.MethodGet || page.URL.Host != r.URL.Host || page.Status != http.StatusOK {
			continue
		}
		holds := func(name, value string) bool {
			return secretName.MatchString(name) && tokenIn(e, name, value) != (Take{})
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(r.said())), func(name string) bool { return holds(name, r.said()[name]) }) {
			continue
		}
		d := page.Draft(t.prefix)
		t.arrive(&d, t.link(&d, page), space)
		t.add(e, d.step(), space, d)
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
func (t *trail) add(e entry, s Step, space string, d Draft) {
	s.Take = map[string]Take{}
	t.steps = append(t.steps, &footstep{Step: s, entry: e, space: space})
	for _, name := range d.Needed {
		t.draft.variable(name, d.Given[name])
	}
}

// step is the draft's request without what makes it a create.
func (d Draft) step() Step {
	return Step{Method: d.Method, Path: d.Path, Header: d.Header, Body: d.Body, Form: d.Form, Templates: d.Templates}
}

// linked is what of a request earlier steps give.
type linked struct{ cookies, unknown []string }

// arrive leaves out the cookies of somebody who signs in, unless an earlier step gave them: they are those of others.
func (t *trail) arrive(d *Draft, l linked, space string) {
	if space == "Login" && len(l.cookies) == 0 {
		maps.DeleteFunc(d.Header, func(name, _ string) bool { return strings.EqualFold(name, "Cookie") })
	}
}

// link puts what earlier answers gave in the place of what was recorded.
func (t *trail) link(d *Draft, r Request) linked {
	var l linked
	for _, h := range r.Header {
		if strings.EqualFold(h[0], "Cookie") {
			l = t.cookies(d, h)
			continue
		}
		scheme, secret, two := strings.Cut(h[1], " ")
		if !two {
			scheme, secret = "", h[1]
		}
		if text := t.from(h[0], secret); text != "" && d.Header[h[0]] != "" {
			d.Header[h[0]] = strings.TrimSpace(scheme + " " + text)
		}
	}
	Scalars("", r.Body, func(pointer string, value any) {
		sent, isText := value.(string)
		if text := t.from(pointer[strings.LastIndex(pointer, "/")+1:], sent); isText && text != "" && strings.HasPrefix(d.Templates[pointer], "${") {
			d.Templates[pointer] = text
		}
	})
	return l
}

// cookies makes those that earlier answers set the only ones.
func (t *trail) cookies(d *Draft, header [2]string) linked {
	var l linked
	for pair := range strings.SplitSeq(header[1], ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if text := t.cookie(name, value); text != "" {
			l.cookies = append(l.cookies, name+"="+text)
		} else {
			l.unknown = append(l.unknown, name)
		}
	}
	if len(l.cookies) > 0 {
		d.Header[header[0]] = strings.Join(l.cookies, "; ")
	}
	return l
}

// keep leaves in the draft the steps of which something is taken.
func (t *trail) keep() {
	for _, s := range t.steps {
		switch {
		case len(s.Take) == 0:
		case s.space == "Login":
			t.draft.Login = append(t.draft.Login, s.Step)
		default:
			t.draft.Prepare = append(t.draft.Prepare, s.Step)
		}
	}
	if len(t.draft.Login) == 0 && t.draft.Principal != (Principal{}) {
		t.draft.Principal = Principal{}
	}
}

// prune keeps the variables that anything refers to.
func (d *Draft) prune() {
	texts := fmt.Sprint(d.Path, d.Header, d.Templates, d.Login, d.Principal, d.Prepare)
	d.Needed = slices.DeleteFunc(d.Needed, func(name string) bool { return !strings.Contains(texts, "${"+name+"}") })
	maps.DeleteFunc(d.Given, func(name, _ string) bool { return !slices.Contains(d.Needed, name) })
}

// textAt is a text in a body, by its JSON pointer.
func textAt(body map[string]any, pointer string) string {
	value, _ := lookUp(body, pointer)
	text, _ := value.(string)
	return text
}

// tokenName are the names of members that a form's page gives, so that nobody else can send it.
var tokenName = regexp.MustCompile(`(?i)csrf|xsrf|authenticity_?token|^_token$|verification_?token`)

// page makes the page with the form a step, where the form has a token that stands in its page.
func (d *Draft) page(path string) {
	for _, name := range slices.Sorted(maps.Keys(d.Body)) {
		pointer := jsonpointer.Of(name)
		if !tokenName.MatchString(name) || !strings.HasPrefix(d.Templates[pointer], "${") {
			continue
		}
		s := Step{Method: http.MethodGet, Path: path, Header: map[string]string{}, Take: map[string]Take{
			Exported(name): {HTML: fmt.Sprintf("input[name=%q]", name), Attribute: "value"},
		}}
		if cookie := d.Header["Cookie"]; cookie != "" {
			s.Header["Cookie"] = cookie
		}
		d.Templates[pointer] = "{{.Prepared." + Exported(name) + "}}"
		d.Prepare = append(d.Prepare, s)
		d.Doubts = append(d.Doubts, fmt.Sprintf("Whether the form with its %s stands at %s: the Referer of the command says so.", name, path))
		d.prune()
		return
	}
}
