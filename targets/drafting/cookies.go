package drafting

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/targets"
)

// visitorName matches names of cookies that say who asks, and are no request's.
var visitorName = regexp.MustCompile(`(?i)sess|sid$|auth|csrf|xsrf|login|jwt|bearer|access|remember|refresh|user|visit|client_?id|device|consent|^_ga|^_hj|^ajs_|^amp_|^__cf`)

// ofRequest reports that a cookie may be a request's. A target file cannot name one that is called otherwise than RFC 6265 allows.
func ofRequest(name string) bool {
	return httpguts.ValidHeaderFieldName(name) && (NamesKey(name) || !visitorName.MatchString(name))
}

// mayBeKey reports that a cookie may hold the key of a request: it is called so, or has a value that is drawn.
func mayBeKey(name, value string) bool {
	called := squeezed(name)
	return ofRequest(name) && (NamesKey(name) || keyName.MatchString(called) || strings.HasSuffix(called, "token") || drawn(value))
}

// cookiesOf are what the request has in its header Cookie, each name=value: a variable that the source has a value for is that value.
func cookiesOf(d Draft) (header string, pairs []string) {
	for name, value := range d.Header {
		if !strings.EqualFold(name, "Cookie") {
			continue
		}
		if variable := aVariable.FindStringSubmatch(value); variable != nil {
			value = d.Given[variable[1]]
		}
		for pair := range strings.SplitSeq(value, ";") {
			if pair = strings.TrimSpace(pair); pair != "" {
				pairs = append(pairs, pair)
			}
		}
		return name, pairs
	}
	return "", nil
}

// cookieKeys are the cookies of the client that may hold the key. Those that an answer has set are the target's.
func cookieKeys(d Draft) []targets.Key {
	var all []targets.Key
	_, pairs := cookiesOf(d)
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if variable := aVariable.FindStringSubmatch(value); variable != nil {
			value = d.Given[variable[1]]
		}
		if !strings.Contains(value, "{{") && mayBeKey(name, value) {
			all = append(all, targets.Key{Key: contract.Key{In: contract.KeyInCookie, Name: name}})
		}
	}
	return all
}

// withoutCookie is the draft without one of its cookies, and what stood in the file for its value. The pages that are asked for with the
// same cookies go without it as well.
func withoutCookie(d Draft, name string) (Draft, string) {
	header, pairs := cookiesOf(d)
	held, had := "", d.Header[header]
	left := slices.DeleteFunc(pairs, func(pair string) bool {
		called, value, _ := strings.Cut(pair, "=")
		if called == name {
			held = value
		}
		return called == name
	})
	text := strings.Join(left, "; ")
	if variable := aVariable.FindStringSubmatch(had); variable != nil && text != "" {
		d.Given = maps.Clone(d.Given)
		d.Given[variable[1]] = text
		return d, held
	} else if variable != nil {
		held = had
	}
	anew := func(headers map[string]string) map[string]string {
		headers = maps.Clone(headers)
		if headers[header] == had {
			headers[header] = text
		}
		if headers[header] == "" {
			delete(headers, header)
		}
		return headers
	}
	d.Header, d.Prepare = anew(d.Header), slices.Clone(d.Prepare)
	for i := range d.Prepare {
		d.Prepare[i].Header = anew(d.Prepare[i].Header)
	}
	return d, held
}
