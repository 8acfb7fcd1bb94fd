package drafting

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
)

// requestID matches the names of headers that tell the requests of a client apart, for its logs and those of the target.
var requestID = regexp.MustCompile(`(?i)(request|correlation|trace)[-_]?id$`)

// RequestIDs are the headers of the source with the id of its one request. None is the key: clients draw another id for each attempt.
func RequestIDs(d Draft) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(d.Header)) {
		isKey := d.Key.In == contract.KeyInHeader && strings.EqualFold(d.Key.Name, name)
		if requestID.MatchString(name) && drawn(d.Header[name]) && !isKey {
			names = append(names, name)
		}
	}
	return names
}

// WithRequestIDs is the draft with another id for each attempt in some headers.
func WithRequestIDs(d Draft, headers []string) Draft {
	d.Header = maps.Clone(d.Header)
	for _, name := range headers {
		d.Header[name] = "{{.Attempt.ID}}"
	}
	return d
}
