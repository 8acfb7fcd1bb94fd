package proxy

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
)

// An answer is kept for the sake of the burst only until all of its members have one.
func TestAnAnswerIsPassedOnWhenAllMembersHaveOne(t *testing.T) {
	t.Parallel()
	base, asked := time.Now(), false
	tap := newTap(base, new(atomic.Bool))
	close(tap.arrived)
	all := make(chan struct{})
	require.True(t, tap.Hold(10, func(func()) {}, func() {}, func() <-chan struct{} {
		asked = true
		return all
	}))
	tap.facts.Released = history.Offset(time.Since(base) + time.Hour) // so that it would be kept for an hour
	passed := make(chan struct{})
	go func() {
		tap.awaitBurst()
		close(passed)
	}()
	select {
	case <-passed:
		t.Fatal("the answer was passed on while others had none")
	case <-time.After(20 * time.Millisecond):
	}
	close(all)
	<-passed
	require.True(t, asked)

	tap.facts.Released = 1
	time.Sleep(burst)
	asked = false
	tap.awaitBurst() // an answer that comes late is not kept, and still is one
	require.True(t, asked)
}
