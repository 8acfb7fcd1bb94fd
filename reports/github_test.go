package reports_test

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

func github(files map[string]string) renderer {
	return func(w io.Writer, r checker.Report) error { return reports.GitHub(w, r, files) }
}

// parsedCommand is a workflow command as GitHub's runner reads it.
type parsedCommand struct {
	level      string
	properties map[string]string
	text       string
}

func parseCommands(t require.TestingT, out []byte) []parsedCommand {
	var all []parsedCommand
	shape := regexp.MustCompile(`^::(error|warning|notice) (.*?)::(.*)$`)
	for line := range strings.Lines(string(out)) {
		parts := shape.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		require.NotNil(t, parts, "no command: %q", line)
		c := parsedCommand{level: parts[1], properties: map[string]string{}, text: unescaped(parts[3])}
		for pair := range strings.SplitSeq(parts[2], ",") {
			name, value, _ := strings.Cut(pair, "=")
			c.properties[name] = strings.NewReplacer("%3A", ":", "%2C", ",").Replace(unescaped(value))
		}
		all = append(all, c)
	}
	return all
}

func unescaped(s string) string {
	return strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%").Replace(s)
}

func TestGitHubGolden(t *testing.T) {
	t.Parallel()
	files := map[string]string{"lost-response": "scenarios/lost: 1,2 50%.yaml"}
	for name, r := range map[string]checker.Report{
		"duplicate": oneDuplicate(), "many": manyFindings(200), "inconclusive": inconclusive(), "broken": targetDied(), "hostile": hostile(),
		"registered": registered(),
	} {
		compare(t, name+".github", render(t, github(files), r))
	}
	require.Empty(t, render(t, github(files), allPass()))
}

func TestGitHubEscapesWhatItsRunnerUnescapes(t *testing.T) {
	t.Parallel()
	r := oneDuplicate()
	r.Results[1].Findings[0].Observed = "50%0A of a,b: 2\r\n::error::x"
	files := map[string]string{"lost-response": "scenarios/lost: 1,2 50%.yaml"}
	got := parseCommands(t, render(t, github(files), r))
	require.Len(t, got, 1)
	require.Equal(t, "error", got[0].level)
	require.Equal(t, map[string]string{
		"file": "scenarios/lost: 1,2 50%.yaml", "title": "C1 duplicate (retry after a lost response): Three requests with one Idempotency-Key made two rows after an answer was lost",
	}, got[0].properties)
	require.Contains(t, got[0].text, "1 finding in lost-response (1 of 50 intents)\n")
	require.Contains(t, got[0].text, "50%0A of a,b: 2")
	require.Contains(t, got[0].text, "\nReplay it: doubletap replay runs/2026-03-04T050607Z-orders F1")
}

func TestGitHubNamesOnlyScenariosThatAreFiles(t *testing.T) {
	t.Parallel()
	require.NotContains(t, string(render(t, github(nil), oneDuplicate())), "file=")
}

// broken returns a run with so many causes: each scenario found a duplicate of its own in each of its 12 intents.
func broken(n int) checker.Report {
	r := report(checker.Fail)
	for i := range n {
		res := passed(fmt.Sprintf("s%02d", i), 12)
		res.Verdict, res.Failed = checker.Fail, 12
		for j := range 12 {
			f := lostThenRetried()
			f.ID, f.Intent, f.Detail = fmt.Sprintf("F%d", 12*i+j+1), fmt.Sprintf("i%03d", j+1), res.Scenario
			res.Findings = append(res.Findings, f)
		}
		r.Results = append(r.Results, res)
	}
	return r
}

func TestGitHubGetsNoMoreAnnotationsThanItKeeps(t *testing.T) {
	t.Parallel()
	ten := parseCommands(t, render(t, github(nil), broken(10)))
	require.Len(t, ten, 10)
	require.Contains(t, ten[9].properties["title"], "s09")

	eleven := parseCommands(t, render(t, github(nil), broken(11)))
	require.Len(t, eleven, 10)
	require.Contains(t, eleven[8].properties["title"], "s08")
	require.Equal(t, "2 more", eleven[9].properties["title"])
	require.Equal(t, "error", eleven[9].level)
	require.Contains(t, eleven[0].text, "12 findings in s00 (12 of 12 intents)", "findings of one cause are one annotation")
}

func TestGitHubGetsOneAnnotationPerReason(t *testing.T) {
	t.Parallel()
	r := report(checker.Inconclusive)
	for i := range 30 {
		res := passed(fmt.Sprintf("s%02d", i), 12)
		res.Verdict, res.Reasons = checker.Inconclusive, []string{"it was not run: the run was interrupted"}
		r.Results = append(r.Results, res)
	}
	got := parseCommands(t, render(t, github(nil), r))
	require.Len(t, got, 1)
	require.Equal(t, "warning", got[0].level)
	require.Equal(t, "inconclusive: 30 scenarios", got[0].properties["title"])
}

func TestGitHubIsHarmless(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawReport(t)
		file := drawString(t)
		files := map[string]string{}
		for _, res := range r.Results {
			files[res.Scenario] = strings.ToValidUTF8(strings.Map(func(c rune) rune {
				if c < ' ' || c > '~' {
					return -1
				}
				return c
			}, file), "")
		}
		parseCommands(t, harmless(t, github(files), r))
		harmless(t, gitlab(files), r)
	})
}

func TestTheLevelOfAnAnnotationSaysWhatIsNew(t *testing.T) {
	t.Parallel()
	var levels []string
	for _, c := range parseCommands(t, render(t, github(nil), registered())) {
		levels = append(levels, c.level+" "+c.properties["title"])
	}
	require.Equal(t, []string{
		"error C1 duplicate (retry after a lost response): Three requests with one Idempotency-Key made two rows after an answer was lost",
		"warning fixed: two-tabs",
		"notice C2 duplicate (retry after a lost response): One request made two rows after an answer was lost",
		"notice C3 replay-mismatch (body): The same request got another /amount: first “1200”, then “9900”",
	}, levels)
	var severities []string
	for _, i := range parseIssues(t, registered(), nil) {
		severities = append(severities, i.Severity)
	}
	require.Equal(t, []string{"blocker", "info", "info"}, severities)
}
