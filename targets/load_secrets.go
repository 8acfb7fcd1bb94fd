package targets

import (
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/scenarios/document"
)

// keepSecrets notes what came from variables and goes into requests: headers to mask, and texts.
// What a row must hold is no secret, or it could not be compared with the row.
func (t *Target) keepSecrets(doc *document.Document) {
	for _, name := range t.OperationNames() {
		o := t.Operations[name]
		request := document.Pointer("operations", name, "request")
		for header := range o.Request.Header {
			if doc.Expanded(request+document.Pointer("headers", header)) && !slices.Contains(t.Redact, header) {
				t.Redact = append(t.Redact, header)
			}
		}
		if doc.Expanded(request + "/path") {
			t.secret(o.Request.Path)
		}
		t.secretsIn(doc, request+"/body", o.Request.Body, o.Rows.Content)
		t.secretsIn(doc, document.Pointer("operations", name, "alter"), o.Alter, o.Rows.Content)
		if o.Rows.HTTP != nil {
			t.keepListing(doc, document.Pointer("operations", name, "rows", "http"), *o.Rows.HTTP)
		}
	}
}

// keepListing notes what of a question to the target itself came from variables.
func (t *Target) keepListing(doc *document.Document, at string, l Listing) {
	for header := range l.Header {
		if doc.Expanded(at+document.Pointer("headers", header)) && !slices.Contains(t.Redact, header) {
			t.Redact = append(t.Redact, header)
		}
	}
	if doc.Expanded(at + "/path") {
		t.secret(l.Path)
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

// secret notes a text, unless it is a template: that comes out differently in every request.
func (t *Target) secret(text string) {
	if !strings.Contains(text, "{{") {
		t.Secrets = append(t.Secrets, text)
	}
}
