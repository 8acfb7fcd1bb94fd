package checker_test

import (
	"bufio"
	"bytes"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proofs"
)

const attemptsPerIntent = 5

// BenchmarkHistories reads and judges histories of a target that makes a second row for one intent in 10,000: in parts, and up to
// 100,000 intents also as a whole. DOUBLETAP_BENCH_DIR names a folder in which the files stay and are found again;
// DOUBLETAP_BENCH_LARGE adds a number of intents: a million take 5.3 GB of disk.
func BenchmarkHistories(b *testing.B) {
	sizes := []int{10_000, 100_000}
	if more := os.Getenv("DOUBLETAP_BENCH_LARGE"); more != "" {
		n, err := strconv.Atoi(more)
		require.NoError(b, err)
		sizes = append(sizes, n)
	}
	for _, intents := range sizes {
		b.Run(fmt.Sprintf("intents=%d", intents), func(b *testing.B) {
			path := generated(b, intents)
			b.Run("parts", func(b *testing.B) { benchmarkParts(b, path, intents) })
			if intents <= 100_000 {
				benchmarkHistory(b, path, intents)
			}
		})
	}
}

// benchmarkParts reads and judges a history as check does.
func benchmarkParts(b *testing.B, path string, intents int) {
	file, err := os.Open(path)
	require.NoError(b, err)
	defer file.Close()
	info, err := file.Stat()
	require.NoError(b, err)
	b.SetBytes(info.Size())
	measured(b, intents*attemptsPerIntent, func() {
		parts, err := history.Index(file, info.Size(), history.IndexOptions{})
		require.NoError(b, err)
		r, err := checker.CheckParts(parts, terms())
		require.NoError(b, err)
		requireBenchmarked(b, r, intents)
	})
}

// requireBenchmarked sees that the intents with a second row, and no others, are found.
func requireBenchmarked(b *testing.B, r checker.Result, intents int) {
	b.Helper()
	require.Equal(b, checker.Fail, r.Verdict, "%v", r.Reasons)
	require.Equal(b, intents/wrongOne, r.Failed)
	require.Equal(b, []string{"duplicate"}, found(r))
}

func benchmarkHistory(b *testing.B, path string, intents int) {
	attempts := intents * attemptsPerIntent
	var h *history.History
	b.Run("read", func(b *testing.B) {
		info, err := os.Stat(path)
		require.NoError(b, err)
		b.SetBytes(info.Size())
		measured(b, attempts, func() { h = readFile(b, path) })
		b.ReportMetric(float64(info.Size())/float64(attempts), "file-B/attempt")
	})
	b.Run("judge", func(b *testing.B) {
		if h == nil {
			h = readFile(b, path)
		}
		require.Len(b, h.Attempts, attempts)
		measured(b, attempts, func() {
			requireBenchmarked(b, checker.Check(h, terms()), intents)
		})
	})
}

func readFile(b *testing.B, path string) *history.History {
	b.Helper()
	file, err := os.Open(path)
	require.NoError(b, err)
	defer file.Close()
	h, err := history.Read(file)
	require.NoError(b, err)
	return h
}

// measured runs work as a benchmark and reports its speed and how much memory was in use at most.
func measured(b *testing.B, attempts int, work func()) {
	b.Helper()
	runtime.GC()
	stop, highest := make(chan struct{}), make(chan uint64)
	go watchMemory(stop, highest)
	n := 0
	for b.Loop() {
		work()
		n++
	}
	close(stop)
	b.ReportMetric(float64(n*attempts)/b.Elapsed().Seconds(), "attempts/s")
	b.ReportMetric(float64(<-highest)/(1<<20), "peak-MiB")
	runtime.GC()
	b.ReportMetric(float64(resident("/memory/classes/heap/objects:bytes"))/(1<<20), "held-MiB")
}

// watchMemory finds the most memory that the process had from the operating system.
func watchMemory(stop <-chan struct{}, highest chan<- uint64) {
	var most uint64
	for {
		select {
		case <-stop:
			highest <- most
			return
		case <-time.After(5 * time.Millisecond):
			most = max(most, resident("/memory/classes/total:bytes")-resident("/memory/classes/heap/released:bytes"))
		}
	}
}

func resident(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// generated returns a file with a history of so many intents.
func generated(b *testing.B, intents int) string {
	b.Helper()
	dir := os.Getenv("DOUBLETAP_BENCH_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	path := filepath.Join(dir, fmt.Sprintf("history-%d.jsonl", intents))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	file, err := os.Create(path + ".part")
	require.NoError(b, err)
	out := bufio.NewWriterSize(file, 1<<20)
	require.NoError(b, generate(out, intents))
	require.NoError(b, out.Flush())
	require.NoError(b, file.Close())
	require.NoError(b, os.Rename(path+".part", path))
	return path
}

// generator writes what a run of a target writes, in the same order: groups of stories that
// run beside each other, and the passages at the end. The same number of intents gives the same file. A story is made anew
// each time that it is needed: of ten million no memory holds all.
type generator struct {
	*history.Writer
	out     io.Writer
	intents int
	failed  error // to write a snapshot
}

type generatedStory struct{ id, key, marker, order string }

// wrongOne says that one in so many intents has a second row.
const wrongOne = 10_000

// beside is how many stories run at once.
const beside = 16

func generate(out io.Writer, intents int) error {
	g := &generator{history.NewWriter(out), out, intents, nil}
	g.Run(history.Run{
		Format: history.Format, ID: "bench", Scenario: "bench", Operation: "create_order", Started: time.Unix(1_800_000_000, 0).UTC(),
		Lanes:     []history.Lane{{Name: "clean", Proxy: "in-process", Doorstep: true}, {Name: "silent", Proxy: "in-process", Doorstep: true}},
		Exercised: []history.Proof{{Name: string(proofs.ResponseLost), AtLeast: 0.5}},
	})
	g.snapshot(history.BeforeName, 1)
	g.attempts(false)
	g.snapshot(history.T1Name, g.later(0))
	g.attempts(true)
	g.snapshot(history.T2Name, 2*g.later(0))
	for n := range intents {
		s := storyAt(n)
		for i := range attemptsPerIntent {
			a := g.attempt(s, n, i)
			g.Passage(a.ID, history.Passage{
				Opened: a.Start + 400_000, Arrived: a.Wrote, Answered: a.Wrote + 9_000_000, Left: a.End, Closed: a.End + 70, Up: a.Sent, Down: 339, Status: 201,
			})
		}
	}
	g.Received(history.Received{Before: 1, After: int64(1 + intents*attemptsPerIntent)})
	g.Complete()
	return errors.Join(g.failed, g.Err())
}

// storyAt is the story with a number, from 0.
func storyAt(n int) generatedStory {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	return generatedStory{id: fmt.Sprintf("i%07d", n+1), key: uuid(r), marker: word(r, "dt", 10), order: word(r, "ord_", 16)}
}

// attempts writes the attempts of all stories, or their final probes.
func (g *generator) attempts(probe bool) {
	for first := 0; first < g.intents; first += beside {
		var group []generatedStory
		for n := first; n < min(first+beside, g.intents); n++ {
			group = append(group, storyAt(n))
		}
		for n, s := range group {
			if !probe {
				g.intent(s, first+n)
			}
		}
		for i := range attemptsPerIntent {
			if probe != (i == attemptsPerIntent-1) {
				continue
			}
			for n, s := range group {
				a := g.attempt(s, first+n, i)
				g.Begin(history.Attempt{
					ID: a.ID, Intent: a.Intent, Step: a.Step, Retry: a.Retry, Probe: a.Probe, Lane: a.Lane,
					Body: a.Body, Key: a.Key, Deadline: a.Deadline, Start: a.Start,
				})
			}
			for n, s := range group {
				g.Attempt(g.attempt(s, first+n, i))
			}
		}
	}
}

func (g *generator) intent(s generatedStory, n int) {
	g.Intent(history.Intent{ID: s.id, Number: n + 1, Bodies: map[string]history.Body{history.Original: {
		Marker: s.marker, Method: "POST", Path: "/orders", Header: map[string]string{"Content-Type": "application/json"},
		Content: fmt.Sprintf(`{"amount":1200,"item":"lamp","note":%q,"reference":"ref-%s"}`, s.marker, s.id),
	}}})
}

// attempt is one of a story: an answer that is lost, one that comes too early, and acknowledgements.
func (g *generator) attempt(s generatedStory, n, i int) history.Attempt {
	start := history.Offset(n/beside)*200_000_000 + history.Offset(i)*30_000_000 + history.Offset(n%beside)*10_000
	a := history.Attempt{
		ID: fmt.Sprintf("%s.%d", s.id, i+1), Intent: s.id, Step: 0, Retry: i, Lane: "clean", Body: history.Original, Key: s.key,
		Deadline: 10_000_000_000, Start: start + 2, Wrote: start + 500_000, End: start + 20_000_000, Sent: 296,
	}
	switch i {
	case 0:
		a.Lane, a.Error, a.ErrorKind = "silent", "read tcp 127.0.0.1:48508->127.0.0.1:42757: i/o timeout", history.Timeout
		return a
	case 1:
		return g.answered(a, 409, `{"error":"in_progress"}`)
	case attemptsPerIntent - 1:
		a.ID, a.Step, a.Retry, a.Probe = s.id+".p1", -1, 0, true
		a.Start, a.Wrote, a.End = g.later(a.Start), g.later(a.Wrote), g.later(a.End)
	}
	return g.answered(a, 201, fmt.Sprintf(`{"id":%q,"note":%q,"reference":"ref-%s","item":"lamp","amount":1200,"created_at":"2026-11-21T09:26:00.835025321Z"}`, s.order, s.marker, s.id))
}

// later moves a time behind T1.
func (g *generator) later(at history.Offset) history.Offset {
	return at + history.Offset(g.intents/beside+1)*200_000_000
}

func (g *generator) answered(a history.Attempt, status int, content string) history.Attempt {
	a.Replied, a.Status, a.Content, a.Length, a.Complete = a.End-40_000, status, content, int64(len(content)), true
	a.Header = map[string]string{
		"Content-Length": fmt.Sprint(len(content)), "Content-Type": "application/json",
		"Date": time.Unix(1_800_000_000, 0).Add(a.Start.Duration()).UTC().Format(time.RFC1123),
	}
	if status == 201 {
		a.Header["Location"] = "/orders/" + strings.Split(content, `"`)[3]
	}
	return a
}

// snapshot writes the rows of all stories as [history.Writer.Snapshot] does, a line for each thousand, without having all of
// them at once.
func (g *generator) snapshot(name string, at history.Offset) {
	const inLine = 1000
	for first := 0; first < g.intents; first += inLine {
		line := history.Snapshot{At: at, Rows: map[string][]history.Row{}}
		last := min(first+inLine, g.intents)
		for n := first; n < last; n++ {
			s := storyAt(n)
			line.Order = append(line.Order, s.marker)
			line.Rows[s.marker] = []history.Row{}
			if name == history.BeforeName {
				continue
			}
			line.Rows[s.marker] = append(line.Rows[s.marker], history.Row{"id": s.order, "amount": 1200, "note": s.marker})
			if n%wrongOne == 0 {
				line.Rows[s.marker] = append(line.Rows[s.marker], history.Row{"id": s.order + "b", "amount": 1200, "note": s.marker})
			}
		}
		var text bytes.Buffer
		err := history.NewWriter(&text).Snapshot(name, line)
		whole := text.String()
		if last < g.intents {
			whole = strings.TrimSuffix(whole, "}}\n") + `,"more":true}}` + "\n"
		}
		_, also := io.WriteString(g.out, whole)
		g.failed = errors.Join(g.failed, err, also)
	}
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func word(r *rand.Rand, prefix string, n int) string {
	return prefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(randomBytes(r, n)))
}

func uuid(r *rand.Rand) string {
	b := randomBytes(r, 16)
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
