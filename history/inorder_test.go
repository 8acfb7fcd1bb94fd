package history_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
)

func TestWhatIsMadeComesInTheOrderOfTheThings(t *testing.T) {
	t.Parallel()
	things := make([]int, 1000)
	for i := range things {
		things[i] = i
	}
	var got []int
	require.NoError(t, history.InOrder(slices.Values(things), func(n int) int { return 2 * n }, func(n int) error {
		got = append(got, n/2)
		return nil
	}))
	require.Equal(t, things, got)
}

func TestTheFirstErrorEndsIt(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	taken := 0
	endless := func(yield func(int) bool) {
		for n := 0; yield(n); n++ {
			continue
		}
	}
	require.ErrorIs(t, history.InOrder(endless, func(n int) int { return n }, func(n int) error {
		taken++
		if n == 3 {
			return enough
		}
		return nil
	}), enough)
	require.Equal(t, 4, taken)
}
