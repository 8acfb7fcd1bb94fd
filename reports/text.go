package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/fatih/color"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// How much of a run is listed.
const (
	mostLines    = 10
	verdictWidth = len("inconclusive")
	elapsedWidth = 6
	narrowLine   = 90 // columns that hold a scenario with its evidence
)

// Line is one scenario on one line, without a line feed: mark, name, verdict, elapsed time, and the
// evidence, which comes last and is never cut. On a narrow terminal the evidence stands below, on lines of its own.
func Line(res checker.Result, s Style) string {
	return line(newScenarioView(sanitize(res)), s)
}

// line lays out one scenario.
func line(v scenarioView, s Style) string {
	verdict, evidence := v.Verdict.verdict, "  "+v.Evidence
	const between = 8 // the mark and spaces
	if s.width() < narrowLine && between+s.names()+verdictWidth+elapsedWidth+cells(v.Evidence) > s.width() {
		const indent = "\n    "
		evidence = indent + strings.TrimSuffix(Wrap(v.Evidence, indent[1:], s.width()-len(indent)+1), "\n")
	}
	return fmt.Sprintf("%s %s  %s  %s%s", s.verdict(verdict, v.Verdict.Mark), pad(v.Name, s.names()),
		s.verdict(verdict, pad(short(verdict), verdictWidth)), s.faint(padLeft(v.Elapsed, elapsedWidth)), evidence)
}

// short is a verdict in as few columns as the column of verdicts has.
func short(v checker.Verdict) string {
	if v == checker.NotApplicable {
		return "n/a"
	}
	return spoken(v)
}

// verdict colours text as its verdict.
func (s Style) verdict(v checker.Verdict, text string) string {
	switch v {
	case checker.Pass:
		return s.ink(text, color.FgGreen)
	case checker.Fail:
		return s.ink(text, color.FgRed, color.Bold)
	case checker.NotApplicable:
		return s.faint(text)
	case checker.Broken:
		return s.ink(text, color.FgMagenta, color.Bold)
	case checker.Known:
		return s.ink(text, color.FgCyan)
	default:
		return s.ink(text, color.FgYellow)
	}
}

// Text writes the whole report for a terminal: a line per scenario, then [Details].
func Text(w io.Writer, r checker.Report, s Style) error { return text(w, r, &page{style: s}) }

// TextFile writes the same for a file, which has room for the first finding of each cause in full.
func TextFile(w io.Writer, r checker.Report) error { return text(w, r, &page{each: true}) }

func text(w io.Writer, r checker.Report, p *page) error {
	v, s := newView(r), p.style
	if s.Names == 0 {
		p.style.Names = longestName(v)
	}
	for _, scenario := range v.Scenarios {
		p.line(line(scenario, p.style))
	}
	p.details(v)
	return p.flush(w)
}

// Details writes what follows the lines of the scenarios: the first finding in full, the causes
// of all, what to know besides, and the summary. It is for a caller that has printed each
// [Line] when it was ready.
func Details(w io.Writer, r checker.Report, s Style) error {
	p := &page{style: s}
	p.details(newView(r))
	return p.flush(w)
}

// longestName is how wide the column of names must be for this run.
func longestName(v view) int {
	longest := len("scenario")
	for _, s := range v.Scenarios {
		longest = max(longest, cells(s.Name))
	}
	return longest
}

// details goes from what matters most to what matters least, and ends with the summary: a terminal shows the end.
func (p *page) details(v view) {
	if len(v.Findings) > 0 {
		p.line()
		p.finding(v, v.Findings[0])
		p.causes(v)
	}
	if p.each {
		for _, c := range v.Causes[min(1, len(v.Causes)):min(len(v.Causes), mostDetails)] {
			p.line()
			p.finding(v, c.First)
		}
	}
	p.section(v.known())
	p.section(v.excused())
	p.warnings(v)
	p.missing(v)
	for _, s := range v.measured() {
		p.section(s)
	}
	p.confidence(v)
	p.summary(v)
}

// causes lists what the findings come from, each with the scenarios that show it.
func (p *page) causes(v view) {
	if len(v.Findings) < 2 {
		return
	}
	p.title(english.Plural(len(v.Causes), "cause") + ", " + english.Plural(len(v.Findings), "finding"))
	for i, c := range v.Causes {
		if i == mostLines {
			p.line(fmt.Sprintf("  and %d more", len(v.Causes)-i))
			break
		}
		p.wrapped("  "+pad(c.ID, 4), joined([]string{c.First.Kind, c.First.standing(), c.Sentence}, ": "))
		if c.Under != "" {
			p.wrapped("      ", "needs: "+c.Under)
		}
		if c.Note != "" {
			p.wrapped("      ", c.Note)
		}
		if c.Likely != nil {
			p.wrapped("      ", "likely cause: "+c.Likely.Cause)
		}
		p.causeLines(c)
	}
	if !p.each && len(v.Causes) > 1 && v.Files != "" {
		p.wrapped("  ", "The requests and answers of each cause are in report.txt and report.html of the run's files.")
	}
}

// causeLines lists the scenarios of a cause, the simplest first.
func (p *page) causeLines(c causeView) {
	const most = 6
	widest := 0
	for _, s := range c.Scenarios {
		widest = max(widest, cells(s.Share))
	}
	for i, s := range c.Scenarios {
		if i == most && len(c.Scenarios) > most+1 {
			p.wrapped("      ", "and "+strings.Join(inShort(c.Scenarios[i:]), ", "))
			return
		}
		p.line("      ", fit(joined([]string{pad(name(s.Scenario), p.style.names()), pad(s.Share, widest), s.Numbers}, "  "), p.style.width()-6))
	}
}

// warnings lists the first few warnings of all scenarios.
// inShort names scenarios with the numbers of their findings.
func inShort(list []causeLine) []string {
	var names []string
	for _, s := range list {
		names = append(names, joined([]string{name(s.Scenario), s.Numbers}, " "))
	}
	return names
}

// warnings lists the first warnings of all scenarios, and says how many more there are.
func (p *page) warnings(v view) {
	all := v.section(warningTitle, func(s scenarioView) []string { return s.Warnings })
	more := len(all.Notes) - mostLines
	all.Notes = all.Notes[:min(len(all.Notes), mostLines)]
	p.section(all)
	if more > 0 {
		p.line(fmt.Sprintf("  and %d more", more))
	}
}

// missing says for the scenarios without a pass or a finding what was missing.
func (p *page) missing(v view) {
	for i, u := range v.undecided() {
		if i == 0 {
			p.title(missingTitle)
		}
		p.wrapped("  ", u.Names+": "+u.Word)
		for _, reason := range u.Reasons {
			p.wrapped("    ", reason)
		}
	}
}

// confidence says what the passes show, scenarios with as many rounds together.
func (p *page) confidence(v view) {
	all := section{Title: confidenceTitle + " (95%)"}
	for _, c := range v.Confidence {
		all.Notes = append(all.Notes, note{c.Bound, strings.Join(c.Scenarios, ", ")})
	}
	p.section(all)
}

// summary writes the verdict, the sentence, and what a reader needs to find the run again.
func (p *page) summary(v view) {
	p.line()
	p.line(p.style.verdict(v.Verdict.verdict, strings.ToUpper(v.Verdict.Word)))
	for _, line := range wrap(fit(v.Sentence, longest), p.style.width()-2) { // it is ours, and ends with what limits the verdict
		p.line("  ", line)
	}
	for _, n := range present([]note{{"target", v.Target}, {"seed", v.Seed}, {"files", v.Files}, {"again", v.Again}}) {
		p.line("  ", pad(n.Label, 8), n.Text)
	}
}
