package reports_test

import (
	"encoding/json"
	"fmt"
	htmltext "html"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/reports"
)

// TestEveryKindOfFindingShowsWhatWasSent goes through the recorded runs, which have every kind: each format shows a request and its
// answer of the first finding of each kind, or says why there is none.
func TestEveryKindOfFindingShowsWhatWasSent(t *testing.T) {
	t.Parallel()
	shown := map[checker.Kind]bool{}
	for _, r := range recordedFindings(t) {
		f := r.Results[0].Findings[0]
		shown[f.Kind] = true
		require.NotEmpty(t, f.Requests, "%s of %s", f.Kind, f.Intent)
		for format, text := range allFormats(t, r) {
			what := fmt.Sprintf("%s in %s (%s)", f.Kind, format, r.Run)
			require.True(t, slices.ContainsFunc(f.Requests, func(one checker.Request) bool { return shows(text, f, one) }), "%s\n%s", what, text)
			require.Contains(t, text, "curl ", what)
		}
	}
	require.Len(t, shown, len(checker.Kinds()))
}

// TestAFindingWithoutARequestSaysWhy in each format.
func TestAFindingWithoutARequestSaysWhy(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*checker.Finding){
		"none had been sent by then": func(f *checker.Finding) { f.Kind, f.Intent, f.Attempts = checker.TargetDied, checker.EveryIntent, nil },
		"no single one explains it": func(f *checker.Finding) {
			f.Kind, f.Intent, f.Attempts = checker.EffectMismatch, checker.EveryIntent, nil
		},
		"no attempt is on record": func(f *checker.Finding) { f.Attempts = nil },
		"from before it was kept": func(f *checker.Finding) {},
	} {
		f := lostThenRetried()
		f.Requests = nil
		change(&f)
		res := passed("stock", 12)
		res.Verdict, res.Failed, res.Findings = checker.Fail, 12, []checker.Finding{f}
		for format, text := range allFormats(t, report(checker.Fail, res)) {
			require.Contains(t, strings.Join(strings.Fields(text), " "), want, format)
		}
	}
}

// shows reports that a text has a request: method and path, headers, key, body, and an answer to it with its body.
func shows(text string, f checker.Finding, r checker.Request) bool {
	want := []string{r.Method + " " + r.Path, r.Content}
	for name, value := range r.Header {
		want = append(want, name+": "+value)
	}
	flat := strings.Join(strings.Fields(text), "")
	for _, part := range want {
		if !strings.Contains(flat, beginning(part)) {
			return false
		}
	}
	return slices.ContainsFunc(f.Attempts, func(a history.Attempt) bool {
		said := "no answer"
		if a.Complete {
			said = fmt.Sprint(a.Status)
		}
		return slices.Contains(r.Attempts, a.ID) && strings.Contains(text, said) && strings.Contains(flat, beginning(a.Content)) && strings.Contains(flat, beginning(a.Header["Location"]))
	})
}

// beginning is the first of a text, which formats may spread over lines, and cut.
func beginning(text string) string {
	text = strings.Join(strings.Fields(text), "")
	return text[:min(len(text), 100)]
}

// allFormats renders a report in each format, as its reader has it.
func allFormats(t *testing.T, r checker.Report) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for name, f := range map[string]renderer{
		"text":     func(w io.Writer, r checker.Report) error { return reports.Details(w, r, reports.Style{}) },
		"Markdown": reports.Markdown, "JUnit": reports.JUnit,
		"HTML":   func(w io.Writer, r checker.Report) error { return reports.HTML(w, r) },
		"GitHub": github(nil), "GitLab": gitlab(nil),
	} {
		texts[name] = string(render(t, f, r))
	}
	texts["HTML"] = htmltext.UnescapeString(texts["HTML"])
	texts["GitHub"] = strings.NewReplacer("%0A", "\n", "%25", "%", "%0D", "\r").Replace(texts["GitHub"])
	var issues []struct{ Description string }
	require.NoError(t, json.Unmarshal([]byte(texts["GitLab"]), &issues))
	texts["GitLab"] = issues[0].Description
	return texts
}

// recordedFindings are reports with one finding each: of each recorded run the first of each kind.
func recordedFindings(t *testing.T) []checker.Report {
	t.Helper()
	const recorded = "../checker/testdata/recorded"
	runs, err := os.ReadDir(recorded)
	require.NoError(t, err)
	var all []checker.Report
	for _, run := range runs {
		var file struct {
			Terms checker.Terms `json:"terms"`
		}
		text, err := os.ReadFile(filepath.Join(recorded, run.Name(), "run.json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &file))
		histories, err := filepath.Glob(filepath.Join(recorded, run.Name(), "*", "history.jsonl"))
		require.NoError(t, err)
		seen := map[string]bool{}
		for _, path := range histories {
			in, err := os.Open(path)
			require.NoError(t, err)
			h, err := history.Read(in)
			require.NoError(t, err)
			require.NoError(t, in.Close())
			res := checker.Check(h, file.Terms)
			for _, f := range res.Findings {
				if kind := fmt.Sprint(f.Kind, f.Intent == checker.EveryIntent); !seen[kind] {
					seen[kind] = true
					f.ID = "F1"
					one := res
					one.Findings = []checker.Finding{f}
					r := report(checker.Fail, one)
					r.Run = run.Name()
					all = append(all, asEachUnresolved(r)...)
				}
			}
		}
	}
	return all
}

// asEachUnresolved is a report once for each kind of the same evidence: where the final retry came to no end, rows and answers tell
// the kinds apart, and the requests are the same.
func asEachUnresolved(r checker.Report) []checker.Report {
	if !r.Results[0].Findings[0].Kind.Row().Unresolved {
		return []checker.Report{r}
	}
	var all []checker.Report
	for _, row := range checker.KindTable() {
		if row.Unresolved {
			f := r.Results[0].Findings[0]
			f.Kind = row.Kind
			one := r.Results[0]
			one.Findings = []checker.Finding{f}
			all = append(all, report(checker.Fail, one))
		}
	}
	return all
}
