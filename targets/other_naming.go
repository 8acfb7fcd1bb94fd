package targets

import (
	"slices"
	"strings"
	"unicode"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// OtherNaming is a body whose natural key is spelled in another way that the contract ignores. It changes the body.
func OtherNaming(body any, promise contract.Contract) any {
	for _, pointer := range promise.NaturalKey {
		object, name, text := naming(body, pointer)
		if object == nil {
			continue
		}
		if slices.Contains(promise.NaturalKeyIgnores, contract.IgnoresCase) {
			text = strings.Map(otherCase, text)
		}
		if slices.Contains(promise.NaturalKeyIgnores, contract.IgnoresBlanks) {
			text += " "
		}
		object[name] = text
	}
	return body
}

// naming is the object that has a member of the natural key, the member's name and its text; nil: there is no such text.
func naming(body any, pointer string) (object map[string]any, name, text string) {
	parent, name := jsonpointer.Cut(pointer)
	within, _ := jsonpointer.Resolve(body, parent)
	object, _ = within.(map[string]any)
	text, isText := object[name].(string)
	if !isText {
		return nil, "", ""
	}
	return object, name, text
}

func otherCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}

// Renames reports that the requests of an operation name the same thing in another spelling, and the rows of both are found: by something
// else than their natural key.
func (t Target) Renames(o Operation) bool {
	values := t.samples()[0].values
	values.Intent.Marker = sampleMarkerOf(o.Marker)
	renames := false
	for _, pointer := range t.Contract.NaturalKey {
		_, _, text := naming(map[string]any(o.Request.Body), pointer)
		if strings.Contains(text, ".Intent.Marker") && contract.AsksWith("marker", o.Rows.Query) ||
			strings.Contains(text, ".Intent.Reference") && contract.AsksWith("reference", o.Rows.Query) {
			return false
		}
		said, err := fill(text, values)
		renames = renames || err == nil && strings.ContainsFunc(said, unicode.IsLetter)
	}
	return renames
}
