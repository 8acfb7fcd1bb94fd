package history

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzCommon holds that encoding/json makes the same record of every line that is read without it.
func FuzzCommon(f *testing.F) {
	for _, line := range recordedLines(f) {
		f.Add(line)
	}
	for _, line := range oddLines() {
		f.Add(line)
	}
	f.Fuzz(sameRecord)
}

func sameRecord(t *testing.T, line string) {
	got, ok := new(slots).common(line)
	if !ok {
		return
	}
	var want record
	require.NoError(t, json.Unmarshal([]byte(line), &want), line)
	require.Equal(t, want, got, line)
}

// oddLines are lines that no writer of ours writes.
func oddLines() []string {
	return []string{
		`{"attempt":{}}`, `{"attempt":null}`, `{"attempt":{"id":"a","ID":"b"}}`, `{"attempt":{"id":"a","id":"b"}}`, `{"attempt":{"header":{"a":"b"},"header":{"c":"d"}}}`,
		`{"Attempt":{"id":"a"}}`, `{"attempt":{"id":"a"},"begun":{"id":"b"}}`, `{"attempt":{"header":null}}`, `{"attempt":{"header":{},"own":{}}}`, `{"attempt":{"start":1.5}}`,
		`{"attempt":{"start":1e3}}`, `{"attempt":{"unheard":1}}`, `{"attempt":{"cut":{"at":1,"at":2}}}`, `{"attempt":{"cut":{"unheard":1}}}`, `{"attempt":{"id":"\ud800"}}`,
		`{"snapshot":{"name":"T1","rows":{"a":[],"b":null}}}`, `{"snapshot":{"name":"T1","rows":{"a":[null]}}}`, `{"snapshot":{"name":"T1","rows":{"a":[{"x":1e999}]}}}`,
		`{"snapshot":{"name":"T1","rows":{"a":[{"x":-0,"y":[1,{"z":null}],"x":true}],"a":[]},"effects":{"e":{"m":1},"e":{"n":2}},"late":[]}}`,
		`{"intent":{"bodies":{"original":{"marker":"a"},"original":{"path":"b"}}}}`, `{"intent":{"bodies":null}}`, `{"passage":{"attempt":"a","refused":true,"up":-1}}`,
		`{"passage":{"Passage":{"up":1}}}`, `{"sighting":{"rows":1}} x`, ` { "sighting" : { "rows" : 1 } } `, `{"complete":true}`, `{}`, `[]`, ``,
	}
}

func TestRecordsAreThoseOfEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, line := range append(recordedLines(t), oddLines()...) {
		sameRecord(t, line)
	}
}

// TestWhatIsWrittenForEachAttemptIsRead holds that no line of the kinds of which there are many takes the long way, with every
// member set.
func TestWhatIsWrittenForEachAttemptIsRead(t *testing.T) {
	t.Parallel()
	all := map[string]bool{}
	for _, line := range recordedLines(t) {
		kind, _, _ := strings.Cut(strings.TrimPrefix(line, `{"`), `"`)
		_, ok := new(slots).common(line)
		switch kind {
		case "intent", "begun", "attempt", "passage", "sighting", "snapshot":
			require.True(t, ok, line)
			all[kind] = true
		default:
			require.False(t, ok, line)
		}
	}
	require.Len(t, all, 6)
	var line strings.Builder
	w := NewWriter(&line)
	a := Attempt{
		ID: "a", Intent: "i", Step: 1, Retry: 2, Probe: true, Lane: "l", Instance: 3, Body: Original, Key: "k", BlankKey: true, Own: map[string]string{"/a": "b"},
		Deadline: 4, Together: true, After: 5, Start: 6, Wrote: 7, Replied: 8, End: 9, Sent: 10, Status: 11, Header: map[string]string{"A": "<b>"}, Content: "é\n", Length: 12,
		Digest: "d", Outline: "o", Unread: "u", Complete: true, Error: "e", ErrorKind: Timeout,
		Cut: &Cut{Link: "l", Moment: "m", At: 1, Answer: true, Connections: 2, Away: 3},
	}
	body := Body{Marker: "m", Method: "POST", Path: "/", Header: map[string]string{"A": "b"}, Content: "{}", Says: "{}", Operation: "o"}
	require.NoError(t, w.Intent(Intent{ID: "i", Number: 1, Principal: "p", Operation: "o", Kin: "k", Behind: true, Fresh: true, Work: Offset(time.Second), Bodies: map[string]Body{Original: body}}))
	require.NoError(t, w.Begin(a))
	require.NoError(t, w.Attempt(a))
	require.NoError(t, w.Passage("a", Passage{Opened: 1, Held: 2, Released: 3, Arrived: 4, Answered: 5, Left: 6, Closed: 7, Up: 8, Down: 9, Status: 10, Refused: true}))
	require.NoError(t, w.Sighting(Sighting{Intent: "i", Marker: "m", At: 1, Rows: 2}))
	require.NoError(t, w.Snapshot(T1Name, Snapshot{At: 1, Rows: map[string][]Row{"m": {{"a": 1.5, "b": nil, "c": "d", "e": true}}}, Effects: map[string]map[string]float64{"e": {"m": 1}}, Waited: 2, Late: []string{"m"}, Error: "e"}))
	for line := range strings.Lines(line.String()) {
		_, ok := new(slots).common(line)
		require.True(t, ok, line)
		sameRecord(t, line)
	}
}

// recordedLines returns the lines of the recorded runs of the checker.
func recordedLines(t testing.TB) []string {
	paths, err := filepath.Glob("../checker/testdata/recorded/*/*/history.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var all []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if len(line) < 1<<16 {
				all = append(all, line)
			}
		}
	}
	return all
}
