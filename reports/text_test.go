package reports_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

func TestTextKeepsItsWidth(t *testing.T) {
	t.Parallel()
	commands := []string{"    doubletap replay", "  files ", "  again ", "  target ", "✓ ", "✗ ", "? ", "– ", "! ", "≈ ", "+ "}
	for name, r := range fixtures() {
		for _, width := range []int{60, 77, 100, 160} {
			pasted := false // requests and answers are not wrapped, so that they can be pasted
			for line := range strings.Lines(string(render(t, text(reports.Style{Width: width}), r))) {
				line = strings.TrimSuffix(line, "\n")
				pasted = line == "  Requests and answers" || pasted && line != ""
				if !pasted && !startsWithAny(line, commands) {
					require.LessOrEqual(t, uniseg.StringWidth(line), width, "%s: %s", name, line)
				}
			}
		}
	}
}

func startsWithAny(line string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

func TestTextIsLinesThenDetails(t *testing.T) {
	t.Parallel()
	r := oneDuplicate()
	s := reports.Style{Names: len("lost-response")}
	var want bytes.Buffer
	for _, res := range r.Results {
		want.WriteString(strings.TrimRight(reports.Line(res, s), " ") + "\n")
	}
	require.NoError(t, reports.Details(&want, r, s))
	require.Equal(t, want.String(), string(render(t, text(s), r)))
}

func TestTenThousandFindingsStayShort(t *testing.T) {
	t.Parallel()
	got := render(t, text(reports.Style{}), manyFindings(10000))
	require.Less(t, bytes.Count(got, []byte("\n")), 100)
	require.Contains(t, string(got), "more")
}

func TestColourIsOnlyColour(t *testing.T) {
	t.Parallel()
	for name, r := range fixtures() {
		plain := render(t, text(reports.Style{}), r)
		colored := render(t, text(reports.Style{Color: true}), r)
		require.Equal(t, trimmed(string(plain)), trimmed(withoutColour(string(colored))), name)
	}
}

func trimmed(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func TestAKnownFindingIsNotInCapitals(t *testing.T) {
	t.Parallel()
	got := string(render(t, text(reports.Style{}), allKnown()))
	require.Contains(t, got, "\nF1  duplicate (retry after a lost response), known\n    known bug: https://tracker.example.com/7\n")
	require.NotContains(t, got, "DUPLICATE")
	require.Contains(t, got, "1 of 2 scenarios failed as expected: 1 intent with a known broken promise.")
	require.Contains(t, got, "\nPASS\n")
	require.NotContains(t, got, "no reason was recorded")
	require.Contains(t, string(render(t, text(reports.Style{}), registered())), "F1  DUPLICATE", "what is new is")
}

func TestScenariosWithOneReasonStandTogether(t *testing.T) {
	t.Parallel()
	r := allPass()
	for _, name := range []string{"store-cut", "slow-database", "store-slow"} {
		why := "the target has no store"
		if name == "slow-database" {
			why = "no link leads to the database"
		}
		r.Results = append(r.Results, checker.Result{Scenario: name, Verdict: checker.NotApplicable, Reasons: []string{why}})
	}
	for what, got := range map[string][]byte{"text": render(t, text(reports.Style{}), r), "markdown": render(t, reports.Markdown, r)} {
		require.Equal(t, 1, bytes.Count(got, []byte("store-cut, store-slow")), what)
		require.Contains(t, string(got), "slow-database", what)
	}
}

func TestAFileHasAPageForEachCause(t *testing.T) {
	t.Parallel()
	r := manyFindings(200)
	causes := len(reports.CauseSentences(r))
	require.Greater(t, causes, 2)
	file, terminal := string(render(t, reports.TextFile, r)), string(render(t, text(reports.Style{}), r))
	require.Equal(t, causes, strings.Count(file, "\n  Requests and answers\n"))
	require.Equal(t, 1, strings.Count(terminal, "\n  Requests and answers\n"))
	require.Contains(t, terminal, "are in report.txt and report.html")
}
