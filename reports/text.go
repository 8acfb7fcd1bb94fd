package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/fatih/color"

	"github.com/doubletap-harness/doubletap/checker"
)

// How much of a run is listed.
const (
	mostLines    = 10
	verdictWidth = len("inconclusive")
	elapsedWidth = 6
)

// toldTitle is the title of what told says.
const toldTitle = "What is known, and where it is told"

// Line is one scenario on one line, without a line feed: mark, name, verdict, elapsed time, and the
// evidence, which comes last and is never cut.
func Line(res checker.Result, s Style) string {
	return line(legible(res), s)
}

func line(res checker.Result, s Style) string {
	return fmt.Sprintf("%s %s  %s  %s  %s", s.verdict(res.Verdict, mark(res.Verdict)), pad(res.Scenario, s.names()),
		s.verdict(res.Verdict, pad(short(res.Verdict), verdictWidth)),
		s.faint(padLeft(duration(res.Elapsed), elapsedWidth)), evidence(res))
}

func short(v checker.Verdict) string {
	if v == checker.NotApplicable {
		return "n/a"
	}
	return words(v)
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
func Text(w io.Writer, r checker.Report, s Style) error {
	r = legible(r)
	p := &page{style: s}
	if s.Names == 0 {
		p.style.Names = longestName(r)
	}
	for _, res := range r.Results {
		p.line(line(res, p.style))
	}
	p.details(r)
	return p.flush(w)
}

// Details writes what follows the lines of the scenarios: the worst finding in full, the others in
// a line each, what to know besides, and the summary. It is for a caller that has printed each
// [Line] when it was ready.
func Details(w io.Writer, r checker.Report, s Style) error {
	p := &page{style: s}
	p.details(legible(r))
	return p.flush(w)
}

func (p *page) flush(w io.Writer) error {
	if _, err := io.WriteString(w, p.String()); err != nil {
		return fmt.Errorf("write text report: %w", err)
	}
	return nil
}

func longestName(r checker.Report) int {
	longest := len("scenario")
	for _, res := range r.Results {
		longest = max(longest, cells(res.Scenario))
	}
	return longest
}

func (p *page) details(r checker.Report) {
	if all := findings(r); len(all) > 0 {
		p.line()
		p.finding(r, all[0])
		p.others(all)
	}
	p.notes(toldTitle, told(r))
	p.warnings(r)
	p.unjudged(r)
	p.notes("How tight the bursts were", tightness(r))
	p.notes("Who stood in line to write", crowds(r))
	p.notes("What the sweeps saw, by the time after the first request", phases(r))
	p.worth(r)
	p.summary(r)
}

// others lists the findings after the first, a few of each kind, so that a common kind does not
// push out a rare one.
func (p *page) others(all []seen) {
	first, rest := all[0], all[1:]
	if len(rest) == 0 {
		return
	}
	p.line()
	p.line(p.style.bold(fmt.Sprintf("%s besides %s", plural(len(rest), "finding"), first.finding.ID)))
	list := tallies(rest)
	each := max(mostLines/len(list), 1)
	for _, t := range list {
		p.line(fmt.Sprintf("  %s in %s: %s", plural(t.findings, "finding"), plural(t.intents, "intent"), t.kind))
		listed := 0
		for _, s := range rest {
			if s.finding.Kind == t.kind && listed < each {
				listed++
				p.line("    ", fit(brief(s), p.style.width()-4))
			}
		}
		if more := t.findings - listed; more > 0 {
			p.line(fmt.Sprintf("    and %d more", more))
		}
	}
}

// brief is a finding on one line.
func brief(s seen) string {
	f := s.finding
	return fmt.Sprintf("%s %s %s: %s", pad(f.ID, 5), name(s.result.Scenario), name(f.Intent),
		joined([]string{familiar(f), prose(f.Detail), expectation(f)}, ": "))
}

// familiar is a word for a finding that is known, and nothing for a new one.
func familiar(f checker.Finding) string {
	if f.Known == "" {
		return ""
	}
	return "known"
}

func expectation(f checker.Finding) string {
	if f.Expected == "" {
		return prose(f.Observed)
	}
	return fmt.Sprintf("expected %s, observed %s", prose(f.Expected), prose(f.Observed))
}

func (p *page) warnings(r checker.Report) {
	n := 0
	for _, res := range r.Results {
		for _, warning := range res.Warnings {
			if n++; n > mostLines {
				continue
			}
			if n == 1 {
				p.line()
				p.line(p.style.bold("Warnings (no promise is broken)"))
			}
			p.wrapped("  ", name(res.Scenario)+": "+warningText(warning))
		}
	}
	if n > mostLines {
		p.line(fmt.Sprintf("  and %d more", n-mostLines))
	}
}

func warningText(w checker.Warning) string {
	if len(w.Intents) == 0 {
		return name(w.Kind) + ": " + prose(w.Text)
	}
	return fmt.Sprintf("%s in %s: %s", name(w.Kind), plural(len(w.Intents), "intent"), prose(w.Text))
}

// unjudged says for each scenario without a pass or a finding what was missing.
func (p *page) unjudged(r checker.Report) {
	titled := false
	for _, res := range r.Results {
		reasons := missing(res)
		if len(reasons) == 0 {
			continue
		}
		if !titled {
			titled = true
			p.line()
			p.line(p.style.bold("What was not shown, and why"))
		}
		p.line("  ", fit(name(res.Scenario)+": "+words(res.Verdict), p.style.width()-2))
		for _, reason := range reasons {
			p.wrapped("    ", reason)
		}
	}
}

// missing returns why a scenario has no full judgement.
func missing(res checker.Result) []string {
	if res.Verdict == checker.Pass {
		return nil
	}
	var reasons []string
	for _, reason := range res.Reasons {
		reasons = append(reasons, prose(reason))
	}
	if len(reasons) == 0 && res.Verdict != checker.Fail && res.Verdict != checker.Known {
		reasons = []string{"no reason was recorded"}
	}
	if len(reasons) > mostLines {
		more := fmt.Sprintf("and %d more", len(reasons)-mostLines)
		reasons = append(reasons[:mostLines:mostLines], more)
	}
	return reasons
}

// notes lists what there is to know of scenarios under a title.
func (p *page) notes(title string, list [][2]string) {
	if len(list) == 0 {
		return
	}
	p.line()
	p.line(p.style.bold(title))
	for _, line := range list {
		p.wrapped("  ", line[0]+": "+line[1])
	}
}

// worth says what the passes are worth, scenarios with as many rounds together.
func (p *page) worth(r checker.Report) {
	list := worths(r)
	if len(list) == 0 {
		return
	}
	p.line()
	p.line(p.style.bold("What the passes are worth (95% confidence)"))
	for _, w := range list {
		p.wrapped("  ", fmt.Sprintf("%s: %s", w.bound(), strings.Join(w.scenarios, ", ")))
	}
}

func (p *page) summary(r checker.Report) {
	p.line()
	verdict := strings.ToUpper(words(r.Verdict))
	p.line(p.style.verdict(r.Verdict, verdict))
	p.wrapped("  ", sentence(r))
	for _, entry := range [][2]string{
		{"target", r.Target}, {"seed", fmt.Sprint(r.Seed)}, {"files", r.Dir}, {"again", r.Again},
	} {
		if entry[1] != "" {
			p.line("  ", pad(entry[0], 8), entry[1])
		}
	}
}
