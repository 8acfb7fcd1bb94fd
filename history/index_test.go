package history_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
)

// TestPartsHoldWhatTheWholeHolds holds that the parts of every recorded history are together what Read makes of it.
func TestPartsHoldWhatTheWholeHolds(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../checker/testdata/recorded/*/*/history.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, intents := range []int{1, 3} {
			sameInParts(t, string(text), intents)
		}
	}
	sameInParts(t, manyRows(t, 2500, false), 100)
	sameInParts(t, manyRows(t, 2500, true), 100)
	sameInParts(t, string(lines(t, whole())), 1)
}

// sameInParts reads a history in parts, and as a whole.
func sameInParts(t *testing.T, text string, intents int) {
	t.Helper()
	want := read(t, []byte(text))
	parts, err := history.Index(strings.NewReader(text), int64(len(text)), history.IndexOptions{Intents: intents})
	require.NoError(t, err)
	got, seen := *parts.Head(), map[string]bool{}
	if parts.Len() > 1 {
		got.Intents, got.Attempts, got.Followups, got.Sightings = nil, nil, nil, nil
		for _, s := range []*history.Snapshot{got.Before, got.T1, got.T2} {
			if s != nil {
				s.Rows = map[string][]history.Row{}
			}
		}
		for i := range parts.Len() {
			some, err := parts.Part(i)
			require.NoError(t, err)
			got.Intents, got.Attempts = append(got.Intents, some.Intents...), append(got.Attempts, some.Attempts...)
			got.Followups, got.Sightings = append(got.Followups, some.Followups...), append(got.Sightings, some.Sightings...)
			for _, i := range some.Intents {
				for _, name := range []string{i.ID, i.Kin, i.Bodies[history.Original].Marker} {
					require.False(t, seen[name], "%s is in two parts", name)
				}
			}
			for _, i := range some.Intents {
				seen[i.ID], seen[i.Bodies[history.Original].Marker] = true, true
			}
			for of, into := range map[*history.Snapshot]*history.Snapshot{some.T1: got.T1, some.T2: got.T2} {
				for marker, rows := range rowsOrNone(of) {
					into.Rows[marker] = rows
				}
			}
			for marker, rows := range rowsOrNone(some.Before) {
				require.Equal(t, want.Before.Rows[marker], rows)
			}
		}
	}
	byID := func(a, b history.Attempt) int { return strings.Compare(a.ID, b.ID) }
	slices.SortFunc(want.Attempts, byID)
	slices.SortFunc(got.Attempts, byID)
	require.ElementsMatch(t, want.Intents, got.Intents)
	require.Equal(t, want.Attempts, got.Attempts)
	require.ElementsMatch(t, want.Followups, got.Followups)
	require.ElementsMatch(t, want.Sightings, got.Sightings)
	got.Intents, got.Attempts, got.Followups, got.Sightings, got.Before = want.Intents, want.Attempts, want.Followups, want.Sightings, want.Before
	require.Equal(t, *want, got)
	require.Equal(t, slices.ContainsFunc(want.Intents, func(i history.Intent) bool { return i.Principal != want.Intents[0].Principal }), parts.Several())
}

// manyRows is a history with snapshots of several lines, or of one as an older doubletap wrote them.
func manyRows(t *testing.T, n int, oneLine bool) string {
	t.Helper()
	var text bytes.Buffer
	w := history.NewWriter(&text)
	require.NoError(t, w.Run(history.Run{Format: history.Format}))
	s := history.Snapshot{At: 1, Rows: map[string][]history.Row{}, Effects: map[string]map[string]float64{"lines": {}, "stock": {"": 7}}, Waited: 2, Late: []string{"m1"}}
	for i := range n {
		marker := fmt.Sprintf("m%d", i)
		s.Rows[marker] = []history.Row{{"id": marker}}
		s.Effects["lines"][marker] = float64(i)
		s.Order = append(s.Order, marker)
	}
	snapshot := func(name string) {
		if !oneLine {
			require.NoError(t, w.Snapshot(name, s))
			return
		}
		var line bytes.Buffer
		all := history.Snapshot{At: 1, Rows: map[string][]history.Row{}, Effects: s.Effects, Waited: s.Waited, Late: s.Late}
		require.NoError(t, history.NewWriter(&line).Snapshot(name, all))
		rows := bytes.Buffer{}
		for i, marker := range s.Order {
			if i > 0 {
				rows.WriteString(",")
			}
			fmt.Fprintf(&rows, `%q:[{"id":%q}]`, marker, marker)
		}
		text.WriteString(strings.Replace(line.String(), `"rows":{}`, `"rows":{`+rows.String()+`}`, 1))
	}
	snapshot(history.BeforeName)
	for i := range n {
		id := fmt.Sprintf("i%d", i)
		require.NoError(t, w.Intent(history.Intent{ID: id, Number: i, Bodies: map[string]history.Body{history.Original: {Marker: fmt.Sprintf("m%d", i)}}}))
		require.NoError(t, w.Begin(history.Attempt{ID: id + ".1", Intent: id, Start: 5}))
		require.NoError(t, w.Attempt(history.Attempt{ID: id + ".1", Intent: id, Start: 5, End: 6}))
	}
	snapshot(history.T1Name)
	snapshot(history.T2Name)
	for i := range n {
		require.NoError(t, w.Passage(fmt.Sprintf("i%d.1", i), history.Passage{Opened: 5}))
	}
	require.NoError(t, w.Complete())
	return text.String()
}

func TestASnapshotWithoutItsEndWasNotTaken(t *testing.T) {
	t.Parallel()
	text := manyRows(t, 2500, false)
	cut := text[:strings.LastIndex(text, `{"snapshot":{"name":"T2"`)]
	require.NotNil(t, read(t, []byte(text)).T2)
	require.Nil(t, read(t, []byte(cut)).T2)
	require.NotNil(t, read(t, []byte(cut)).T1)
	parts, err := history.Index(strings.NewReader(cut), int64(len(cut)), history.IndexOptions{Intents: 100})
	require.NoError(t, err)
	require.Greater(t, parts.Len(), 20)
	require.Nil(t, parts.Head().T2)
}

func TestDamageIsNamedByItsLineInParts(t *testing.T) {
	t.Parallel()
	text := manyRows(t, 50, false)
	all := strings.SplitAfter(text, "\n")
	for name, c := range map[string]struct {
		line int // from 1
		text string
		says string
	}{
		"no JSON":                    {30, `{"attempt":{"id":"i9.1","intent":"i9",` + "\n", "history line 30"},
		"an unknown intent":          {30, `{"begun":{"id":"x.1","intent":"x"}}` + "\n", `unknown intent "x"`},
		"an end without a beginning": {30, `{"attempt":{"id":"i3.9","intent":"i3","end":1}}` + "\n", "history line 30"},
		"an intent twice":            {30, all[2], `intent "i0" twice`},
		"a run twice":                {30, all[0], "a second run"},
		"no run":                     {1, all[2], "the first line must be the run"},
		"a line after the end":       {len(all), `{"complete":true}` + "\n", "a line after the end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			damaged := slices.Insert(slices.Clone(all), c.line-1, c.text)
			file := strings.Join(damaged, "")
			parts, err := history.Index(strings.NewReader(file), int64(len(file)), history.IndexOptions{Intents: 10})
			for i := 0; err == nil && i < parts.Len(); i++ {
				_, err = parts.Part(i)
			}
			require.ErrorIs(t, err, history.ErrDamaged)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func rowsOrNone(s *history.Snapshot) map[string][]history.Row {
	if s == nil {
		return nil
	}
	return s.Rows
}
