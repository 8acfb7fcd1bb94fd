package reports_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

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
		next := strings.Index(got, " "+kind+": ")
		require.Greater(t, next, at, kind)
		at = next
	}
	require.NotContains(t, got, "a broken promise (", "every kind has its own words")
}

// declaredKinds reads the constants of type Kind in their order: Go cannot list them.
func declaredKinds(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../checker/kinds.go", nil, 0)
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
