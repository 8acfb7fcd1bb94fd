package drafting

import (
	"regexp"
	"slices"
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

// absolute reports that a text is an address with its host, whatever its member is called. The host is that of one run.
func absolute(text string) bool { return strings.Contains(text, "://") }

// inLinks is the pattern by which an answer names a value as the end of an address, such as that of the thing itself among its links. One that
// nothing else equals by chance may stand in the middle of an absolute one, too. No pointer leads into a text, so the pattern is one for the body
// as it is written, in which a slash may be escaped.
func inLinks(answer any, written, value string) (named contract.Identity) {
	for _, ofItself := range []bool{true, false} {
		Scalars("", answer, func(pointer string, member any) {
			text, isText := member.(string)
			_, name := jsonpointer.Cut(pointer)
			certain := len(value) >= telling && absolute(text)
			if named.Declared() || !isText || !certain && !holdsAddress(name, text) || strings.Contains(strings.ToLower(pointer), "self") != ofItself {
				return
			}
			segments, behind := pathSegments(text), `(?:\\?/)?["?#]`
			at := len(segments) - 1
			if within := slices.Index(segments, value); certain && within >= 0 && within < at {
				at, behind = within, `\\?/`
			}
			if at < 1 || value == "" || segments[at] != value || segments[at-1] == "" || !segmentWord.MatchString(segments[at-1]) {
				return
			}
			of := `([^"\\/?#]+)`
			if plainNumber.MatchString(value) {
				of = anyNumber
			}
			try := contract.Identity{Pattern: `"` + regexp.QuoteMeta(name) + `"\s*:\s*"(?:[^"]*/)?` + regexp.QuoteMeta(segments[at-1]) + `\\?/` + of + behind}
			if try.In(written) == value {
				named = try
			}
		})
	}
	return named
}
