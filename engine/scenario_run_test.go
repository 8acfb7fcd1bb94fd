package engine

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/runerror"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// creates1000 sends so many plain creates that neither a full disk nor a silent target may let it come to its end.
const creates1000 = `name: long
summary: Many plain creates.
intents: 1000
concurrency: 4
steps:
  - send: {}
exercised: [acknowledged]
`

// run1000 plays it against a handler, in a run that the caller completes.
func run1000(t *testing.T, handler http.HandlerFunc, complete func(*scenarioRun)) error {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	system, err := sut.Open(t.Context(), sut.Options{Target: "target.yaml", Source: []byte(`name: things
base_url: ` + server.URL + `
operations:
  create:
    request: {path: /things, body: {note: "{{.Intent.Marker}}"}}
    key: {in: header}
`)}, nil)
	require.NoError(t, err)
	f, err := scenarios.Load("long.yaml", []byte(creates1000))
	require.NoError(t, err)
	c, err := Config{}.withDefaults()
	require.NoError(t, err)
	r := &scenarioRun{
		session:  &Session{System: system, config: c, dir: rundir.Dir{Path: t.TempDir()}, silence: silence, company: &company{}, pace: driver.NewPace(nil)},
		scenario: f, base: time.Now(),
	}
	complete(r)
	return r.play(t.Context(), scenarios.NewPlan(f, 1))
}

// fullAfter is a disk with so much room.
type fullAfter struct{ room int }

func (f *fullAfter) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

func TestADiskThatFillsUpStopsTheSending(t *testing.T) {
	t.Parallel()
	var things atomic.Int64
	err := run1000(t, func(w http.ResponseWriter, _ *http.Request) {
		things.Add(1)
		w.WriteHeader(http.StatusCreated)
	}, func(r *scenarioRun) { r.record = history.NewWriter(&fullAfter{room: 400_000}) })
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.False(t, runerror.IsConfig(err))
	require.Less(t, things.Load(), int64(900), "what cannot be recorded is not sent")
}

// TestSilenceFollowsAPlainCreate holds that a target which works at all requests at once, and answers none before it has worked as long as for one
// after the other, is not taken for one that answers nothing, within reason.
func TestSilenceFollowsAPlainCreate(t *testing.T) {
	t.Parallel()
	f, err := scenarios.Load("long.yaml", []byte(creates1000)) // four at a time
	require.NoError(t, err)
	for normal, longest := range map[time.Duration]time.Duration{50 * time.Millisecond: silentAnswer * silence, 4 * time.Second: 32 * time.Second, time.Minute: longestLeft} {
		r := &scenarioRun{
			session: &Session{silence: silence, normal: normal},
			sender:  driver.New(driver.Config{Workload: driver.Workload{Plan: scenarios.NewPlan(f, 1)}}),
		}
		require.Equal(t, longest, silentAnswer*r.silence(), normal)
	}
}

// TestATargetThatFallsSilent would take more than an hour if every client waited out its deadline.
func TestATargetThatFallsSilent(t *testing.T) {
	t.Parallel()
	var answered atomic.Int64
	asleep := make(chan struct{})
	var into strings.Builder
	require.NoError(t, run1000(t, func(w http.ResponseWriter, r *http.Request) {
		if answered.Add(1) > 20 {
			select {
			case <-asleep:
			case <-r.Context().Done():
			}
			return
		}
		w.WriteHeader(http.StatusCreated)
	}, func(r *scenarioRun) {
		t.Cleanup(func() { close(asleep) })                                   // before the server waits for its answers
		r.session.silence, r.record = 3*time.Second, history.NewWriter(&into) // two looks of 5 s beside it come after the clients' 10 s
	}))
	h, err := history.Read(strings.NewReader(into.String()))
	require.NoError(t, err)
	require.Len(t, h.Incidents, 1)
	require.Equal(t, history.NoAnswer, h.Incidents[0].Kind)
	require.Contains(t, h.Incidents[0].Text, "the target answers nothing any more")
	require.Less(t, len(h.Attempts), 100)
	r := checker.Check(h, checker.Terms{})
	require.Equal(t, checker.Fail, r.Verdict, "clients waited ten seconds, and the target was there")
	require.Equal(t, checker.Unanswered, r.Findings[0].Kind)
}

func TestOneScenarioWaitsForBlockedKeys(t *testing.T) {
	t.Parallel()
	run := func(stuck bool, known ...scenarios.KnownBug) *scenarioRun {
		s := &Session{config: Config{Replay: new(Replay)}, System: &sut.System{Operations: []driver.Operation{{Name: "create"}}}, aftermath: aftermath{stuck: stuck}}
		return &scenarioRun{session: s, scenario: scenarios.Scenario{Name: "database-cut", Known: known}}
	}
	require.True(t, waitsForKeys(run(false)))
	require.False(t, waitsForKeys(run(true)), "it is known that they stay blocked")
	require.True(t, waitsForKeys(run(true, scenarios.KnownBug{Expect: "stuck-key"})), "a listed bug is not shown otherwise")
	require.False(t, waitsForKeys(run(true, scenarios.KnownBug{Expect: "duplicate"})))
}
