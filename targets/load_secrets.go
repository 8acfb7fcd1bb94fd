package targets

import (
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/scenarios/document"
)

// keepSecrets notes what signs requests, and what came from variables and goes into them: headers to mask, and texts.
// What a row must hold is no secret, or it could not be compared with the row.
func (t *Target) keepSecrets(doc *document.Document) {
	t.stepSecrets(doc, "/login", t.Login)
	for _, name := range t.OperationNames() {
		o := t.Operations[name]
		operation := document.Pointer("operations", name)
		t.requestSecrets(doc, operation+"/request", o.Request, o.Rows.Content)
		t.secretsIn(doc, operation+"/alter", o.Alter, o.Rows.Content)
		t.stepSecrets(doc, operation+"/prepare", o.Prepare)
		t.stepSecrets(doc, operation+"/key/issued", o.Key.Issued)
		t.stepSecrets(doc, operation+"/remove", o.Remove)
		t.stepSecrets(doc, operation+"/cleanup", o.Cleanup)
		if l := o.Rows.HTTP; l != nil {
			t.requestSecrets(doc, operation+"/rows/http", Request{Header: l.Header, Path: l.Path}, nil)
		}
	}
}

func (t *Target) stepSecrets(doc *document.Document, path string, steps []Step) {
	for i, step := range steps {
		t.requestSecrets(doc, path+document.Pointer(i)+"/request", step.Request, nil)
	}
}

func (t *Target) requestSecrets(doc *document.Document, path string, q Request, columns map[string]string) {
	for header := range q.Header {
		if doc.Expanded(path+document.Pointer("headers", header)) && !slices.Contains(t.Redact, header) {
			t.Redact = append(t.Redact, header)
		}
	}
	if doc.Expanded(path + "/path") {
		t.secret(q.Path)
	}
	if kind, members := q.Payload(); kind != NoPayload {
		t.secretsIn(doc, path+document.Pointer(string(kind)), members, columns)
	}
	if q.Sign != nil {
		t.secret(q.Sign.Secret)
	}
}

func (t *Target) secretsIn(doc *document.Document, root string, members map[string]any, columns map[string]string) {
	compared := map[string]bool{}
	for _, pointer := range columns {
		compared[root+pointer] = true
	}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case string:
			if doc.Expanded(path) && !compared[path] {
				t.secret(value)
			}
		case []any:
			for i, element := range value {
				walk(path+document.Pointer(i), element)
			}
		case map[string]any:
			for name, member := range value {
				walk(path+document.Pointer(name), member)
			}
		}
	}
	walk(root, members)
}

// Compared returns the texts of a request's body, as it is and altered, that say what rows must hold.
func (o Operation) Compared() []string {
	_, members := o.Request.Payload()
	var texts []string
	for _, pointer := range o.Rows.Content {
		for _, body := range []map[string]any{members, o.Alter} {
			value, _ := document.Resolve(body, pointer)
			if text, is := value.(string); is {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// secret notes a text, unless it is a template: that comes out differently in every request.
func (t *Target) secret(text string) {
	if !strings.Contains(text, "{{") {
		t.Secrets = append(t.Secrets, text)
	}
}
