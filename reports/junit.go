package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/english"
)

// mostBodies is how many findings of a scenario are shown in full in JUnit.
const mostBodies = 5

// junitSuites is the root element, with the counts of its suites.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

// junitSuite is the run.
type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

// junitCase is one scenario. It has at most one of Skipped, Error and Failure; with none of them it passed.
type junitCase struct {
	Name       string          `xml:"name,attr"`
	Class      string          `xml:"classname,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Skipped    *junitProblem   `xml:"skipped"`
	Error      *junitProblem   `xml:"error"`
	Failure    *junitProblem   `xml:"failure"`
	Out        *junitText      `xml:"system-out"`
}

// junitProperty is a name and a value.
type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// junitProblem says why a case did not pass.
type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",cdata"`
}

// junitText is text in CDATA, which keeps its line feeds.
type junitText struct {
	Text string `xml:",cdata"`
}

// JUnit writes one test suite for the run and one test case per scenario. A new finding is a failure, and
// so is a known bug that was not seen; a failure of the harness or its environment is an error;
// inconclusive and not applicable are skipped, with the reason, because neither says anything about the
// target, and so is what fails as expected.
func JUnit(w io.Writer, r checker.Report) error {
	v := newView(r)
	suite := junitSuite{
		Name: "doubletap " + v.Target, Timestamp: v.Started,
		Properties: properties("run", v.Run, "tool", v.Tool, "target", v.Target, "seed", v.Seed,
			"verdict", v.Verdict.verdict.String(), "files", v.Files, "again", v.Again, "operations", v.Unplayed, "rows", v.Caveat),
	}
	var elapsed history.Offset
	for i, s := range v.Scenarios {
		suite.add(testCase(v, s, v.findingsOf(i)))
		elapsed += s.Result.Elapsed
	}
	suite.Time = seconds(elapsed)
	return writeXML(w, junitSuites{
		Name: "doubletap", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors,
		Skipped: suite.Skipped, Time: suite.Time, Suites: []junitSuite{suite},
	})
}

// writeXML encodes the suites, after an XML declaration.
func writeXML(w io.Writer, suites junitSuites) error {
	text, err := xml.MarshalIndent(suites, "", "  ")
	if err != nil {
		return fmt.Errorf("write JUnit report: %w", err)
	}
	if _, err := fmt.Fprintf(w, "%s%s\n", xml.Header, text); err != nil {
		return fmt.Errorf("write JUnit report: %w", err)
	}
	return nil
}

// add appends a case and counts it.
func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// findingsOf returns the findings of one scenario, worst first.
func (v view) findingsOf(place int) []findingView {
	return slices.DeleteFunc(slices.Clone(v.Findings), func(f findingView) bool { return f.at.Result != place })
}

// testCase makes the case of a scenario. Only a pass without a new finding is green, whatever else the report says.
func testCase(v view, s scenarioView, findings []findingView) junitCase {
	c := junitCase{
		Name: s.Name, Class: "doubletap." + v.Target, Time: seconds(s.Result.Elapsed),
		Properties: caseProperties(v, s, findings),
	}
	text := strings.Join(s.Reasons, "\n")
	message := fit(joined([]string{s.Verdict.Word, firstOf(s.Reasons)}, ": "), 300)
	verdict := s.Result.Verdict
	switch {
	case verdict == checker.Fail || slices.ContainsFunc(findings, findingView.isNew):
		c.Failure = failureOf(v, s, findings)
	case verdict == checker.Known:
		c.Skipped = expected(s)
	case verdict == checker.Mended:
		c.Failure = &junitProblem{Message: message, Type: verdict.String(), Text: text}
	case verdict == checker.Pass:
	case verdict == checker.Inconclusive || verdict == checker.NotApplicable:
		c.Skipped = &junitProblem{Message: message, Text: text}
	default:
		c.Error = &junitProblem{Message: message, Type: verdict.String(), Text: text}
	}
	c.Out = &junitText{Text: output(c.Properties, s)}
	return c
}

// expected is what a scenario that fails as expected is skipped for.
func expected(s scenarioView) *junitProblem {
	p := &page{}
	for _, line := range s.Known {
		p.line(line)
	}
	for _, reason := range s.Reasons {
		p.wrapped("also: ", reason)
	}
	return &junitProblem{Message: fit("known: "+firstOf(strings.Split(p.String(), "\n")), 300), Text: p.String()}
}

// failureOf shows the findings of a scenario as the text report does, the first of each cause in full.
func failureOf(v view, s scenarioView, findings []findingView) *junitProblem {
	if len(findings) == 0 {
		return &junitProblem{Message: "fail, without a recorded finding", Type: "fail"}
	}
	p := &page{}
	shown := firstOfCauses(v, findings)
	for _, f := range shown {
		p.line()
		p.finding(v, f)
	}
	if more := len(findings) - len(shown); more > 0 {
		p.line()
		p.line("and ", english.Plural(more, "more finding"), " like these")
	}
	for _, reason := range s.Result.Reasons {
		p.wrapped("also: ", prose(reason))
	}
	return &junitProblem{Message: s.Share, Type: findings[0].Kind, Text: p.String()}
}

// firstOfCauses returns the first of some findings of each cause, a few of them.
func firstOfCauses(v view, findings []findingView) []findingView {
	var list []findingView
	for _, c := range v.Causes {
		i := slices.IndexFunc(findings, func(f findingView) bool { return slices.Contains(c.cause.Members, f.at) })
		if i >= 0 && len(list) < mostBodies {
			list = append(list, findings[i])
		}
	}
	return list
}

// caseProperties are what scripts read of a case.
func caseProperties(v view, s scenarioView, findings []findingView) []junitProperty {
	res := s.Result
	list := properties("seed", fmt.Sprint(res.Seed), "verdict", res.Verdict.String(),
		"failed", fmt.Sprintf("%d/%d", res.Failed, res.Intents), "attempts", strconv.Itoa(res.Attempts))
	for _, e := range res.Exercise {
		list = append(list, junitProperty{
			Name: "exercise." + e.Proof, Value: fmt.Sprintf("%d/%d, needed %d", e.Held, e.Of, e.Needed),
		})
	}
	if len(findings) > 0 {
		list = append(list, properties("replay", v.replay(findings[0]))...)
	}
	return list
}

// output repeats the properties, since several CI servers do not show them.
func output(list []junitProperty, s scenarioView) string {
	p := &page{}
	for _, property := range list {
		p.line(property.Name, ": ", property.Value)
	}
	if s.Confidence != "" {
		p.line("confidence: ", s.Confidence)
	}
	for _, line := range s.Excused {
		p.line("excused by the contract: ", line)
	}
	for _, warning := range s.Warnings[:min(len(s.Warnings), mostLines)] {
		p.line("warning: ", warning)
	}
	return p.String()
}

// properties makes a list of pairs of name and value, without those that have no value.
func properties(pairs ...string) []junitProperty {
	var list []junitProperty
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			list = append(list, junitProperty{Name: pairs[i], Value: pairs[i+1]})
		}
	}
	return list
}

// firstOf returns the first text, or none.
func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
