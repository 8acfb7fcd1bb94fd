package reports_test

import (
	stdhtml "html"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

// readable returns a rendering as one line, without the escapes of its format.
func readable(t *testing.T, f renderer, r checker.Report) string {
	t.Helper()
	text := strings.NewReplacer("<![CDATA[", "", "<tspan", " <tspan").Replace(string(render(t, f, r)))
	return strings.Join(strings.Fields(stdhtml.UnescapeString(text)), " ")
}

func people() map[string]renderer {
	return map[string]renderer{"txt": text(reports.Style{Width: 160}), "md": reports.Markdown, "html": reports.HTML}
}

func TestEveryReportUsesTheSameWords(t *testing.T) {
	t.Parallel()
	for name, f := range people() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := readable(t, f, oneDuplicate())
			for _, words := range []string{
				"1 of 3 scenarios failed: 1 intent with a broken promise, worst kind duplicate.",
				"one intent has duplicate rows", "before the final retry", "intent i007",
				"one intent has at most one effect, however often its request arrives", "holds for every contract", "at most 1 row", "2 rows",
				"the target answered 201 at 84ms; the client never saw it (timeout at 300ms)", "timeout, unknown", "final retry",
				"2 rows with the marker dt7k2m9q4x8z1c5v3b that the request carries",
				"doubletap replay runs/2026-03-04T050607Z-orders F1",
				"ungraceful-loser in 2 intents: the loser of a race got a 500, though a retry resolved it",
			} {
				require.Contains(t, strings.ToLower(got), strings.ToLower(words))
			}
			require.NotRegexp(t, `\bT[12]\b`, got, "the names of snapshots are for programs")
		})
	}
}

func TestEveryReportSaysThatNoDatabaseWasRead(t *testing.T) {
	t.Parallel()
	r := oneDuplicate()
	r.OwnWord = true
	all := people()
	all["xml"], all["github"], all["gl.json"] = reports.JUnit, github(nil), gitlab(nil)
	for name, f := range all {
		require.Contains(t, readable(t, f, r), "The rows are what the target itself reports: its database was not read.", name)
		require.NotContains(t, readable(t, f, oneDuplicate()), "target itself reports", name)
	}
}

func TestEveryReportNamesTheOperationsThatWereNotPlayed(t *testing.T) {
	t.Parallel()
	r := oneDuplicate()
	r.Operation, r.NotPlayed = "create_order", []string{"create_quote", "refund"}
	all := people()
	all["xml"] = reports.JUnit
	for name, f := range all {
		require.Contains(t, readable(t, f, r), "Only the operation create_order was played, and not create_quote and refund", name)
		require.NotContains(t, readable(t, f, oneDuplicate()), "Only the operation", name)
	}
	r.Together, r.NotPlayed = true, nil
	for name, f := range all {
		require.Contains(t, readable(t, f, r), "This is of the operation create_order: the others have runs of their own.", name)
	}
}

func TestAReportIsNotChangedByItsRenderers(t *testing.T) {
	t.Parallel()
	r := several()
	for name, f := range people() {
		render(t, f, r)
		require.Equal(t, several(), r, name)
	}
}

func TestAPassSaysOfWhatItSaysNothing(t *testing.T) {
	t.Parallel()
	r := allPass()
	leave := func(what checker.Family, line string) {
		r.Results = append(r.Results, checker.Result{Scenario: "left-out", Verdict: checker.NotApplicable, Untried: &checker.Untried{What: what, Line: line}})
	}
	says := func(words string) {
		t.Helper()
		for name, f := range people() {
			require.Contains(t, readable(t, f, r), words, name)
		}
	}
	leave(checker.LongWork, "work")
	leave(checker.LongWork, "work")
	says("did not apply to this target. So this says nothing of work that takes seconds (work); in brackets is what lets it be tried. 3 of 5")
	leave(checker.Crashes, "process")
	says("So this says nothing of crashes and restarts (process) and work that takes seconds (work); in brackets")
	for _, f := range checker.Families() {
		leave(f, "a line")
	}
	says("effects at other services (a line), several instances (a line) and 12 more; in brackets")
	r.NoRows = true
	require.NotContains(t, readable(t, people()["txt"], func() checker.Report { d := oneDuplicate(); d.NoRows = true; return d }()), "in the database")
	says("No rows were read, so only answers were judged: database and rows in the target file let them be read.")
	r.Verdict = checker.Fail
	require.NotContains(t, readable(t, people()["txt"], r), "says nothing of")
}

// A known bug that showed, where something was not exercised, makes no scenario one without a broken promise.
func TestAnInconclusiveScenarioDoesNotHideAKnownBug(t *testing.T) {
	t.Parallel()
	r := oneDuplicate()
	for i := range r.Results {
		if r.Results[i].Verdict == checker.Fail {
			r.Results[i].Verdict = checker.Inconclusive
			r.Results[i].Findings[0].Known = "https://tracker.example.com/7"
		}
	}
	r.Verdict = checker.Inconclusive
	for name, f := range people() {
		got := readable(t, f, r)
		require.Contains(t, got, "showed no new broken promise (a known one in 1 intent), but too little was exercised for a pass", name)
		require.NotContains(t, got, "showed no broken promise", name)
		require.NotContains(t, got, "Nothing broke", name)
	}
}

func TestOneReasonOfMostScenariosIsToldOnce(t *testing.T) {
	t.Parallel()
	of := func(reasons ...string) checker.Report {
		r := checker.Report{Verdict: checker.Inconclusive}
		for _, reason := range reasons {
			r.Results = append(r.Results, checker.Result{Scenario: "s", Verdict: checker.Inconclusive, Reasons: []string{reason}})
		}
		return r
	}
	const over = "the time of the run was over (budget)"
	says := func(r checker.Report, words string) {
		t.Helper()
		require.Contains(t, readable(t, people()["txt"], r), words)
	}
	says(of("it was not run: "+over, over, "nothing was exercised"), "too little was exercised for a pass. Why, for 2 of these 3: the time of the run was over (budget).")
	for _, r := range []checker.Report{of(over), of(over, "nothing was exercised"), of("a", "b", "c")} {
		require.NotContains(t, readable(t, people()["txt"], r), "Why, for")
	}
}
