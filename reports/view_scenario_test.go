package reports_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

func TestEveryReportListsWhatTheContractExcuses(t *testing.T) {
	t.Parallel()
	all := renderers()
	all["html"], all["github"], all["gl.json"] = reports.HTML, github(nil), gitlab(nil)
	for name, f := range all {
		got := readable(t, f, excused())
		require.Contains(t, got, "after_crash: at-least-once", name)
		require.Contains(t, got, "duplicate", name)
		require.NotContains(t, got, "worst kind", name)
	}
	for name, f := range people() {
		got := strings.ToLower(readable(t, f, excused()))
		require.Contains(t, got, "excused by the contract", name)
		require.Contains(t, got, "excused: duplicate in 1 of 30 intents", name)
		require.Contains(t, got, "1 finding excused by the contract.", name)
	}
	suite := parse(t, excused())
	require.Zero(t, suite.Failures+suite.Skipped+suite.Errors)
	for _, c := range parseCommands(t, render(t, github(nil), excused())) {
		require.Equal(t, "notice", c.level)
	}
	require.Equal(t, "info", parseIssues(t, excused(), nil)[0].Severity)
	require.Empty(t, reports.Compare(allPass(), excused()).Findings, "it is no broken promise")
}

func TestWhatIsExcusedIsApartFromWhatIsNot(t *testing.T) {
	t.Parallel()
	r := excused()
	fresh := lostThenRetried()
	fresh.ID, fresh.Intent = "F2", "i008"
	r.Results[0].Findings = append([]checker.Finding{fresh}, r.Results[0].Findings...)
	r.Results[0].Verdict, r.Results[0].Failed, r.Verdict = checker.Fail, 1, checker.Fail
	issues := parseIssues(t, r, nil)
	require.Len(t, issues, 2)
	require.NotEqual(t, issues[0].Fingerprint, issues[1].Fingerprint)
	require.Equal(t, "blocker", issues[0].Severity)
	require.Contains(t, readable(t, text(reports.Style{Width: 160}), r), "duplicate in 1 of 30 intents (F2) · excused: duplicate in 1 of 30 intents (F1)")
}

func TestEveryReportLinksAKnownBug(t *testing.T) {
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

func TestEveryReportSaysWhatASlowTargetWasNotSent(t *testing.T) {
	t.Parallel()
	r := allPass()
	r.Results[1].Fewer = &checker.Fewer{Whole: 600, Create: ms(2003)}
	for name, f := range people() {
		got := readable(t, f, r)
		require.Contains(t, got, "A plain create takes 2.0s, so 1 scenario was played with fewer intents: --confidence 10% plays more of what races.", name)
		require.NotContains(t, readable(t, f, allPass()), "fewer intents", name)
	}
	require.Contains(t, readable(t, text(reports.Style{Width: 160}), r), "300 of its 600 intents, as creates are slow")
	r.Results[1].Fewer.Start = ms(10040)
	for name, f := range people() {
		require.Contains(t, readable(t, f, r), "The target takes 10.0s to start, so 1 scenario with crashes was played with fewer intents: --confidence 10% plays more of what races.", name)
	}
	require.Contains(t, readable(t, text(reports.Style{Width: 160}), r), "300 of its 600 intents, as the target starts slowly")
}

func TestAShareIsOfWhatWasExercised(t *testing.T) {
	t.Parallel()
	r := oneDuplicate()
	line := func() string { return readable(t, text(reports.Style{Width: 160}), r) }
	require.Contains(t, line(), "duplicate in 1 of 50 intents (F1)")
	i := slices.IndexFunc(r.Results, func(res checker.Result) bool { return len(res.Findings) > 0 })
	r.Results[i].Exercised = &checker.Exercised{Intents: 17, Broke: map[checker.Kind]int{checker.Duplicate: 1}}
	require.Contains(t, line(), "duplicate in 1 of 17 exercised (50 tries) (F1)")
	r.Results[i].Exercised.Broke = nil
	require.Contains(t, line(), "duplicate in 1 of 50 intents (F1)", "it broke though it was not exercised")
}
