package contract

import (
	"regexp"
	"sync"
)

// patterns are the regular expressions of target files by their text, which are asked of every answer: *regexp.Regexp,
// nil for what is none. There are as many as files have.
var patterns sync.Map

// compiled returns a regular expression, compiled once; nil: it is none. Safe for concurrent use.
func compiled(text string) *regexp.Regexp {
	if known, ok := patterns.Load(text); ok {
		return known.(*regexp.Regexp)
	}
	p, err := regexp.Compile(text)
	if err != nil { // which the loader has noticed
		p = nil
	}
	patterns.Store(text, p)
	return p
}

// Fits reports whether the headers of an answer fit the signature's patterns: value returns that of a header by its
// name, empty where there is none.
func (s Signature) Fits(value func(name string) string) bool {
	for name, text := range s.Headers {
		if p := compiled(text); p == nil || !p.MatchString(value(name)) {
			return false
		}
	}
	return true
}
