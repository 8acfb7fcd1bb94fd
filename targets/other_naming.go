package targets

import (
	"regexp"
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
// else than their natural key, or by a query that ignores the spelling as the contract does.
func (t Target) Renames(o Operation) bool {
	values := t.samples()[0].values
	values.Intent.Marker = sampleMarkerOf(o.Marker)
	renames := false
	for _, pointer := range t.Contract.NaturalKey {
		_, _, text := naming(map[string]any(o.Request.Body), pointer)
		for template, parameter := range map[string]string{".Intent.Marker": "marker", ".Intent.Reference": "reference"} {
			if strings.Contains(text, template) && contract.AsksWith(parameter, o.Rows.Query) && !ignoresIn(o.Rows.Query, parameter, t.Contract.NaturalKeyIgnores) {
				return false
			}
		}
		said, err := fill(text, values)
		renames = renames || err == nil && strings.ContainsFunc(said, unicode.IsLetter)
	}
	return renames
}

// ignoresIn reports that a query takes all of these from the spelling of a parameter: lower(name) = lower(:marker) ignores the case, and trim blanks.
func ignoresIn(query, parameter string, all []contract.Ignored) bool {
	return !slices.ContainsFunc(all, func(ignored contract.Ignored) bool {
		function := "lower|upper"
		if ignored == contract.IgnoresBlanks {
			function = "b?trim"
		}
		return !regexp.MustCompile(`(?i)\b(` + function + `)\s*\((\s*\w+\s*\()*\s*:` + parameter + `\b`).MatchString(query)
	})
}
