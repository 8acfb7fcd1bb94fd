package drafting

import (
	"fmt"
	"maps"
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
		if value, _ := jsonpointer.Resolve(f.Draft.Body, pointer); !momentOf(value).IsZero() {
			parent, _ := jsonpointer.Cut(pointer)
			byParent[parent] = append(byParent[parent], pointer)
		}
	}
	at := func(pointer string) time.Time {
		value, _ := jsonpointer.Resolve(f.Draft.Body, pointer)
		return momentOf(value)
	}
	for _, parent := range slices.Sorted(maps.Keys(byParent)) {
		times := byParent[parent]
		slices.SortStableFunc(times, func(a, b string) int { return at(a).Compare(at(b)) })
		for n := 1; n < len(times); n++ {
			if apart := at(times[n]).Sub(at(times[n-1])); apart > 0 && apart <= longestSpan {
				all = append(all, []string{times[n-1], times[n]})
			}
		}
	}
	return all
}

// momentOf is the time that a value says, without its zone; zero: it says none.
func momentOf(value any) time.Time {
	text, _ := value.(string)
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
		if value, _ := jsonpointer.Resolve(f.Draft.Body, pointer); !momentOf(value).IsZero() && f.Draft.Templates[pointer] == "" {
			times = append(times, pointer)
		}
	}
	if len(times) != 2 {
		return nil
	}
	if slices.ContainsFunc(times, func(pointer string) bool { return slices.Contains(f.same, pointer) }) {
		return map[string]string{times[0]: "", times[1]: ""}
	}
	first, _ := jsonpointer.Resolve(f.Draft.Body, times[0])
	last, _ := jsonpointer.Resolve(f.Draft.Body, times[1])
	apart := momentOf(last).Sub(momentOf(first))
	if apart <= 0 || apart > longestSpan {
		return nil
	}
	return map[string]string{times[0]: spanning(first.(string), 0), times[1]: spanning(last.(string), min(apart, longestDrawn))}
}

// spanning is a template for a time that is so long after the moment of its create.
func spanning(value string, after time.Duration) string {
	layout, zone := layoutOf(value)
	return fmt.Sprintf("{{unique \"time\" %q %q}}", layout, after) + zone
}

// endsSpan reports that a template gives the end of a span: it differs where the beginning does.
func endsSpan(template string) bool {
	return strings.HasPrefix(template, `{{unique "time" "`) && strings.Count(template, `"`) == 6 && !strings.Contains(template, `"0s"`)
}
