package curl

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/internal/shell"
)

// place is where a text stands, as far as that says how a value is written there.
type place int

// The places. The zero value is one in which values stand as they are: a path, a header, a text.
const (
	plainly place = iota
	inJSON
	inForm
)

// placeOf is how values are written in the body of a request.
func placeOf(r driver.Rehearsed) place {
	switch {
	case r.Says == nil && json.Valid(r.Body):
		return inJSON
	case r.Says != nil && strings.Contains(header(r, "Content-Type"), "form-urlencoded"):
		return inForm
	default:
		return plainly
	}
}

// header is the value of a header, by a name in any case.
func header(r driver.Rehearsed, name string) string {
	for is, value := range r.Header {
		if strings.EqualFold(is, name) {
			return value
		}
	}
	return ""
}

// The functions of the script that write a value in another way.
const (
	asText  = "json_text"  // the inside of a text of JSON
	asValue = "json_value" // a value of JSON: as it is, if it is one
	asURI   = "in_uri"
	asHTML  = "in_html"
)

// word writes a text as one word, with the script's variables for what they stand for.
func (w *writer) word(text string) string { return w.wordIn(text, plainly) }

// wordIn writes a text as one word, with the variables for what stands for them in such a place.
// Where two of them begin at one character, the longer one is meant.
func (w *writer) wordIn(text string, where place) string {
	names := w.parts(where)
	var parts []shell.Part
	for text != "" {
		at, found := len(text), ""
		for stands := range names {
			if i := strings.Index(text, stands); i >= 0 && (i < at || i == at && len(stands) > len(found)) {
				at, found = i, stands
			}
		}
		parts = append(parts, shell.Part{Text: text[:at]})
		if text = text[at+len(found):]; found == "" {
			break
		}
		part := names[found]
		if strings.HasSuffix(part.Name, respelledFirst) {
			parts = append(parts, shell.Part{Text: found[:len(`\u0000`)]})
		}
		if part.By != "" {
			w.page.Writes = append(w.page.Writes, part.By)
		}
		parts = append(parts, part)
	}
	if slices.ContainsFunc(parts, func(p shell.Part) bool { return strings.Contains(p.Text, driver.Placeholder) }) {
		w.cannot("what a step extracts, where a template makes something else of it")
	}
	return shell.Word(parts...)
}

// respelledFirst is the expansion of a variable without its first character, which is respelled.
const respelledFirst = "#?"

// parts are the variables by the texts that stand for them in some place.
func (w *writer) parts(where place) map[string]shell.Part {
	names := map[string]shell.Part{}
	for stands, name := range w.named {
		if stands == "" {
			continue
		}
		part := shell.Part{Name: name}
		if _, given := w.page.Variables[stands]; given { // anything may stand in it
			part.By = map[place]string{inJSON: asText, inForm: asURI}[where]
		}
		names[stands] = part
		respelled := fmt.Sprintf(`\u%04x`, stands[0])
		names[respelled+stands[1:]] = shell.Part{Name: name + respelledFirst}
	}
	for stands, name := range w.taken {
		number := strings.Trim(stands, `"`)
		names[`\"`+number+`\"`] = shell.Part{Name: name, By: asText}
		names[`%22`+number+`%22`] = shell.Part{Name: name, By: asURI}
		names[`&#34;`+number+`&#34;`] = shell.Part{Name: name, By: asHTML}
		switch where {
		case inJSON:
			names[stands] = shell.Part{Name: name, By: asValue}
		case inForm:
			names[number] = shell.Part{Name: name, By: asURI}
		default:
			names[stands] = shell.Part{Name: name}
		}
	}
	return names
}
