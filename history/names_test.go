package history

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNamesShareAHashSeldom holds that the parts of a large history stay apart: of two intents with one hash the parts are put together,
// and where this happens to as many intents as there are parts, all are one.
func TestNamesShareAHashSeldom(t *testing.T) {
	t.Parallel()
	hashes := make([]uint64, 1_000_000)
	for i := range hashes {
		hashes[i] = hashOf(fmt.Sprintf("i%07d", i))
	}
	slices.Sort(hashes)
	require.GreaterOrEqual(t, len(slices.Compact(hashes)), len(hashes)-5)
}

// TestNamesKeepTheirNumbers holds that a table gives back the number that a name got first, however it grew.
func TestNamesKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	var n names
	_, known := n.get(hashOf("one"))
	require.False(t, known)
	const all = 50_000
	number := func(i int) uint32 { return uint32(mostNumbers - 1 - i) }
	for i := range all {
		n.set(hashOf(fmt.Sprint(i)), number(i))
		n.set(hashOf(fmt.Sprint(i)), 7)
	}
	for i := range all {
		got, known := n.get(hashOf(fmt.Sprint(i)))
		require.True(t, known)
		require.Equal(t, number(i), got)
	}
	_, known = n.get(hashOf("none of them"))
	require.False(t, known)
}
