package reports_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/reports"
)

func TestJSONReadsBackWithPassages(t *testing.T) {
	t.Parallel()
	for name, r := range fixtures() {
		if name == "hostile" {
			continue // bytes that are not UTF-8 do not survive JSON
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := reports.ReadJSON(bytes.NewReader(render(t, reports.JSON, r)))
			require.NoError(t, err)
			require.Equal(t, normal(t, r), normal(t, got))
		})
	}
}

// normal writes a report again, so that nil and empty lists compare equal, passages included.
func normal(t *testing.T, r checker.Report) string {
	return string(render(t, reports.JSON, r))
}

func TestJSONFitsTheCheckersOwnStruct(t *testing.T) {
	t.Parallel()
	want := oneDuplicate()
	var got checker.Report
	require.NoError(t, json.Unmarshal(render(t, reports.JSON, want), &got))
	for i := range want.Results[1].Findings[0].Attempts {
		want.Results[1].Findings[0].Attempts[i].Passage = nil
	}
	require.Equal(t, want, got)
}

func TestReadJSONRefusesAnotherVersion(t *testing.T) {
	t.Parallel()
	_, err := reports.ReadJSON(strings.NewReader(`{"version": 2, "results": []}`))
	require.ErrorContains(t, err, "version 2")
}

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
	require.Equal(t, "duplicate in 1 of 50 intents", duplicate.Cases[1].Failure.Message)
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
	require.Equal(t, "known: duplicate in 1 of 12 intents: https://tracker.example.com/7", registered.Cases[0].Skipped.Message)
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

func TestFindingsAreOrderedAsTheKindsAreDeclared(t *testing.T) {
	t.Parallel()
	declared := declaredKinds(t)
	require.NotEmpty(t, declared)
	res := passed("all-kinds", len(declared))
	res.Verdict = checker.Fail
	for i := len(declared) - 1; i >= 0; i-- {
		f := altered()
		f.Kind, f.Intent = checker.Kind(declared[i]), fmt.Sprintf("i%03d", i)
		res.Findings = append(res.Findings, f)
	}
	got := string(render(t, reports.Markdown, report(checker.Fail, res)))
	at := 0
	for _, kind := range declared[:9] {
		next := strings.Index(got, "F1 "+kind+": ")
		require.Greater(t, next, at, kind)
		at = next
	}
	require.NotContains(t, got, "a broken promise (", "every kind has its own words")
}

// declaredKinds reads the constants of type Kind in their order: Go cannot list them.
func declaredKinds(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../checker/result.go", nil, 0)
	require.NoError(t, err)
	var kinds []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "Kind" {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			kinds = append(kinds, value)
		}
		return true
	})
	return kinds
}

func TestTextKeepsItsWidth(t *testing.T) {
	t.Parallel()
	commands := []string{"    doubletap replay", "  files ", "  again ", "  target ", "✓ ", "✗ ", "? ", "– ", "! ", "≈ ", "+ "}
	for name, r := range fixtures() {
		for _, width := range []int{60, 77, 100, 160} {
			for line := range strings.Lines(string(render(t, text(reports.Style{Width: width}), r))) {
				line = strings.TrimSuffix(line, "\n")
				if !startsWithAny(line, commands) {
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

func TestMarkdownFitsASummary(t *testing.T) {
	t.Parallel()
	r := manyFindings(10000)
	for i := range 1000 {
		res := hostile().Results[0]
		res.Scenario = fmt.Sprintf("s%d %s", i, strings.Repeat("&", 5000))
		r.Results = append(r.Results, res)
	}
	got := render(t, reports.Markdown, r)
	require.Less(t, len(got), 1<<20)
	require.Equal(t, bytes.Count(got, []byte("<details")), bytes.Count(got, []byte("</details>")))
}

func TestMarkdownTakesNoMarkupFromTheTarget(t *testing.T) {
	t.Parallel()
	got := string(render(t, reports.Markdown, hostile()))
	inFence := false
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "````") {
			inFence = !inFence
			continue
		}
		if inFence {
			continue
		}
		require.NotContains(t, line, "<b>")
		require.NotContains(t, line, "`")
		require.NotContains(t, line, "](")
		require.NotContains(t, line, "://")
		require.NotContains(t, line, "@team")
	}
	require.False(t, inFence)
}

func TestTenThousandFindingsStayShort(t *testing.T) {
	t.Parallel()
	got := render(t, text(reports.Style{}), manyFindings(10000))
	require.Less(t, bytes.Count(got, []byte("\n")), 80)
	require.Contains(t, string(got), "more")
}

func TestAPassWithoutProofsClaimsNothing(t *testing.T) {
	t.Parallel()
	res := passed("plain", 100)
	res.Exercise = nil
	require.NotContains(t, string(render(t, text(reports.Style{}), report(checker.Pass, res))), "Confidence")
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestAFailedWriteIsReturned(t *testing.T) {
	t.Parallel()
	for name, f := range renderers() {
		require.ErrorContains(t, f(brokenPipe{}, allPass()), "broken pipe", name)
	}
	require.ErrorContains(t, reports.Details(brokenPipe{}, allPass(), reports.Style{}), "broken pipe")
}

func TestStyleFor(t *testing.T) {
	t.Parallel()
	pipe, err := os.CreateTemp(t.TempDir(), "out")
	require.NoError(t, err)
	defer pipe.Close()
	for _, c := range []struct {
		name string
		env  map[string]string
		want reports.Style
	}{
		{"a file is plain", nil, reports.Style{Width: reports.DefaultWidth}},
		{"columns are taken", map[string]string{"COLUMNS": "72"}, reports.Style{Width: 72}},
		{"nonsense columns are not", map[string]string{"COLUMNS": "-3"}, reports.Style{Width: reports.DefaultWidth}},
		{"colour can be forced", map[string]string{"FORCE_COLOR": "1"}, reports.Style{Color: true, Width: 100}},
		{"NO_COLOR wins", map[string]string{"FORCE_COLOR": "1", "NO_COLOR": "1"}, reports.Style{Width: 100}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, reports.StyleFor(pipe, func(name string) string { return c.env[name] }))
		})
	}
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

func TestFromZeroValues(t *testing.T) {
	t.Parallel()
	empty := checker.Report{Results: []checker.Result{{Findings: []checker.Finding{
		{}, {Attempts: []history.Attempt{{}}, Rows: []checker.RowEvidence{{Rows: []history.Row{{}, nil}}}},
	}}}}
	for name, f := range renderers() {
		require.NoError(t, f(io.Discard, checker.Report{}), name)
		require.NoError(t, f(io.Discard, empty), name)
	}
}

func TestFormatListsEveryMember(t *testing.T) {
	t.Parallel()
	format, err := os.ReadFile("FORMAT.md")
	require.NoError(t, err)
	for _, v := range []any{
		checker.Report{}, checker.Result{}, checker.Finding{}, checker.Difference{}, checker.RowEvidence{},
		checker.Warning{}, checker.Exercise{}, history.Attempt{}, history.Passage{},
	} {
		for i := range reflect.TypeOf(v).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ",")
			if name != "-" {
				require.Contains(t, string(format), "`"+name+"`", "%T", v)
			}
		}
	}
}

func TestAFindingOfAllIntentsShowsNoSingleOne(t *testing.T) {
	t.Parallel()
	f := lostThenRetried()
	f.Kind, f.Intent, f.Attempts, f.Outcomes, f.Rows = checker.EffectMismatch, checker.EveryIntent, nil, nil, nil
	res := passed("stock", 12)
	res.Verdict, res.Failed, res.Findings = checker.Fail, 12, []checker.Finding{f}
	var text, markdown bytes.Buffer
	require.NoError(t, reports.Details(&text, report(checker.Fail, res), reports.Style{}))
	require.NoError(t, reports.Markdown(&markdown, report(checker.Fail, res)))
	for _, shown := range []string{text.String(), markdown.String()} {
		require.Contains(t, shown, "all intents together")
		require.NotContains(t, shown, "attempt is recorded")
	}
}

func TestAnAttemptSaysHowItsKeyAndBodyWereWritten(t *testing.T) {
	t.Parallel()
	f := lostThenRetried()
	f.Attempts[1].Body, f.Attempts[2].Key, f.Attempts[2].BlankKey = history.Reordered, "", true
	res := passed("spelled", 12)
	res.Verdict, res.Findings = checker.Fail, []checker.Finding{f}
	var text bytes.Buffer
	require.NoError(t, reports.Details(&text, report(checker.Fail, res), reports.Style{}))
	require.Contains(t, text.String(), "same key, reordered")
	require.Contains(t, text.String(), "blank key")
}

func TestTheSpreadOfBurstsIsShown(t *testing.T) {
	t.Parallel()
	held, loose, streams := passed("burst", 12), passed("far-burst", 12), passed("http2-burst", 12)
	held.Bursts = &checker.Bursts{Count: 12, Members: 10, Gate: checker.GateDoorstep, Median: ms(0.0614), P90: ms(0.1), Most: ms(1.25)}
	streams.Bursts = &checker.Bursts{Count: 3, Members: 20, Gate: checker.GateWrite, Median: 0, P90: 0, Most: ms(0.02)}
	loose.Bursts = &checker.Bursts{Count: 1, Members: 2, Gate: checker.GateLane, Median: ms(30), P90: ms(30), Most: ms(30)}
	var text, markdown bytes.Buffer
	require.NoError(t, reports.Details(&text, report(checker.Pass, held, loose, streams), reports.Style{}))
	require.NoError(t, reports.Markdown(&markdown, report(checker.Pass, held, loose)))
	flat := strings.Join(strings.Fields(text.String()), " ")
	require.Contains(t, flat, "burst: 12 bursts of up to 10 requests, released within 61µs (median), 100µs (90%), 1.25ms (all), in front of the target, after the lane's faults")
	require.Contains(t, flat, "far-burst: 1 burst of up to 2 requests, released within 30ms (median), 30ms (90%), 30ms (all), before the lane")
	require.Contains(t, flat, "http2-burst: 3 bursts of up to 20 requests, released within 0s (median), 0s (90%), 20µs (all), in one write for all streams")
	require.Contains(t, markdown.String(), "Burst spread")
}

func TestBlockedWritersAndSweepsAreShown(t *testing.T) {
	t.Parallel()
	var text, markdown bytes.Buffer
	require.NoError(t, reports.Details(&text, crowded(), reports.Style{}))
	require.NoError(t, reports.Markdown(&markdown, crowded()))
	flat := strings.Join(strings.Fields(text.String()), " ")
	for _, line := range []string{
		"burst-write-gate: the writers of orders and keys were blocked in 11 of 12 bursts; 0 to 10 of them waited (median 9)",
		"gate-on-sqlite: the writers of orders were blocked in 1 of 1 burst gate-that-failed",
		"gate-that-failed: no writer was blocked in 3 bursts: the table could not be locked",
		"sweep: 0s to 21.4ms in-progress (31 offsets); at 22ms acknowledged with another thing (1 offset); 22.1ms to 60ms acknowledged with the same thing (28 offsets)",
		"at 7ms rejected (status 407) (1 offset); and 4 more changes",
	} {
		require.Contains(t, flat, line)
	}
	require.NotContains(t, flat, "status 408")
	compare(t, "crowded.txt", render(t, renderers()["txt"], crowded()))
	compare(t, "crowded.md", markdown.Bytes())
	for _, title := range []string{"Blocked writers", "Sweeps: answers to the second request, by its delay after the first"} {
		require.Contains(t, flat, title)
		require.Contains(t, markdown.String(), title)
	}
	var plain bytes.Buffer
	require.NoError(t, reports.Details(&plain, allPass(), reports.Style{}))
	require.NotContains(t, plain.String(), "Blocked writers")
	require.NotContains(t, plain.String(), "Sweeps")
}

func TestAttemptsOfSeveralPrincipalsSayWhose(t *testing.T) {
	t.Parallel()
	f := lostThenRetried()
	f.Attempts[1].Intent, f.Who = "i008", map[string]string{"i007": "alice", "i008": "bob"}
	res := passed("tenants", 12)
	res.Verdict, res.Findings = checker.Fail, []checker.Finding{f}
	var text bytes.Buffer
	require.NoError(t, reports.Details(&text, report(checker.Fail, res), reports.Style{}))
	require.Contains(t, text.String(), "alice, first")
	require.Contains(t, text.String(), "bob, same key")
}
