package engine

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets"
)

// library is read once: reading it takes long.
var library = sync.OnceValues(func() ([]scenarios.File, error) { return FindScenarios(nil) })

func libraryScenario(t *testing.T, name string) scenarios.Scenario {
	files, err := library()
	require.NoError(t, err)
	i := slices.IndexFunc(files, func(f scenarios.File) bool { return f.Scenario.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return files[i].Scenario
}

// atSlow is a session of some scenarios of the library whose target was measured.
func atSlow(t *testing.T, slow speed, c Config, names ...string) *Session {
	c.Replay = new(Replay)
	s := &Session{System: &sut.System{Target: targets.Target{}, Operations: []driver.Operation{{Name: "create"}}}, slow: slow, normal: slow.create, config: c}
	for _, name := range names {
		one := libraryScenario(t, name)
		s.config.Scenarios = append(s.config.Scenarios, scenarios.File{Scenario: one})
		s.plans = append(s.plans, scenarios.NewPlan(one, 7))
		s.manifest.Scenarios = append(s.manifest.Scenarios, rundir.Entry{Scenario: name})
	}
	return s
}

func intentsOf(s *Session) []int {
	var all []int
	for _, p := range s.plans {
		all = append(all, rounds(p))
	}
	return all
}

func TestASlowTargetIsPlayedWithFewerIntents(t *testing.T) {
	t.Parallel()
	whole := []string{"sweep", "burst-same-key", "sequential-replay", "key-case", "crash-sweep", "late-retry"}
	slow := func(create time.Duration) speed { return speed{create: create, each: create / 8, sideBySide: true} }
	for _, x := range []struct {
		name    string
		slow    speed
		config  Config
		of      []string
		intents []int
	}{
		{"not slow", speed{}, Config{}, whole, []int{60, 12, 8, 12, 30, 12}},
		{"a quarter of a second", slow(250 * time.Millisecond), Config{}, whole, []int{60, 12, 8, 12, 30, 12}},
		{"half a second", slow(500 * time.Millisecond), Config{}, whole, []int{50, 12, 8, 12, 30, 12}},
		{"two seconds", slow(2 * time.Second), Config{}, whole, []int{11, 12, 8, 12, 6, 12}},
		{"two seconds, one scenario", slow(2 * time.Second), Config{}, []string{"sweep"}, []int{12}},
		{"eight seconds", slow(8 * time.Second), Config{}, whole, []int{3, 4, 8, 4, 2, 12}},
		{"so many were asked for", slow(2 * time.Second), Config{Intents: 60}, whole, []int{60, 12, 8, 12, 30, 12}},
		{"a confidence was asked for", slow(2 * time.Second), Config{Confidence: 0.1}, whole, []int{60, 12, 8, 12, 30, 12}},
		{"shared by several runs", slow(2 * time.Second), Config{Shard: scenarios.Shard{Number: 1, Of: 2}}, whole, []int{60, 12, 8, 12, 30, 12}},
		{"one request at a time", speed{create: 2 * time.Second, each: 2 * time.Second}, Config{}, whole, []int{5, 6, 4, 4, 3, 3}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			s := atSlow(t, x.slow, x.config, x.of...)
			playFewer(s)
			require.Equal(t, x.intents, intentsOf(s))
		})
	}
}

func TestBackgroundIsNoMoreThanASlowTargetCanDo(t *testing.T) {
	t.Parallel()
	background := func(slow speed) int {
		s := atSlow(t, slow, Config{}, "burst-under-load")
		playFewer(s)
		return len(s.plans[0].Intents) - rounds(s.plans[0])
	}
	require.Equal(t, 100, background(speed{}))
	require.Equal(t, 64, background(speed{create: 2 * time.Second, each: 250 * time.Millisecond, sideBySide: true}))
	require.Equal(t, 8, background(speed{create: 2 * time.Second, each: 2 * time.Second}), "as many as it does meanwhile, one after the other")
}

func TestTwoMeasuresOfOneTargetGiveTheSamePlan(t *testing.T) {
	t.Parallel()
	for took, rounded := range map[time.Duration]time.Duration{
		1900 * time.Millisecond: 2 * time.Second, 2 * time.Second: 2 * time.Second, 2300 * time.Millisecond: 2 * time.Second,
		500 * time.Millisecond: 500 * time.Millisecond, 530 * time.Millisecond: 500 * time.Millisecond, 5 * time.Second: 4 * time.Second,
	} {
		require.Equal(t, rounded, round(took), took)
	}
}

// slowly answers a create after a time.
type slowly struct {
	notebook
	takes time.Duration
}

func (s *slowly) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		time.Sleep(s.takes)
	}
	s.notebook.ServeHTTP(w, r)
}

func TestARunOfASlowTargetSaysWhatItLeftOut(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(&slowly{notebook: notebook{notes: map[string]string{}}, takes: 600 * time.Millisecond})
	t.Cleanup(server.Close)
	files := []scenarios.File{}
	for _, intents := range []int{200, 2} {
		name := fmt.Sprint("plain", intents)
		source := fmt.Appendf(nil, "name: %s\nsummary: Creates.\nintents: %d\nconcurrency: 1\nsteps: [send: {}]\nexercised: [acknowledged]\n", name, intents)
		f, err := scenarios.Load("scenario.yaml", source)
		require.NoError(t, err)
		files = append(files, scenarios.File{Path: "scenario.yaml", Source: source, Scenario: f})
	}
	s, err := newSession(t.Context(), Config{
		Reports: t.TempDir(), Seed: 1, Scenarios: files, Course: Course{Parallel: 1},
		SUT: sut.Options{Target: "target.yaml", Source: notesFile(server.URL, "")},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.bringUp(t.Context()))
	require.Positive(t, s.slow.create)
	require.Less(t, rounds(s.plans[0]), 200)
	require.Equal(t, 200, s.plans[0].Whole)
	require.Zero(t, s.plans[1].Whole)
	s.plans[0] = s.plans[0].Spread(3)
	result, err := s.PlayNamed(t.Context(), "plain200")
	require.NoError(t, err)
	require.Equal(t, 3, result.Intents)
	require.Equal(t, 200, result.Fewer.Whole)
	require.Equal(t, s.normal, result.Fewer.Create.Duration())
}

func TestWhatStandsIsNotPlayedAgainAtASlowTarget(t *testing.T) {
	t.Parallel()
	slow := speed{create: 2 * time.Second}
	failed := func(kinds ...checker.Kind) checker.Result {
		r := checker.Result{Verdict: checker.Fail}
		for _, k := range kinds {
			r.Findings = append(r.Findings, checker.Finding{Kind: k})
		}
		return r
	}
	require.True(t, stands(speed{}, checker.Result{Verdict: checker.Pass}))
	require.True(t, stands(slow, failed(checker.Duplicate, checker.Leak)))
	require.False(t, stands(slow, failed(checker.Duplicate, checker.Unanswered)), "it may have been kept busy")
	require.False(t, stands(slow, checker.Result{Verdict: checker.Inconclusive}))
	require.False(t, stands(speed{}, failed(checker.Duplicate)), "a quick target shows it again at once")
}

// limited turns its first creates away, because they came too fast.
type limited struct {
	notebook
	left int // creates that are turned away; below 0: all are
}

func (l *limited) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	away := r.Method == http.MethodPost && l.left != 0
	if away {
		l.left--
	}
	l.mu.Unlock()
	if away {
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	l.notebook.ServeHTTP(w, r)
}

func TestThePilotWaitsForATargetThatLimitsItsRate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left int
		says string // of the error; empty: the scenario passes
	}{
		"for a while": {2, ""},
		"for good":    {-1, "say how much it takes in rate_limit of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(&limited{notebook: notebook{notes: map[string]string{}}, left: c.left})
			t.Cleanup(server.Close)
			files, err := FindScenarios([]string{"plain-create"})
			require.NoError(t, err)
			report, err := Run(t.Context(), Config{
				Reports: t.TempDir(), Seed: 1, Scenarios: files, SUT: sut.Options{Target: "target.yaml", Source: notesFile(server.URL, "")},
			})
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				return
			}
			require.NoError(t, err)
			require.Equal(t, checker.Pass, report.Verdict)
		})
	}
}
