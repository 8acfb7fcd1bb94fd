package driver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
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
