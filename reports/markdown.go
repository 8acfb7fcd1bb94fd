package reports

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
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

// Markdown writes a report that fits a CI job summary: a table of the scenarios, the worst findings
// behind folds, and how to see them again. It stays under 1 MiB.
func Markdown(w io.Writer, r checker.Report) error { return MarkdownAfter(w, r, 0) }

// MarkdownAfter writes the same into a job summary that has so many bytes already, so that all of it
// stays under 1 MiB. The error is ErrSummaryFull if there is no room at all.
func MarkdownAfter(w io.Writer, r checker.Report, taken int64) error {
	if taken > mostBytes {
		return ErrSummaryFull
	}
	r = legible(r)
	all := findings(r)
	m := &summary{room: mostBytes - int(taken)}
	m.add(heading(r))
	m.add(scenarioTable(r))
	for i, s := range all[:min(len(all), mostDetails)] {
		m.add(details(r, s, i == 0 && s.finding.Known == ""))
	}
	if more := len(all) - mostDetails; more > 0 {
		m.add(fmt.Sprintf("and %d more: the full list is in the report's files.\n", more))
	}
	m.add(notes(toldTitle, told(r)))
	m.add(notes("Warnings", warningNotes(r)))
	m.add(notes("What was not shown, and why", missingNotes(r)))
	m.add(notes("How tight the bursts were", tightness(r)))
	m.add(notes("Who stood in line to write", crowds(r)))
	m.add(notes("What the sweeps saw, by the time after the first request", phases(r)))
	m.add(notes("What the passes are worth", worthNotes(r)))
	m.add(footer(r))
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

func heading(r checker.Report) string {
	title := fmt.Sprintf("## %s doubletap: %s", mark(r.Verdict), words(r.Verdict))
	return fmt.Sprintf("%s\n\n%s\n", title, markdown(sentence(r)))
}

func scenarioTable(r checker.Report) string {
	rows := [][]string{{"", "Scenario", "Verdict", "Evidence", "Elapsed"}}
	for _, res := range r.Results[:min(len(r.Results), mostListed)] {
		rows = append(rows, []string{mark(res.Verdict), res.Scenario, words(res.Verdict), evidence(res), duration(res.Elapsed)})
	}
	text := grid(rows)
	if more := len(r.Results) - mostListed; more > 0 {
		text += fmt.Sprintf("\nand %s\n", plural(more, "more scenario"))
	}
	return text
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

func details(r checker.Report, s seen, open bool) string {
	f := s.finding
	var b strings.Builder
	unfolded := ""
	if open {
		unfolded = " open"
	}
	fmt.Fprintf(&b, "<details%s>\n<summary>%s</summary>\n\n", unfolded, markdown(fmt.Sprintf("%s %s: %s (scenario %s, %s)",
		f.ID, name(string(f.Kind)), meaning(f.Kind), name(s.result.Scenario), joined([]string{concerning(f), familiar(f)}, ", "))))
	b.WriteString(promises(f))
	b.WriteString(attemptTable(f))
	for _, evidence := range f.Rows {
		b.WriteString(rowTable(evidence))
	}
	if r.Replay != "" {
		b.WriteString("See it again:\n\n" + fenced(about(r.Replay, f.ID)))
	}
	b.WriteString("</details>\n")
	return b.String()
}

func promises(f checker.Finding) string {
	var b strings.Builder
	entries := [][2]string{
		{"Promise", f.Promise}, {"Contract", f.Contract}, {"Expected", f.Expected}, {"Observed", f.Observed},
		{"Detail", f.Detail}, {"Seen", moment(f)}, {"Known", f.Known},
	}
	for _, d := range f.Differs[:min(len(f.Differs), mostDifferences)] {
		entries = append(entries, [2]string{"Differs", difference(d)})
	}
	for _, entry := range entries {
		if entry[1] != "" {
			fmt.Fprintf(&b, "- **%s:** %s\n", entry[0], markdown(fit(prose(entry[1]), 4*widestCell)))
		}
	}
	return b.String() + "\n"
}

func attemptTable(f checker.Finding) string {
	if f.Intent == checker.EveryIntent {
		return ""
	}
	if len(f.Attempts) == 0 {
		return "No attempt is recorded for this intent.\n\n"
	}
	list, more := accounts(f, mostAttempts)
	zero := begin(f)
	rows := [][]string{{"Attempt", "Lane", "Sent", "From", "To", "Answer", "Note"}}
	for _, a := range list {
		to := "–"
		if a.attempt.End != 0 {
			to = clock(a.attempt.End - zero)
		}
		rows = append(rows, []string{
			a.attempt.ID, a.attempt.Lane, a.sent, clock(a.attempt.Start - zero), to, a.answer,
			joined([]string{a.story, a.said}, "; "),
		})
	}
	text := grid(rows) + "\n"
	if more > 0 {
		text += fmt.Sprintf("and %s\n\n", plural(more, "more attempt"))
	}
	return text
}

func rowTable(e checker.RowEvidence) string {
	text := fmt.Sprintf("%s by the marker %s of the %s body\n\n", plural(len(e.Rows), "row"),
		markdown(name(e.Marker)), markdown(name(e.Body)))
	names := columnsOf(e.Rows)
	if len(names) == 0 {
		return text
	}
	names = names[:min(len(names), mostMDColumn)]
	rows := [][]string{names}
	for _, row := range e.Rows[:min(len(e.Rows), mostRows)] {
		rows = append(rows, values(row, names))
	}
	text += grid(rows) + "\n"
	if more := len(e.Rows) - mostRows; more > 0 {
		text += fmt.Sprintf("and %s\n\n", plural(more, "more row"))
	}
	return text
}

func values(row history.Row, names []string) []string {
	list := make([]string, 0, len(names))
	for _, name := range names {
		list = append(list, cell(row[name]))
	}
	return list
}

// notes is a list of labelled sentences under a heading.
func notes(title string, list [][2]string) string {
	if len(list) == 0 {
		return ""
	}
	more := ""
	if n := len(list) - mostListed; n > 0 {
		list, more = list[:mostListed], fmt.Sprintf("- and %d more\n", n)
	}
	var b strings.Builder
	for _, entry := range list {
		fmt.Fprintf(&b, "- **%s:** %s\n", markdown(fit(entry[0], widestCell)), markdown(fit(entry[1], 4*widestCell)))
	}
	return fmt.Sprintf("### %s\n\n%s%s", title, b.String(), more)
}

func warningNotes(r checker.Report) [][2]string {
	var list [][2]string
	for _, res := range r.Results {
		for _, w := range res.Warnings {
			list = append(list, [2]string{res.Scenario, warningText(w)})
		}
	}
	return list
}

func missingNotes(r checker.Report) [][2]string {
	var list [][2]string
	for _, res := range r.Results {
		for _, reason := range missing(res) {
			list = append(list, [2]string{res.Scenario + ", " + words(res.Verdict), reason})
		}
	}
	return list
}

func worthNotes(r checker.Report) [][2]string {
	var list [][2]string
	for _, res := range r.Results {
		if text := worth(res); text != "" {
			list = append(list, [2]string{res.Scenario, text})
		}
	}
	return list
}

func footer(r checker.Report) string {
	text := fmt.Sprintf("Target %s, seed %d, run %s.\n", markdown(name(r.Target)), r.Seed, markdown(name(r.Run)))
	if r.Again != "" {
		text += "\nRun it all again:\n\n" + fenced(r.Again)
	}
	return text
}

// fenced is a code block whose fence is longer than any run of backticks in it.
func fenced(code string) string {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%ssh\n%s\n%s\n\n", fence, code, fence)
}

// markdown escapes foreign text. Entities serve inside tables and HTML alike, where backslashes do
// not; links, mentions and issue numbers stay text.
func markdown(s string) string {
	return strings.NewReplacer(
		"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "`", "&#96;", "*", "&#42;", "_", "&#95;",
		"[", "&#91;", "]", "&#93;", `\`, "&#92;", "#", "&#35;", "~", "&#126;", "@", "&#64;", "$", "&#36;",
		"://", "&#58;//", "www.", "www&#46;",
	).Replace(s)
}
