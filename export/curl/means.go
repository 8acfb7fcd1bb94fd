package curl

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/internal/shell"
)

// Means says by what a script knows what an answer means.
type Means struct {
	Earlier  []contract.Signature // throttled, or still running: tried before all others
	Declined []contract.Signature // declined for good
	Done     []contract.Signature // done, or accepted
	Exists   []contract.Signature // there already
	Refused  []contract.Signature // named as a refusal
}

// meaning is a function of the script that tells what the answer in a file means, and those that ask it of several files.
type meaning struct {
	name     string // of the function
	of       string // what it is called in the names of those of several: some_done
	excluded []contract.Signature
	then     []contract.Signature
}

// all are the questions that commands ask of an answer. An earlier meaning takes precedence, as it
// does for the checker.
func (m Means) all() []meaning {
	decided := slices.Concat(m.Earlier, m.Declined)
	return []meaning{
		{"done_at", "done", decided, slices.Concat(m.Done, m.Exists)},
		{"fresh_at", "fresh", decided, m.Done},
		{"settled_at", "settled", m.Earlier, slices.Concat(m.Declined, m.Done, m.Exists)},
		{"named_at", "named", nil, slices.Concat(m.Earlier, m.Declined, m.Done, m.Exists, m.Refused)},
	}
}

// functions are those that some commands call, and whether they need jq.
func (m Means) functions(commands string) (lines []string, jq bool) {
	for _, one := range m.all() {
		called := func(name string) bool { return regexp.MustCompile(`\b` + name + `\b`).MatchString(commands) }
		some, all := called("some_"+one.of), called("all_"+one.of)
		if !some && !all && !called(one.name) && !(one.name == "done_at" && called("same_answers")) {
			continue
		}
		condition, narrowed := one.condition()
		jq = jq || narrowed
		lines = append(lines, fmt.Sprintf("%s() { %s; }", one.name, condition))
		if some {
			lines = append(lines, fmt.Sprintf("some_%s() { for name; do %s \"$name\" && return; done; false; }", one.of, one.name))
		}
		if all {
			lines = append(lines, fmt.Sprintf("all_%s() { for name; do %s \"$name\" || return; done; }", one.of, one.name))
		}
	}
	return lines, jq
}

// condition is the shell's, and whether a status alone does not tell.
func (m meaning) condition() (text string, narrowed bool) {
	var before []contract.Signature
	for _, s := range m.excluded {
		if slices.ContainsFunc(m.then, func(t contract.Signature) bool { _, shared := s.Shared(t); return shared }) {
			before = append(before, s)
		}
	}
	if !slices.ContainsFunc(slices.Concat(before, m.then), contract.Signature.Narrowed) {
		var of []int
		for _, status := range statusesOf(m.then) {
			if !slices.Contains(statusesOf(before), status) {
				of = append(of, status)
			}
		}
		return oneOf(of), false
	}
	text = anyOf(m.then)
	if len(before) > 0 {
		text = fmt.Sprintf("! { %s; } && { %s; }", anyOf(before), text)
	}
	return text, true
}

// statusesOf are those of all signatures, each once.
func statusesOf(all []contract.Signature) (of []int) {
	for _, s := range all {
		of = append(of, s.Statuses...)
	}
	slices.Sort(of)
	return slices.Compact(of)
}

// oneOf is the command that compares the status of an answer with several.
func oneOf(statuses []int) string {
	return fmt.Sprintf(`one_of "$1" %q`, strings.Trim(fmt.Sprint(statuses), "[]"))
}

// anyOf holds if one of some signatures fits.
func anyOf(all []contract.Signature) string {
	var parts []string
	if plain := slices.DeleteFunc(slices.Clone(all), contract.Signature.Narrowed); len(plain) > 0 {
		parts = append(parts, oneOf(statusesOf(plain)))
	}
	for _, s := range all {
		if !s.Narrowed() {
			continue
		}
		text := oneOf(s.Statuses)
		for _, pointer := range slices.Sorted(maps.Keys(s.Where)) {
			value, err := json.Marshal(s.Where[pointer])
			if err != nil {
				value = []byte("null")
			}
			text += fmt.Sprintf(` && has "$1" %s %s`, shell.Quote(pointer), shell.Quote(string(value)))
		}
		for _, header := range slices.Sorted(maps.Keys(s.Headers)) {
			text += fmt.Sprintf(` && reads "$1" %s %s`, shell.Quote(header), shell.Quote(s.Headers[header]))
		}
		parts = append(parts, "{ "+text+"; }")
	}
	return strings.Join(parts, " || ")
}
