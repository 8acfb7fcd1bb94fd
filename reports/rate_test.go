package reports_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/reports"
)

func TestTheIntervalOfARateIsWilsons(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 0, 0, 1}, {0, 10, 0, 0.2775}, {10, 10, 0.7225, 1}, {5, 10, 0.2366, 0.7634}, {81, 263, 0.2553, 0.3662}, {1, 1, 0.2065, 1},
	} {
		low, high := reports.Wilson(row.k, row.n)
		require.InDelta(t, row.low, low, 1e-4, "%d of %d", row.k, row.n)
		require.InDelta(t, row.high, high, 1e-4, "%d of %d", row.k, row.n)
	}
}
