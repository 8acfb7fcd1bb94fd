package reports_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

func TestAPassWithoutProofsClaimsNothing(t *testing.T) {
	t.Parallel()
	res := passed("plain", 100)
	res.Exercise = nil
	require.NotContains(t, string(render(t, text(reports.Style{}), report(checker.Pass, res))), "Confidence")
}

func TestAKnownBugThatWasNotSeenHasAConfidence(t *testing.T) {
	t.Parallel()
	got := strings.Join(strings.Fields(string(render(t, text(reports.Style{}), mended()))), " ")
	require.Contains(t, got, "no failure in 40 exercised rounds, so the failure rate is below 7.5%: two-tabs")
	require.Contains(t, got, "take it out of the register (https://tracker.example.com/7)")
}
