package driver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/scenarios"
)

// TestACrashStrikesWorkBehindTheAnswer holds that a third of the crashes come behind the answers where accepted work goes on there, and all of
// those that come after an answer, and that where nothing goes on there all stay in the life of their request.
func TestACrashStrikesWorkBehindTheAnswer(t *testing.T) {
	t.Parallel()
	const inside, behind = 10 * time.Millisecond, time.Second
	during := scenarios.Crashing{To: scenarios.Span{Share: 1.2}}
	after := scenarios.Crashing{From: scenarios.Span{Share: 1}, To: scenarios.Span{Share: 1.5}}
	fixed := scenarios.Crashing{To: scenarios.Span{Fixed: 20 * time.Millisecond}}
	for _, test := range []struct {
		crash            scenarios.Crashing
		part             float64
		working, nothing time.Duration
	}{
		{during, 0, 0, 0},
		{during, 1.0 / 3, 6 * time.Millisecond, 4 * time.Millisecond},
		{during, 5.0 / 6, 512 * time.Millisecond, 10 * time.Millisecond},
		{during, 1, 1012 * time.Millisecond, 12 * time.Millisecond},
		{after, 0, 10 * time.Millisecond, 10 * time.Millisecond},
		{after, 0.5, 512500 * time.Microsecond, 12500 * time.Microsecond},
		{after, 1, 1015 * time.Millisecond, 15 * time.Millisecond},
		{fixed, 0.75, 15 * time.Millisecond, 15 * time.Millisecond}, // a time is meant as it is written
	} {
		test.crash.Part = test.part
		require.InDelta(t, test.working, crashAfter(test.crash, inside, behind), float64(time.Microsecond), test)
		require.InDelta(t, test.nothing, crashAfter(test.crash, inside, 0), float64(time.Microsecond), test)
	}
}
