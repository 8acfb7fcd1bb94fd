package reports_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

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
