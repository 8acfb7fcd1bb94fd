package drafting

import (
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
)

// Step is a request that comes before a create, and what to extract from its answer.
type Step struct {
	Method    string
	Path      string             // as in a target file
	Header    map[string]string  // as in a target file
	Body      map[string]any     // values, not templates
	Form      bool               // the body is sent as a form; if not, as JSON
	Multipart bool               // the form is sent in parts
	Templates map[string]string  // JSON pointer into the body: text of the target file that replaces the value
	Extract   map[string]Extract // by the name that templates use
}

// Extract says where an answer has a value: exactly one of its members is set.
type Extract struct {
	JSON      string `yaml:"json,omitempty"` // JSON pointer into the body
	Header    string `yaml:"header,omitempty"`
	Cookie    string `yaml:"cookie,omitempty"`
	HTML      string `yaml:"html,omitempty"`      // CSS selector
	Attribute string `yaml:"attribute,omitempty"` // of the element; with HTML
}

// What login steps are filled with.
const (
	userTemplate     = "{{.Principal.User}}"
	passwordTemplate = "{{.Principal.Password}}"
)

// Login is how a principal logs in. User and Password are JSON pointers into the step's body.
type Login struct {
	Step
	User, Password string
}

// Principal is the account that logs in, as a target file has it: variables.
type Principal struct {
	User     string `yaml:"User"`
	Password string `yaml:"Password"`
}

// SignIn makes a login step part of the draft; its user and password are variables that begin with a prefix.
func (d *Draft) SignIn(l Login, prefix string) {
	user, password := Variable(prefix, "USER"), Variable(prefix, "PASSWORD")
	l.Templates = cloneTexts(l.Templates)
	l.Templates[l.User], l.Templates[l.Password] = userTemplate, passwordTemplate
	d.Login = append(d.Login, l.Step)
	d.Principal = Principal{User: "${" + user + "}", Password: "${" + password + "}"}
	for _, variable := range []string{user, password} {
		if !slices.Contains(d.Needed, variable) {
			d.Needed = append(d.Needed, variable)
		}
	}
}

// Ahead makes the create of something that the draft needs a step before it. Name is what templates call its id,
// which the answer has at the parent's Identity. The parent's texts differ from intent to intent.
func (d *Draft) Ahead(parent Draft, name string) {
	s := Step{
		Method: parent.Method, Path: parent.Path, Header: cloneTexts(parent.Header), Body: parent.Body, Form: parent.Form, Multipart: parent.Multipart,
		Templates: cloneTexts(parent.Templates), Extract: map[string]Extract{name: {JSON: parent.Identity}},
	}
	Scalars("", parent.Body, func(pointer string, value any) {
		text, isText := value.(string)
		switch {
		case s.Templates[pointer] != "" || !isText:
		case strings.Contains(text, "@"):
			s.Templates[pointer] = referenceTemplate + addressEnd(text)
		case slices.Contains(parent.Texts, pointer):
			s.Templates[pointer] = referenceTemplate
		}
	})
	apart(parent.Body, s.Templates, "")
	if parent.Key.In == contract.KeyInHeader && parent.Key.Format == contract.AnyText {
		s.Header[parent.Key.Name] = referenceTemplate
	}
	for _, step := range append(slices.Clone(parent.Prepare), s) {
		if !slices.ContainsFunc(d.Prepare, func(mine Step) bool { return maps.Equal(mine.Extract, step.Extract) }) {
			d.Prepare = append(d.Prepare, step)
		}
	}
	d.Doubts = append(d.Doubts, parent.Doubts...)
	if len(d.Login) == 0 {
		d.Login, d.Principal = parent.Login, parent.Principal
	}
	for _, variable := range parent.Needed {
		if !slices.Contains(d.Needed, variable) {
			d.Needed = append(d.Needed, variable)
		}
	}
}

// Refer puts a value that templates have, such as Prepared.Customer, into a member of the body that held a sample.
func (d *Draft) Refer(pointer, name string, sample any) {
	text := "{{." + name + "}}"
	if _, isText := sample.(string); !isText && !d.Form {
		text = "{{." + name + " | json}}"
	}
	d.Templates = cloneTexts(d.Templates)
	d.Templates[pointer] = text
	d.Texts = slices.DeleteFunc(d.Texts, func(p string) bool { return p == pointer })
}

// signingIn writes who sends requests, and how they sign in.
func (f *File) signingIn() {
	if len(f.Draft.Login) == 0 {
		return
	}
	f.line("principals: # add a second one, with other variables, to check that neither gets answers meant for the other")
	f.line("  first: %s", flow(f.Draft.Principal))
	f.line("login: # once for every principal; {{.Login.NAME}} is what was extracted; it is written to no file")
	f.steps("  ", f.Draft.Login)
}

// steps writes a list of steps.
func (f *File) steps(indent string, steps []Step) {
	for _, s := range steps {
		f.line("%s- request:", indent)
		f.request(indent+"    ", s.Method, s.Path, s.Header)
		if s.Body != nil {
			f.content(indent+"    ", payload(Payload{Form: s.Form, Multipart: s.Multipart}), filled(s.Body, s.Templates))
		}
		if len(s.Extract) > 0 {
			f.line("%s  extract: %s", indent, literal(s.Extract))
		}
	}
}

// request writes the head of a request.
func (f *File) request(indent, method, path string, header map[string]string) {
	f.line("%smethod: %s\n%spath: %s", indent, flow(method), indent, flow(path))
	if len(header) > 0 {
		f.line("%sheaders: %s", indent, flow(header))
	}
}

// payload is the key of a request's body.
func payload(p Payload) string {
	switch {
	case p.Written != "":
		return "text"
	case p.Query:
		return "query"
	case p.Multipart:
		return "multipart"
	case p.Form:
		return "form"
	default:
		return "body"
	}
}

// content writes the body of a request; a request without a query has none.
func (f *File) content(indent, kind string, body any) {
	if members, _ := body.(map[string]any); kind == "query" && len(members) == 0 {
		return
	}
	f.line("%s%s:", indent, kind)
	for line := range strings.SplitSeq(strings.TrimRight(block(body), "\n"), "\n") {
		f.line("%s  %s", indent, line)
	}
}

// filled is a body with its templates.
func filled(body map[string]any, templates map[string]string) any {
	value := escaped(body)
	for _, pointer := range slices.Sorted(maps.Keys(templates)) {
		value = Put(value, pointer, templates[pointer])
	}
	return value
}
