package driver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/scenarios"
)

func TestAClientThatOutwaitsACreateWaitsOnABusyMachineToo(t *testing.T) {
	t.Parallel()
	const inside = 2 * time.Millisecond
	require.Equal(t, leastPatience, outwait(scenarios.Span{Share: 2}, inside))
	require.Equal(t, 2*time.Second, outwait(scenarios.Span{Share: 2}, time.Second))
	require.Equal(t, time.Millisecond, outwait(scenarios.Span{Share: 0.5}, inside), "one that leaves early does")
	require.Equal(t, 3*time.Millisecond, outwait(scenarios.Span{Fixed: 3 * time.Millisecond}, inside))
}
