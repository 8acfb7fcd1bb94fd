package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/diagnosis"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// view is one report in words. Text, Markdown and HTML lay it out, and so do JUnit, GitHub and GitLab. All of it is
// sanitized, and no text is cut but for its first 4 KiB: how much room there is, only a renderer knows.
type view struct {
	Verdict   verdictView
	Headline  string // the verdict in one sentence
	Sentence  string // the verdicts of all scenarios
	Caveat    string // says so if the rows come from the target itself, or none were read; empty: from its database
	Unplayed  string // names the operations that the run did not play; empty: there are none
	Totals    totals
	Exercised string // for how many proofs there is enough
	run
	nextCommands
	RowsTitle  string // of the rows of a finding
	Scenarios  []scenarioView
	Findings   []findingView // by cause, the simplest first
	Causes     []causeView   // worst first
	Kinds      []kindTotal   // of the findings, worst first
	Verdicts   map[checker.Verdict]int
	Confidence []confidenceView // most rounds first
	Hunt       section          // empty: it was none
}

// run says which run it was.
type run struct{ Target, Operation, Seed, Run, Tool, Started, Files string }

// nextCommands are what to type next. A command that the run does not name is empty.
type nextCommands struct {
	Again  string // repeats the run
	Replay string // shows a finding again, with "{}" for its id
	Next   []note // all that there are about a finding, likewise
}

// totals counts what a run consists of.
type totals struct{ Scenarios, Intents, Requests, Findings int }

// note is a text and what it is about.
type note struct{ Label, Text string }

// newView says a report in words. Requests and answers are taken from the findings as they were recorded: sanitized JSON may
// be no JSON any more.
func newView(raw checker.Report) view {
	r, causes := sanitize(raw), checker.Causes(raw.Results)
	v := view{
		Verdict: newVerdictView(r.Verdict), Caveat: caveat(r), Unplayed: otherOperations(r), Exercised: exercised(r),
		run:          run{Target: r.Target, Operation: r.Operation, Seed: fmt.Sprint(r.Seed), Run: r.Run, Tool: r.Tool, Started: r.Started, Files: r.Dir},
		nextCommands: newNextCommands(r), RowsTitle: rowsTitle(r),
		Findings: findings(r, causes), Verdicts: countVerdicts(r), Confidence: confidences(r.Results), Hunt: hunted(r.Hunt),
	}
	if r.Hunt != nil { // its results are the last rounds of each only
		v.Confidence = nil
	}
	for _, res := range r.Results {
		s := newScenarioView(res)
		if r.Hunt != nil {
			s.Confidence = ""
		}
		v.Scenarios = append(v.Scenarios, s)
		v.Totals.Intents += res.Intents
		v.Totals.Requests += res.Attempts
	}
	for i, f := range findings(raw, causes) {
		v.Findings[i].recorded, v.Findings[i].base = f.finding, raw.BaseURL
	}
	v.Causes = causeViews(causes, v.Findings)
	program, _, _ := strings.Cut(r.Replay, " replay ")
	for i, d := range diagnosis.Of(raw.Results, causes) {
		if v.Causes[i].First.isNew() {
			likely := newLikelyView(d, program)
			if byNaturalKey(v.Causes[i].First.finding) {
				likely.natural()
			}
			likely.Look = joined([]string{likely.Look, inFile(r, causes[i], d)}, " ")
			v.Causes[i].Likely = &likely
		}
	}
	v.Totals.Scenarios, v.Totals.Findings = len(r.Results), len(v.Findings)
	v.Kinds = kindTotals(v.Findings)
	v.Headline, v.Sentence = headline(r, v.worst()), joined([]string{ended(causeCount(v.Causes)), sentence(r, v.worst())}, " ")
	return v
}

// facts labels what there is to know of the run as a whole.
func (v view) facts() []note {
	return present([]note{
		{"Target", v.Target}, {"Operation", v.Operation}, {"Seed", v.Seed}, {"Run", v.Run}, {"Started", v.Started}, {"Made by", v.Tool}, {"Files", v.Files},
	})
}

// present leaves out what has no text.
func present(list []note) []note {
	return slices.DeleteFunc(list, func(n note) bool { return n.Text == "" })
}

// worst names the worst kind, as the end of a sentence. It is empty without a finding.
func (v view) worst() string {
	if len(v.Findings) == 0 {
		return ""
	}
	worst := slices.MinFunc(v.Findings, func(a, b findingView) int { return checker.Compare(a.finding, b.finding) })
	if worst.Excused != "" {
		return ""
	}
	return ", worst kind " + name(worst.Kind)
}

// caveat warns of rows that come from the target itself: it may hide some.
func caveat(r checker.Report) string {
	switch {
	case r.NoRows:
		return "No rows were read, so only answers were judged: database and rows in the target file let them be read."
	case r.OwnWord:
		return "The rows are what the target itself reports: its database was not read."
	default:
		return ""
	}
}

// unsure says that the verdict rests on what init was unsure of; empty: the target file lists nothing of that.
func unsure(r checker.Report) string {
	if r.Unsure == 0 {
		return ""
	}
	if r.Unsure == 1 {
		return "The head of the target file lists a thing that init was unsure of: this verdict rests on it. Settle it, and delete its lines."
	}
	return fmt.Sprintf("The head of the target file lists %d things that init was unsure of: this verdict rests on them. Settle them, and delete their lines.", r.Unsure)
}

// mostUntried is how many families a summary names.
const mostUntried = 4

// untried says of what a run without a failure says nothing, and what of the target file would let it; empty: of nothing that it could.
func untried(r checker.Report) string {
	if r.Verdict == checker.Fail || r.Verdict == checker.Broken || r.Hunt != nil {
		return ""
	}
	lines := map[checker.Family]string{}
	for _, res := range r.Results {
		if u := res.Untried; u != nil && lines[u.What] == "" {
			lines[u.What] = u.Line
		}
	}
	var all []string
	for _, f := range checker.Families() {
		if line := lines[f]; line != "" {
			all = append(all, fmt.Sprintf("%s (%s)", f, line))
		}
	}
	if len(all) == 0 {
		return ""
	}
	if more := len(all) - mostUntried; more > 1 {
		all = append(all[:mostUntried], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("So this says nothing of %s; in brackets is what lets it be tried.", english.List(all, "and"))
}

// otherOperations names the operations of the target that the run says nothing about.
func otherOperations(r checker.Report) string {
	switch {
	case r.Together:
		return fmt.Sprintf("This is of the operation %s: the others have runs of their own.", r.Operation)
	case len(r.NotPlayed) == 0:
		return ""
	}
	return fmt.Sprintf("Only the operation %s was played, and not %s: run --operation all plays each.", r.Operation, english.List(r.NotPlayed, "and"))
}

// excused counts the findings that the contract allows.
func excused(r checker.Report) int {
	n := 0
	for _, res := range r.Results {
		for _, f := range res.Findings {
			if f.Excused != "" {
				n++
			}
		}
	}
	return n
}

// countVerdicts counts the scenarios by verdict.
func countVerdicts(r checker.Report) map[checker.Verdict]int {
	count := map[checker.Verdict]int{}
	for _, res := range r.Results {
		count[res.Verdict]++
	}
	return count
}

// brokenIntents counts the intents with a broken promise, by the verdict on their scenario.
func brokenIntents(r checker.Report) map[checker.Verdict]int {
	count := map[checker.Verdict]int{}
	for _, res := range r.Results {
		count[res.Verdict] += res.Failed
	}
	return count
}

// passedIntents counts the intents of the scenarios that passed.
func passedIntents(r checker.Report) int {
	n := 0
	for _, res := range r.Results {
		if res.Verdict == checker.Pass {
			n += res.Intents
		}
	}
	return n
}

// headline is the verdict in one sentence. Worst names the worst kind of finding.
func headline(r checker.Report, worst string) string {
	if len(r.Results) == 0 {
		return "No scenario was run."
	}
	broken := brokenIntents(r)
	switch known := broken[checker.Known]; {
	case r.Verdict == checker.Inconclusive && known+broken[checker.Inconclusive] > 0:
		return "Nothing new broke, but too little was exercised for a pass."
	case r.Verdict == checker.Pass && known > 0:
		return "Only known bugs were seen, in " + english.Plural(known, "intent") + "."
	case r.Verdict == checker.Pass:
		return "No broken promise was seen in " + english.Plural(passedIntents(r), "intent") + "."
	case r.Verdict == checker.Fail:
		return fmt.Sprintf("A promise was broken in %s%s.", english.Plural(broken[checker.Fail], "intent"), worst)
	case r.Verdict == checker.Mended:
		return "A known bug was not seen."
	case r.Verdict == checker.NotApplicable:
		return "Nothing in this run applies to the target."
	case r.Verdict == checker.Broken:
		return "No verdict: doubletap or its environment failed."
	default:
		return "Nothing broke, but too little was exercised for a pass."
	}
}

// sentence sums a run up. Worst names the worst kind of finding.
func sentence(r checker.Report, worst string) string {
	if len(r.Results) == 0 {
		return "No scenario was run, so nothing was tested."
	}
	count, broken := countVerdicts(r), brokenIntents(r)
	all, clauses := english.Plural(len(r.Results), "scenario"), []string{}
	say := func(v checker.Verdict, what string) {
		if n := count[v]; n > 0 {
			clauses = append(clauses, fmt.Sprintf("%d of %s %s.", n, all, what))
		}
	}
	say(checker.Fail, fmt.Sprintf("failed: %s with a broken promise%s", english.Plural(broken[checker.Fail], "intent"), worst))
	say(checker.Broken, "could not be judged: doubletap or its environment failed")
	unbroken := "showed no broken promise"
	if n := broken[checker.Inconclusive]; n > 0 {
		unbroken = fmt.Sprintf("showed no new broken promise (a known one in %s)", english.Plural(n, "intent"))
	}
	say(checker.Inconclusive, unbroken+", but too little was exercised for a pass")
	clauses = append(clauses, commonReason(r))
	say(checker.Mended, "did not show a known bug: remove it from the register")
	say(checker.Known, fmt.Sprintf("failed as expected: %s with a known broken promise", english.Plural(broken[checker.Known], "intent")))
	say(checker.NotApplicable, "did not apply to this target")
	clauses = append(clauses, untried(r))
	say(checker.Pass, "passed: no broken promise was seen in "+english.Plural(passedIntents(r), "intent"))
	if n := excused(r); n > 0 {
		clauses = append(clauses, english.Plural(n, "finding")+" excused by the contract.")
	}
	shows := huntSentence(r.Hunt)
	if shows == "" {
		shows = worth(r.Results)
	}
	clauses = append(clauses, shows, slowed(r.Results), otherOperations(r), caveat(r), unsure(r))
	return strings.Join(slices.DeleteFunc(clauses, func(c string) bool { return c == "" }), " ")
}

// commonReason says why most scenarios of several were not judged, or not fully, where it is one reason; empty: it is not.
func commonReason(r checker.Report) string {
	const ofThose = "it was not run: "
	times, all := map[string]int{}, 0
	for _, res := range r.Results {
		if res.Verdict != checker.Inconclusive && res.Verdict != checker.Broken {
			continue
		}
		all++
		for i, reason := range res.Reasons {
			if reason = strings.TrimPrefix(reason, ofThose); !slices.Contains(res.Reasons[:i], reason) {
				times[reason]++
			}
		}
	}
	commonest := ""
	for _, reason := range slices.Sorted(maps.Keys(times)) {
		if times[reason] > times[commonest] {
			commonest = reason
		}
	}
	if n := times[commonest]; all > 1 && 2*n > all {
		first, _, _ := strings.Cut(prose(commonest), ". ")
		return fmt.Sprintf("Why, for %d of these %d: %s.", n, all, strings.TrimSuffix(first, "."))
	}
	return ""
}

// exercised says for how many proofs of exercise the scenarios have what they need.
func exercised(r checker.Report) string {
	proofs, enough := 0, 0
	for _, res := range r.Results {
		for _, e := range res.Exercise {
			proofs++
			if e.Held >= e.Needed {
				enough++
			}
		}
	}
	if proofs == 0 {
		return "No scenario names a proof of exercise, so nothing proves what was exercised."
	}
	text := fmt.Sprintf("%d of %s of exercise held for enough intents.", enough, english.Plural(proofs, "proof"))
	if enough < proofs {
		text += " A scenario passes only if all of its proofs do."
	}
	return text
}
