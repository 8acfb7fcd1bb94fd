package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const us = time.Microsecond

// burst is a burst whose members come so long after its first.
func burst(after ...time.Duration) []arrival {
	var all []arrival
	for _, d := range after {
		all = append(all, arrival{After: d, Header: http.Header{}})
	}
	return all
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	require.Zero(t, quantile(nil, 0.5))
	require.Equal(t, 7*us, quantile([]time.Duration{7 * us}, 0.99))
	var hundred []time.Duration
	for i := range 101 {
		hundred = append(hundred, time.Duration(100-i)*us)
	}
	require.Equal(t, 50*us, quantile(hundred, 0.5))
	require.Equal(t, 90*us, quantile(hundred, 0.9))
	require.Equal(t, 99*us, quantile(hundred, 0.99))
	require.Equal(t, 100*us, hundred[0], "the order of the bursts is left alone")
}

func TestBurstIsDuplicatedIfItsSecondCheckComesBeforeTheFirstInsert(t *testing.T) {
	t.Parallel()
	c := &cell{differs: map[string]bool{}, took: 2 * time.Second}
	c.add(burst(900*us, 0, 40*us)) // in any order
	c.add(burst(0, 200*us))
	c.add(burst(0, 199*us, 30*time.Millisecond))
	c.add(burst(0)) // of which only one came
	require.Equal(t, []time.Duration{900 * us, 200 * us, 30 * time.Millisecond}, c.spreads)
	require.Equal(t, []time.Duration{40 * us, 200 * us, 199 * us}, c.gaps)
	require.Equal(t, 9, c.counted)
	require.Equal(t, 1, c.duplicated(50*us))
	require.Equal(t, 2, c.duplicated(200*us), "a check at the very moment of the insert sees the row")
	require.InDelta(t, 2.0/3, c.share(200*us), 1e-9)
	require.InDelta(t, 1, c.perSecond(200*us), 1e-9)
	require.Zero(t, (&cell{}).share(us), "no bursts, no share")
}

func TestHeadersThatDiffer(t *testing.T) {
	t.Parallel()
	a := http.Header{"Same": {"1"}, "Seq": {"0"}, "Only-Here": {"x"}}
	b := http.Header{"Same": {"1"}, "Seq": {"1"}}
	require.Equal(t, map[string]bool{"Seq": true, "Only-Here": true}, differing(a, b))
	require.Equal(t, differing(a, b), differing(b, a))
	require.Empty(t, differing(a, a))
}

// TestMain lets the test program be the target that is a process of its own.
func TestMain(m *testing.M) {
	if slices.Equal(os.Args[1:], []string{serveWord}) {
		main()
		return
	}
	os.Exit(m.Run())
}

// small is a run that needs no downloads.
func small(t *testing.T) settings {
	t.Helper()
	s, err := parse([]string{"-without", "k6,hey", "-members", "2", "-lanes", "clean", "-bursts", "3", "-parts", "bursts,checks,hidden"}, io.Discard)
	require.NoError(t, err)
	s.scratch = t.TempDir()
	return s
}

func TestSendersSendWhatTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	for name, apart := range map[string]bool{"to a target in this process": false, "to a target in its own": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := small(t)
			s.apart = apart
			sendWhatTheyAreAskedFor(t, s)
		})
	}
}

func TestThePageSaysWhatTheReportSays(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/bench.md")
	require.NoError(t, err)
	r := results{settings: settings{apart: true}}
	for _, said := range append(r.facts()[2:], r.aimsTable().notes...) {
		require.Contains(t, string(page), said)
	}
}

func sendWhatTheyAreAskedFor(t *testing.T, s settings) {
	t.Helper()
	r, err := measure(t.Context(), s, io.Discard)
	require.NoError(t, err)
	require.Equal(t, []string{ours, oursTwo, barrier, kept, engine}, r.senders)
	for _, name := range r.senders {
		c := r.cells[spot{"clean", 2, name}]
		require.NotNil(t, c, name)
		require.Len(t, c.spreads, 3, name)
		require.Equal(t, 6, c.asked, name)
		require.Equal(t, 6, c.counted, name)
		require.Positive(t, c.took, name)
		if name == engine {
			require.Equal(t, map[string]bool{"X-Vegeta-Seq": true}, c.differs)
		} else {
			require.Empty(t, c.differs, name)
		}
	}
	require.Len(t, r.checks, 5)
	for _, c := range r.checks {
		require.Equal(t, 3, c.bursts, c.sender)
		require.GreaterOrEqual(t, c.window, usualWindow, c.sender)
	}
	for _, h := range r.hidden {
		require.Equal(t, h.sender == engine, h.counted > h.asked, "net/http sends again on its own account, and nothing else does: %+v", h)
	}
	left, err := filepath.Glob(filepath.Join(s.scratch, "history*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestTablesForPeopleAndForMarkdown(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "bench.md")
	var out bytes.Buffer
	args := []string{"-without", "k6,hey", "-members", "2", "-lanes", "clean", "-bursts", "2", "-parts", "bursts", "-o", file}
	require.NoError(t, command(t.Context(), args, &out, io.Discard))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, heading := range []string{"Targets to reach", "Spread, others to ours: clean lane", "Arrivals: clean lane", "Bursts with a duplicate: clean lane"} {
		require.Contains(t, string(text), "\n## "+heading+"\n")
		require.Contains(t, out.String(), "\n"+strings.ToUpper(heading)+"\n")
	}
	require.Contains(t, string(text), "Command: `go run ./internal/bench -without k6,hey")
	require.Contains(t, string(text), "| not measured |")
	require.NotContains(t, string(text), "Throughput", "what was not measured has no table")
	require.Less(t, strings.Index(string(text), "others to ours"), strings.Index(string(text), "Arrivals"), "ratios come first")
}

func TestAimsHoldForEveryFigure(t *testing.T) {
	t.Parallel()
	of := func(spread time.Duration) *cell {
		return &cell{spreads: []time.Duration{spread}, gaps: []time.Duration{spread}}
	}
	r := &results{settings: settings{members: []int{2}}, senders: []string{ours, engine}, cells: map[spot]*cell{
		{"clean", 2, ours}: of(100 * us), {"clean", 2, engine}: of(90 * us),
		{"jitter", 2, ours}: of(120 * us), {"jitter", 2, engine}: of(40 * time.Millisecond),
	}}
	steady := r.steadyAim()
	require.Equal(t, "yes", steady.verdict())
	require.Equal(t, "N=2: 1.2x", steady.reached)
	tighter := r.tighterAim("", "jitter", []int{2, 10}, []string{engine, k6}, 0.5, 300)
	require.Equal(t, "yes", tighter.verdict())
	require.Equal(t, "N=2 vegeta: 333x", tighter.reached, "what was not measured is not in it")
	worse := r.neverWorseAim(0.5)
	require.Equal(t, "NO", worse.verdict())
	require.Equal(t, "N=2 vegeta: 0.9x (short)", worse.reached)
	require.Equal(t, "not measured", r.throughputAim().verdict())
}

func TestMistakesInTheFlags(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"one member is no burst":        {[]string{"-members", "1"}, `"1" is no number from 2 to 1000`},
		"a lane that does not exist":    {[]string{"-lanes", "fog"}, `there is no "fog", only clean, latency, jitter`},
		"no lane at all":                {[]string{"-lanes", ""}, "name at least one"},
		"a part that does not exist":    {[]string{"-parts", "all"}, `there is no "all", only bursts`},
		"a run without doubletap":       {[]string{"-without", "doubletap"}, `there is no "doubletap", only barrier`},
		"nothing to send":               {[]string{"-bursts", "0"}, "must be above 0"},
		"a word that belongs nowhere":   {[]string{"now"}, `"now" is none`},
		"all mistakes at the same time": {[]string{"-lanes", "fog", "-members", "x"}, "fog"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(c.args, io.Discard)
			require.ErrorContains(t, err, c.says)
		})
	}
}
