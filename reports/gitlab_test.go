package reports_test

import (
	"encoding/json"
	"io"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

func gitlab(files map[string]string) renderer {
	return func(w io.Writer, r checker.Report) error { return reports.GitLab(w, r, files) }
}

// parsedIssue is what GitLab requires of an entry.
type parsedIssue struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

func parseIssues(t *testing.T, r checker.Report, files map[string]string) []parsedIssue {
	t.Helper()
	var list []parsedIssue
	require.NoError(t, json.Unmarshal(render(t, gitlab(files), r), &list))
	return list
}

func TestGitLabGolden(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]checker.Report{"many": manyFindings(200), "hostile": hostile(), "registered": registered()} {
		compare(t, name+".gl.json", render(t, gitlab(map[string]string{"two-tabs": "scenarios/tabs.yaml"}), r))
	}
}

func TestGitLabAcceptsEveryEntry(t *testing.T) {
	t.Parallel()
	for name, r := range fixtures() {
		known := map[string]bool{}
		for _, i := range parseIssues(t, r, nil) {
			require.NotEmpty(t, i.Description, name)
			require.NotEmpty(t, i.CheckName, name)
			require.NotEmpty(t, i.Location.Path, name)
			require.Regexp(t, regexp.MustCompile(`^[0-9a-f]{64}$`), i.Fingerprint, name)
			require.Contains(t, []string{"blocker", "critical", "major", "minor", "info"}, i.Severity, name)
			require.Equal(t, 1, i.Location.Lines.Begin, name)
			require.False(t, known[i.Fingerprint], "%s: GitLab keeps one entry of a fingerprint", name)
			known[i.Fingerprint] = true
		}
	}
}

func TestGitLabGetsAListWithoutFindings(t *testing.T) {
	t.Parallel()
	require.Equal(t, "[]\n", string(render(t, gitlab(nil), allPass())))
}

func TestAFingerprintIsThatOfTheOffenceAlone(t *testing.T) {
	t.Parallel()
	first := parseIssues(t, oneDuplicate(), nil)[0].Fingerprint
	other := func(change func(*checker.Result, *checker.Finding)) string {
		r := oneDuplicate()
		change(&r.Results[1], &r.Results[1].Findings[0])
		return parseIssues(t, r, map[string]string{"lost-response": "a.yaml"})[0].Fingerprint
	}
	require.Equal(t, first, other(func(_ *checker.Result, f *checker.Finding) {
		f.ID, f.Intent, f.Observed, f.Moment = "F9", "i012", "7 rows", "T2"
	}))
	require.Equal(t, first, other(func(res *checker.Result, _ *checker.Finding) { res.Scenario = "two" }), "a cause is the same in all scenarios")
	require.NotEqual(t, first, other(func(_ *checker.Result, f *checker.Finding) { f.Circumstances = nil }))
	require.NotEqual(t, first, other(func(_ *checker.Result, f *checker.Finding) { f.Known = "https://tracker.example.com/7" }))
	require.NotEqual(t, first, other(func(_ *checker.Result, f *checker.Finding) { f.Kind = checker.PhantomRow }))
	require.NotEqual(t, first, other(func(_ *checker.Result, f *checker.Finding) { f.Detail = "other" }))
}

func TestGitLabGetsTheWorstThousand(t *testing.T) {
	t.Parallel()
	r := broken(1100)
	r.Results[1099].Findings[0].Kind = checker.Leak
	list := parseIssues(t, r, nil)
	require.Len(t, list, 1000)
	require.Equal(t, "doubletap/leak", list[0].CheckName)
}

func TestSeverityFollowsTheOrderOfKinds(t *testing.T) {
	t.Parallel()
	rank := map[string]int{"blocker": 0, "critical": 1, "major": 2, "minor": 3}
	worst := 0
	for _, kind := range checker.Kinds() {
		r := oneDuplicate()
		r.Results[1].Findings[0].Kind = kind
		now := rank[parseIssues(t, r, nil)[0].Severity]
		require.GreaterOrEqual(t, now, worst, kind)
		worst = now
	}
	require.Equal(t, 3, worst)
}
