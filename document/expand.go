package document

import (
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// expand replaces the variables of a scalar. A scalar without quotes is then read again, so that a
// variable can hold a number. One that something else stands for is not looked at.
func (w *walker) expand(n *yaml.Node, at string) {
	if text, given := w.instead[at]; given {
		w.doc.written[n], w.doc.given[n] = n.Value, []string{text}
		n.Value, n.Tag = text, "!!str"
		return
	}
	if _, done := w.doc.written[n]; done || w.env == nil || !strings.Contains(n.Value, "$") {
		return
	}
	text, given, problems := expand(n.Value, w.env)
	for _, problem := range problems {
		w.addMistake(n, at, problem)
	}
	if text == n.Value || len(problems) > 0 {
		return
	}
	w.doc.written[n], w.doc.given[n] = n.Value, given
	n.Value = text
	if n.Style == 0 {
		n.Tag = ""
	}
}

// expand replaces ${NAME}, ${NAME:-default} and $$ in a text, and returns what was given in place of variables. A
// variable that is set but empty takes the default, as in a shell.
func expand(text string, env func(string) (string, bool)) (expanded string, given, problems []string) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String(), given, problems
		}
		reference, rest, closed := strings.Cut(strings.TrimPrefix(after, "{"), "}")
		switch {
		case strings.HasPrefix(after, "$"):
			out.WriteByte('$')
			text = after[1:]
		case !strings.HasPrefix(after, "{"):
			out.WriteByte('$')
			text = after
		case !closed:
			return "", nil, append(problems, "a ${ is not closed by }; write $$ for a dollar sign")
		default:
			value, problem := variable(reference, env)
			if problem != "" {
				problems = append(problems, problem)
			}
			given = append(given, value)
			out.WriteString(value)
			text = rest
		}
	}
}

// variable returns what a reference such as NAME or NAME:-default stands for, or what is wrong
// with it. It names the variable in its mistake, and never its value.
func variable(reference string, env func(string) (string, bool)) (value, problem string) {
	name, fallback, hasFallback := strings.Cut(reference, ":-")
	if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(name) {
		return "", fmt.Sprintf("%s does not name an environment variable; write ${NAME} or ${NAME:-default}, and $$ for a dollar sign",
			quote("${"+reference+"}"))
	}
	value, set := env(name)
	switch {
	case hasFallback && (!set || value == ""):
		return fallback, ""
	case !set:
		return "", fmt.Sprintf("the environment variable %s is not set; set it, or write ${%s:-default}", name, name)
	}
	return value, ""
}
