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
)

// mostBodies is how many findings of a scenario are told in full in JUnit.
const mostBodies = 5

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

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",cdata"`
}

type junitText struct {
	Text string `xml:",cdata"`
}

// JUnit writes one test suite for the run and one test case per scenario. A new finding is a failure, and
// so is a known bug that was not seen any more; trouble of the harness or its surroundings is an error;
// inconclusive and not applicable are skipped, with the reason, because neither says anything about the
// target, and so is what fails as expected.
func JUnit(w io.Writer, r checker.Report) error {
	r = legible(r)
	suite := junitSuite{
		Name: "doubletap " + r.Target, Timestamp: r.Started,
		Properties: properties("run", r.Run, "tool", r.Tool, "target", r.Target, "seed", fmt.Sprint(r.Seed),
			"verdict", r.Verdict.String(), "files", r.Dir, "again", r.Again),
	}
	if r.OwnWord {
		suite.Properties = append(suite.Properties, properties("rows", ownWord)...)
	}
	var elapsed history.Offset
	for _, res := range r.Results {
		suite.add(testCase(r, res))
		elapsed += res.Elapsed
	}
	suite.Time = seconds(elapsed)
	return writeXML(w, junitSuites{
		Name: "doubletap", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors,
		Skipped: suite.Skipped, Time: suite.Time, Suites: []junitSuite{suite},
	})
}

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

func testCase(r checker.Report, res checker.Result) junitCase {
	c := junitCase{
		Name: res.Scenario, Class: "doubletap." + r.Target, Time: seconds(res.Elapsed),
		Properties: caseProperties(r, res),
	}
	reasons := strings.Join(missing(res), "\n")
	message := fit(joined([]string{words(res.Verdict), firstOf(missing(res))}, ": "), 300)
	switch {
	case res.Verdict == checker.Fail || slices.ContainsFunc(res.Findings, func(f checker.Finding) bool { return f.Known == "" }):
		c.Failure = failureOf(r, res)
	case res.Verdict == checker.Known:
		c.Skipped = expected(res)
	case res.Verdict == checker.Mended:
		c.Failure = &junitProblem{Message: message, Type: res.Verdict.String(), Text: reasons}
	case res.Verdict == checker.Pass:
	case res.Verdict == checker.Inconclusive || res.Verdict == checker.NotApplicable:
		c.Skipped = &junitProblem{Message: message, Text: reasons}
	default:
		c.Error = &junitProblem{Message: message, Type: res.Verdict.String(), Text: reasons}
	}
	c.Out = &junitText{Text: output(c.Properties, res)}
	return c
}

// expected is what a scenario that fails as expected is skipped for.
func expected(res checker.Result) *junitProblem {
	p := &page{}
	for _, line := range told(checker.Report{Results: []checker.Result{res}}) {
		p.line(line[1])
	}
	for _, reason := range missing(res) {
		p.wrapped("besides: ", reason)
	}
	return &junitProblem{Message: fit("known: "+firstOf(strings.Split(p.String(), "\n")), 300), Text: p.String()}
}

func failureOf(r checker.Report, res checker.Result) *junitProblem {
	r.Results = []checker.Result{res}
	all := findings(r)
	if len(all) == 0 {
		return &junitProblem{Message: "fail, without a recorded finding", Type: "fail"}
	}
	p := &page{}
	for _, s := range all[:min(len(all), mostBodies)] {
		p.line()
		p.finding(r, s)
	}
	if more := len(all) - mostBodies; more > 0 {
		p.line()
		p.line("and ", plural(more, "more finding"))
	}
	for _, reason := range res.Reasons {
		p.wrapped("besides: ", prose(reason))
	}
	return &junitProblem{Message: share(res), Type: string(all[0].finding.Kind), Text: p.String()}
}

func caseProperties(r checker.Report, res checker.Result) []junitProperty {
	list := properties("seed", fmt.Sprint(res.Seed), "verdict", res.Verdict.String(),
		"failed", fmt.Sprintf("%d/%d", res.Failed, res.Intents), "attempts", strconv.Itoa(res.Attempts))
	for _, e := range res.Exercise {
		list = append(list, junitProperty{
			Name: "exercise." + e.Proof, Value: fmt.Sprintf("%d/%d, needed %d", e.Held, e.Of, e.Needed),
		})
	}
	r.Results = []checker.Result{res}
	if all := findings(r); len(all) > 0 && r.Replay != "" {
		list = append(list, properties("replay", about(r.Replay, all[0].finding.ID))...)
	}
	return list
}

// output repeats the properties, since several CI servers do not show them.
func output(list []junitProperty, res checker.Result) string {
	p := &page{}
	for _, property := range list {
		p.line(property.Name, ": ", property.Value)
	}
	if text := worth(res); text != "" {
		p.line("worth: ", text)
	}
	for _, w := range res.Warnings[:min(len(res.Warnings), mostLines)] {
		p.line("warning: ", warningText(w))
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

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func seconds(o history.Offset) string { return fmt.Sprintf("%.3f", o.Duration().Seconds()) }
