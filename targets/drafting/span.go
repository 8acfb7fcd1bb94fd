package drafting

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/doubletap-harness/doubletap/jsonpointer"
)

// longestSpan is how far two times may be apart that begin and end one thing. Others have nothing to do with each other, as a day of birth and a
// day of arrival.
const longestSpan = 92 * 24 * time.Hour

// longestDrawn is how long a drawn one is at most: long ones would soon meet another.
const longestDrawn = 24 * time.Hour

// Spans are the pairs of times that begin and end one thing, such as a booking: the first of each is the earlier one. Another value in one of them
// alone is no such thing, as it would end before it begins, or last for years.
func Spans(f *File) (all [][]string) {
	byParent := map[string][]string{}
	for _, pointer := range Measured(f) {
		if !momentAt(f, pointer).IsZero() {
			parent, _ := jsonpointer.Cut(pointer)
			byParent[parent] = append(byParent[parent], pointer)
		}
	}
	for _, parent := range slices.Sorted(maps.Keys(byParent)) {
		times := byParent[parent]
		slices.SortStableFunc(times, func(a, b string) int { return momentAt(f, a).Compare(momentAt(f, b)) })
		for n := 1; n < len(times); n++ {
			if apart := momentAt(f, times[n]).Sub(momentAt(f, times[n-1])); apart > 0 && apart <= longestSpan {
				all = append(all, []string{times[n-1], times[n]})
			}
		}
	}
	return all
}

// momentAt is the time that a member of the body says, without its zone; zero: it says none.
func momentAt(f *File, pointer string) time.Time {
	text, _ := textOf(f, pointer)
	layout, zone := layoutOf(text)
	at, err := time.Parse(layout, strings.TrimSuffix(text, zone))
	if layout == "" || err != nil {
		return time.Time{}
	}
	return at
}

// span are the templates of two times that differ together; empty ones: one of them is kept the same for once, and so both are.
func span(f *File) map[string]string {
	var times []string
	for _, pointer := range f.Differing {
		if !momentAt(f, pointer).IsZero() && f.Draft.Templates[pointer] == "" {
			times = append(times, pointer)
		}
	}
	if len(times) != 2 {
		return nil
	}
	if slices.ContainsFunc(times, func(pointer string) bool { return slices.Contains(f.same, pointer) }) {
		return map[string]string{times[0]: "", times[1]: ""}
	}
	apart := momentAt(f, times[1]).Sub(momentAt(f, times[0]))
	if apart <= 0 || apart > longestSpan {
		return nil
	}
	return map[string]string{times[0]: spanning(f, times[0], 0), times[1]: spanning(f, times[1], min(apart, longestDrawn))}
}

// spanning is a template for the time of a member that is so long after the moment of its create.
func spanning(f *File, pointer string, after time.Duration) string {
	text, _ := textOf(f, pointer)
	layout, zone := layoutOf(text)
	return fmt.Sprintf("{{unique \"time\" %q %q}}", layout, after) + zone
}

// ofSpan matches a template of spanning, with how long after the moment its time is.
var ofSpan = regexp.MustCompile(`^\{\{unique "time" "[^"]+" "([^"]+)"`)

// endsSpan reports that a template gives the end of a span: it differs where the beginning does.
func endsSpan(template string) bool {
	parts := ofSpan.FindStringSubmatch(template)
	return parts != nil && parts[1] != time.Duration(0).String()
}
