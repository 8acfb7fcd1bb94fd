package reports_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/reports"
)

func TestTheSpreadOfBurstsIsShown(t *testing.T) {
	t.Parallel()
	held, loose, streams := passed("burst", 12), passed("far-burst", 12), passed("http2-burst", 12)
	held.Bursts = &checker.Bursts{Count: 12, Members: 10, Gate: checker.GateDoorstep, Median: ms(0.0614), P90: ms(0.1), Most: ms(1.25)}
	streams.Bursts = &checker.Bursts{Count: 3, Members: 20, Gate: checker.GateWrite, Median: 0, P90: 0, Most: ms(0.02)}
	loose.Bursts = &checker.Bursts{Count: 1, Members: 2, Gate: checker.GateLane, Median: ms(30), P90: ms(30), Most: ms(30)}
	var text, markdown bytes.Buffer
	require.NoError(t, reports.Details(&text, report(checker.Pass, held, loose, streams), reports.Style{}))
	require.NoError(t, reports.Markdown(&markdown, report(checker.Pass, held, loose)))
	flat := strings.Join(strings.Fields(text.String()), " ")
	require.Contains(t, flat, "burst: 12 bursts of up to 10 requests, released within 61µs (median), 100µs (90%), 1.25ms (all), in front of the target, after the lane's faults")
	require.Contains(t, flat, "far-burst: 1 burst of up to 2 requests, released within 30ms (median), 30ms (90%), 30ms (all), before the lane")
	require.Contains(t, flat, "http2-burst: 3 bursts of up to 20 requests, released within 0s (median), 0s (90%), 20µs (all), in one write for all streams")
	require.Contains(t, markdown.String(), "Burst spread")
}

func TestBlockedWritersAndSweepsAreShown(t *testing.T) {
	t.Parallel()
	var text, markdown bytes.Buffer
	require.NoError(t, reports.Details(&text, crowded(), reports.Style{}))
	require.NoError(t, reports.Markdown(&markdown, crowded()))
	flat := strings.Join(strings.Fields(text.String()), " ")
	for _, line := range []string{
		"burst-write-gate: the writers of orders and keys were blocked in 11 of 12 bursts; 0 to 10 of them waited (median 9)",
		"gate-on-sqlite: the writers of orders were blocked in 1 of 1 burst gate-that-failed",
		"gate-that-failed: no writer was blocked in 3 bursts: the table could not be locked",
		"sweep: 0s to 21.4ms in-progress (31 offsets); at 22ms acknowledged with another thing (1 offset); 22.1ms to 60ms acknowledged with the same thing (28 offsets)",
		"at 7ms rejected (status 407) (1 offset); and 4 more changes",
	} {
		require.Contains(t, flat, line)
	}
	require.NotContains(t, flat, "status 408")
	compare(t, "crowded.txt", render(t, renderers()["txt"], crowded()))
	compare(t, "crowded.md", markdown.Bytes())
	for _, title := range []string{"Blocked writers", "Sweeps: answers to the second request, by its delay after the first"} {
		require.Contains(t, flat, title)
		require.Contains(t, markdown.String(), title)
	}
	var plain bytes.Buffer
	require.NoError(t, reports.Details(&plain, allPass(), reports.Style{}))
	require.NotContains(t, plain.String(), "Blocked writers")
	require.NotContains(t, plain.String(), "Sweeps")
}
