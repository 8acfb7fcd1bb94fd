package checker

import (
	"cmp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
)

// mostPrinted is how many lines of the target's log belong to a finding.
const mostPrinted = 20

// printed are the lines that the target printed between the first and the last attempt of a finding, and how many of them are
// left out. Where there are many, those that name a marker, a key or a trace of the attempts are kept, with two lines before and
// after each: other requests may have been inside as well.
func printed(e *evaluation, f Finding) Printed {
	if len(f.Attempts) == 0 || len(e.history.Printed) == 0 {
		return Printed{}
	}
	first, last := f.Attempts[0].Start, f.Attempts[0].End
	for _, a := range f.Attempts {
		last = max(last, a.Start, a.End)
	}
	var all []history.Printed
	for _, line := range e.history.Printed {
		if line.At >= first && line.At <= last {
			all = append(all, line)
		}
	}
	if len(all) <= mostPrinted {
		return Printed{Lines: all}
	}
	far := distances(all, namesIn(e, f))
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(far[a], far[b]) })
	order = order[:mostPrinted]
	slices.Sort(order)
	var lines []history.Printed
	for _, i := range order {
		if far[i] <= context || far[i] == len(all) {
			lines = append(lines, all[i])
		}
	}
	return Printed{Lines: lines, Unlisted: len(all) - len(lines)}
}

// context is how many lines before and after one that names an attempt are kept.
const context = 2

// distances are how far each line is from one with a name in it: the number of lines where there is none.
func distances(lines []history.Printed, names []string) []int {
	far := slices.Repeat([]int{len(lines)}, len(lines))
	for i, line := range lines {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(line.Text, name) }) {
			continue
		}
		for j := range lines {
			far[j] = min(far[j], max(i-j, j-i))
		}
	}
	return far
}

// namesIn are the markers, keys and traces by which a log may name the attempts of a finding.
func namesIn(e *evaluation, f Finding) []string {
	var names []string
	for _, i := range e.history.Intents {
		if slices.ContainsFunc(f.Attempts, func(a history.Attempt) bool { return a.Intent == i.ID }) {
			for _, b := range i.Bodies {
				names = append(names, b.Marker)
			}
		}
	}
	for _, a := range f.Attempts {
		names = append(names, a.Key)
		for place, value := range a.Own {
			if parts := strings.Split(value, "-"); strings.EqualFold(place, "traceparent") && len(parts) >= 4 {
				names = append(names, parts[1])
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
