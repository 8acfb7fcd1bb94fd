package reports_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/reports"
)

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
