package engine

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// quarry is a service of notes that makes one create two after so many keys.
type quarry struct {
	notebook
	after   int // keys; 0: it never does
	creates int
	clients map[string]bool // addresses that creates came from
}

func (q *quarry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q.notebook.ServeHTTP(w, r)
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.Method == http.MethodPost {
		q.creates++
		q.clients[r.RemoteAddr] = true
	}
	key := r.Header.Get("Idempotency-Key")
	if note := q.notes[key]; q.after > 0 && len(q.notes) > q.after && r.Method == http.MethodPost {
		q.notes["again-"+key] = note
	}
}

// quarryConfig hunts at a quarry with one scenario, a burst of two.
func quarryConfig(t *testing.T, q *quarry, h Hunt) Config {
	t.Helper()
	q.notes, q.clients = map[string]string{}, map[string]bool{}
	server := httptest.NewServer(q)
	t.Cleanup(server.Close)
	source := []byte("name: race\nsummary: Two at once.\nconcurrency: 4\nsteps: [burst: {copies: 2}]\nexercised: [acknowledged]\n")
	f, err := scenarios.Load("race.yaml", source)
	require.NoError(t, err)
	target := filepath.Join(t.TempDir(), "target.yaml")
	require.NoError(t, os.WriteFile(target, notesFile(server.URL, "contract: {preset: ietf}"), 0o600))
	return Config{
		Reports: t.TempDir(), Seed: 7, Scenarios: []scenarios.File{{Path: "race.yaml", Source: source, Scenario: f}},
		SUT: sut.Options{Target: target}, Course: Course{Hunt: &h},
	}
}

func TestAHuntEndsWithTheFirstFinding(t *testing.T) {
	t.Parallel()
	q := &quarry{after: 40}
	c := quarryConfig(t, q, Hunt{})
	var told []Hunting
	c.Observe = func(e Event) {
		if h, is := e.(Hunting); is {
			told = append(told, h)
		}
	}
	report, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, checker.Fail, report.Verdict)
	require.Equal(t, checker.HuntFound, report.Hunt.Ended)
	require.GreaterOrEqual(t, report.Hunt.Rounds, 30)
	require.Len(t, report.Results, 1, "the one that broke")
	require.Equal(t, checker.Duplicate, report.Results[0].Findings[0].Kind)
	require.GreaterOrEqual(t, len(told), 3, "batches are small in the beginning")

	// The rounds of the finding can be sent again: its seed is that of the batch.
	finding := filepath.Join(c.Reports, report.Run, "findings", "F1")
	f, files, err := OpenFinding(finding)
	require.NoError(t, err)
	require.Equal(t, f.Seed, report.Results[0].Seed)
	var kept []byte
	kept, err = os.ReadFile(filepath.Join(finding, rundir.PlanName))
	require.NoError(t, err)
	q.mu.Lock()
	q.notes, q.after = map[string]string{}, 4 // the pilot's creates are whole
	q.mu.Unlock()
	again, err := Run(t.Context(), Config{Reports: t.TempDir(), Scenarios: files, SUT: sut.Options{}}.Resend(f, finding))
	require.NoError(t, err)
	require.Equal(t, checker.Fail, again.Verdict)
	resent, err := os.ReadFile(filepath.Join(again.Dir, f.Scenario, rundir.PlanName))
	require.NoError(t, err)
	require.Equal(t, string(kept), string(resent))

	// What is on disk judges as it did.
	m, err := rundir.Dir{Path: report.Dir}.ReadManifest()
	require.NoError(t, err)
	require.Equal(t, report.Hunt, rundir.Dir{Path: report.Dir}.Report(m).Hunt)
}

// More rounds in a second find a rare defect sooner, and connections take most of a round's time.
func TestAHuntKeepsItsConnections(t *testing.T) {
	t.Parallel()
	q := &quarry{}
	_, err := Run(t.Context(), quarryConfig(t, q, Hunt{Until: 0.03}))
	require.NoError(t, err)
	require.Less(t, len(q.clients), q.creates)
}

func TestAHuntGoesOnUntilItsBound(t *testing.T) {
	t.Parallel()
	report, err := Run(t.Context(), quarryConfig(t, &quarry{}, Hunt{Until: 0.06}))
	require.NoError(t, err)
	require.Equal(t, checker.Pass, report.Verdict)
	require.Equal(t, checker.HuntBound, report.Hunt.Ended)
	require.GreaterOrEqual(t, report.Hunt.Rounds, 50)
	require.Less(t, report.Hunt.Rounds, 50+2*firstBatch)
	require.Greater(t, len(report.Hunt.Arms), 1, "variations are tried")
	rounds := 0
	for _, a := range report.Hunt.Arms {
		require.Equal(t, "race", a.Of)
		rounds += a.Rounds
	}
	require.Equal(t, report.Hunt.Rounds, rounds)
}

func TestAHuntThatIsStoppedTellsHowFarItCame(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	c := quarryConfig(t, &quarry{}, Hunt{Until: 0.001})
	c.Observe = func(e Event) {
		if _, is := e.(Hunting); is {
			stop()
		}
	}
	report, err := Run(ctx, c)
	require.NoError(t, err)
	require.Equal(t, checker.HuntInterrupted, report.Hunt.Ended)
	require.Equal(t, firstBatch, report.Hunt.Rounds)
	require.Equal(t, checker.Inconclusive, report.Verdict, "the bound was not reached")
}

func TestAHuntSendsNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	c := quarryConfig(t, &quarry{}, Hunt{})
	c.MaxRequests = 3 * firstBatch // two copies and a final retry
	report, err := Run(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, checker.HuntRequests, report.Hunt.Ended)
	require.Equal(t, firstBatch, report.Hunt.Rounds)
	require.Equal(t, checker.Pass, report.Verdict)
}

func TestAHuntNeedsARace(t *testing.T) {
	t.Parallel()
	files, err := FindScenarios([]string{"plain-create"})
	require.NoError(t, err)
	_, _, err = hunting(Config{Scenarios: files, Course: Course{Hunt: &Hunt{}}})
	require.ErrorContains(t, err, "nothing races in plain-create")
	_, _, err = hunting(Config{Confidence: 0.1, Course: Course{Hunt: &Hunt{}}})
	require.ErrorContains(t, err, "a hunt chooses its rounds itself")
}

// The plan of a batch follows from the seed, the arm and the number of the batch, whatever was seen before.
func TestThePlansOfAHuntFollowFromItsSeed(t *testing.T) {
	t.Parallel()
	require.Equal(t, batchSeed(7, "race", 3), batchSeed(7, "race", 3))
	seen := map[uint64]bool{}
	for _, arm := range []string{"race", "race-2-copies"} {
		for n := range 50 {
			seen[batchSeed(7, arm, n)] = true
		}
	}
	require.Len(t, seen, 100)
	require.NotEqual(t, batchSeed(7, "race", 3), batchSeed(8, "race", 3))
}

// Of three arms that are equally fast, the one with the most signs of trouble gets most of the rounds, and none is forgotten.
func TestAHuntSpendsItsTimeOnWhatShowsMost(t *testing.T) {
	t.Parallel()
	h := &hunt{arms: []arm{{of: "calm", shown: true}, {of: "rough", shown: true}, {of: "rough", with: "2 copies"}, {of: "calm", with: "2 copies"}}}
	s := &Session{plans: make([]scenarios.Plan, len(h.arms))}
	for i := range s.plans {
		s.plans[i].Intents = make([]scenarios.PlannedIntent, 1)
	}
	sign := map[string]float64{"calm": 0.125, "rough": 0.5}
	var order []int
	for range 200 {
		i := h.choose(s)
		order = append(order, i)
		a := &h.arms[i]
		a.batches++
		a.rounds += 100
		a.signs += 100 * sign[a.of]
		a.took += 1e9
	}
	require.Equal(t, []int{0, 1}, order[:2], "each once")
	require.Contains(t, order[:5], 2, "a variation of what shows most comes before one of the other")
	require.Greater(t, h.arms[1].batches+h.arms[2].batches, 120)
	for _, a := range h.arms {
		require.Greater(t, a.batches, 8)
	}
}

func TestSignsOfTrouble(t *testing.T) {
	t.Parallel()
	at := func(from, to history.Offset, status int) history.Attempt {
		return history.Attempt{Intent: "i001", Lane: scenarios.Clean, Complete: true, Status: status, Wrote: from, Replied: to}
	}
	inside := func(a history.Attempt, from, to history.Offset) history.Attempt {
		a.Passage = &history.Passage{Arrived: from, Answered: to}
		return a
	}
	reset := history.Attempt{Intent: "i001", Lane: "cut", ErrorKind: history.Reset}
	for name, row := range map[string]struct {
		attempts []history.Attempt
		want     float64
	}{
		"one after the other":                {[]history.Attempt{at(1, 2, 201), at(3, 4, 409)}, 0},
		"at once, alike":                     {[]history.Attempt{at(1, 4, 201), at(3, 5, 201)}, overlapSign},
		"at once, not alike":                 {[]history.Attempt{at(1, 4, 201), at(3, 5, 409)}, differSign},
		"a failure":                          {[]history.Attempt{at(1, 2, 201), at(3, 4, 500)}, failureSign},
		"a connection that the target broke": {[]history.Attempt{{Intent: "i001", Lane: scenarios.Clean, ErrorKind: history.Reset}}, failureSign},
		"one that a lane broke":              {[]history.Attempt{at(1, 2, 201), reset}, 0},
		"not at once inside the target":      {[]history.Attempt{inside(at(1, 9, 201), 2, 3), inside(at(1, 9, 409), 4, 5)}, 0},
	} {
		h := &history.History{Intents: []history.Intent{{ID: "i001"}, {ID: "i002", Behind: true}}, Attempts: row.attempts}
		require.InDelta(t, row.want, signs(h), 0, name)
	}
}
