package targets

import (
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// keepSecrets notes what signs requests, and what came from variables and goes into them: headers to mask, and texts.
func (t *Target) keepSecrets(doc *document.Document) {
	k := keeper{target: t, doc: doc}
	for _, o := range t.Operations {
		k.compared = append(k.compared, o.Compared()...)
	}
	k.steps("/login", t.Login)
	for _, name := range t.OperationNames() {
		o := t.Operations[name]
		operation := jsonpointer.Of("operations", name)
		k.request(operation+"/request", o.Request)
		k.texts(operation+"/alter", o.Alter)
		k.steps(operation+"/prepare", o.Prepare)
		k.steps(operation+"/key/issued", o.Key.Issued)
		k.steps(operation+"/remove", o.Remove)
		k.steps(operation+"/cleanup", o.Cleanup)
		if l := o.Rows.HTTP; l != nil {
			k.request(operation+"/rows/http", Request{Header: l.Header, Path: l.Path})
		}
	}
}

// keeper notes secrets in a target.
type keeper struct {
	target   *Target
	doc      *document.Document
	compared []string // what rows must hold: that is no secret, or it could not be compared with the rows
}

func (k keeper) steps(path string, steps []Step) {
	for i, step := range steps {
		k.request(path+jsonpointer.Of(i)+"/request", step.Request)
	}
}

func (k keeper) request(path string, q Request) {
	for header := range q.Header {
		at := path + jsonpointer.Of("headers", header)
		if k.doc.Expanded(at) && !slices.Contains(k.target.Redact, header) {
			k.target.Redact = append(k.target.Redact, header)
		}
		k.secret(k.doc.Given(at)...)
	}
	k.texts(path+"/path", q.Path)
	if kind, members := q.Payload(); kind != NoPayload {
		k.texts(path+jsonpointer.Of(string(kind)), members)
	}
	if q.Sign != nil {
		k.secret(q.Sign.Secret)
	}
}

// texts notes what variables gave to a text, or to those in a value, and what came of it.
func (k keeper) texts(path string, value any) {
	switch value := value.(type) {
	case string:
		if k.doc.Expanded(path) {
			k.secret(k.doc.Given(path)...)
			k.secret(value)
		}
	case []any:
		for i, element := range value {
			k.texts(path+jsonpointer.Of(i), element)
		}
	case map[string]any:
		for name, member := range value {
			k.texts(path+jsonpointer.Of(name), member)
		}
	}
}

// secret notes texts, unless they are templates: those come out differently in every request.
func (k keeper) secret(texts ...string) {
	for _, text := range texts {
		compared := slices.ContainsFunc(k.compared, func(whole string) bool { return strings.Contains(whole, text) })
		if !compared && !strings.Contains(text, "{{") && !slices.Contains(k.target.Secrets, text) {
			k.target.Secrets = append(k.target.Secrets, text)
		}
	}
}

// Compared returns the texts of a request's body, as it is and altered, that say what rows must hold.
func (o Operation) Compared() []string {
	_, members := o.Request.Payload()
	var texts []string
	for _, pointer := range o.Rows.Content {
		for _, body := range []map[string]any{members, o.Alter} {
			value, _ := jsonpointer.Resolve(body, pointer)
			if text, is := value.(string); is {
				texts = append(texts, text)
			}
		}
	}
	return texts
}
