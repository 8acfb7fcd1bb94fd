package targets

import (
	"encoding/json"
	"fmt"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/document"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// Warnings returns what is no mistake in a target file that was loaded, and may not be meant.
func Warnings(file string, source []byte, t Target) document.Mistakes {
	doc, err := document.Parse(source, document.Options{File: file, Schema: []byte("{}")})
	if doc == nil || err != nil {
		return nil
	}
	var all document.Mistakes
	for _, name := range t.OperationNames() {
		if o := t.Operations[name]; o.Alter != nil && t.IsAnotherIntent(o, Altered) {
			all = append(all, doc.Mistake(jsonpointer.Of("operations", name, "alter"),
				"the altered body has another value at contract.natural_key: it is another intent, so whether a key that comes with another body is rejected is not tried; alter another member, or write {{.Intent.Reference}} there in place of {{.Intent.Marker}}"))
		}
	}
	return all
}

// IsAnotherIntent reports that a variant of an operation's body is another intent by its natural key alone.
func (t Target) IsAnotherIntent(o Operation, which Variant) bool {
	if o.Key.In != contract.KeyNowhere && t.Contract.Fingerprint.OnMismatch != contract.MismatchUnspecified {
		return false // the key says that it is the same
	}
	values := t.samples()[0].values
	values.Intent.Marker = sampleMarkerOf(o.Marker)
	plain, err := o.Render(values, AsItIs)
	if err != nil {
		return false
	}
	values.Intent.Marker += "1"
	other, err := o.Render(values, which)
	if err != nil {
		return false
	}
	for _, pointer := range t.Contract.NaturalKey {
		if pointer == contract.WholePath {
			if plain.Path != other.Path {
				return true
			}
		} else if said(plain, pointer) != said(other, pointer) {
			return true
		}
	}
	return false
}

// said returns what a request says at a pointer into its body, for comparison.
func said(r Rendered, pointer string) string {
	text := r.Body
	if r.Says != nil {
		text = r.Says
	}
	var body any
	if json.Unmarshal(text, &body) != nil {
		return ""
	}
	value, _ := jsonpointer.Resolve(body, pointer)
	return fmt.Sprint(value)
}
