package reports

import (
	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
)

// findingView is one finding of the HTML report. A brief one has only the members of the first block.
type findingView struct {
	Anchor, ID, Kind, Scenario, Intent, Short, Known, Held string
	Verdict                                                verdictView

	Told, Open                              bool
	Meaning, Detail, About, Moment, Summary string
	Promises                                []fact
	Line                                    *timeline
	Stories                                 []fact
	Columns                                 []string // the moments in Times
	Times                                   []timesRow
	Differs                                 []differenceView
	MoreDiffers                             int
	Answers                                 []answerView
	MoreAnswers                             int
	Rows                                    []rowsView
	Replay, Shrink, Export                  string
}

// timesRow is one attempt with its moments in milliseconds.
type timesRow struct {
	ID, Lane, Sent, Answer string
	Moments                []string
}

// differenceView is one member in which two answers differ.
type differenceView struct{ Where, Attempt, First, Then string }

// rowsView is the rows of one marker as a table.
type rowsView struct {
	Title               string
	Columns             []string
	Rows                [][]string
	MoreRows, MoreNames int
}

func briefView(s seen, anchor string) findingView {
	f := s.finding
	return findingView{
		Anchor: anchor, ID: name(f.ID), Kind: name(string(f.Kind)), Scenario: name(s.result.Scenario), Intent: name(f.Intent),
		Short: fit(expectation(f), widestCell), Known: fit(f.Known, 2*widestCell), Verdict: newVerdictView(s.result.Verdict),
	}
}

// tell makes a brief finding a full one. Raw is the same finding as it was recorded.
func tell(r checker.Report, s seen, raw checker.Finding, v findingView) findingView {
	f := s.finding
	v.Told, v.Held = true, heldTitle(r)
	v.Meaning, v.Detail, v.About, v.Moment = meaning(f.Kind), prose(f.Detail), concerning(f), moment(f)
	v.Summary = prose(s.result.Summary)
	v.Replay, v.Shrink, v.Export = typed(r.Replay, f), typed(r.Shrink, f), typed(r.Export, f)
	v.Promises = present([]fact{
		{"Promise", prose(f.Promise)}, {"Contract", prose(f.Contract)}, {"Expected", prose(f.Expected)}, {"Observed", prose(f.Observed)},
	})
	if len(f.Attempts) > 0 && f.Intent != checker.EveryIntent {
		v.Line, v.Stories = newTimeline(f, v.Anchor), stories(f)
		v.Columns, v.Times = timesColumns(), times(f)
		v.Answers, v.MoreAnswers = answerViews(raw)
	}
	for _, d := range f.Differs[:min(len(f.Differs), mostDifferences)] {
		v.Differs = append(v.Differs, differenceView{name(d.Where), name(d.Attempt), fit(d.First, widestCell), fit(d.Then, widestCell)})
	}
	v.MoreDiffers = len(f.Differs) - len(v.Differs)
	for _, e := range f.Rows[:min(len(f.Rows), mostRows)] {
		v.Rows = append(v.Rows, newRowsView(e))
	}
	return v
}

// timesColumns are the moments of an attempt in the table of exact times.
func timesColumns() []string {
	return []string{"begun", "written", "held", "let go", "at target", "target answers", "client gone", "over"}
}

func times(f checker.Finding) []timesRow {
	list, _ := accounts(f, mostAttempts)
	zero := begin(f)
	var rows []timesRow
	for _, a := range list {
		p := a.attempt.Passage
		if p == nil {
			p = &history.Passage{}
		}
		row := timesRow{ID: name(a.attempt.ID), Lane: name(a.attempt.Lane), Sent: name(a.sent), Answer: name(a.answer)}
		for _, o := range []history.Offset{
			a.attempt.Start, a.attempt.Wrote, p.Held, p.Released, p.Arrived, p.Answered, p.Left, a.attempt.End,
		} {
			row.Moments = append(row.Moments, momentCell(o, zero))
		}
		rows = append(rows, row)
	}
	return rows
}

func momentCell(o, zero history.Offset) string {
	if o == 0 {
		return "–"
	}
	return millis(o - zero)
}

// stories tells what the doorstep knows of attempts and their clients do not.
func stories(f checker.Finding) []fact {
	var list []fact
	told, _ := accounts(f, mostAttempts)
	for _, a := range told {
		if a.story != "" {
			list = append(list, fact{name(a.attempt.ID), fit(a.story, 2*widestCell)})
		}
	}
	return list
}

func newRowsView(e checker.RowEvidence) rowsView {
	found := "No row"
	if n := len(e.Rows); n > 0 {
		found = plural(n, "row")
	}
	v := rowsView{Title: found + " by the marker " + name(e.Marker) + " of the " + name(e.Body) + " body"}
	names := columnsOf(e.Rows)
	shown := names[:min(len(names), mostMDColumn)]
	v.MoreNames, v.MoreRows = len(names)-len(shown), max(len(e.Rows)-mostRows, 0)
	for _, column := range shown {
		v.Columns = append(v.Columns, name(column))
	}
	for _, row := range e.Rows[:min(len(e.Rows), mostRows)] {
		var cells []string
		for _, value := range values(row, shown) {
			cells = append(cells, fit(value, widestCell))
		}
		v.Rows = append(v.Rows, cells)
	}
	return v
}
