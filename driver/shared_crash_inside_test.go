package driver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

func TestASharedCrashDoesNotWaitForIntentsThatAreOver(t *testing.T) {
	c := newSharedCrash(3)
	struck := make(chan history.Crash)
	for range 2 {
		go func() {
			c.gather(t.Context(), time.Millisecond)
			struck <- c.strike(t.Context(), time.Now(), func() history.Crash { return history.Crash{Struck: 7} })
		}()
	}
	c.leave()
	for range 2 {
		require.EqualValues(t, 7, (<-struck).Struck)
	}
}

func TestIntentsOfOneCrashArePlayedBeforeTheNext(t *testing.T) {
	intents := make([]scenarios.PlannedIntent, 8)
	for n := range intents {
		intents[n].ID = string(rune('a' + n))
	}
	groups, seats := byCrash(intents, 3)
	require.Len(t, seats, 8)
	var sizes []int
	for _, group := range groups {
		sizes = append(sizes, len(group))
		for _, i := range group {
			require.Same(t, seats[group[0].ID].sharedCrash, seats[i.ID].sharedCrash)
		}
	}
	require.Equal(t, []int{3, 3, 2}, sizes)
	groups, seats = byCrash(intents, 1)
	require.Len(t, groups, 1)
	require.Empty(t, seats)
}
