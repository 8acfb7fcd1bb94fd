package targets

import (
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
)

// identity looks at where an answer is said to name a thing.
func (v *validator) identity(path string, i contract.Identity) {
	if i.Pattern != "" {
		if pattern, err := regexp.Compile(i.Pattern); err != nil || pattern.NumSubexp() != 1 {
			v.addMistake(path+"/pattern", "expected a regular expression with one group, such as /orders/([0-9]+)")
		}
	}
	if v.masked(i.Header) {
		v.addMistake(path+"/header", maskedHeader, v.doc.Shown(path+"/header"))
	}
}

// maskedHeader is the mistake of a file that wants to read an identity or a meaning in a header
// that is never recorded.
const maskedHeader = "the header %s is masked in every record, so that nothing can be read in it"

// MaskedHeaders are the headers that are masked in the records of every target, besides those that it redacts.
func MaskedHeaders() []string {
	return []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "X-Api-Token", "X-Auth-Token"}
}

// MayNameSender reports that a request carries what usually says who sends it: a header that is masked, or a signature.
func (q Request) MayNameSender() bool {
	return q.Sign != nil || slices.ContainsFunc(MaskedHeaders(), q.has)
}

// masked reports that nothing can be read in a header.
func (v *validator) masked(header string) bool {
	return slices.ContainsFunc(append(MaskedHeaders(), v.target.Redact...), func(masked string) bool {
		return strings.EqualFold(header, masked)
	})
}
