package history_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/doubletap-harness/doubletap/history"
)

func offset() *rapid.Generator[history.Offset] {
	return rapid.Custom(func(t *rapid.T) history.Offset { return history.Offset(rapid.Int64Range(0, 1<<62).Draw(t, "offset")) })
}

func texts() *rapid.Generator[map[string]string] {
	return rapid.Custom(func(t *rapid.T) map[string]string {
		m := rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).Draw(t, "texts")
		if len(m) == 0 {
			return nil
		}
		return m
	})
}

func attempts(n int, intents []history.Intent) *rapid.Generator[history.Attempt] {
	return rapid.Custom(func(t *rapid.T) history.Attempt {
		a := history.Attempt{
			ID: fmt.Sprintf("a%d", n), Intent: rapid.SampledFrom(intents).Draw(t, "intent").ID,
			Step: rapid.IntRange(-1, 9).Draw(t, "step"), Retry: rapid.IntRange(0, 9).Draw(t, "retry"), Probe: rapid.Bool().Draw(t, "probe"),
			Lane: rapid.String().Draw(t, "lane"), Body: rapid.SampledFrom([]string{history.Original, history.Altered}).Draw(t, "body"),
			Key: rapid.String().Draw(t, "key"), Deadline: offset().Draw(t, "deadline"), Start: offset().Draw(t, "start"),
		}
		if a.Together = rapid.Bool().Draw(t, "together"); a.Together {
			a.After = offset().Draw(t, "after")
		}
		if rapid.Bool().Draw(t, "never ended") {
			return a
		}
		a.Wrote, a.Replied, a.End = offset().Draw(t, "wrote"), offset().Draw(t, "replied"), 1+offset().Draw(t, "end")
		a.Sent, a.Length = rapid.Int64().Draw(t, "sent"), rapid.Int64().Draw(t, "length")
		a.Status, a.Header, a.Content = rapid.IntRange(0, 599).Draw(t, "status"), texts().Draw(t, "header"), rapid.String().Draw(t, "content")
		a.Digest, a.Complete = rapid.String().Draw(t, "digest"), rapid.Bool().Draw(t, "complete")
		a.Error, a.ErrorKind = rapid.String().Draw(t, "error"), history.ErrorKind(rapid.String().Draw(t, "kind"))
		if rapid.Bool().Draw(t, "cut") {
			a.Cut = &history.Cut{Link: rapid.String().Draw(t, "link"), Moment: rapid.String().Draw(t, "moment"), At: offset().Draw(t, "at"), Connections: rapid.IntRange(0, 99).Draw(t, "connections")}
		}
		if rapid.Bool().Draw(t, "watched") {
			a.Passage = &history.Passage{Opened: offset().Draw(t, "opened"), Up: rapid.Int64().Draw(t, "up"), Refused: rapid.Bool().Draw(t, "refused")}
		}
		return a
	})
}

func holding(intents []history.Intent) *rapid.Generator[history.Holding] {
	return rapid.Custom(func(t *rapid.T) history.Holding {
		return history.Holding{
			Intent: rapid.SampledFrom(intents).Draw(t, "intent").ID, Step: rapid.IntRange(0, 9).Draw(t, "step"), Table: rapid.String().Draw(t, "table"),
			Shut: offset().Draw(t, "shut"), Opened: offset().Draw(t, "opened"),
			Waiting: rapid.Ptr(rapid.IntRange(0, 99), true).Draw(t, "waiting"), Error: rapid.String().Draw(t, "error"),
		}
	})
}

func row() *rapid.Generator[history.Row] {
	value := rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Map(rapid.Float64(), func(f float64) any { return f }),
	)
	return rapid.Custom(func(t *rapid.T) history.Row {
		return rapid.MapOfN(rapid.String(), value, 0, 4).Draw(t, "row")
	})
}

func histories() *rapid.Generator[*history.History] {
	return rapid.Custom(func(t *rapid.T) *history.History {
		h := &history.History{Run: history.Run{
			Format: history.Format, ID: rapid.String().Draw(t, "id"), Seed: rapid.Uint64().Draw(t, "seed"),
			Started: time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "started"), 0).UTC(),
		}, Complete: rapid.Bool().Draw(t, "complete")}
		for n := range rapid.IntRange(1, 4).Draw(t, "intents") {
			body := history.Body{Marker: "dt" + rapid.String().Draw(t, "marker"), Header: texts().Draw(t, "header"), Content: rapid.String().Draw(t, "content")}
			h.Intents = append(h.Intents, history.Intent{ID: fmt.Sprintf("i%d", n), Number: n, Behind: rapid.Bool().Draw(t, "behind"), Bodies: map[string]history.Body{history.Original: body}})
		}
		for range rapid.IntRange(0, 3).Draw(t, "holdings") {
			h.Holdings = append(h.Holdings, holding(h.Intents).Draw(t, "holding"))
		}
		for range rapid.IntRange(0, 2).Draw(t, "links") {
			passed := history.Exchange{Asked: offset().Draw(t, "asked"), Answered: offset().Draw(t, "answered")}
			h.Traffic = append(h.Traffic, history.Traffic{Link: rapid.String().Draw(t, "link"), Exchanges: []history.Exchange{passed}})
		}
		for n := range rapid.IntRange(0, 3).Draw(t, "messages") {
			h.Messages = append(h.Messages, history.Message{
				ID: fmt.Sprintf("payments-%d", n), Sink: rapid.String().Draw(t, "sink"), At: offset().Draw(t, "at"), Path: rapid.String().Draw(t, "path"),
				Key: rapid.String().Draw(t, "key"), Names: []string{rapid.String().Draw(t, "name")}, Acted: rapid.Bool().Draw(t, "acted"),
			})
		}
		for n := range rapid.IntRange(0, 6).Draw(t, "attempts") {
			h.Attempts = append(h.Attempts, attempts(n, h.Intents).Draw(t, "attempt"))
		}
		for _, a := range h.Attempts {
			if rapid.Bool().Draw(t, "crashed") {
				h.Crashes = append(h.Crashes, history.Crash{
					Attempt: a.ID, After: offset().Draw(t, "planned"), Struck: offset().Draw(t, "struck"), Ended: offset().Draw(t, "ended"),
					Ready: offset().Draw(t, "ready"), Error: rapid.String().Draw(t, "error"),
				})
			}
		}
		if rapid.Bool().Draw(t, "died") {
			h.Deaths = append(h.Deaths, history.Death{
				Instance: rapid.IntRange(0, 3).Draw(t, "instance"), At: offset().Draw(t, "died at"), How: rapid.String().Draw(t, "how"),
				Said: []string{rapid.String().Draw(t, "said")}, Ready: offset().Draw(t, "ready"), Error: rapid.String().Draw(t, "error"),
			})
		}
		if rapid.Bool().Draw(t, "printed") {
			h.Printed = append(h.Printed, history.Printed{At: offset().Draw(t, "printed at"), Instance: rapid.IntRange(0, 3).Draw(t, "instance"), Text: rapid.String().Draw(t, "text")})
		}
		for _, i := range h.Intents {
			if rapid.Bool().Draw(t, "flushed") {
				h.Flushes = append(h.Flushes, history.Flush{
					Intent: i.ID, Step: rapid.IntRange(0, 9).Draw(t, "step"), Begun: offset().Draw(t, "begun"), Done: offset().Draw(t, "done"),
					Deleted: rapid.IntRange(0, 9).Draw(t, "deleted"), Error: rapid.String().Draw(t, "error"),
				})
			}
		}
		for _, i := range h.Intents {
			if rapid.Bool().Draw(t, "removed") {
				h.Removals = append(h.Removals, history.Removal{
					Intent: i.ID, Step: rapid.IntRange(0, 9).Draw(t, "step"), Begun: offset().Draw(t, "begun"), Done: offset().Draw(t, "done"),
					Found: rapid.IntRange(0, 9).Draw(t, "found"), Error: rapid.String().Draw(t, "error"),
				})
			}
		}
		for _, s := range []**history.Snapshot{&h.Before, &h.T1, &h.T2} {
			if rapid.Bool().Draw(t, "taken") {
				rows := rapid.MapOfN(rapid.String(), rapid.SliceOfN(row(), 0, 3), 0, 3).Draw(t, "rows")
				*s = &history.Snapshot{At: offset().Draw(t, "at"), Rows: rows, Error: rapid.String().Draw(t, "error")}
			}
		}
		return h
	})
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := histories().Draw(t, "history")
		require.Equal(t, h, read(t, lines(t, h)))
	})
}

func TestCutHistoriesInventNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := histories().Draw(t, "history")
		file := lines(t, h)
		cut, err := history.Read(bytes.NewReader(file[:rapid.IntRange(0, len(file)-1).Draw(t, "cut")]))
		if err != nil {
			require.ErrorIs(t, err, history.ErrDamaged)
			return
		}
		require.False(t, cut.Complete)
		require.LessOrEqual(t, len(cut.Attempts), len(h.Attempts))
		require.LessOrEqual(t, len(cut.Messages), len(h.Messages))
		require.LessOrEqual(t, len(cut.Traffic), len(h.Traffic))
		require.LessOrEqual(t, len(cut.Holdings), len(h.Holdings))
		for i, held := range cut.Holdings {
			require.Equal(t, h.Holdings[i], held)
		}
		require.LessOrEqual(t, len(cut.Crashes), len(h.Crashes))
		for i, k := range cut.Crashes {
			require.Equal(t, h.Crashes[i], k)
		}
		require.LessOrEqual(t, len(cut.Flushes), len(h.Flushes))
		for i, f := range cut.Flushes {
			require.Equal(t, h.Flushes[i], f)
		}
		require.LessOrEqual(t, len(cut.Removals), len(h.Removals))
		for i, r := range cut.Removals {
			require.Equal(t, h.Removals[i], r)
		}
		for i, a := range cut.Attempts {
			require.Equal(t, h.Attempts[i].ID, a.ID)
			require.Contains(t, []history.Offset{0, h.Attempts[i].End}, a.End)
		}
	})
}

func TestWriterIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	w := history.NewWriter(&file)
	w.Run(history.Run{Format: history.Format})
	w.Intent(history.Intent{ID: "i1", Bodies: map[string]history.Body{history.Original: {Marker: "dt1"}}})
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			a := history.Attempt{ID: fmt.Sprintf("a%d", n), Intent: "i1", Start: 1}
			w.Begin(a)
			a.End = 2
			w.Attempt(a)
		})
	}
	all.Wait()
	require.NoError(t, w.Complete())
	h := read(t, file.Bytes())
	require.Len(t, h.Attempts, 20)
	for _, a := range h.Attempts {
		require.Equal(t, history.Offset(2), a.End)
	}
}

// FuzzRead reads anything. What it accepts, it reads again after writing.
func FuzzRead(f *testing.F) {
	f.Add(lines(f, whole()))
	f.Add([]byte(head + intent + begun + ended))
	f.Add([]byte(head + intent + held + strings.Replace(begun, `"start"`, `"together":true,"after":2,"start"`, 1)))
	f.Add([]byte(head + before + `{"received":{"before":1,"after":2}}` + "\n" + `{"complete":true}` + "\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		h, err := history.Read(bytes.NewReader(file))
		if err != nil {
			require.ErrorIs(t, err, history.ErrDamaged)
			require.Nil(t, h)
			return
		}
		var again bytes.Buffer
		require.NoError(t, write(&again, h))
		got := read(t, again.Bytes())
		require.Len(t, got.Attempts, len(h.Attempts))
		require.Equal(t, h.Holdings, got.Holdings)
		require.Equal(t, h.Crashes, got.Crashes)
		require.Equal(t, h.Deaths, got.Deaths)
		require.Equal(t, h.Printed, got.Printed)
		require.Equal(t, h.Flushes, got.Flushes)
		require.Equal(t, h.Removals, got.Removals)
		require.Equal(t, h.Messages, got.Messages)
		require.Equal(t, h.Traffic, got.Traffic)
	})
}
