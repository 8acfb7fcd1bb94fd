package targets

import (
	"net/url"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// collectSecrets notes what signs requests, and what came from variables and goes into them: headers to mask, and texts.
func (t *Target) collectSecrets(doc *document.Document) {
	c := secretCollector{target: t, doc: doc}
	for _, o := range t.Operations {
		c.compared = append(c.compared, o.Compared()...)
	}
	c.base("/base_url", t.BaseURL)
	for name, instance := range t.Instances {
		c.base(jsonpointer.Of("instances", name), instance.BaseURL)
		c.base(jsonpointer.Of("instances", name, "base_url"), instance.BaseURL)
	}
	c.steps("/login", t.Login)
	for _, name := range t.OperationNames() {
		o := t.Operations[name]
		operation := jsonpointer.Of("operations", name)
		c.request(operation+"/request", o.Request)
		for name, values := range o.Parents {
			for i, value := range values {
				c.texts(operation+jsonpointer.Of("parents", name, i), value)
			}
		}
		c.texts(operation+"/alter", o.Alter)
		c.texts(operation+"/invalid", o.Invalid)
		if o.Work != nil {
			c.request(operation+"/work", Request{Header: o.Work.Header, Body: o.Work.Body})
		}
		c.steps(operation+"/prepare", o.Prepare)
		c.steps(operation+"/key/issued", o.Key.Issued)
		c.steps(operation+"/remove", o.Remove)
		c.steps(operation+"/cleanup", o.Cleanup)
		if l := o.Rows.HTTP; l != nil {
			c.request(operation+"/rows/http", Request{Header: l.Header, Path: l.Path})
		}
	}
}

// secretCollector notes the secrets of a target.
type secretCollector struct {
	target   *Target
	doc      *document.Document
	compared []string // what rows must hold: that is no secret, or it could not be compared with the rows
}

// steps notes the secrets of steps.
func (c secretCollector) steps(path string, steps []Step) {
	for i, step := range steps {
		c.request(path+jsonpointer.Of(i)+"/request", step.Request)
	}
}

// request notes the secrets of one request. A header into which a variable goes is masked as a
// whole, as its other parts may give the secret away. Paths and bodies are evidence: there it is
// what came from variables, and the text that came of it.
func (c secretCollector) request(path string, q Request) {
	for header := range q.Header {
		at := path + jsonpointer.Of("headers", header)
		if c.doc.Expanded(at) && !slices.Contains(c.target.Redact, header) {
			c.target.Redact = append(c.target.Redact, header)
		}
		c.secret(c.doc.Given(at)...)
	}
	c.texts(path+"/path", q.Path)
	if kind, members := q.Payload(); kind != NoPayload {
		c.texts(path+jsonpointer.Of(string(kind)), members)
	}
	if q.Sign != nil {
		c.secret(q.Sign.Secret)
	}
}

// base notes what variables gave to the path of a base URL, which each request repeats. Their host is no secret.
func (c secretCollector) base(path, address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	for _, given := range c.doc.Given(path) {
		if given != "" && !strings.Contains(given, "://") && strings.Contains(u.Path, given) {
			c.secret(given)
		}
	}
}

// texts notes what variables gave to a text, or to those in a value, and what came of it.
func (c secretCollector) texts(path string, value any) {
	switch value := value.(type) {
	case string:
		if c.doc.Expanded(path) {
			c.secret(c.doc.Given(path)...)
			c.secret(value)
		}
	case []any:
		for i, element := range value {
			c.texts(path+jsonpointer.Of(i), element)
		}
	case map[string]any:
		for name, member := range value {
			c.texts(path+jsonpointer.Of(name), member)
		}
	}
}

// secret notes texts, unless they are templates: those come out differently in every request.
func (c secretCollector) secret(texts ...string) {
	for _, text := range texts {
		compared := slices.ContainsFunc(c.compared, func(whole string) bool { return strings.Contains(whole, text) })
		if !compared && !strings.Contains(text, "{{") && !slices.Contains(c.target.Secrets, text) {
			c.target.Secrets = append(c.target.Secrets, text)
		}
	}
}

// Compared returns the texts of a request's bodies that say what rows must hold.
func (o Operation) Compared() []string {
	_, members := o.Request.Payload()
	var texts []string
	for _, pointer := range o.Rows.Content {
		for _, body := range []map[string]any{members, o.Alter, o.Invalid} {
			value, _ := jsonpointer.Resolve(body, pointer)
			if text, is := value.(string); is {
				texts = append(texts, text)
			}
		}
	}
	return texts
}
