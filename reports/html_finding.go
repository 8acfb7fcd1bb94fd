package reports

import (
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/history"
)

// htmlFinding is one finding of the HTML report. A brief one has only the members of the first block.
type htmlFinding struct {
	Anchor, ID, Kind, Scenario, Intent, Short, Known, Excused string
	Verdict                                                   verdictView

	Full, Whole                             bool
	Meaning, Detail, About, Moment, Summary string
	Shrunk                                  string
	Promises                                []note
	Evidence                                htmlEvidence
	Commands                                []note
}

// htmlEvidence is what a finding in full rests on.
type htmlEvidence struct {
	ID          string // of the finding
	Line        *timeline
	Notes       []note
	Columns     []string // the moments in Times
	Times       []timesRow
	SentTitle   string
	Exchanges   []exchangeView
	Unsent      string
	Printed     []printedView
	MorePrinted int
	Differs     []differenceView
	MoreDiffers int
	Answers     []answerView
	MoreAnswers int
	RowsTitle   string
	Rows        []htmlRows
}

// timesRow is one attempt with its moments in milliseconds.
type timesRow struct {
	ID, Lane, Sent, Answer string
	Moments                []string
}

// htmlRows is the rows of one marker, as many as the page has room for.
type htmlRows struct {
	rowsView
	MoreColumns int
}

// newBrief is a finding in one line of the list.
func newBrief(f findingView, anchor string) htmlFinding {
	return htmlFinding{
		Anchor: anchor, ID: name(f.ID), Kind: name(f.Kind), Scenario: name(f.Scenario), Intent: name(f.Intent),
		Short: fit(f.Expectation, widestCell), Known: fit(f.Known, 2*widestCell), Excused: fit(f.Excused, 2*widestCell), Verdict: f.Verdict,
	}
}

// withEvidence makes a brief finding a full one.
func (h htmlFinding) withEvidence(v view, f findingView) htmlFinding {
	h.Full, h.Whole, h.Meaning, h.Detail, h.About, h.Moment, h.Summary = true, f.Whole, f.Meaning, f.Detail, f.About, f.Moment, f.Summary
	h.Promises, h.Shrunk = f.Promises, f.shrunk()
	for _, n := range v.about(f) {
		h.Commands = append(h.Commands, note{n.Label, head(n.Text, longest)})
	}
	h.Evidence = newHTMLEvidence(f, h.Anchor)
	h.Evidence.ID, h.Evidence.RowsTitle = h.ID, v.RowsTitle
	return h
}

// newHTMLEvidence cuts the evidence to what the page has room for.
func newHTMLEvidence(f findingView, anchor string) htmlEvidence {
	e := f.evidence()
	h := htmlEvidence{SentTitle: f.sentTitle(), Unsent: e.Unsent, MoreDiffers: e.MoreDiffers, Printed: e.Printed, MorePrinted: e.MorePrinted}
	if len(e.Attempts) > 0 {
		h.Line, h.Notes = newTimeline(f.finding, e, anchor), attemptNotes(e)
		h.Columns, h.Times = timesColumns(), times(e)
		h.Exchanges = spreadOut(e.Exchanges)
		h.Answers, h.MoreAnswers = answerViews(f.recorded)
	}
	for _, d := range e.Differs {
		h.Differs = append(h.Differs, differenceView{name(d.Where), name(d.Attempt), fit(d.First, widestCell), fit(d.Then, widestCell)})
	}
	for _, rows := range e.Rows[:min(len(e.Rows), mostRows)] {
		h.Rows = append(h.Rows, newHTMLRows(rows))
	}
	return h
}

// spreadOut writes JSON with a member on each line.
func spreadOut(list []exchangeView) []exchangeView {
	list = slices.Clone(list)
	for i := range list {
		list[i].Body, list[i].Said = list[i].Body.indented(), list[i].Said.indented()
	}
	return list
}

// timesColumns are the moments of an attempt in the table of exact times.
func timesColumns() []string {
	return []string{"started", "written", "held", "released", "at target", "answered", "client left", "ended"}
}

// times lists the moments of each attempt by the finding's clock, as exactly as they were measured.
func times(e evidence) []timesRow {
	var rows []timesRow
	for _, a := range e.Attempts {
		p := a.attempt.Passage
		if p == nil {
			p = &history.Passage{}
		}
		row := timesRow{ID: name(a.ID), Lane: name(a.Lane), Sent: name(a.Sent), Answer: name(a.Answer)}
		for _, o := range []history.Offset{
			a.attempt.Start, a.attempt.Wrote, p.Held, p.Released, p.Arrived, p.Answered, p.Left, a.attempt.End,
		} {
			row.Moments = append(row.Moments, momentCell(o, e.Start))
		}
		rows = append(rows, row)
	}
	return rows
}

// momentCell writes a moment in milliseconds. One that was not observed is a dash.
func momentCell(o, zero history.Offset) string {
	if o == 0 {
		return "–"
	}
	return millis(o - zero)
}

// attemptNotes lists what the proxy saw of attempts and their clients did not.
func attemptNotes(e evidence) []note {
	var list []note
	for _, a := range e.Attempts {
		text := fit(a.Note, 2*widestCell)
		if last := len(list) - 1; last >= 0 && text != "" && list[last].Text == text {
			first, _, _ := strings.Cut(list[last].Label, " to ")
			list[last].Label = first + " to " + name(a.ID)
			continue
		}
		list = append(list, note{name(a.ID), text})
	}
	return present(list)
}

// newHTMLRows cuts rows to what a table has room for, and counts the columns that it leaves out.
func newHTMLRows(rows rowsView) htmlRows {
	shown := min(len(rows.Columns), mostMDColumn)
	h := htmlRows{rowsView: rowsView{Title: capital(rows.Title), More: rows.More}, MoreColumns: len(rows.Columns) - shown}
	for _, column := range rows.Columns[:shown] {
		h.Columns = append(h.Columns, name(column))
	}
	for _, row := range rows.Rows {
		cells := make([]string, 0, shown)
		for _, value := range row[:shown] {
			cells = append(cells, fit(value, widestCell))
		}
		h.Rows = append(h.Rows, cells)
	}
	return h
}
