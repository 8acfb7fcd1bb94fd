package reports

import (
	"fmt"
	"strings"

	"github.com/fatih/color"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// finding writes the full view of one finding.
func (p *page) finding(v view, f findingView) {
	p.headline(f)
	p.wrapped("    ", f.Sentence+".")
	p.wrapped("    ", fmt.Sprintf("%s: scenario %s, %s, seen %s", f.Meaning, name(f.Scenario), f.About, f.Moment))
	if f.Summary != "" {
		p.wrapped("    ", f.Summary)
	}
	p.line()
	e := f.evidence()
	p.sent(f, e)
	p.exchanges(e)
	p.printed(e)
	p.rows(v.RowsTitle, e)
	p.promises(f, e)
	if likely := v.likely(f); likely != nil {
		p.likely(*likely)
	}
	if f.shrunk() != "" {
		p.title("  " + shrunkTitle)
		p.wrapped("    ", f.shrunk())
	}
	if v.Replay != "" {
		p.title("  Next: replay, shrink, export")
		for _, command := range v.about(f) {
			p.line("    ", command.Text)
		}
	}
}

// likely says what the code probably does and how that is mended.
func (p *page) likely(l likelyView) {
	for _, n := range l.notes() {
		if n.Label != "" {
			p.title("  " + n.Label)
		}
		p.wrapped("    ", n.Text)
	}
	if l.Command != "" {
		p.line("    ", l.Command)
	}
}

// headline writes a new finding in capitals, and one that fails nothing in small letters.
func (p *page) headline(f findingView) {
	detail := ""
	if f.Detail != "" {
		detail = " (" + f.Detail + ")"
	}
	if f.isNew() {
		title := fmt.Sprintf("%s  %s%s", f.ID, strings.ToUpper(f.Kind), detail)
		p.line(p.style.ink(fit(title, p.style.width()), color.FgRed, color.Bold))
		return
	}
	p.line(p.style.verdict(checker.Known, fit(fmt.Sprintf("%s  %s%s, %s", f.ID, f.Kind, detail, f.standing()), p.style.width())))
	p.wrapped("    ", f.allowed())
}

// sent draws the attempts on one time axis.
func (p *page) sent(f findingView, e evidence) {
	if len(e.Attempts) == 0 {
		return
	}
	p.line(p.style.bold("  " + f.sentTitle()))
	t := newTable(e.Attempts, p.style.width())
	bars := make([]string, 0, len(e.Attempts))
	x := newAxis(recorded(e.Attempts), e.Start, t.bar)
	p.line(p.style.faint(t.row("attempt", "lane", "sent", x.header(), "answer", plain)))
	for _, a := range e.Attempts {
		bar := x.bar(a.attempt)
		bars = append(bars, bar)
		p.line(t.row(a.ID, a.Lane, a.Sent, bar, a.Answer, p.style.tone(a.Tone)))
		p.aside(a, t)
	}
	if e.MoreAttempts > 0 {
		p.line("    and ", english.Plural(e.MoreAttempts, "more attempt"))
	}
	for _, line := range wrapParts(legend(bars), p.style.width()-4) {
		p.line("    ", p.style.faint(line))
	}
}

// exchanges writes requests and answers as they can be pasted: no line is wrapped or cut.
func (p *page) exchanges(e evidence) {
	p.title("  Requests and answers")
	if e.Unsent != "" {
		p.wrapped("    ", e.Unsent)
	}
	for _, x := range e.Exchanges {
		p.line("    ", p.style.bold(x.title()))
		for _, line := range x.requestLines() {
			p.line("      ", line)
		}
		if len(x.Changed) > 0 {
			p.wrapped("      differs: ", strings.Join(x.Changed, "; "))
		}
		for i, line := range x.answerLines() {
			if i == 0 {
				line = "→ " + p.style.tone(x.Tone)(line)
			}
			p.line("      ", line)
		}
		switch {
		case x.Curl != "":
			p.line("      ", p.style.faint("$ "+x.Curl))
		case x.NoCurl != "":
			p.wrapped("      ", x.NoCurl)
		}
	}
}

// printed writes what the target printed meanwhile.
func (p *page) printed(e evidence) {
	if len(e.Printed) == 0 {
		return
	}
	p.title("  " + printedTitle)
	for _, line := range e.Printed {
		p.line("    ", p.style.faint(line.At), "  ", line.Text)
	}
	if e.MorePrinted > 0 {
		p.line("    and ", english.Plural(e.MorePrinted, "more line"))
	}
}

// recorded returns the attempts as they were recorded.
func recorded(list []attemptView) []history.Attempt {
	attempts := make([]history.Attempt, 0, len(list))
	for _, a := range list {
		attempts = append(attempts, a.attempt)
	}
	return attempts
}

// tone colours an answer: green for a yes, yellow for no answer.
func (s Style) tone(t tone) func(string) string {
	switch t {
	case toneYes:
		return func(text string) string { return s.ink(text, color.FgGreen) }
	case toneNone:
		return func(text string) string { return s.ink(text, color.FgYellow) }
	default:
		return plain
	}
}

// plain is the colour of text that has none.
func plain(text string) string { return text }

// aside writes what does not fit beside a bar, under it.
func (p *page) aside(a attemptView, t table) {
	indent := strings.Repeat(" ", 4+t.id+1)
	if t.narrow {
		p.line(indent, fit(a.Lane+", "+a.Sent, p.style.width()-cells(indent)))
	}
	if a.Note != "" {
		p.wrapped(indent+"↳ ", a.Note)
	}
	if a.Content != "" {
		p.line(indent, "↳ ", p.style.faint(fit(a.Content, p.style.width()-cells(indent)-2)))
	}
}

// table is the widths of the columns around the bars. On a narrow terminal the lane and what was
// sent stand under the bar.
type table struct {
	id, lane, sent, bar, answer int
	narrow                      bool
}

// newTable gives each column the width of its longest text, up to a part of the line. The bars get the rest.
func newTable(list []attemptView, width int) table {
	t := table{id: 7, lane: 4, sent: 4, answer: 6, narrow: width < 90}
	for _, a := range list {
		t.id = max(t.id, cells(a.ID))
		t.lane = max(t.lane, cells(a.Lane))
		t.sent = max(t.sent, cells(a.Sent))
		t.answer = max(t.answer, cells(a.Answer))
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

// row lays one line out. Tone colours the answer, after it was cut: colours have no width.
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

// rows shows what the database held for each marker.
func (p *page) rows(title string, e evidence) {
	p.title("  " + title)
	if len(e.Rows) == 0 {
		p.line("    no row query applies to this finding")
	}
	for _, rows := range e.Rows {
		p.wrapped("    ", rows.Title)
		p.grid(rows)
	}
}

// grid writes rows as a table; columns that do not fit are counted, not squeezed.
func (p *page) grid(rows rowsView) {
	const widest, indent, space = 28, 6, 2
	room := p.style.width() - indent
	lines := make([]string, len(rows.Rows)+1)
	hidden := 0
	for i, column := range rows.Columns {
		width := min(cells(column), widest)
		for _, row := range rows.Rows {
			width = max(width, min(cells(row[i]), widest))
		}
		if width+space > room {
			hidden++
			continue
		}
		room -= width + space
		lines[0] += pad(fit(column, width), width+space)
		for j, row := range rows.Rows {
			lines[j+1] += pad(fit(row[i], width), width+space)
		}
	}
	if len(rows.Columns) == 0 {
		return
	}
	p.line(strings.Repeat(" ", indent), p.style.faint(strings.TrimRight(lines[0], " ")))
	for _, line := range lines[1:] {
		p.line(strings.Repeat(" ", indent), line)
	}
	if rows.More > 0 {
		p.line("      and ", english.Plural(rows.More, "more row"))
	}
	if hidden > 0 {
		p.line("      and ", english.Plural(hidden, "more column"))
	}
}

// promises says what was promised, and what happened instead.
func (p *page) promises(f findingView, e evidence) {
	p.title("  What was promised")
	for _, n := range f.Promises {
		p.wrapped("    "+pad(strings.ToLower(n.Label), 10), n.Text)
	}
	for _, d := range e.Differs {
		p.wrapped("    differs   ", d.text())
	}
	if e.MoreDiffers > 0 {
		p.line("    and ", english.Plural(e.MoreDiffers, "more difference"))
	}
}
