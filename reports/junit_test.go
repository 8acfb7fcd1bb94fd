package reports_test

import (
	"encoding/xml"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

type parsedCase struct {
	Name    string `xml:"name,attr"`
	Failure *struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	} `xml:"failure"`
	Error *struct {
		Message string `xml:"message,attr"`
	} `xml:"error"`
	Skipped *struct {
		Message string `xml:"message,attr"`
	} `xml:"skipped"`
	Properties []struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	} `xml:"properties>property"`
}

type parsedSuites struct {
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Cases    []parsedCase `xml:"testsuite>testcase"`
}

func parse(t *testing.T, r checker.Report) parsedSuites {
	t.Helper()
	var suites parsedSuites
	require.NoError(t, xml.Unmarshal(render(t, reports.JUnit, r), &suites))
	return suites
}

func TestJUnitIsValidForEveryFixture(t *testing.T) {
	t.Parallel()
	for name, r := range fixtures() {
		require.Len(t, parse(t, r).Cases, len(r.Results), name)
	}
}

func TestJUnitSortsVerdicts(t *testing.T) {
	t.Parallel()
	duplicate := parse(t, oneDuplicate())
	require.Equal(t, 1, duplicate.Failures)
	require.Equal(t, "duplicate in 1 of 50 intents (F1)", duplicate.Cases[1].Failure.Message)
	require.Contains(t, duplicate.Cases[1].Failure.Text, "the client never saw it")
	require.Contains(t, fmt.Sprint(duplicate.Cases[1].Properties), "doubletap replay runs/2026-03-04T050607Z-orders F1")
	require.Contains(t, fmt.Sprint(duplicate.Cases[1].Properties), "{failed 1/50}")

	broken := parse(t, targetDied())
	require.Equal(t, 1, broken.Errors)
	require.Contains(t, broken.Cases[1].Error.Message, "connection refused")

	require.Contains(t, parse(t, inconclusive()).Cases[0].Skipped.Message, "inconclusive: ")
	require.Contains(t, parse(t, notApplicable()).Cases[1].Skipped.Message, "not applicable: ")

	registered := parse(t, registered())
	require.Equal(t, []int{2, 1, 0}, []int{registered.Failures, registered.Skipped, registered.Errors})
	require.Equal(t, "known: duplicate in 1 of 12 intents (F2): https://tracker.example.com/7", registered.Cases[0].Skipped.Message)
	require.Contains(t, registered.Cases[2].Failure.Message, "take it out of the register")
}

func TestJUnitIsNeverGreenWithoutAPass(t *testing.T) {
	t.Parallel()
	for _, v := range []checker.Verdict{checker.Inconclusive, checker.Fail, checker.NotApplicable, checker.Broken, checker.Known, checker.Mended, -1, 99} {
		s := parse(t, report(v, checker.Result{Verdict: v}))
		require.Equal(t, 1, s.Failures+s.Errors+s.Skipped, v)
	}
	withFinding := oneDuplicate()
	withFinding.Results[1].Verdict = checker.Pass
	require.Equal(t, 1, parse(t, withFinding).Failures, "a finding is a failure, whatever the verdict says")
}
