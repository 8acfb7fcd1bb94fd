package drafting

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// headers are those of the request. One that repeats the body goes with it, unless it says who asks.
func headers(f *File) map[string]string {
	if f.Steady {
		return f.Draft.Header
	}
	return repeating(f.Draft)
}

// Repeats reports that a header of the create goes with the body.
func Repeats(f File) bool {
	f.differs()
	f.Draft = f.Draft.Marked(markerTemplate)
	return !maps.Equal(repeating(f.Draft), f.Draft.Header)
}

// repeating are the headers of the request: where one repeats what the body names the thing by, as If-None-Exist: identifier=SYSTEM|VALUE does, it
// has there what the body has, which is another one in each create.
func repeating(d Draft) map[string]string {
	header := d.Header
	for _, pointer := range slices.Sorted(maps.Keys(d.Templates)) {
		value, _ := jsonpointer.Resolve(d.Body, pointer)
		text, isText := value.(string)
		template := d.Templates[pointer]
		if !isText || len(text) < shortestRepeated || !strings.ContainsAny(text, "0123456789@") || !ofIntent.MatchString(template) || strings.Contains(ofIntent.ReplaceAllString(template, ""), "{{") {
			continue
		}
		alone := regexp.MustCompile(`(^|[^\pL\pN_.@-])` + regexp.QuoteMeta(Escape(text)) + `($|[^\pL\pN_.@-])`)
		for name, was := range header {
			if at := alone.FindStringSubmatchIndex(was); at != nil && !strings.Contains(was, "${") {
				header = cloneTexts(header)
				header[name] = was[:at[3]] + template + was[at[4]:]
			}
		}
	}
	return header
}

// shortestRepeated is how long a value has to be that stands in a header by more than chance.
const shortestRepeated = 4

// ofIntent matches a template that says the same wherever it stands in a request.
var ofIntent = regexp.MustCompile(`\{\{\.(Intent\.(Marker|Reference)|Key)\}\}`)
