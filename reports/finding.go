package reports

import (
	"fmt"
	"strings"

	"github.com/fatih/color"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// How much of one finding is shown.
const (
	mostAttempts    = 16
	mostRows        = 10
	mostDifferences = 8
)

// page is a text report as it grows.
type page struct {
	strings.Builder
	style Style
}

func (p *page) line(parts ...string) {
	p.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	p.WriteByte('\n')
}

// wrapped writes prose behind a label, later lines under the first. A target may say pages; a
// paragraph of it is enough here, and the history holds the rest.
func (p *page) wrapped(label, text string) {
	const paragraph = 8
	indent := cells(label)
	room := max(p.style.width()-indent, 20)
	for i, line := range wrap(fit(text, paragraph*room), room) {
		if i > 0 {
			label = strings.Repeat(" ", indent)
		}
		p.line(label, line)
	}
}

// finding writes the full view of one finding.
func (p *page) finding(r checker.Report, s seen) {
	f := s.finding
	p.headline(f)
	p.wrapped("    ", meaning(f.Kind))
	p.wrapped("    ", fmt.Sprintf("scenario %s, %s, seen %s", name(s.result.Scenario), concerning(f), moment(f)))
	if s.result.Summary != "" {
		p.wrapped("    ", prose(s.result.Summary))
	}
	p.line()
	p.sent(f)
	p.rows(heldTitle(r), f)
	p.promise(f)
	if r.Replay != "" {
		p.line()
		p.line(p.style.bold("  See it again, make it small, hand it over"))
		for _, command := range []string{r.Replay, r.Shrink, r.Export} {
			if command != "" {
				p.line("    ", about(command, f.ID))
			}
		}
	}
}

// headline shouts what is new, and says what is known.
func (p *page) headline(f checker.Finding) {
	detail := ""
	if f.Detail != "" {
		detail = " (" + prose(f.Detail) + ")"
	}
	if f.Known == "" {
		title := fmt.Sprintf("%s  %s%s", f.ID, strings.ToUpper(string(f.Kind)), detail)
		p.line(p.style.ink(fit(title, p.style.width()), color.FgRed, color.Bold))
		return
	}
	p.line(p.style.verdict(checker.Known, fit(fmt.Sprintf("%s  %s%s, known", f.ID, f.Kind, detail), p.style.width())))
	p.wrapped("    ", "told at "+prose(f.Known))
}

func (p *page) sent(f checker.Finding) {
	if f.Intent == checker.EveryIntent {
		return
	}
	p.line(p.style.bold("  What was sent"))
	if len(f.Attempts) == 0 {
		p.line("    no attempt is recorded for this intent")
		return
	}
	list, more := accounts(f, mostAttempts)
	t := newTable(list, p.style.width())
	bars := make([]string, 0, len(list))
	x := newAxis(shown(list), begin(f), t.bar)
	p.line(p.style.faint(t.row("attempt", "lane", "sent", x.header(), "answer", plain)))
	for _, a := range list {
		bars = append(bars, x.bar(a.attempt))
		p.line(t.row(a.attempt.ID, a.attempt.Lane, a.sent, bars[len(bars)-1], a.answer, tone(p.style, a)))
		p.aside(a, t)
	}
	if more > 0 {
		p.line("    and ", plural(more, "more attempt"))
	}
	for _, line := range wrapParts(legend(bars), p.style.width()-4) {
		p.line("    ", p.style.faint(line))
	}
}

func shown(list []account) []history.Attempt {
	attempts := make([]history.Attempt, 0, len(list))
	for _, a := range list {
		attempts = append(attempts, a.attempt)
	}
	return attempts
}

// tone colours an answer: green for a yes, yellow for no answer.
func tone(s Style, a account) func(string) string {
	switch {
	case a.attempt.Complete && a.attempt.Status >= 200 && a.attempt.Status < 300:
		return func(text string) string { return s.ink(text, color.FgGreen) }
	case !a.attempt.Complete:
		return func(text string) string { return s.ink(text, color.FgYellow) }
	default:
		return plain
	}
}

func plain(text string) string { return text }

// aside writes what does not fit beside a bar, under it.
func (p *page) aside(a account, t table) {
	indent := strings.Repeat(" ", 4+t.id+1)
	if t.narrow {
		p.line(indent, fit(a.attempt.Lane+", "+a.sent, p.style.width()-cells(indent)))
	}
	if a.story != "" {
		p.wrapped(indent+"↳ ", a.story)
	}
	if a.said != "" {
		p.line(indent, "↳ ", p.style.faint(fit(a.said, p.style.width()-cells(indent)-2)))
	}
}

// table is the widths of the columns around the bars. On a narrow terminal the lane and what was
// sent stand under the bar.
type table struct {
	id, lane, sent, bar, answer int
	narrow                      bool
}

func newTable(list []account, width int) table {
	t := table{id: 7, lane: 4, sent: 4, answer: 6, narrow: width < 90}
	for _, a := range list {
		t.id = max(t.id, cells(a.attempt.ID))
		t.lane = max(t.lane, cells(a.attempt.Lane))
		t.sent = max(t.sent, cells(a.sent))
		t.answer = max(t.answer, cells(a.answer))
	}
	t.id, t.lane = min(t.id, max(7, width/9)), min(t.lane, width/10)
	t.sent, t.answer = min(t.sent, width/5), min(t.answer, width*3/10)
	const indent, spaces = 4, 1 + 2
	t.bar = width - indent - spaces - t.id - t.answer
	if !t.narrow {
		t.bar -= t.lane + t.sent + 2
	}
	return t
}

func (t table) row(id, lane, sent, bar, answer string, tone func(string) string) string {
	between := ""
	if !t.narrow {
		between = pad(lane, t.lane) + " " + pad(sent, t.sent) + " "
	}
	return fmt.Sprintf("    %s %s%s  %s", pad(id, t.id), between, bar, tone(fit(answer, t.answer)))
}

// wrapParts is wrap for parts that are set apart by three spaces and must stay whole.
func wrapParts(s string, n int) []string {
	const space = "   "
	lines := []string{""}
	for _, part := range strings.Split(s, space) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = part
		case cells(*last)+len(space)+cells(part) <= n:
			*last += space + part
		default:
			lines = append(lines, part)
		}
	}
	return lines
}

func (p *page) rows(title string, f checker.Finding) {
	p.line()
	p.line(p.style.bold("  " + title))
	if len(f.Rows) == 0 {
		p.line("    no row query belongs to this finding")
	}
	for _, evidence := range f.Rows {
		found := "no row"
		if n := len(evidence.Rows); n > 0 {
			found = plural(n, "row")
		}
		p.wrapped("    ", fmt.Sprintf("%s by the marker %s of the %s body", found, name(evidence.Marker), name(evidence.Body)))
		p.grid(evidence.Rows)
	}
}

// grid writes rows as a table; columns that do not fit are counted, not squeezed.
func (p *page) grid(rows []history.Row) {
	const widest, indent, space = 28, 6, 2
	names := columnsOf(rows)
	room := p.style.width() - indent
	lines := make([]string, min(len(rows), mostRows)+1)
	hidden := 0
	for _, name := range names {
		width := min(cells(name), widest)
		for _, row := range rows[:len(lines)-1] {
			width = max(width, min(cells(cell(row[name])), widest))
		}
		if width+space > room {
			hidden++
			continue
		}
		room -= width + space
		lines[0] += pad(fit(name, width), width+space)
		for i, row := range rows[:len(lines)-1] {
			lines[i+1] += pad(fit(cell(row[name]), width), width+space)
		}
	}
	if len(names) == 0 {
		return
	}
	p.line(strings.Repeat(" ", indent), p.style.faint(strings.TrimRight(lines[0], " ")))
	for _, line := range lines[1:] {
		p.line(strings.Repeat(" ", indent), line)
	}
	if more := len(rows) - mostRows; more > 0 {
		p.line("      and ", plural(more, "more row"))
	}
	if hidden > 0 {
		p.line("      and ", plural(hidden, "more column"))
	}
}

func (p *page) promise(f checker.Finding) {
	p.line()
	p.line(p.style.bold("  What was promised"))
	for _, entry := range [][2]string{
		{"promise   ", f.Promise}, {"contract  ", f.Contract}, {"expected  ", f.Expected}, {"observed  ", f.Observed},
	} {
		if entry[1] != "" {
			p.wrapped("    "+entry[0], prose(entry[1]))
		}
	}
	for _, d := range f.Differs[:min(len(f.Differs), mostDifferences)] {
		p.wrapped("    differs   ", difference(d))
	}
	if more := len(f.Differs) - mostDifferences; more > 0 {
		p.line("    and ", plural(more, "more difference"))
	}
}

// difference says in what an answer differs from the first.
func difference(d checker.Difference) string {
	return fmt.Sprintf("%s in %s: first %s, then %s", name(d.Where), name(d.Attempt), quoted(d.First), quoted(d.Then))
}

func quoted(s string) string {
	if s == "" {
		return "nothing"
	}
	return "“" + fit(s, 60) + "”"
}
