package reports

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// seenAt matches how often an effect was seen, and at which sinks.
var seenAt = regexp.MustCompile(`^(\d+) at (.+)$`)

// wrongEffect says how an effect is wrong.
func wrongEffect(f checker.Finding) string {
	expected, _, _ := strings.Cut(prose(f.Expected), ":")
	observed, _, _ := strings.Cut(prose(f.Observed), ":")
	want, got := seenAt.FindStringSubmatch(expected), seenAt.FindStringSubmatch(observed)
	if want == nil || got == nil || want[2] != got[2] {
		if by, changed := strings.CutPrefix(observed, "a change by "); changed {
			return fmt.Sprintf("The side effect “%s” changed by %s%s, and not by %s", name(prose(f.Detail)), name(beforeRest(by)), when(f), name(strings.TrimPrefix(expected, "a change by ")))
		}
		return fmt.Sprintf("The side effect “%s” is wrong%s: expected %s, observed %s", name(prose(f.Detail)), when(f), name(expected), name(observed))
	}
	return strings.TrimSuffix(fmt.Sprintf("The side effect “%s” happened %s at %s, not %s,%s%s", name(prose(f.Detail)), howOftenSeen(got[1]), name(got[2]), howOftenSeen(want[1]), when(f), faulted(f)), ",")
}

// beforeRest is a change without for how long it stayed, which a headline has no room for.
func beforeRest(change string) string {
	change, _, _ = strings.Cut(change, ";")
	return change
}

// howOftenSeen writes how often something happened, of its number.
func howOftenSeen(number string) string {
	words := []string{"not at all", "once", "twice", "three times"}
	if n, err := strconv.Atoi(number); err == nil && n < len(words) {
		return words[n]
	}
	return number + " times"
}

// faultOutside is what a scenario made of the answer of another service; empty: nothing.
func faultOutside(f checker.Finding) (fault, sink string) {
	for _, r := range f.Rows {
		if i := slices.IndexFunc(r.Messages, func(m history.Message) bool { return m.Fault != "" }); i >= 0 {
			return r.Messages[i].Fault, r.Messages[i].Sink
		}
	}
	return "", ""
}

// faulted says what a scenario made of the answer of another service, as the end of a clause.
func faulted(f checker.Finding) string {
	switch fault, sink := faultOutside(f); fault {
	case "lost":
		return " after an answer of " + name(sink) + " was lost"
	case "error":
		return " after " + name(sink) + " answered with an error"
	case "late":
		return " while " + name(sink) + " was late"
	default: // a crash is a circumstance
		return ""
	}
}

// faultWords is what a scenario made of the answer of another service, as a part of a list; empty: nothing.
func faultWords(f checker.Finding) string {
	switch fault, _ := faultOutside(f); fault {
	case "lost":
		return "a lost answer of another service"
	case "error":
		return "an error of another service"
	case "late":
		return "a late answer of another service"
	default:
		return ""
	}
}

// notAnswered says of requests that were sent at the same time how many got no answer.
func notAnswered(f checker.Finding) string {
	n := 0
	for _, a := range f.Attempts {
		if !a.Probe && a.Intent == f.Intent && !a.Complete {
			n++
		}
	}
	if !slices.Contains(f.Circumstances, checker.Overlapping) || n == 0 {
		return "A request was never answered" + when(f)
	}
	all := many(f, keyWord(f))
	return fmt.Sprintf("%s of %s, sent at the same time, %s never answered", capital(numeral(n)), strings.ToLower(all[:1])+all[1:], map[bool]string{true: "was", false: "were"}[n == 1])
}
