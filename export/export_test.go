package export_test

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/export"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

const small = `name: small
summary: The least there is.
intents: 1
steps: [{send: {}}]
exercised: [acknowledged]
`

// edited is a finding in which a stranger has written every text.
func edited(t require.TestingT, text string) export.Finding {
	s, err := scenarios.Load("s.yaml", []byte(small))
	require.NoError(t, err)
	s.Summary = text
	return export.Finding{
		Finding: rundir.Finding{
			Scenario: text, Target: text, Operation: text,
			Finding: checker.Finding{Kind: checker.Kind(text), Promise: text, Observed: text},
		},
		Scenario: s, SUT: sut.Options{Target: text, Operation: text}, Flags: "--target " + text,
	}
}

func enemies() []string {
	const begin = "\nfunc init() { panic(1) }\n"
	return []string{
		"duplicate", begin, "*/" + begin + "/*", "`+f()+`", `"+f()+"`, "x(t *testing.T) {}" + begin, "\r" + begin, "\u2028" + begin, "\x00", "\xff", "\ufeff", "é",
		"\x1b[2J", "+build ignore", "go:build ignore", "a: b", "\nsteps: []\n", "\n---\n", "# x", "- x", "\t", "'", "\u0085steps: []", "a\rb", "&a", "*a", "!!x", "...",
	}
}

// A script sends to one address, and holds no link: that it did not happen there says nothing of a target with several addresses, or of work that took long.
func TestAScriptSaysWhatItDoesNotHave(t *testing.T) {
	t.Parallel()
	const one = `name: regions
base_url: http://127.0.0.1:1
operations: {create: {request: {path: /orders, body: {note: "{{.Intent.Marker}}"}}, key: {in: header}}}
`
	target := filepath.Join(t.TempDir(), "regions.yaml")
	var work []faults.Duration
	of := func(text string) (string, []string) {
		require.NoError(t, os.WriteFile(target, []byte(text), 0o600))
		f := edited(t, "sequential-replay")
		f.Scenario.Work = work
		f.Finding.Finding = checker.Finding{Kind: checker.ReplayMismatch, Detail: "status"}
		f.SUT = sut.Options{Target: target, Operation: "create"}
		script, cannot, err := f.AsCurl(t.Context())
		require.NoError(t, err)
		return string(script), cannot
	}
	script, cannot := of(one + "instances: {eu: http://127.0.0.1:1, us: http://127.0.0.1:2}\n")
	require.Equal(t, []string{"the several addresses of the target: BASE_URL is one of them"}, cannot)
	require.Contains(t, script, "which says nothing: see what is not in here")
	script, cannot = of(one + "process: {command: [shop, \"{{.Port}}\"], instances: 2}\n")
	require.Equal(t, []string{"several instances of the target: BASE_URL is one address"}, cannot)
	require.Contains(t, script, "which says nothing: see what is not in here")
	script, cannot = of(one + "rate_limit: {requests: 5, per: 2s}\n")
	require.Empty(t, cannot)
	require.Contains(t, script, "the pauses for the target's rate limit, 5 in 2s")
	script, cannot = of(one)
	require.Empty(t, cannot)
	require.Contains(t, script, "it did not happen")

	work = []faults.Duration{faults.Duration(6 * time.Second)}
	script, cannot = of(one)
	require.Equal(t, []string{"what makes the work for a request take long: the link database did it"}, cannot)
	require.Contains(t, script, "which says nothing: see what is not in here")
	_, cannot = of(strings.Replace(one, "key: {in: header}", "key: {in: header}, work: {headers: {X-Work: '{{.Intent.Work}}'}}", 1))
	require.Empty(t, cannot)
}

func TestOnlyFormsThatCanShowItAreNamedBesideAScript(t *testing.T) {
	t.Parallel()
	f := edited(t, "duplicate")
	require.Equal(t, "--as go and --as scenario have", f.BesideCurl())
	f.SUT.Target = "served:record-behind-answer"
	require.NotEmpty(t, f.GoCannot())
	require.Equal(t, "--as scenario has", f.BesideCurl(), "a Go test does not start it")
}

func TestNoTextOfAStrangerIsCodeInAnExport(t *testing.T) {
	t.Parallel()
	for _, text := range enemies() {
		inert(t, text)
	}
}

// inert holds that a Go test has its one test and nothing else, and a scenario file the scenario and nothing else.
func inert(t require.TestingT, text string) {
	f := edited(t, text)
	source, err := f.AsGo()
	require.NoError(t, err)
	_, err = format.Source(source)
	require.NoError(t, err, "%s", source)
	file, err := parser.ParseFile(token.NewFileSet(), "again_test.go", source, parser.ParseComments)
	require.NoError(t, err, "%s", source)
	require.Len(t, file.Decls, 2, "the imports and the test: %s", source)
	require.Len(t, file.Imports, 4, "%s", source)
	test, is := file.Decls[1].(*ast.FuncDecl)
	require.True(t, is)
	require.True(t, strings.HasPrefix(test.Name.Name, "Test"))
	require.Len(t, test.Body.List, 1)
	ast.Inspect(test, func(n ast.Node) bool {
		if call, is := n.(*ast.CallExpr); is {
			name := call.Fun.(*ast.SelectorExpr).Sel.Name
			require.Contains(t, []string{"Test", "Parts"}, name, "%s", source)
		}
		return true
	})
	require.Len(t, file.Comments, 2, "the head, and one word in the test: %s", source)
	require.Equal(t, file.Doc, file.Comments[0])
	for _, line := range file.Doc.List {
		require.Regexp(t, `^//($| Shows | Found | The test | It takes |\tgo get )`, line.Text, "no directive")
	}

	source, err = f.AsScenario()
	require.NoError(t, err)
	require.NotRegexp(t, `[\x00-\x08\x0b-\x1f\x7f]`, string(source), "a terminal shows it") // a tab stays one in a text of several lines
	got, err := scenarios.Load("again.yaml", source)
	if err != nil { // a summary that no file may have, which the loader says
		_, err = scenarios.Source(f.Scenario)
		require.NoError(t, err)
		return
	}
	got.Summary = f.Scenario.Summary
	require.Equal(t, f.Scenario, got, "%s", source)
}

func FuzzExports(f *testing.F) {
	for _, text := range enemies() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { inert(t, text) })
}
