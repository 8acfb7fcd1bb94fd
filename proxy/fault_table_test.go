package proxy_test

import (
	"io"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
)

func itoa(n int) string { return strconv.Itoa(n) }

func ms(n int) faults.Duration { return faults.Duration(time.Duration(n) * time.Millisecond) }

func toxic(kind, stream string, attributes map[string]any) faults.Fault {
	return faults.Fault{Toxic: &faults.Toxic{Type: kind, Stream: stream, Attributes: attributes}}
}

var (
	withhold     = faults.Fault{Withhold: &faults.Withhold{}}
	loseRequest  = faults.Fault{Lose: faults.LoseRequest}
	loseResponse = faults.Fault{Lose: faults.LoseResponse}
)

// A server that answers at once and then closes: who saw what.
func TestFaultTable(t *testing.T) {
	t.Parallel()
	const size = 1 << 20 // of requests and answers in the second half: many reads on every hop
	for _, row := range []struct {
		name      string
		faults    []faults.Fault
		committed int64
		saw       history.ErrorKind
		bytes     int // that the client saw, where it is an error
		status    int // that the target answered
	}{
		{name: "a clean lane passes everything", committed: 1, status: 201},
		{name: "latency passes everything, later", committed: 1, status: 201, faults: []faults.Fault{
			{Latency: &faults.Latency{Delay: ms(10), Jitter: ms(5)}}}},
		{name: "bandwidth passes everything, slower", committed: 1, status: 201, faults: []faults.Fault{
			{Bandwidth: &faults.Bandwidth{Rate: 10_000}}}},
		{name: "slices pass everything, in pieces", committed: 1, status: 201, faults: []faults.Fault{
			{Slice: &faults.Slice{Size: 20_000, Variation: 7_000, Delay: faults.Duration(10 * time.Microsecond)}}}},
		{name: "a slow close passes everything", committed: 1, status: 201, faults: []faults.Fault{
			{SlowClose: &faults.SlowClose{Delay: ms(10)}}}},
		{name: "a lost response was committed and resets", committed: 1, saw: history.Reset, status: 201,
			faults: []faults.Fault{loseResponse}},
		{name: "a lost request was not committed and resets", committed: 0, saw: history.Reset,
			faults: []faults.Fault{loseRequest}},
		{name: "a cut with a reset was committed", committed: 1, saw: history.Reset, status: 201,
			faults: []faults.Fault{{Cut: &faults.Cut{Reset: true}}}},
		{name: "a cut at the first byte was committed", committed: 1, saw: history.Closed, status: 201,
			faults: []faults.Fault{{Cut: &faults.Cut{}}}},
		{name: "a cut in the status line is garbage", committed: 1, saw: history.Garbage, bytes: 10, status: 201,
			faults: []faults.Fault{{Cut: &faults.Cut{After: 10}}}},
		{name: "a cut in the body is truncated", committed: 1, saw: history.Truncated, bytes: 250, status: 201,
			faults: []faults.Fault{{Cut: &faults.Cut{After: 250}}}},
		{name: "timeout 0 downstream passes on the target's close", committed: 1, saw: history.Closed, status: 201,
			faults: []faults.Fault{toxic("timeout", "downstream", nil)}},
		{name: "limit_data upstream cuts the request", committed: 0, saw: history.Closed, status: 0,
			faults: []faults.Fault{toxic("limit_data", "upstream", map[string]any{"bytes": 3})}},
		{name: "faults add up in their order", committed: 1, saw: history.Truncated, bytes: 250, status: 201,
			faults: []faults.Fault{{Latency: &faults.Latency{Delay: ms(5)}}, {Cut: &faults.Cut{After: 250}}}},
	} {
		for _, big := range []bool{false, true} {
			name, body := row.name, 200
			if big {
				name, body = row.name+" (much of it)", size
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				target := newTarget(t, body)
				c, p := dial(t, faulty(t, target.addr(), row.faults...), "faulty")
				saw := exchange(c, request("/orders", body))
				require.Equal(t, row.saw, saw.kind(), "the client saw %v after %d bytes", saw.err, saw.bytes)
				if row.saw != "" {
					require.Equal(t, row.bytes, saw.bytes)
				}
				require.NoError(t, c.Close())
				facts := settled(t, p)
				require.Equal(t, row.committed, target.committed.Load())
				require.Equal(t, row.status, facts.Status)
				requireOrder(t, facts, row.committed == 1)
			})
		}
	}
}

// requireOrder checks the moments of a passage that ended, with or without an answer.
func requireOrder(t *testing.T, f history.Passage, answered bool) {
	t.Helper()
	require.Positive(t, f.Opened)
	require.GreaterOrEqual(t, f.Closed, f.Opened)
	require.False(t, f.Refused)
	if !answered {
		require.Zero(t, f.Answered)
		require.Zero(t, f.Down)
		return
	}
	require.Greater(t, f.Arrived, f.Opened)
	require.Greater(t, f.Answered, f.Arrived)
	require.GreaterOrEqual(t, f.Closed, f.Answered)
	require.Positive(t, f.Up)
	require.Positive(t, f.Down)
}

func TestWithholdCompletesOnATargetThatAbortsWhenItsClientLeaves(t *testing.T) {
	t.Parallel()
	target := newSlowTarget(t)
	l := faulty(t, target.addr(), withhold)
	c, p := dial(t, l, "faulty")
	_, err := io.WriteString(c, request("/orders", 2))
	require.NoError(t, err)
	eventually(t, "the request arrives", func() bool { return target.started.Load() == 1 })
	require.NoError(t, c.Close())
	target.free()
	facts := settled(t, p)
	require.EqualValues(t, 1, target.committed.Load())
	require.Zero(t, target.noticed.Load())
	require.Equal(t, 201, facts.Status)
	require.Zero(t, facts.Left, "the target closed first")
}

func TestWithholdGivesTheClientNeitherAByteNorAClose(t *testing.T) {
	t.Parallel()
	target := newTarget(t, 100)
	c, p := dial(t, faulty(t, target.addr(), withhold), "faulty")
	_, err := io.WriteString(c, request("/orders", 2))
	require.NoError(t, err)
	require.Equal(t, 201, settled(t, p).Status)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
	n, err := c.Read(make([]byte, 1))
	require.Zero(t, n)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

func TestRemoveFaultsMakesTheWithheldKnown(t *testing.T) {
	t.Parallel()
	target := newSlowTarget(t)
	l := faulty(t, target.addr(), withhold)
	left, gone := dial(t, l, "faulty")
	waiting, stays := dial(t, l, "faulty")
	for _, c := range []net.Conn{left, waiting} {
		_, err := io.WriteString(c, request("/orders", 2))
		require.NoError(t, err)
	}
	eventually(t, "both requests arrive", func() bool { return target.started.Load() == 2 && l.InFlight() == 2 })
	require.NoError(t, left.Close())
	require.Zero(t, target.noticed.Load())

	require.NoError(t, l.RemoveFaults(t.Context()))
	eventually(t, "the target notices", func() bool { return target.noticed.Load() == 2 })
	require.Zero(t, target.committed.Load())
	require.Zero(t, l.InFlight())
	require.NotZero(t, gone.Facts().Closed)
	require.NotZero(t, stays.Facts().Closed)
	require.Error(t, receive(waiting).err)

	_, _, err := l.Dial(t.Context(), "faulty")
	require.ErrorContains(t, err, `dial lane "faulty": the lane is closed`)
	target.free()
	c, _ := dial(t, l, faults.Clean)
	require.Equal(t, 201, exchange(c, request("/orders", 2)).status, "the clean lane stays")
	require.NoError(t, l.RemoveFaults(t.Context()), "again")
}

func TestHangUpIsNoticedByTheTarget(t *testing.T) {
	t.Parallel()
	target := newSlowTarget(t)
	c, p := dial(t, faulty(t, target.addr(), faults.Fault{HangUp: &faults.HangUp{After: ms(3000)}}), "faulty")
	require.Equal(t, history.Closed, exchange(c, request("/orders", 2)).kind())
	eventually(t, "the target notices", func() bool { return target.noticed.Load() == 1 })
	facts := settled(t, p)
	require.Zero(t, target.committed.Load())
	require.NotZero(t, facts.Left)
	require.LessOrEqual(t, facts.Left, facts.Closed)
	require.Zero(t, facts.Answered)
}

func TestALeavingClientIsNoticedOnACleanLane(t *testing.T) {
	t.Parallel()
	target := newSlowTarget(t)
	l := open(t, target.addr(), nil)
	c, p := dial(t, l, faults.Clean)
	require.Zero(t, l.LongestInside())
	_, err := io.WriteString(c, request("/orders", 2))
	require.NoError(t, err)
	eventually(t, "the request is in flight", func() bool { return l.InFlight() == 1 })
	eventually(t, "it is for a while", func() bool { return l.LongestInside() > 10*time.Millisecond })
	require.NoError(t, c.Close())
	eventually(t, "the target notices", func() bool { return target.noticed.Load() == 1 })
	require.NotZero(t, settled(t, p).Left)
	require.Zero(t, l.InFlight())
	require.Zero(t, l.LongestInside())
}

// Every kind of toxic can be had by its own name.
func TestRawToxics(t *testing.T) {
	t.Parallel()
	target := newTarget(t, 100)
	for kind, attributes := range map[string]map[string]any{
		"bandwidth":  {"rate": 1000},
		"latency":    {"latency": 1, "jitter": 1},
		"limit_data": {"bytes": 100_000},
		"noop":       nil,
		"reset_peer": {"timeout": 1},
		"slicer":     {"average_size": 10, "size_variation": 2, "delay": 1},
		"slow_close": {"delay": 1},
		"timeout":    {"timeout": 50},
	} {
		for _, stream := range []string{"upstream", "downstream"} {
			t.Run(kind+" "+stream, func(t *testing.T) {
				t.Parallel()
				l := faulty(t, target.addr(), toxic(kind, stream, attributes))
				c, _ := dial(t, l, "faulty")
				saw := exchange(c, request("/orders", 2))
				switch kind {
				case "reset_peer":
					require.Equal(t, history.Reset, saw.kind())
				case "timeout":
					require.Equal(t, history.Closed, saw.kind())
				default:
					require.Equal(t, 201, saw.status)
				}
				require.Contains(t, l.Facts()[1].Faults[0], "toxic "+kind+" "+stream)
			})
		}
	}
}
