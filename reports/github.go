package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// mostAnnotations is how many annotations of one level GitHub keeps of a step. It drops the others
// without a word.
const mostAnnotations = 10

// annotation is what GitHub shows at the top of a run, and at the file if there is one.
type annotation struct {
	title string
	text  []string // lines
	file  string   // of the scenario, relative to the root of the checkout; empty: there is none
}

// GitHub writes workflow commands for GitHub Actions: an error for each cause of new findings, worst first,
// and for what could not be judged, a warning for what is inconclusive or was not seen any more, and a
// notice for what is known or excused. Findings of one
// cause are one annotation, so that a frequent one leaves room for the others. Files has the paths
// of scenarios that are files of the checkout.
func GitHub(w io.Writer, r checker.Report, files map[string]string) error {
	v := newView(r)
	var b strings.Builder
	var failed, expected []annotation
	for _, one := range v.Causes {
		a := one.annotation(v, files[one.First.Scenario])
		if one.First.isNew() {
			failed = append(failed, a)
		} else {
			expected = append(expected, a)
		}
	}
	annotate(&b, "error", append(failed, unjudged(v, checker.Broken, files)...), v.Files)
	annotate(&b, "warning", append(unjudged(v, checker.Inconclusive, files), unjudged(v, checker.Mended, files)...), v.Files)
	annotate(&b, "notice", expected, v.Files)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write workflow commands: %w", err)
	}
	return nil
}

// annotation says what broke, where and how often, what was expected, and how to replay it.
func (c causeView) annotation(v view, file string) annotation {
	f := c.First
	text := present([]note{{"", c.seenIn()}, {"", c.Note}, {"", c.likelySentence()}, {"", fit(f.Expectation, 4*widestCell)}})
	lines := make([]string, 0, len(text)+4)
	for _, n := range text {
		lines = append(lines, n.Text)
	}
	return annotation{title: fit(c.ID+" "+joined([]string{f.kindAndDetail(), c.Sentence}, ": "), 2*widestCell), text: append(lines, c.hints(v)...), file: file}
}

// likelySentence names the likely cause and how to mend it; empty: the finding is not new, or there is none.
func (c causeView) likelySentence() string {
	if c.Likely == nil || len(c.Likely.Guesses) == 0 {
		return ""
	}
	return fmt.Sprintf("Likely cause: %s. How to mend it: %s", c.Likely.Cause, c.Likely.Mend)
}

// hints are why a cause fails nothing, how to go on, and what was sent.
func (c causeView) hints(v view) []string {
	f, text := c.First, []string(nil)
	switch {
	case f.Known != "":
		text = append(text, "Known: "+fit(f.Known, 4*widestCell))
	case f.Excused != "":
		text = append(text, capital(f.allowed()))
	}
	if v.Caveat != "" {
		text = append(text, v.Caveat)
	}
	if v.Replay != "" {
		text = append(text, "Replay it: "+v.replay(f))
	}
	return append(text, f.evidence().inBrief()...)
}

// unjudged are the scenarios with a verdict that is no judgement, those with the same reason together.
func unjudged(v view, verdict checker.Verdict, files map[string]string) []annotation {
	var reasons []string
	names, word := map[string][]string{}, spoken(verdict)
	for _, s := range v.Scenarios {
		if s.Result.Verdict != verdict {
			continue
		}
		reason := s.Reasons[0]
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
		names[reason] = append(names[reason], s.Name)
	}
	var all []annotation
	for _, reason := range reasons {
		a := annotation{title: fmt.Sprintf("%s: %s", word, name(names[reason][0])), text: []string{fit(reason, 4*widestCell)}}
		if n := len(names[reason]); n > 1 {
			a.title = fmt.Sprintf("%s: %s", word, english.Plural(n, "scenario"))
			a.text = append(a.text, fit(strings.Join(names[reason], ", "), 4*widestCell))
		} else {
			a.file = files[names[reason][0]]
		}
		all = append(all, a)
	}
	return all
}

// annotate writes annotations of one level. Where they are too many, the last one counts the rest.
func annotate(b *strings.Builder, level string, all []annotation, dir string) {
	if len(all) > mostAnnotations {
		rest := annotation{title: fmt.Sprintf("%d more", len(all)-mostAnnotations+1), text: []string{"The full list is in report.txt in " + dir}}
		all = append(all[:mostAnnotations-1:mostAnnotations-1], rest)
	}
	for _, a := range all {
		properties := "title=" + property(a.title)
		if a.file != "" {
			properties = "file=" + property(a.file) + "," + properties
		}
		fmt.Fprintf(b, "::%s %s::%s\n", level, properties, data(strings.Join(a.text, "\n")))
	}
}

// data escapes the text of a workflow command.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// property escapes a property of a workflow command.
func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
