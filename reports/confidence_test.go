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

// A pass without a race has no chance in it, and is not what a pass of the run is worth.
func TestAPassIsWorthWhatItsRacesShow(t *testing.T) {
	t.Parallel()
	alone, race := passed("missing-key", 6), passed("double-click", 12)
	alone.Exercise = []checker.Exercise{{Proof: "replayed", Held: 6, Of: 6, Needed: 6}}
	got := string(render(t, text(reports.Style{Width: 200}), report(checker.Pass, alone, race)))
	require.Contains(t, got, "less than 25% of rounds fail in double-click.")
	require.NotContains(t, got, "in missing-key.")
	require.Contains(t, string(render(t, text(reports.Style{Width: 200}), report(checker.Pass, alone))), "less than 50% of rounds fail in missing-key.")
}
