package reports_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/doubletap-harness/doubletap/reports"
)

func TestFisherGivesKnownValues(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name       string
		k, n, l, m int
		want       float64
	}{
		{"the lady who tastes tea", 3, 4, 1, 4, 0.4857142857142857},
		{"convictions of twins", 2, 12, 15, 18, 0.0005367241191434358},
		{"all against none", 10, 10, 0, 10, 1.082508822446903e-05},
		{"none against all", 0, 12, 12, 12, 7.39602301050679e-07},
		{"one in three hundred against none", 1, 300, 0, 300, 1},
		{"equal rates", 5, 10, 5, 10, 1},
		{"2 of 10 against 8 of 10", 2, 10, 8, 10, 0.02301413756522116},
		{"runs of different lengths", 8, 100, 20, 100, 0.023665531968264104},
		{"no tries on one side", 0, 0, 3, 5, 1},
		{"nothing on either side", 0, 12, 0, 12, 1},
		{"one run against one", 1, 1, 0, 1, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			require.InEpsilon(t, row.want, reports.Fisher(row.k, row.n, row.l, row.m), 1e-9)
		})
	}
}

func TestFisherDoesNotCareWhichSideComesFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(0, 2000).Draw(t, "n"), rapid.IntRange(0, 2000).Draw(t, "m")
		k, l := rapid.IntRange(0, n).Draw(t, "k"), rapid.IntRange(0, m).Draw(t, "l")
		p := reports.Fisher(k, n, l, m)
		require.True(t, p >= 0 && p <= 1, "%g", p)
		require.InDelta(t, p, reports.Fisher(l, m, k, n), 1e-6*p)
		require.InDelta(t, p, reports.Fisher(n-k, n, m-l, m), 1e-6*p)
	})
}

func TestHolmAdjustsForHowOftenWeLooked(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name         string
		values, want []float64
	}{
		{"nothing", nil, []float64{}},
		{"a single look is not adjusted", []float64{0.04}, []float64{0.04}},
		{"the order is kept", []float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{"never over 1", []float64{0.9, 0.8, 1}, []float64{1, 1, 1}},
		{"never under a smaller one's", []float64{0.01, 0.011}, []float64{0.02, 0.02}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			require.InDeltaSlice(t, row.want, reports.Holm(row.values), 1e-12)
		})
	}
}
