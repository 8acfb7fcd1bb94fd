package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/fatih/color"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// ComparisonText writes a comparison for a terminal: the broken promises by what became of them, with
// the rates on both sides, then the verdicts that changed, and what it means to a release gate.
func ComparisonText(w io.Writer, c Comparison, s Style) error {
	p := &page{style: s}
	p.sides(c)
	for _, t := range []Trend{Appeared, Risen, Unchanged, Fallen, Gone, Unjudged} {
		p.trend(t, c.Findings)
	}
	p.turned(c.Scenarios)
	p.onlyIn("Only in the new run, so not compared", c.Scenarios, func(t VerdictChange) bool { return t.Old == nil })
	p.onlyIn("Only in the old run, so not checked any more", c.Scenarios, func(t VerdictChange) bool { return t.New == nil })
	p.outcome(c)
	return p.flush(w)
}

// sides names both runs, with their verdicts, targets and seeds.
func (p *page) sides(c Comparison) {
	run, target := max(cells(c.Old.Run), cells(c.New.Run)), max(cells(c.Old.Target), cells(c.New.Target))
	for _, side := range []struct {
		label string
		Side
	}{{"old", c.Old}, {"new", c.New}} {
		p.line(side.label, "  ", pad(side.Run, run), "  ", p.style.verdict(side.Verdict, pad(spoken(side.Verdict), verdictWidth)), "  ",
			pad(side.Target, target), fmt.Sprintf("  seed %d", side.Seed))
	}
	if c.Terms {
		p.wrapped("", "The two runs were checked against different contracts, or are of different operations. That may be why something is new or gone.")
	}
}

// trendTitle is the title above the broken promises of one trend.
func trendTitle(t Trend) string {
	switch t {
	case Appeared:
		return "New"
	case Risen:
		return "More often than before, beyond luck"
	case Unchanged:
		return "Still there"
	case Fallen:
		return "Less often than before, beyond luck"
	case Gone:
		return "Gone"
	default:
		return "Not judged any more"
	}
}

// trend lists the broken promises of one trend. Without any it writes nothing.
func (p *page) trend(t Trend, all []Change) {
	titled := false
	for _, c := range all {
		if c.Trend != t {
			continue
		}
		if !titled {
			titled = true
			p.line()
			p.line(p.style.bold(trendTitle(t)))
		}
		p.change(c)
	}
}

// change writes one broken promise in three lines: what, and how often on each side.
func (p *page) change(c Change) {
	title := signature{scenario: c.Scenario, kind: c.Kind, detail: c.Detail}.String()
	if c.Trend == Gone || c.Trend == Unjudged {
		p.line("  ", title)
	} else {
		p.line("  ", p.style.ink(title, color.FgRed), p.style.faint(" · "+c.Finding))
	}
	p.line("    old  ", c.Old.words())
	p.line("    new  ", c.New.words(), p.style.faint(c.significance()))
}

// words is a rate with its interval.
func (r *Rate) words() string {
	if r == nil {
		return "not judged"
	}
	text := fmt.Sprintf("%d of %s", r.Broke, english.Plural(r.Of, r.Unit))
	if r.Unit == wholeRuns {
		return text
	}
	return fmt.Sprintf("%s, %s (%s to %s)", text, percent(r.share()), percent(r.Low), percent(r.High))
}

// significance says whether luck explains the difference.
func (c Change) significance() string {
	if c.P == nil {
		return ""
	}
	text := fmt.Sprintf(" · p %.2g", *c.Adjusted)
	if *c.Adjusted < 0.001 {
		text = " · p under 0.001"
	}
	if c.Luck {
		return text + ", may be luck"
	}
	return text + ", beyond luck"
}

// turned lists the scenarios with another verdict than before.
func (p *page) turned(all []VerdictChange) {
	titled := false
	for _, t := range all {
		if t.Old == nil || t.New == nil {
			continue
		}
		if !titled {
			titled = true
			p.line()
			p.line(p.style.bold("Verdicts that changed"))
		}
		p.line("  ", name(t.Scenario), ": ", p.style.verdict(*t.Old, spoken(*t.Old)), " -> ", p.style.verdict(*t.New, spoken(*t.New)))
		for _, reason := range t.Reasons {
			p.wrapped("    ", reason)
		}
	}
}

// onlyIn names the scenarios that only one of the runs has.
func (p *page) onlyIn(title string, all []VerdictChange, which func(VerdictChange) bool) {
	var names []string
	for _, t := range all {
		if which(t) {
			names = append(names, name(t.Scenario))
		}
	}
	if len(names) == 0 {
		return
	}
	p.line()
	p.line(p.style.bold(title))
	p.wrapped("  ", strings.Join(names, ", "))
}

// outcome writes the verdict on the comparison, and how it was computed if rates were tested.
func (p *page) outcome(c Comparison) {
	p.line()
	verdict := map[Outcome]checker.Verdict{Worse: checker.Fail, NotCompared: checker.Inconclusive, NotWorse: checker.Pass}[c.Outcome]
	p.line(p.style.verdict(verdict, strings.ToUpper(strings.ReplaceAll(string(c.Outcome), "-", " "))))
	p.wrapped("  ", c.sentence())
	for _, f := range c.Findings {
		if f.P != nil {
			p.wrapped("  ", "Beyond luck: Fisher's exact test, two-sided, adjusted by Holm's method for all that is compared, gives p under 0.05. In brackets: 95% score intervals (Wilson).")
			return
		}
	}
}

// sentence sums a comparison up.
func (c Comparison) sentence() string {
	count := map[Trend]int{}
	for _, f := range c.Findings {
		count[f.Trend]++
	}
	var clauses []string
	say := func(n int, what string) {
		if n > 0 {
			clauses = append(clauses, fmt.Sprintf("%d %s", n, what))
		}
	}
	say(count[Appeared], "new")
	say(count[Risen], "more often than before")
	say(count[Unchanged], "still there")
	say(count[Fallen], "less often than before")
	say(count[Gone], "gone")
	say(count[Unjudged], "not judged any more")
	text := "No broken promise on either side."
	if len(clauses) > 0 {
		text = "Broken promises: " + strings.Join(clauses, ", ") + "."
	}
	if n := c.lost(); n > 0 {
		text += fmt.Sprintf(" %s came to no judgement where the old run had one.", english.Plural(n, "scenario"))
	}
	if c.Judged == 0 {
		text += " No scenario was judged in both runs, so nothing was compared."
	}
	return text
}

// lost counts the scenarios that have no judgement any more.
func (c Comparison) lost() int {
	n := 0
	for _, t := range c.Scenarios {
		if t.lost() {
			n++
		}
	}
	return n
}
