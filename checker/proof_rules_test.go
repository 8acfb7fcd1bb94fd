package checker

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/proofs"
)

// TestEveryProofHasARule holds the rules against the table: a row without a rule would never hold, and a rule
// without a row could not be asked for.
func TestEveryProofHasARule(t *testing.T) {
	t.Parallel()
	var names []proofs.Name
	for _, p := range proofs.Table() {
		names = append(names, p.Name)
	}
	require.ElementsMatch(t, names, slices.Collect(maps.Keys(exerciseRules())))
}
