package curl

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/inert"
	"github.com/doubletap-harness/doubletap/internal/shell"
	"github.com/doubletap-harness/doubletap/targets"
)

// CannotTake is why a script cannot take what is extracted from an answer; empty: it can.
func CannotTake(e targets.Extract) string {
	if e.HTML != "" {
		if _, is := selectorOf(e.HTML); !is {
			return fmt.Sprintf("the selector %s, of which a script knows names, ids, classes, attributes, and a form around it", e.HTML)
		}
	}
	return ""
}

// notInNames is what the names of variables do not have.
var notInNames = regexp.MustCompile(`[^a-z0-9_]+`)

// takes gives names to what steps extract.
func (w *writer) takes() {
	for _, run := range w.page.Steps {
		if run.Made != "" {
			w.taken[run.Made], _ = w.variable("made", run.Made)
		}
		for _, step := range run.Steps {
			for _, name := range step.Step.Names() {
				stands := step.Extract[name]
				if w.taken[stands] == "" {
					w.taken[stands], _ = w.variable(string(run.For)+"_"+notInNames.ReplaceAllString(strings.ToLower(name), "_"), stands)
				}
			}
		}
	}
	for stands := range w.taken {
		delete(w.named, stands)
	}
}

// steps writes what comes before the requests of a try, and behind them.
func (w *writer) steps() {
	for n, run := range w.page.Steps {
		switch run.For {
		case history.Login:
			if w.used(run) {
				w.page.Login = append(w.page.Login, w.run(run)...)
			}
		case history.Prepare, history.Issue:
			w.page.SetUp = append(w.page.SetUp, w.run(run)...)
		case history.Cleanup:
			made := fmt.Sprintf("made_%d", n+1)
			w.page.SetUp = append(w.page.SetUp, made+"=yes")
			w.page.CleanUp = append(w.page.CleanUp, fmt.Sprintf("if [ -n \"${%s-}\" ]; then\n%s=\n%s\nfi", made, made, strings.Join(w.run(run), "\n")))
		}
	}
	slices.Sort(w.page.Takes)
	w.page.Takes = slices.Compact(w.page.Takes)
	slices.Sort(w.page.Writes)
	w.page.Writes = slices.Compact(w.page.Writes)
	w.page.JQ = w.page.Narrowed || len(w.page.Takes)+len(w.page.Writes) > 0
}

// used reports whether a request has in it what a login gives, or there is but one login.
func (w *writer) used(login driver.RehearsedRun) bool {
	var requests []driver.Rehearsed
	logins := 0
	for _, run := range w.page.Steps {
		if run.For == history.Login {
			logins++
			continue
		}
		for _, step := range run.Steps {
			requests = append(requests, step.Rehearsed)
		}
	}
	requests = slices.AppendSeq(requests, maps.Values(w.page.Requests))
	return logins == 1 || slices.ContainsFunc(login.Steps, func(step driver.RehearsedStep) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(step.Extract)), func(stands string) bool {
			return slices.ContainsFunc(requests, func(r driver.Rehearsed) bool {
				return strings.Contains(fmt.Sprint(r.Path, r.Header, string(r.Body), r.Signer), strings.Trim(stands, `"`))
			})
		})
	})
}

// run are the commands that send steps and take what they extract.
func (w *writer) run(run driver.RehearsedRun) []string {
	var lines []string
	for n, step := range run.Steps {
		lines = append(lines, w.stepVariables(run, step)...)
		path, _, _ := strings.Cut(step.Step.Request.Path, "?") // in which a secret may stand
		what := shell.Quote(inert.Line(fmt.Sprintf("%s[%d] (%s %s)", run.Place, n, step.Method, path)))
		command := fmt.Sprintf("rm -f .step\ncurl%s \\\n  --output .step --url %s || true", w.options(step.Rehearsed, "--max-time 10"), w.url(step.Rehearsed))
		if step.Sign != nil {
			w.page.Signed = true
			command = "now=$(date +%s)\n" + command
		}
		expected := "2 3"
		if len(step.Step.Statuses) > 0 {
			expected = strings.Trim(fmt.Sprint(step.Step.Statuses), "[]")
		}
		lines = append(lines, fmt.Sprintf("%s\npassed %s %q%s", command, what, expected, map[bool]string{true: " secret"}[run.For == history.Login]))
		for _, name := range step.Step.Names() {
			e := step.Step.Extract[name]
			lines = append(lines, fmt.Sprintf("%s=$(%s) || failed %s", w.taken[step.Extract[name]], w.take(e, ".step"),
				shell.Quote(inert.Line(fmt.Sprintf("%s[%d]: its answer has no %s (%s)", run.Place, n, name, e)))))
		}
	}
	return lines
}

// stepVariables makes variables of what a step has from the run or from the environment, and returns the commands that set those
// that a login draws: it comes before all others are drawn.
func (w *writer) stepVariables(run driver.RehearsedRun, step driver.RehearsedStep) (lines []string) {
	drawn, whole := len(w.page.Drawn), fmt.Sprint(step.Path, step.Header, string(step.Body))
	w.needs(step.Rehearsed)
	if run.For != history.Login {
		w.reference(step.Rehearsed, whole)
	}
	w.draws(step.Rehearsed)
	w.secrets(step.Rehearsed)
	if run.For == history.Login {
		for _, v := range w.page.Drawn[drawn:] {
			lines = append(lines, v.Name+"="+v.Value)
		}
		w.page.Drawn = w.page.Drawn[:drawn]
	}
	return lines
}

// take is a command that writes what is extracted from the answer in a file.
func (w *writer) take(e targets.Extract, file string) string {
	switch {
	case e.JSON != "":
		return w.takeBy("json", file, e.JSON)
	case e.Header != "":
		return w.takeBy("header", file, e.Header, "")
	case e.Cookie != "":
		return w.takeBy("cookie", file, e.Cookie)
	case e.HTML != "":
		s, _ := selectorOf(e.HTML)
		return w.takeBy("html", file, s.String(), e.Attribute)
	default:
		return w.takeBy("pattern", file, onigurumas(e.Pattern))
	}
}

// takeBy is a call of one of the functions that take a value, and has the script define it.
func (w *writer) takeBy(kind, file string, arguments ...string) string {
	w.page.Takes = append(w.page.Takes, kind)
	command := "take_" + kind + " " + file
	for _, argument := range arguments {
		command += " " + shell.Quote(argument)
	}
	return command
}

// takeIdentity is a command that writes how the answer in a file names what was made.
func (w *writer) takeIdentity(i contract.Identity, file string) string {
	if i.JSON != "" {
		return w.takeBy("json", file, i.JSON)
	}
	if i.InText() {
		return w.takeBy("text", file, onigurumas(i.Pattern))
	}
	return w.takeBy("header", file, i.Header, onigurumas(i.Pattern))
}

// identity is likewise, where it is known how; empty: it is not.
func (w judging) identity(file string) string {
	if w.page.Judge.Identity == (contract.Identity{}) {
		return ""
	}
	return w.takeIdentity(w.page.Judge.Identity, file)
}

// onigurumas is a regular expression of Go as jq has it.
func onigurumas(pattern string) string { return strings.ReplaceAll(pattern, "(?P<", "(?<") }

// remove are the commands that remove what an intent has made. It is known by what its last answer named.
func (w *writer) remove(intent string) string {
	at := slices.IndexFunc(w.page.Steps, func(run driver.RehearsedRun) bool { return run.For == history.Remove && run.Intent == intent })
	if at < 0 {
		w.cannot("the removal of what was made")
		return ":"
	}
	run := w.page.Steps[at]
	var lines []string
	if made := w.taken[run.Made]; strings.Contains(fmt.Sprint(run.Steps), strings.Trim(run.Made, `"`)) {
		take := w.takeIdentity(run.Identity, `"$name"`)
		var files []string
		for _, i := range w.page.asked {
			if i.intent == intent {
				files = append(files, i.files...)
			}
		}
		lines = append(lines, fmt.Sprintf("%s=\nfor name in %s; do\n  done_at \"$name\" && this=$(%s) && %s=$this\ndone\n[ -n \"$%s\" ] || stop \"no answer has named what is to be removed\"",
			made, strings.Join(files, " "), take, made, made))
	}
	return strings.Join(append(lines, w.run(run)...), "\n")
}

// selector is what a script knows of those of CSS: an element, in a form or anywhere.
type selector struct {
	Tag        string       `json:"tag,omitempty"`
	Attributes [][2]*string `json:"attributes,omitempty"` // name and value; nil: any
	Classes    []string     `json:"classes,omitempty"`
	Form       *selector    `json:"form,omitempty"`
}

// String is the selector as the script's function reads it.
func (s selector) String() string {
	text, _ := json.Marshal(s) // it can be
	return string(text)
}

// What is understood of CSS selectors.
const (
	cssName   = `[A-Za-z_][A-Za-z0-9_-]*`
	condition = `#` + cssName + `|\.` + cssName + `|\[` + cssName + `(?:=(?:"[^"\\]*"|'[^'\\]*'|[A-Za-z0-9_-]+))?\]`
)

var (
	anElement = regexp.MustCompile(`^(?:(form(?:` + condition + `)*)\s+)?((?:` + cssName + `|\*)?(?:` + condition + `)*)$`)
	aPart     = regexp.MustCompile(`^(?:` + cssName + `|\*)|` + condition)
)

// selectorOf reads a selector, and reports whether a script knows it.
func selectorOf(text string) (selector, bool) {
	found := anElement.FindStringSubmatch(strings.TrimSpace(text))
	if found == nil || found[2] == "" {
		return selector{}, false
	}
	s := elementOf(found[2])
	if found[1] != "" {
		form := elementOf(found[1])
		s.Form = &form
	}
	return s, true
}

// elementOf reads the part of a selector that is about one element.
func elementOf(text string) (s selector) {
	for _, part := range aPart.FindAllString(text, -1) {
		switch part[0] {
		case '#':
			s.Attributes = append(s.Attributes, [2]*string{new("id"), new(part[1:])})
		case '.':
			s.Classes = append(s.Classes, part[1:])
		case '[':
			name, value, has := strings.Cut(strings.Trim(part, "[]"), "=")
			of := [2]*string{new(strings.ToLower(name)), nil}
			if has {
				of[1] = new(strings.Trim(value, `"'`))
			}
			s.Attributes = append(s.Attributes, of)
		case '*':
		default:
			s.Tag = strings.ToLower(part)
		}
	}
	return s
}
