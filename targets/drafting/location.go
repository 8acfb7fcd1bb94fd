package drafting

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
)

// Regular expressions for the parts of a Location.
const (
	origin     = `^(?:https?://[^/?#]+)?` // it may be absolute or not
	anySegment = "[^/?#]+"
	anyName    = "([^/?#&]+)"
	anyNumber  = "([0-9]+)"
)

// segmentWord is a segment that stays the same: what else stands in a path may be another one the next time, or secret.
var segmentWord = regexp.MustCompile(`^(?:[A-Za-z]{1,24}(?:[-_.][A-Za-z]{1,24}){0,3}|[vV][0-9]{1,2}|)$`)

// oneOfSet matches a segment that names one of a set as OData does: Orders(17), Orders('a-1').
var oneOfSet = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.]*)\((?:guid)?(?:'|%27)?([^()'%]+)(?:'|%27)?\)$`)

// leading is the regular expression by which a Location names a value, as a segment of its path or a parameter;
// empty: it does not. What stands behind the value is left open.
func leading(location, value string) string {
	u, err := url.Parse(location)
	if err != nil || value == "" || location == "" {
		return ""
	}
	named := anyName
	if plainNumber.MatchString(value) {
		named = anyNumber
	}
	segments := strings.Split(u.EscapedPath(), "/")
	var patterns []string
	for i, segment := range slices.Backward(segments) {
		before := origin + segmentsLike(append(slices.Clone(segments[:i]), ""))
		if segment == value {
			patterns = append(patterns, before+named+"(?:[/?#]|$)")
		}
		if of := oneOfSet.FindStringSubmatch(segment); of != nil && of[2] == value {
			patterns = append(patterns, before+regexp.QuoteMeta(of[1])+`\((?:guid)?(?:'|%27)?`+strings.Replace(named, "/?#&", "/?#&()'%", 1)+`(?:'|%27)?\)`)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.Query())) {
		if values := u.Query()[name]; len(values) == 1 && values[0] == value {
			patterns = append(patterns, origin+segmentsLike(segments)+`\?(?:[^#]*&)?`+regexp.QuoteMeta(name)+"="+named+"(?:[&#]|$)")
		}
	}
	for _, pattern := range patterns {
		if (contract.Identity{Header: "Location", Pattern: pattern}).In(location) == value {
			return pattern
		}
	}
	return ""
}

// pathSegments are the segments of the path of an address, without an empty one at its end.
func pathSegments(address string) []string {
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		address = address[:end]
	}
	return strings.Split(strings.TrimRight(address, "/"), "/")
}

// segmentsOf are the texts by which a Location may name something.
func segmentsOf(location string) []string {
	u, err := url.Parse(location)
	if err != nil || location == "" {
		return nil
	}
	all := strings.Split(u.EscapedPath(), "/")
	for _, name := range slices.Sorted(maps.Keys(u.Query())) {
		all = append(all, u.Query()[name]...)
	}
	return all
}

// segmentsLike is the regular expression for a path, with any text for each segment that is no word.
func segmentsLike(segments []string) string {
	var all []string
	for _, segment := range segments {
		if segmentWord.MatchString(segment) {
			all = append(all, regexp.QuoteMeta(segment))
		} else {
			all = append(all, anySegment)
		}
	}
	return strings.Join(all, "/")
}

// leadsBeside reports that the answers name the created thing in their bodies, and in their Location, too, of which a repetition's is like the
// first one's, also where copies were sent at once. Clients may follow either, so both have to lead to the one thing.
func leadsBeside(f *File, first Answer, again, apart []Answer, bursts []Burst) bool {
	name := f.name(first)
	if f.named().Header != "" || redirects(first.Status) || name == "" {
		return false
	}
	at := contract.Identity{Header: "Location", Pattern: leading(first.Location, name)}
	if at.Pattern == "" {
		return false
	}
	astray := false
	alike := func(a, b Answer) bool {
		from, to := at.In(a.Location), at.In(b.Location)
		if from == "" || to == "" || redirects(b.Status) || f.name(b) != f.name(a) {
			return false
		}
		astray = astray || from != to
		return strings.ReplaceAll(a.Location, from, to) == b.Location // no token or time in it
	}
	for _, a := range again {
		if !alike(first, a) {
			return false
		}
	}
	if len(apart) == 2 && !alike(apart[0], apart[1]) {
		return false
	}
	for _, b := range bursts {
		for _, a := range b.Copies {
			if a.Done() && f.name(a) != "" && f.name(a) == f.name(b.After) && !alike(b.After, a) {
				return false
			}
		}
	}
	if astray {
		f.Doubt("Whether the Location of a repetition may lead elsewhere: it did, though %s was that of the first answer. Runs will show it as a broken promise; if it may, leave replay.headers out.", f.named().Where())
	}
	return true
}
