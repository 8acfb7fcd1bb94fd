package scenarios

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/proofs"
)

// TestEveryObstacleCanBeCleared holds the shapes against the table of proofs: an obstacle that no scenario of the
// library clears would rule out its proof for ever.
func TestEveryObstacleCanBeCleared(t *testing.T) {
	t.Parallel()
	paths, err := fs.Glob(Builtin(), "*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	cleared := map[proofs.Obstacle]bool{}
	for _, path := range paths {
		source, err := fs.ReadFile(Builtin(), path)
		require.NoError(t, err)
		scenario, err := Load(path, source)
		require.NoError(t, err)
		for o, so := range scenario.shape() {
			cleared[o] = cleared[o] || so
		}
	}
	for _, p := range proofs.Table() {
		for _, o := range p.Impossible {
			require.True(t, cleared[o], "%s: %s", p.Name, o)
		}
	}
}
