package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
)

// Clients that were to leave and got their answers say how long a create takes, unless most left, or their patience was longer anyway.
func TestHowLongACreateTookThatNobodyLeft(t *testing.T) {
	t.Parallel()
	attempt := func(deadline, took int64, complete bool) history.Attempt {
		return history.Attempt{Deadline: history.Offset(deadline * 1e6), Start: 1, End: history.Offset(1 + took*1e6), Complete: complete}
	}
	for name, c := range map[string]struct {
		attempts []history.Attempt
		took     time.Duration
	}{
		"all were answered":        {[]history.Attempt{attempt(20, 9, true), attempt(20, 12, true), attempt(20, 10, true), attempt(5000, 1, true)}, 10 * time.Millisecond},
		"most left":                {[]history.Attempt{attempt(20, 9, true), attempt(20, 20, false), attempt(20, 20, false)}, 0},
		"they were to wait longer": {[]history.Attempt{attempt(60, 9, true), attempt(0, 9, true)}, 0},
		"there are none":           {nil, 0},
	} {
		require.Equal(t, c.took, answeredAhead(c.attempts, 50*time.Millisecond), name)
	}
}
