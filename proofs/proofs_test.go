package proofs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/proofs"
)

func TestEveryRowIsComplete(t *testing.T) {
	t.Parallel()
	seen := map[proofs.Name]bool{}
	for _, p := range proofs.Table() {
		require.NotEmpty(t, p.Name)
		require.NotEmpty(t, p.Sentence, p.Name)
		require.False(t, seen[p.Name], "%s has two rows", p.Name)
		seen[p.Name] = true
		row, found := proofs.Of(p.Name)
		require.True(t, found)
		require.Equal(t, p, row)
	}
	_, found := proofs.Of("slept")
	require.False(t, found)
}

func TestAnObstacleRulesOutItsProofs(t *testing.T) {
	t.Parallel()
	only := func(o proofs.Obstacle) func(proofs.Obstacle) bool {
		return func(other proofs.Obstacle) bool { return o == other }
	}
	require.Equal(t, proofs.NoSweep, proofs.Never(proofs.Swept, only(proofs.NoSweep)))
	require.Empty(t, proofs.Never(proofs.Swept, only(proofs.NoCrash)))
	require.Empty(t, proofs.Never(proofs.Acknowledged, func(proofs.Obstacle) bool { return true }))
	both := func(proofs.Obstacle) bool { return true }
	require.Equal(t, proofs.NoAltered, proofs.Never(proofs.BothBodies, both), "the first obstacle is told")
}
