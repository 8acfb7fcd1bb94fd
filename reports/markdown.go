package reports

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// Limits of a CI job summary: GitHub drops one of more than 1 MiB altogether.
const (
	mostBytes    = 1<<20 - 1<<12 // the rest is for a last line that says so
	mostDetails  = 9
	mostListed   = 300
	widestCell   = 160
	mostMDColumn = 12
)

// ErrSummaryFull means that a job summary has no room for another report.
var ErrSummaryFull = errors.New("the job summary is full")

// Markdown writes a report that fits a CI job summary: the causes behind folds, of which the first is open, how to see them again, and then a table of
// the scenarios. It stays under 1 MiB.
func Markdown(w io.Writer, r checker.Report) error { return MarkdownAfter(w, r, 0) }

// MarkdownAfter writes the same into a job summary that has so many bytes already, so that all of it
// stays under 1 MiB. The error is ErrSummaryFull if there is no room at all.
func MarkdownAfter(w io.Writer, r checker.Report, taken int64) error {
	if taken > mostBytes {
		return ErrSummaryFull
	}
	v := newView(r)
	m := &summary{room: mostBytes - int(taken)}
	m.add(heading(v))
	for i, c := range v.Causes[:min(len(v.Causes), mostDetails)] {
		m.add(details(v, c, i == 0 && c.First.isNew()))
	}
	if more := len(v.Causes) - mostDetails; more > 0 {
		m.add(fmt.Sprintf("and %d more causes: the full list is in the report's files.\n", more))
	}
	m.add(scenarioTable(v))
	m.add(leftOut(v))
	m.add(notes(v.known()))
	m.add(notes(v.excused()))
	m.add(notes(v.section(warningTitle, func(s scenarioView) []string { return s.Warnings })))
	m.add(notes(missing(v)))
	for _, s := range v.measured() {
		m.add(notes(s))
	}
	m.add(notes(v.section(confidenceTitle, func(s scenarioView) []string { return []string{s.Confidence} })))
	m.add(footer(v))
	if _, err := io.WriteString(w, m.text.String()); err != nil {
		return fmt.Errorf("write Markdown report: %w", err)
	}
	return nil
}

// summary takes blocks while there is room.
type summary struct {
	room int // in bytes
	text strings.Builder
	full bool
}

// add appends a block. The first one that does not fit ends the summary.
func (m *summary) add(block string) {
	if m.full || block == "" {
		return
	}
	if m.text.Len()+len(block) > m.room {
		m.full = true
		block = "The rest does not fit into a summary.\n"
	}
	if m.text.Len() > 0 {
		m.text.WriteByte('\n')
	}
	m.text.WriteString(block)
}

// heading is the verdict and the sentence that sums the run up.
func heading(v view) string {
	title := fmt.Sprintf("## %s doubletap: %s", v.Verdict.Mark, v.Verdict.Word)
	return fmt.Sprintf("%s\n\n%s\n", title, markdown(v.Sentence))
}

// scenarioTable has a row for each scenario that was played, in the order of the run.
func scenarioTable(v view) string {
	rows := [][]string{{"", "Scenario", "Verdict", "Evidence", "Elapsed"}}
	for _, s := range v.Scenarios {
		if s.Result.Verdict != checker.NotApplicable {
			rows = append(rows, []string{s.Verdict.Mark, s.Name, s.Verdict.Word, s.Evidence, s.Elapsed})
		}
	}
	if len(rows) == 1 && len(v.Scenarios) > 0 {
		return ""
	}
	text := grid(rows[:min(len(rows), mostListed+1)])
	if more := len(rows) - mostListed - 1; more > 0 {
		text += fmt.Sprintf("\nand %s\n", english.Plural(more, "more scenario"))
	}
	return text
}

// leftOut lists behind a fold the scenarios that did not apply, and why.
func leftOut(v view) string {
	n := 0
	for _, s := range v.Scenarios {
		if s.Result.Verdict == checker.NotApplicable {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	var why []note
	for _, u := range v.undecided() {
		if u.LeftOut {
			why = append(why, note{u.Names, strings.Join(u.Reasons, "; ")})
		}
	}
	return fmt.Sprintf("<details>\n<summary>%s did not apply</summary>\n\n%s\n</details>\n", english.Plural(n, "scenario"), noteList(why))
}

// grid writes a table. Cells are escaped and cut here, and nowhere else.
func grid(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		for _, text := range row {
			fmt.Fprintf(&b, "| %s ", markdown(fit(text, widestCell)))
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
	return b.String()
}

// details shows one cause behind a fold, with its simplest finding. Open says that it begins unfolded.
func details(v view, c causeView, open bool) string {
	var b strings.Builder
	unfolded, f := "", c.First
	if open {
		unfolded = " open"
	}
	fmt.Fprintf(&b, "<details%s>\n<summary>%s</summary>\n\n", unfolded, markdown(fmt.Sprintf("%s %s: %s (%s)",
		c.ID, joined([]string{name(f.Kind), f.standing()}, ", "), c.Sentence, english.Plural(c.Count, "finding"))))
	for _, n := range present([]note{{"", c.Note}, {"It needs", c.Under}}) {
		fmt.Fprintf(&b, "%s\n\n", markdown(joined([]string{n.Label, n.Text}, ": ")))
	}
	b.WriteString(causeTable(c))
	fmt.Fprintf(&b, "**%s**, %s, in scenario %s, %s:\n\n", markdown(f.ID), markdown(f.Meaning), markdown(name(f.Scenario)), markdown(f.About))
	e := f.evidence()
	b.WriteString(promises(f, e))
	b.WriteString(attemptTable(f, e))
	b.WriteString(likelyBlock(c.Likely))
	b.WriteString(exchangeBlocks(e))
	b.WriteString(printedBlock(e))
	for _, rows := range e.Rows {
		b.WriteString(rowTable(rows))
	}
	if v.Replay != "" {
		b.WriteString("Replay it:\n\n" + fenced(v.replay(f)))
	}
	b.WriteString("</details>\n")
	return b.String()
}

// likelyBlock says what is likely behind a cause, and how that is mended.
func likelyBlock(l *likelyView) string {
	if l == nil {
		return ""
	}
	var b strings.Builder
	for _, n := range l.notes() {
		label := ""
		if n.Label != "" {
			label = "**" + n.Label + ":** "
		}
		fmt.Fprintf(&b, "- %s%s\n", label, markdown(n.Text))
	}
	if l.Command != "" {
		b.WriteString("\n" + fenced(l.Command))
	}
	return b.String() + "\n"
}

// causeTable has a row for each scenario of a cause. One finding alone needs none.
func causeTable(c causeView) string {
	if c.Count < 2 {
		return ""
	}
	rows := [][]string{{"Scenario", "Broke", "Findings"}}
	for _, s := range c.Scenarios[:min(len(c.Scenarios), mostDetails)] {
		rows = append(rows, []string{s.Scenario, s.Share, s.Numbers})
	}
	text := grid(rows) + "\n"
	if more := len(c.Scenarios) - mostDetails; more > 0 {
		text += fmt.Sprintf("and %s\n\n", english.Plural(more, "more scenario"))
	}
	return text
}

// promises lists what was promised and what happened instead.
func promises(f findingView, e evidence) string {
	var b strings.Builder
	entries := append(slices.Clone(f.Promises), present([]note{{"Detail", f.Detail}, {"Seen", f.Moment}, {"Known", f.Known}, {"Excused by the contract", f.Excused}, {shrunkTitle, f.shrunk()}})...)
	for _, d := range e.Differs {
		entries = append(entries, note{"Differs", d.text()})
	}
	for _, n := range entries {
		fmt.Fprintf(&b, "- **%s:** %s\n", n.Label, markdown(fit(n.Text, 4*widestCell)))
	}
	return b.String() + "\n"
}

// attemptTable has a row for each attempt: Markdown has no room for a time line.
func attemptTable(f findingView, e evidence) string {
	if len(e.Attempts) == 0 {
		return ""
	}
	rows := [][]string{{"Attempt", "Lane", "Sent", "From", "To", "Answer", "Note"}}
	for _, a := range e.Attempts {
		rows = append(rows, []string{
			a.ID, a.Lane, a.Sent, a.From, cmp.Or(a.To, "–"), a.Answer, joined([]string{a.Note, a.Content}, "; "),
		})
	}
	text := markdown(f.sentTitle()) + ":\n\n" + grid(rows) + "\n"
	if e.MoreAttempts > 0 {
		text += fmt.Sprintf("and %s\n\n", english.Plural(e.MoreAttempts, "more attempt"))
	}
	return text
}

// exchangeBlocks shows requests and answers in code blocks, from which they can be copied.
func exchangeBlocks(e evidence) string {
	var b strings.Builder
	if e.Unsent != "" {
		b.WriteString(markdown(e.Unsent) + "\n\n")
	}
	for _, x := range e.Exchanges {
		fmt.Fprintf(&b, "**%s**\n\n", markdown(x.title()))
		lines := slices.Concat(x.requestLines(), []string{""}, x.answerLines())
		b.WriteString(fencedAs("http", strings.TrimSpace(strings.Join(lines, "\n"))))
		if len(x.Changed) > 0 {
			fmt.Fprintf(&b, "It differs: %s\n\n", markdown(strings.Join(x.Changed, "; ")))
		}
		if x.Curl != "" {
			b.WriteString(fenced(x.Curl))
		}
		if x.NoCurl != "" {
			b.WriteString(markdown(x.NoCurl) + "\n\n")
		}
	}
	return b.String()
}

// printedBlock shows what the target printed meanwhile.
func printedBlock(e evidence) string {
	if len(e.Printed) == 0 {
		return ""
	}
	var lines []string
	for _, line := range e.Printed {
		lines = append(lines, line.At+"  "+line.Text)
	}
	if e.MorePrinted > 0 {
		lines = append(lines, "and "+english.Plural(e.MorePrinted, "more line"))
	}
	return printedTitle + ":\n\n" + fencedAs("text", strings.Join(lines, "\n"))
}

// rowTable shows the rows of one marker, as many columns as a summary has room for.
func rowTable(v rowsView) string {
	text := markdown(v.Title) + "\n\n"
	if len(v.Columns) == 0 {
		return text
	}
	shown := min(len(v.Columns), mostMDColumn)
	rows := [][]string{v.Columns[:shown]}
	for _, row := range v.Rows {
		rows = append(rows, row[:shown])
	}
	text += grid(rows) + "\n"
	if v.More > 0 {
		text += fmt.Sprintf("and %s\n\n", english.Plural(v.More, "more row"))
	}
	return text
}

// notes writes a section as a list.
func notes(s section) string {
	if len(s.Notes) == 0 {
		return ""
	}
	return fmt.Sprintf("### %s\n\n%s", s.Title, noteList(s.Notes))
}

// noteList has an item for each note.
func noteList(all []note) string {
	var b strings.Builder
	for _, n := range all[:min(len(all), mostListed)] {
		fmt.Fprintf(&b, "- **%s:** %s\n", markdown(fit(n.Label, widestCell)), markdown(fit(n.Text, 4*widestCell)))
	}
	if more := len(all) - mostListed; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	return b.String()
}

// missing lists why scenarios that were played have no full judgement.
func missing(v view) section {
	s := section{Title: missingTitle}
	for _, u := range v.undecided() {
		if u.LeftOut {
			continue
		}
		for _, reason := range u.Reasons {
			s.Notes = append(s.Notes, note{u.Names + ", " + u.Word, reason})
		}
	}
	return s
}

// footer names the run, and the command that repeats it.
func footer(v view) string {
	text := fmt.Sprintf("Target %s, seed %s, run %s.\n", markdown(name(v.Target)), v.Seed, markdown(name(v.Run)))
	if v.Again != "" {
		text += "\nRepeat the run:\n\n" + fenced(v.Again)
	}
	return text
}

// fenced is a code block for a shell.
func fenced(code string) string { return fencedAs("sh", code) }

// fencedAs is a code block whose fence is longer than any run of backticks in it.
func fencedAs(language, code string) string {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s%s\n%s\n%s\n\n", fence, language, code, fence)
}

// markdown escapes text that is not ours. Entities serve inside tables and HTML alike, where backslashes do
// not; links, mentions and issue numbers stay text. A name after an entity may still be taken for a mention, so there is a comment between.
func markdown(s string) string {
	return strings.NewReplacer(
		"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "`", "&#96;", "*", "&#42;", "_", "&#95;",
		"[", "&#91;", "]", "&#93;", `\`, "&#92;", "#", "&#35;", "~", "&#126;", "@", "&#64;<!-- -->", "$", "&#36;",
		"://", "&#58;//", "www.", "www&#46;",
	).Replace(s)
}
