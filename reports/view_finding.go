package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// How much of one finding is shown.
const (
	mostAttempts    = 16
	mostRows        = 10
	mostDifferences = 8
)

// findingView is one finding in words, without its evidence.
type findingView struct {
	ID, Kind, Meaning string
	Sentence          string // what happened, as one engineer tells another
	Detail            string
	Scenario, Summary string
	Verdict           verdictView // of the scenario
	Intent            string
	About             string // the intent, or all of them, as a part of a sentence
	Moment            string // when it showed
	Known             string // link to the bug; empty: it is new
	Excused           string // line of the contract that allows it; empty: none does
	Promises          []note // what was promised, and what happened instead
	Expectation       string // the same in one clause
	Whole             bool   // it shows only in all intents together: its attempts are those of a typical one

	at      checker.Place // in the run
	intents int           // of the scenario
	finding checker.Finding

	recorded checker.Finding // before anything was sanitized
	base     string          // URL of the target, likewise
}

// evidence is what a finding rests on.
type evidence struct {
	Start        history.Offset // where the clock of the finding starts
	Attempts     []attemptView
	MoreAttempts int
	Differs      []differenceView
	MoreDiffers  int
	Rows         []rowsView
	Exchanges    []exchangeView // the attempts that matter, with request and answer
	Unsent       string         // why there are none; empty: there are some
	Printed      []printedView  // by the target meanwhile
	MorePrinted  int
}

// printedView is a line of the target's log, by the finding's clock.
type printedView struct{ At, Text string }

// printedTitle is the title of the lines that the target printed.
const printedTitle = "The service's log meanwhile"

// printedViews says when a line was printed, and by which instance.
func printedViews(f checker.Finding) []printedView {
	var list []printedView
	for _, line := range f.Printed.Lines[:min(len(f.Printed.Lines), mostPrinted)] {
		at := clock(line.At - start(f))
		if line.Instance > 0 {
			at += fmt.Sprintf(", instance %d", line.Instance)
		}
		list = append(list, printedView{at, fit(line.Text, longestPrinted)})
	}
	return list
}

// How much of the target's log a finding shows.
const (
	mostPrinted    = 20
	longestPrinted = 400
)

// differenceView is one member in which two answers differ.
type differenceView struct{ Where, Attempt, First, Then string }

// rowsView is the rows of one marker as a table. More counts the rows that are left out.
type rowsView struct {
	Title   string
	Columns []string
	Rows    [][]string
	More    int
}

// findings returns all findings of a report by cause.
func findings(r checker.Report, causes []checker.Cause) []findingView {
	var all []findingView
	by := make([][]findingView, len(r.Results))
	for i, res := range r.Results {
		by[i] = findingsOf(res, i)
	}
	for _, c := range causes {
		for _, p := range c.Members {
			all = append(all, by[p.Result][p.Finding])
		}
	}
	return all
}

// findingsOf returns the findings of one scenario. Place is its index in the run.
func findingsOf(res checker.Result, place int) []findingView {
	var all []findingView
	for i, f := range res.Findings {
		v := newFindingView(f)
		v.Scenario, v.Summary, v.Verdict = res.Scenario, prose(res.Summary), newVerdictView(res.Verdict)
		if byNaturalKey(f) {
			v.Summary = ofNaturalKey(v.Summary)
		}
		v.at, v.intents = checker.Place{Result: place, Finding: i}, res.Of()
		all = append(all, v)
	}
	return all
}

// newFindingView says a finding in words. What belongs to the scenario, the caller fills in.
// meaning is that of the kind; a row that does not hold what was sent needs no other body.
func meaning(f checker.Finding) string {
	if f.Kind == checker.AlteredBody && f.Detail == "content" {
		return "a row does not hold what was sent"
	}
	if f.Kind == checker.Duplicate && addedTo(f) != "" {
		return "one intent was added more than once"
	}
	if rowsUnknown(f) {
		return strings.TrimPrefix(f.Kind.Row().Meaning, "nothing was made, and ")
	}
	return f.Kind.Row().Meaning
}

// newFindingView has the words of a finding. All that comes from a target has passed sanitize
// before, and stays as it is.
func newFindingView(f checker.Finding) findingView {
	return findingView{
		ID: f.ID, Kind: string(f.Kind), Meaning: meaning(f), Sentence: bug(f), Detail: prose(f.Detail), Intent: f.Intent, About: about(f),
		Moment: momentWords(f.Moment), Known: prose(f.Known), Excused: prose(f.Excused), Expectation: expectation(f), Whole: f.Intent == checker.EveryIntent,
		Promises: present([]note{
			{"Promise", prose(f.Promise)}, {"Contract", prose(f.Contract)}, {"Expected", prose(f.Expected)}, {"Observed", prose(f.Observed)},
		}),
		finding: f,
	}
}

// momentWords says when a snapshot was taken.
func momentWords(snapshot string) string {
	switch snapshot {
	case history.T1Name:
		return "before the final retry"
	case history.T2Name:
		return "after the final retry"
	case "":
		return "at no recorded moment"
	default:
		return snapshot
	}
}

// about names what a finding is about.
func about(f checker.Finding) string {
	if f.Intent == checker.EveryIntent {
		return "all intents together"
	}
	return "intent " + name(f.Intent)
}

// sentTitle is the title of the attempts of a finding.
func (v findingView) sentTitle() string {
	if v.finding.Typical == "" {
		return "What was sent"
	}
	return "What was sent, for example for intent " + name(v.finding.Typical)
}

// shrunkTitle is the title of the minimal reproduction.
const shrunkTitle = "Minimal reproduction"

// shrunk says what a finding takes, and in how many runs that showed it; empty: it was not shrunk.
func (v findingView) shrunk() string {
	left := v.finding.Shrunk
	if left == nil {
		return ""
	}
	return fmt.Sprintf("%s, seen %s: %s", prose(left.Left), prose(left.Seen), left.File)
}

// expectation says what was expected and what was observed, in one clause.
func expectation(f checker.Finding) string {
	if f.Expected == "" {
		return prose(f.Observed)
	}
	return fmt.Sprintf("expected %s, observed %s", prose(f.Expected), prose(f.Observed))
}

// kindAndDetail names what was broken: "replay-mismatch (status)".
func (v findingView) kindAndDetail() string {
	if v.Detail == "" {
		return name(v.Kind)
	}
	return name(v.Kind) + " (" + name(v.Detail) + ")"
}

// standing is a word for a finding that does not fail the run, and nothing for a new one.
func (v findingView) standing() string {
	switch {
	case v.Known != "":
		return "known"
	case v.Excused != "":
		return "excused"
	default:
		return ""
	}
}

// isNew reports that a finding fails the run.
func (v findingView) isNew() bool { return v.standing() == "" }

// allowed says why a finding does not fail the run, or nothing.
func (v findingView) allowed() string {
	switch {
	case v.Known != "":
		return "known bug: " + v.Known
	case v.Excused != "":
		return excusedBy(v.Excused)
	default:
		return ""
	}
}

// excusedBy names the line of the contract that allows a finding.
func excusedBy(line string) string { return "excused by the contract: " + line }

// likely is what is likely behind a finding that stands for its cause; nil: it does not, or is not new.
func (v view) likely(f findingView) *likelyView {
	i := slices.IndexFunc(v.Causes, func(c causeView) bool { return c.First.ID == f.ID && c.First.Scenario == f.Scenario })
	if i < 0 {
		return nil
	}
	return v.Causes[i].Likely
}

// newNextCommands names the commands of a run.
func newNextCommands(r checker.Report) nextCommands {
	return nextCommands{
		Again: r.Again, Replay: r.Replay,
		Next: present([]note{{"Replay it", r.Replay}, {"Shrink it", r.Shrink}, {"Export it as a shell script", r.Export}}),
	}
}

// about are the commands about one finding.
func (c nextCommands) about(f findingView) []note {
	var list []note
	for _, n := range c.Next {
		list = append(list, note{n.Label, filled(n.Text, f.ID)})
	}
	return list
}

// replay is the command that shows a finding again. It is empty where the run names none.
func (c nextCommands) replay(f findingView) string { return filled(c.Replay, f.ID) }

// filled puts a finding's id into a command about it.
func filled(command, id string) string { return strings.ReplaceAll(command, "{}", id) }

// evidence collects what a finding rests on.
func (v findingView) evidence() evidence {
	f := v.finding
	e := evidence{Start: start(f)}
	e.Attempts, e.MoreAttempts = attemptViews(f, mostAttempts)
	for _, d := range f.Differs[:min(len(f.Differs), mostDifferences)] {
		e.Differs = append(e.Differs, differenceView{d.Where, d.Attempt, d.First, d.Then})
	}
	e.MoreDiffers = len(f.Differs) - len(e.Differs)
	if e.Exchanges = exchanges(v.base, v.recorded); e.Exchanges != nil {
		for i := range e.Attempts {
			e.Attempts[i].Content = "" // it is beside its request
		}
	}
	e.Unsent = unsent(v.recorded)
	e.Printed = printedViews(f)
	e.MorePrinted = max(0, f.Printed.Unlisted) + len(f.Printed.Lines) - len(e.Printed)
	for _, rows := range f.Rows {
		if !rows.Unknown {
			e.Rows = append(e.Rows, newRowsView(rows, len(f.Rows) > 1))
		}
		if len(rows.Messages) > 0 {
			e.Rows = append(e.Rows, newMessagesView(rows, e.Start))
		}
	}
	return e
}

// text says in what an answer differs from the first.
func (d differenceView) text() string {
	return fmt.Sprintf("%s in %s: first %s, then %s", name(d.Where), name(d.Attempt), quoted(d.First), quoted(d.Then))
}

// quoted puts a value of an answer in quotes. A missing one is "nothing".
func quoted(s string) string {
	if s == "" || s == checker.Nothing {
		return checker.Nothing
	}
	return "“" + fit(s, 60) + "”"
}

// rowsTitle is the title of a finding's rows.
func rowsTitle(r checker.Report) string {
	switch {
	case r.NoRows:
		return "Rows (none were read)"
	case r.OwnWord:
		return "Rows that the target reported"
	default:
		return "Rows in the database"
	}
}

// newRowsView lays the rows of one marker out, the first few of them. Several says that there are those of another body as well.
func newRowsView(e checker.RowEvidence, several bool) rowsView {
	what := "request"
	if several {
		what = name(e.Body) + " body"
	}
	found := "no row"
	switch n := len(e.Rows); {
	case n > 0 && e.Adds != "":
		found = fmt.Sprintf("%s to %s of the row", english.Plural(n, "addition"), name(e.Adds))
	case n > 0:
		found = english.Plural(n, "row")
	}
	v := rowsView{
		Title:   fmt.Sprintf("%s with the marker %s that the %s carries", found, name(e.Marker), what),
		Columns: columnsOf(e.Rows), More: max(len(e.Rows)-mostRows, 0),
	}
	for _, row := range e.Rows[:min(len(e.Rows), mostRows)] {
		cells := make([]string, 0, len(v.Columns))
		for _, column := range v.Columns {
			cells = append(cells, cell(row[column]))
		}
		v.Rows = append(v.Rows, cells)
	}
	return v
}

// columnsOf returns the column names of rows, ids first and the others by name.
func columnsOf(rows []history.Row) []string {
	known := map[string]bool{}
	var names []string
	for _, row := range rows {
		for name := range row {
			if !known[name] {
				known[name] = true
				names = append(names, name)
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(columnRank(a)-columnRank(b), strings.Compare(a, b)) })
	return names
}

// columnRank puts the id first.
func columnRank(column string) int {
	if strings.EqualFold(column, "id") {
		return 0
	}
	return 1
}
