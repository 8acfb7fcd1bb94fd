package reports_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

func TestWhatIsKnownIsNotShouted(t *testing.T) {
	t.Parallel()
	got := string(render(t, text(reports.Style{}), allKnown()))
	require.Contains(t, got, "\nF1  duplicate (retry after a lost response), known\n    known bug: https://tracker.example.com/7\n")
	require.NotContains(t, got, "DUPLICATE")
	require.Contains(t, got, "1 of 2 scenarios failed as expected: 1 intent with a known broken promise.")
	require.Contains(t, got, "\nPASS\n")
	require.NotContains(t, got, "no reason was recorded")
	require.Contains(t, string(render(t, text(reports.Style{}), registered())), "F1  DUPLICATE", "what is new is")
}

func TestAKnownBugThatWasNotSeenHasAConfidence(t *testing.T) {
	t.Parallel()
	got := strings.Join(strings.Fields(string(render(t, text(reports.Style{}), mended()))), " ")
	require.Contains(t, got, "no failure in 40 exercised rounds: a failure rate below 7.5%: two-tabs")
	require.Contains(t, got, "take it out of the register (https://tracker.example.com/7)")
}

func TestEveryReportSaysWhereAKnownBugIsTold(t *testing.T) {
	t.Parallel()
	all := renderers()
	all["html"], all["github"], all["gl.json"] = reports.HTML, github(nil), gitlab(nil)
	for name, f := range all {
		got := string(render(t, f, registered()))
		for _, link := range []string{"https://tracker.example.com/7", "https://tracker.example.com/8", "https://tracker.example.com/9"} {
			if (name == "github" || name == "gl.json") && strings.HasSuffix(link, "9") {
				continue // a warning, which is for people who read the report
			}
			require.Contains(t, strings.ReplaceAll(got, "&#58;", ":"), link, name)
		}
	}
}

func TestTheLevelOfAnAnnotationSaysWhatIsNew(t *testing.T) {
	t.Parallel()
	var levels []string
	for _, c := range parseCommands(t, render(t, github(nil), registered())) {
		levels = append(levels, c.level+" "+c.properties["title"])
	}
	require.Equal(t, []string{
		"error duplicate (retry after a lost response) in lost-response", "warning mended: two-tabs",
		"notice duplicate (retry after a lost response) in burst-same-key", "notice replay-mismatch (body) in lost-response",
	}, levels)
	var severities []string
	for _, i := range parseIssues(t, registered(), nil) {
		severities = append(severities, i.Severity)
	}
	require.Equal(t, []string{"blocker", "info", "info"}, severities)
}

func TestTheHTMLReportCanBeFilteredByEveryVerdict(t *testing.T) {
	t.Parallel()
	got := html(t, registered())
	for _, verdict := range []string{"fail", "mended", "known"} {
		require.Contains(t, got, `<option value="`+verdict+`">`)
		require.Contains(t, got, `class="item scenario v-`+verdict+`"`)
		require.Contains(t, got, ".v-"+verdict+" { --accent: var(--"+verdict+"); }")
		require.Equal(t, 2, strings.Count(got, " --"+verdict+": #"), "a colour in the light, and one in the dark")
	}
	require.Equal(t, 2, strings.Count(got, `class="item finding detailed expected"`), "what is known is not in red")
	require.Contains(t, html(t, allKnown()), "Only known bugs were seen, in 1 intent.")
	require.Contains(t, html(t, mended()), "A known bug was not seen.")
}

func TestAKnownFindingIsComparedLikeOthers(t *testing.T) {
	t.Parallel()
	fixed := mended()
	fixed.Results[0].Scenario = "burst-same-key"
	for _, c := range []struct {
		name     string
		old, new checker.Report
		trend    reports.Trend
		outcome  reports.Outcome
		turned   int
	}{
		{"it is still there", allKnown(), allKnown(), reports.Unchanged, reports.NotWorse, 0},
		{"it is mended", allKnown(), fixed, reports.Gone, reports.NotWorse, 1},
		{"it is back", fixed, allKnown(), reports.Appeared, reports.Worse, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := reports.Compare(c.old, c.new)
			require.Equal(t, c.outcome, got.Outcome)
			require.Equal(t, 2, got.Judged)
			require.Len(t, got.Findings, 1)
			require.Equal(t, c.trend, got.Findings[0].Trend)
			require.Equal(t, c.turned, len(slices.DeleteFunc(got.Scenarios, func(t reports.Turnabout) bool { return t.Old == nil || t.New == nil })))
		})
	}
}
