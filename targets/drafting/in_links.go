package drafting

import (
	"regexp"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// linkName matches what members are called that hold an address.
var linkName = regexp.MustCompile(`(?i)^(href|url|uri|link|self|location)$|_(url|uri|link|href)$|[a-z](Url|Uri|Link|Href)$`)

// resourceName matches the name of a resource, which is its path in pairs of a collection and what it is there, such as shelves/7/books/12
// (https://google.aip.dev/122).
var resourceName = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z_-]*/[^/\s]+/)*[A-Za-z][A-Za-z_-]*/[^/\s]+$`)

// holdsAddress reports that a member leads to a thing, or has its resource's name.
func holdsAddress(name, text string) bool {
	return linkName.MatchString(name) || (name == "name" || squeezed(name) == "resourcename") && resourceName.MatchString(text)
}

// inLinks is the pattern by which an answer names a value as the end of an address, such as that of the thing itself among its links. No pointer
// leads into a text, so the pattern is one for the body as it is written, in which a slash may be escaped.
func inLinks(answer any, written, value string) (named contract.Identity) {
	for _, ofItself := range []bool{true, false} {
		Scalars("", answer, func(pointer string, member any) {
			text, isText := member.(string)
			_, name := jsonpointer.Cut(pointer)
			if named.Declared() || !isText || !holdsAddress(name, text) || strings.Contains(strings.ToLower(pointer), "self") != ofItself {
				return
			}
			segments := pathSegments(text)
			end := len(segments) - 1
			if end < 1 || value == "" || segments[end] != value || segments[end-1] == "" || !segmentWord.MatchString(segments[end-1]) {
				return
			}
			of := `([^"\\/?#]+)`
			if plainNumber.MatchString(value) {
				of = anyNumber
			}
			try := contract.Identity{Pattern: `"` + regexp.QuoteMeta(name) + `"\s*:\s*"(?:[^"]*/)?` + regexp.QuoteMeta(segments[end-1]) + `\\?/` + of + `(?:\\?/)?["?#]`}
			if try.In(written) == value {
				named = try
			}
		})
	}
	return named
}
