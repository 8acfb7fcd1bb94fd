package history_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
)

var update = flag.Bool("update", false, "write the golden files anew")

// whole is a history in which everything is set that can be.
func whole() *history.History {
	ms := func(n int) history.Offset { return history.Offset(n) * history.Offset(time.Millisecond) }
	answered := history.Attempt{
		ID: "i001.2", Intent: "i001", Step: 1, Retry: 1, Lane: "clean", Body: history.Original, Key: "k1", Deadline: ms(300),
		Start: ms(350), Wrote: ms(351), Replied: ms(360), End: ms(361), Sent: 210, Status: 201,
		Header: map[string]string{"Content-Type": "application/json", "Set-Cookie": "***"}, Content: `{"id":"o<1>"}`, Length: 13, Complete: true,
	}
	lost := history.Attempt{
		ID: "i001.1", Intent: "i001", Lane: "lossy", Body: history.Original, Key: "k1", Start: ms(10), Wrote: ms(11), End: ms(310),
		Sent: 210, Error: "deadline exceeded", ErrorKind: history.Timeout,
		Cut:     &history.Cut{Link: "database", Moment: "committed", At: ms(30), Answer: true, Connections: 2},
		Passage: &history.Passage{Opened: ms(10), Arrived: ms(12), Answered: ms(90), Left: ms(310), Closed: ms(311), Up: 210, Down: 300, Status: 201},
	}
	cut := history.Attempt{
		ID: "i001.p1", Intent: "i001", Step: -1, Probe: true, Lane: "clean", Body: history.Altered, Start: ms(900), End: ms(905),
		Status: 200, Content: "ab", Length: 4000, Digest: "0f", Error: "unexpected EOF", ErrorKind: history.Truncated,
		Passage: &history.Passage{Refused: true},
	}
	later := history.Attempt{
		ID: "i001.3", Intent: "i001", Step: 2, Lane: "clean", Body: history.Original, Key: "k1", Together: true, After: ms(2),
		Start: ms(370), Wrote: ms(373), Replied: ms(380), End: ms(381), Sent: 210, Status: 201, Content: "{}", Length: 2, Complete: true,
	}
	inLine, busy := 9, history.Intent{ID: "i002", Number: 2, Behind: true, Bodies: map[string]history.Body{history.Original: {Marker: "dtbusy", Content: "{}"}}}
	return &history.History{
		Run: history.Run{
			Format: history.Format, ID: "r1", Tool: "doubletap 0.1.0", Scenario: "lost-response", Summary: "The answer is lost.",
			Target: "orders", Operation: "create_order", Seed: 1<<64 - 1, Started: time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC),
			Lanes:     []history.Lane{{Name: "lossy", Faults: []string{"lose: response"}, Delay: ms(50), Proxy: "in-process", Doorstep: true}, {Name: "clean", Proxy: "http://127.0.0.1:8474"}},
			Links:     []history.Link{{Name: "database", Faults: []string{"latency 20ms, both ways"}, Delay: ms(40), Moments: 9, Proxy: "in-process"}},
			Exercised: []history.Proof{{Name: "response-lost", AtLeast: 0.5}}, Normal: ms(4),
		},
		Steps: []history.Step{
			{For: history.Login, Number: 2, Principal: "alice", Method: "POST", Path: "/login", Start: ms(1), End: ms(2), Status: 302},
			{For: history.Prepare, Number: 1, Principal: "alice", Operation: "create_order", Intent: "i001", Method: "POST", Path: "/customers", Start: ms(2), End: ms(3), Error: "no answer"},
		},
		Intents: []history.Intent{{ID: "i001", Number: 1, Principal: "alice", Bodies: map[string]history.Body{
			history.Original: {Marker: "dtone", Method: "POST", Path: "/orders", Header: map[string]string{"Authorization": "***"}, Content: `{"note":"dtone"}`},
			history.Altered:  {Marker: "dttwo", Method: "POST", Path: "/orders", Content: "{\"note\":\"\u2028\"}"},
		}}, busy},
		Attempts:  []history.Attempt{lost, answered, cut, later, {ID: "i001.p2", Intent: "i001", Lane: "clean", Body: history.Original, Start: ms(950)}},
		Followups: []history.Followup{{Attempt: "i001.2", At: ms(560), Tries: 3, Status: 200, Content: `{"state":"done"}`, Complete: true}, {Attempt: "i001.1", Error: "refused"}},
		Sightings: []history.Sighting{{Intent: "i001", Marker: "dtone", At: ms(340), Rows: 1}},
		Holdings: []history.Holding{
			{Intent: "i001", Step: 1, Table: "shop.orders", Shut: ms(9), Opened: ms(309), Waiting: &inLine, Error: "connection lost"},
			{Intent: "i001", Step: 2, Table: "keys", Error: "somebody else holds the lock"},
		},
		Crashes: []history.Crash{
			{Attempt: "i001.1", After: ms(5), Struck: ms(17), Ended: ms(20), Ready: ms(40)},
			{Attempt: "i001.3", Struck: ms(375), Ended: ms(378), Error: "it was not ready within 30s"},
		},
		Flushes: []history.Flush{
			{Intent: "i001", Step: 1, Begun: ms(330), Done: ms(331), Deleted: 3},
			{Intent: "i001", Step: 3, Begun: ms(335), Error: "connection refused"},
		},
		Removals: []history.Removal{
			{Intent: "i001", Step: 2, Begun: ms(332), Found: 1, Done: ms(334)},
			{Intent: "i001", Step: 4, Begun: ms(336), Error: "its row is still found"},
		},
		Messages: []history.Message{{
			ID: "payments-1", Sink: "payments", At: ms(12), Method: "POST", Path: "/charges", Key: "k1", Names: []string{"m1"}, Status: 201, Acted: true, Fault: "lost", Content: "{}", Length: 2,
		}, {
			ID: "mail-1", Sink: "mail", At: ms(14), Method: history.Mail, To: []string{"ann@customer.example"}, Subject: "Your receipt", Status: 250, Acted: true,
		}, {ID: "spans-1", Sink: "spans", At: ms(15), Method: history.Span, Subject: "charge card", Traces: []string{"0af7651916cd43dd8448eb211c80319c"}, Acted: true}},
		Traffic:   []history.Traffic{{Link: "database", Exchanges: []history.Exchange{{Asked: ms(13), Answered: ms(14)}, {Asked: ms(20), Answered: ms(60)}}}},
		Received:  &history.Received{Before: 3, After: 5},
		Before:    &history.Snapshot{At: ms(1), Rows: map[string][]history.Row{"dtone": {}, "dttwo": {}}},
		T1:        &history.Snapshot{At: ms(600), Rows: map[string][]history.Row{"dtone": {{"id": "o<1>", "amount": 12.5, "paid": false, "at": nil}}, "dttwo": {}}, Effects: map[string]map[string]float64{"lines": {"dtone": 2}, "stock": {"": -0.5}}},
		T2:        &history.Snapshot{At: ms(999), Error: "connection refused"},
		Incidents: []history.Incident{{At: ms(970), Kind: history.DatabaseGone, Text: "connection refused"}},
		Complete:  true,
	}
}

// write writes a history as a run does, in the order in which things happen.
func write(out *bytes.Buffer, h *history.History) error {
	w := history.NewWriter(out)
	w.Run(h.Run)
	for _, s := range h.Steps {
		w.Step(s)
	}
	for _, i := range h.Intents {
		w.Intent(i)
	}
	snapshot(w, history.BeforeName, h.Before)
	for _, a := range h.Attempts {
		begun := history.Attempt{ID: a.ID, Intent: a.Intent, Step: a.Step, Retry: a.Retry, Probe: a.Probe, Lane: a.Lane, Body: a.Body, Key: a.Key, Deadline: a.Deadline, Together: a.Together, After: a.After, Start: a.Start}
		w.Begin(begun)
	}
	for _, a := range h.Attempts {
		if a.End != 0 {
			w.Attempt(a)
		}
		if a.Passage != nil {
			w.Passage(a.ID, *a.Passage)
		}
	}
	for _, f := range h.Followups {
		w.Followup(f)
	}
	for _, s := range h.Sightings {
		w.Sighting(s)
	}
	for _, held := range h.Holdings {
		w.Holding(held)
	}
	for _, k := range h.Crashes {
		w.Crash(k)
	}
	for _, d := range h.Deaths {
		w.Death(d)
	}
	for _, p := range h.Printed {
		w.Printed(p)
	}
	for _, f := range h.Flushes {
		w.Flush(f)
	}
	for _, r := range h.Removals {
		w.Removal(r)
	}
	for _, m := range h.Messages {
		w.Message(m)
	}
	for _, t := range h.Traffic {
		w.Traffic(t)
	}
	snapshot(w, history.T1Name, h.T1)
	snapshot(w, history.T2Name, h.T2)
	if h.Received != nil {
		w.Received(*h.Received)
	}
	for _, i := range h.Incidents {
		w.Incident(i)
	}
	if h.Complete {
		w.Complete()
	}
	return w.Err()
}

func snapshot(w *history.Writer, name string, s *history.Snapshot) {
	if s != nil {
		w.Snapshot(name, *s)
	}
}

func lines(t require.TestingT, h *history.History) []byte {
	var file bytes.Buffer
	require.NoError(t, write(&file, h))
	return file.Bytes()
}

func read(t require.TestingT, file []byte) *history.History {
	h, err := history.Read(bytes.NewReader(file))
	require.NoError(t, err)
	return h
}

func TestFileFormat(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "whole.jsonl")
	got := lines(t, whole())
	if *update {
		require.NoError(t, os.WriteFile(golden, got, 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "the format is a promise: change history.Format with it")
	require.Equal(t, whole(), read(t, want))
}

func TestFileCutAnywhere(t *testing.T) {
	t.Parallel()
	file, all := lines(t, whole()), whole()
	known := map[string]history.Attempt{}
	for _, a := range all.Attempts {
		known[a.ID] = a
	}
	for n := range file {
		h, err := history.Read(bytes.NewReader(file[:n]))
		if err != nil {
			require.ErrorIs(t, err, history.ErrDamaged)
			require.NotContains(t, string(file[:n]), "\n", "a file with a head can be read, cut at byte %d", n)
			continue
		}
		require.False(t, h.Complete, "cut at byte %d", n)
		require.Equal(t, strings.Count(string(file[:n]), `{"begun":`)-partial(file[:n], `{"begun":`), len(h.Attempts), "cut at byte %d", n)
		for i, a := range h.Attempts {
			require.Equal(t, all.Attempts[i].ID, a.ID)
			if a.End != 0 && a.Passage != nil {
				require.Equal(t, known[a.ID], a)
			}
		}
	}
}

// partial is 1 if the last line of a file was cut and is of this kind.
func partial(file []byte, kind string) int {
	last := file[bytes.LastIndexByte(file, '\n')+1:]
	if bytes.HasPrefix(last, []byte(kind)) {
		return 1
	}
	return 0
}

func TestAttemptsThatNeverEndedAreKept(t *testing.T) {
	t.Parallel()
	h := read(t, lines(t, whole()))
	last := h.Attempts[len(h.Attempts)-1]
	require.Equal(t, "i001.p2", last.ID)
	require.Zero(t, last.End)
	require.False(t, last.Complete)
}

func TestPassageMayComeBeforeTheEnd(t *testing.T) {
	t.Parallel()
	h := read(t, []byte(head+intent+begun+
		`{"passage":{"attempt":"a1","up":7,"down":0}}`+"\n"+
		`{"attempt":{"id":"a1","intent":"i1","step":0,"lane":"clean","body":"original","start":1,"end":2,"sent":7}}`+"\n"))
	require.Equal(t, history.Offset(2), h.Attempts[0].End)
	require.Equal(t, &history.Passage{Up: 7}, h.Attempts[0].Passage)
}

const (
	head   = `{"run":{"format":1,"id":"r1"}}` + "\n"
	intent = `{"intent":{"id":"i1","number":1,"bodies":{"original":{"marker":"dt1","content":"{}"}}}}` + "\n"
	begun  = `{"begun":{"id":"a1","intent":"i1","start":1}}` + "\n"
	ended  = `{"attempt":{"id":"a1","intent":"i1","start":1,"end":2}}` + "\n"
	held   = `{"holding":{"intent":"i1","step":0,"table":"orders","shut":1,"opened":2,"waiting":0}}` + "\n"
	before = `{"snapshot":{"name":"before","at":1,"rows":{}}}` + "\n"
)

func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, file, want string }{
		{"an empty file", "", "no run in it"},
		{"a head that was cut", head[:len(head)-1], "no run in it"},
		{"no head", intent, "line 1: damaged history: the first line must be the run"},
		{"no JSON", head + "oops\n", "line 2: damaged history: invalid character"},
		{"a line in the middle that was cut", head + intent[:20] + "\n" + begun, "line 2: damaged history"},
		{"an empty line", head + "\n", "line 2: damaged history: unexpected end"},
		{"a line of another kind", head + `{"luck":1}` + "\n", "a line of no known kind"},
		{"a second run", head + head, "line 2: damaged history: a second run"},
		{"another format", `{"run":{"format":2}}` + "\n", "format 2, this doubletap reads format 1"},
		{"an intent twice", head + intent + intent, `intent "i1" twice`},
		{"an attempt of nobody", head + begun, `attempt "a1" of the unknown intent "i1"`},
		{"an attempt that began twice", head + intent + begun + begun, `attempt "a1" begun twice`},
		{"an end without a beginning", head + intent + ended, `attempt "a1" ended without a beginning`},
		{"an attempt that ended twice", head + intent + begun + ended + ended, `attempt "a1" ended twice`},
		{"an end that has no time", head + intent + begun + strings.Replace(ended, `"end":2`, `"end":0`, 1), `attempt "a1" does not fit its beginning`},
		{"an end of another intent", head + intent + begun + strings.Replace(ended, `"i1"`, `"i2"`, 1), `attempt "a1" does not fit its beginning`},
		{"a followup of nothing", head + `{"followup":{"attempt":"a9","at":1,"tries":1}}` + "\n", `followup of the unknown attempt "a9"`},
		{"a crash beside nothing", head + `{"crash":{"attempt":"a9","after":1}}` + "\n", `crash beside the unknown attempt "a9"`},
		{"a flush for nobody", head + `{"flush":{"intent":"i9","step":1,"begun":1,"deleted":2}}` + "\n", `flush for the unknown intent "i9"`},
		{"a holding of nobody", head + held, `line 2: damaged history: holding of the unknown intent "i1"`},
		{"a holding before its intent", head + held + intent, `holding of the unknown intent "i1"`},
		{"a holding that was cut in the middle of the file", head + intent + held[:30] + "\n" + begun, "line 3: damaged history"},
		{"a holding in which a word stands for a number", head + intent + strings.Replace(held, `"waiting":0`, `"waiting":"all"`, 1), "line 3: damaged history"},
		{"a passage of nothing", head + `{"passage":{"attempt":"a9","up":1,"down":1}}` + "\n", `passage of the unknown attempt "a9"`},
		{"a snapshot of no name", head + strings.Replace(before, "before", "T3", 1), `snapshot of the unknown name "T3"`},
		{"a snapshot twice", head + before + before, "snapshot before twice"},
		{"a line after the end", head + `{"complete":true}` + "\n" + intent, "line 3: damaged history: a line after the end"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			h, err := history.Read(strings.NewReader(r.file))
			require.Nil(t, h)
			require.ErrorIs(t, err, history.ErrDamaged)
			require.ErrorContains(t, err, r.want)
		})
	}
}

// broken is a disk that takes some writes and then no more.
type broken struct{ left int }

var errFull = errors.New("no space left on device")

func (b *broken) Write(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errFull
	}
	b.left--
	return len(p), nil
}

func TestWriterRemembersItsFirstError(t *testing.T) {
	t.Parallel()
	w := history.NewWriter(&broken{left: 1})
	require.NoError(t, w.Run(history.Run{}))
	require.NoError(t, w.Err())
	require.ErrorIs(t, w.Complete(), errFull)
	require.ErrorContains(t, w.Err(), "write history: no space left")
	require.ErrorIs(t, w.Intent(history.Intent{}), errFull)

	w = history.NewWriter(&bytes.Buffer{})
	unwritable := history.Snapshot{Rows: map[string][]history.Row{"dtone": {{"at": func() {}}}}}
	require.ErrorContains(t, w.Snapshot(history.T1Name, unwritable), "unsupported type")
	require.Error(t, w.Complete(), "nothing is written after an error")
}

type unreadable struct{}

func (unreadable) Read([]byte) (int, error) { return 0, errFull }

func TestReadReportsWhatIsNotDamage(t *testing.T) {
	t.Parallel()
	_, err := history.Read(unreadable{})
	require.ErrorIs(t, err, errFull)
	require.NotErrorIs(t, err, history.ErrDamaged)
}

func TestOffsetIsADuration(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1500*time.Millisecond, history.Offset(1_500_000_000).Duration())
}
