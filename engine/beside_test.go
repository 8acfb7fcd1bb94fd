package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets"
)

// meeting is a service of notes, one for each key, that notices when creates of two clients are inside at once.
type meeting struct {
	notebook
	met func(w http.ResponseWriter, key, note string) bool // what becomes of a create that met another; it returns whether that was answered

	lock   sync.Mutex
	begun  bool          // a scenario is: what came before were the pilot's creates
	inside chan struct{} // closed when the second create that is no pilot's is inside
	others int           // creates that are no pilot's
	waits  time.Duration // of the first for the second
	alone  bool          // it waited in vain
}

func (m *meeting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && m.meets() {
		var body struct{ Note string }
		text := new(strings.Builder)
		_ = json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1000)).Decode(&body)
		fmt.Fprintf(text, `{"note": %q}`, body.Note)
		if m.met(w, r.Header.Get("Idempotency-Key"), body.Note) {
			return
		}
		again := httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(text.String()))
		again.Header = r.Header
		r = again
	}
	m.notebook.ServeHTTP(w, r)
}

// meets waits with the first create that is no pilot's until the second is inside, and reports for these two that they met.
func (m *meeting) meets() bool {
	m.lock.Lock()
	if !m.begun {
		m.lock.Unlock()
		return false
	}
	m.others++
	number := m.others
	if number == 2 {
		close(m.inside)
	}
	m.lock.Unlock()
	if number > 2 {
		return false
	}
	select {
	case <-m.inside:
		return true
	case <-time.After(m.waits):
		m.lock.Lock()
		defer m.lock.Unlock()
		m.alone = true
		return false
	}
}

// meet plays two scenarios of one create each against a service, and returns their results and the directory of the run.
func meet(t *testing.T, ctx context.Context, parallel int, m *meeting) (*checker.Report, string) {
	t.Helper()
	c := meetingOf(t, parallel, m)
	report, err := Run(ctx, c)
	require.NoError(t, err)
	return report, filepath.Join(c.Reports, report.Run)
}

// meetingOf is a run of two scenarios of one create each against a service.
func meetingOf(t *testing.T, parallel int, m *meeting) Config {
	t.Helper()
	m.notes, m.inside, m.waits = map[string]string{}, make(chan struct{}), time.Minute
	if parallel == 1 { // no other comes
		m.waits = time.Second
	}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	c := Config{
		Reports: t.TempDir(), Seed: 1, Course: Course{Parallel: parallel},
		SUT: sut.Options{Target: "target.yaml", Source: notesFile(server.URL, "contract: {preset: ietf}")},
	}
	for _, name := range []string{"one", "two"} {
		source := []byte("name: " + name + "\nsummary: A create.\nintents: 1\nsteps: [send]\nexercised: [{proof: acknowledged, at_least: 100%}]\n")
		f, err := scenarios.Load(name+".yaml", source)
		require.NoError(t, err)
		c.Scenarios = append(c.Scenarios, scenarios.File{Path: name + ".yaml", Source: source, Scenario: f})
	}
	c.Observe = func(e Event) {
		if _, is := e.(ScenarioStarted); is {
			m.lock.Lock()
			m.begun = true
			m.lock.Unlock()
		}
	}
	return c
}

// How many are played at once follows from how fast a create was; the tests with a meeting say it, as a busy machine is slow.
func TestHowManyArePlayedAtOnceFollowsFromTheTarget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		normal     time.Duration
		sideBySide bool
		config     Config
		atOnce     int
	}{
		"a fast target":               {20 * time.Millisecond, false, Config{}, 3},
		"one that is not so fast":     {300 * time.Millisecond, false, Config{}, 2},
		"a slow one":                  {2 * time.Second, false, Config{}, 0},
		"a slow one, side by side":    {2 * time.Second, true, Config{}, 3},
		"a slow one, and so many":     {2 * time.Second, false, Config{Course: Course{Parallel: 2}}, 2},
		"a fast one, one by one":      {20 * time.Millisecond, false, Config{Course: Course{Parallel: 1}}, 0},
		"a fast one, to its end only": {20 * time.Millisecond, false, Config{Course: Course{FailFast: true}}, 0},
	} {
		s := atSlow(t, speed{sideBySide: c.sideBySide}, c.config, "plain-create", "sequential-replay")
		s.normal = c.normal
		all, atOnce := sharing(s)
		require.Equal(t, c.atOnce, atOnce, name)
		require.Equal(t, c.atOnce > 1, len(all) == 2, name)
	}
}

func verdicts(r *checker.Report) []checker.Verdict {
	var all []checker.Verdict
	for _, result := range r.Results {
		all = append(all, result.Verdict)
	}
	return all
}

func TestScenariosArePlayedBesideEachOther(t *testing.T) {
	t.Parallel()
	m := &meeting{met: func(http.ResponseWriter, string, string) bool { return false }}
	report, _ := meet(t, t.Context(), 2, m)
	require.Equal(t, []checker.Verdict{checker.Pass, checker.Pass}, verdicts(report))
	require.False(t, m.alone, "the first waited until the second came")
	require.Equal(t, 4, m.others, "two creates and their final retries")
}

func TestOneAtATimeIsOneAtATime(t *testing.T) {
	t.Parallel()
	m := &meeting{met: func(http.ResponseWriter, string, string) bool { return false }}
	report, _ := meet(t, t.Context(), 1, m)
	require.Equal(t, []checker.Verdict{checker.Pass, checker.Pass}, verdicts(report))
	require.True(t, m.alone)
}

// A target that sheds load says nothing of a scenario that was played beside another.
func TestWhatDidNotPassBesideOthersIsPlayedAlone(t *testing.T) {
	t.Parallel()
	m := &meeting{met: func(w http.ResponseWriter, _, _ string) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}}
	report, dir := meet(t, t.Context(), 2, m)
	require.Equal(t, []checker.Verdict{checker.Pass, checker.Pass}, verdicts(report))
	require.Equal(t, 8, m.others, "each was played twice")
	for _, name := range []string{"one", "two"} {
		_, err := os.Stat(filepath.Join(dir, name+".before"))
		require.ErrorIs(t, err, os.ErrNotExist)
		_, err = os.Stat(filepath.Join(dir, name+".try-1"))
		require.NoError(t, err, "nothing that was sent is lost")
	}
}

// A row that came twice came twice, even if it does not when it is tried again.
func TestAFailureBesideOthersStaysOne(t *testing.T) {
	t.Parallel()
	m := new(meeting)
	m.met = func(_ http.ResponseWriter, _, note string) bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.notes["twice-"+note] = note
		return false
	}
	report, _ := meet(t, t.Context(), 2, m)
	require.Equal(t, []checker.Verdict{checker.Fail, checker.Fail}, verdicts(report))
	for _, r := range report.Results {
		require.Equal(t, checker.Duplicate, r.Findings[0].Kind)
	}
}

// What is shown behind the answers waits where another scenario's work holds a lock, and is not lost.
func TestWhatWaitsForAnotherScenariosWorkIsNotLost(t *testing.T) {
	t.Parallel()
	m, waiting := new(meeting), make(chan [2]string, 1)
	var first sync.Once
	m.met = func(w http.ResponseWriter, key, note string) bool {
		works := false
		first.Do(func() { works = true })
		if !works {
			waiting <- [2]string{key, note}
			w.WriteHeader(http.StatusCreated)
			return true
		}
		time.Sleep(2 * lagged)
		shown := <-waiting
		m.mu.Lock()
		defer m.mu.Unlock()
		m.notes[shown[0]] = shown[1]
		return false
	}
	s, err := newSession(t.Context(), meetingOf(t, 2, m))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.bringUp(t.Context()))
	s.normal = time.Millisecond // however busy the machine is
	require.NoError(t, s.PlayAll(t.Context()))
	for i := range s.config.Scenarios {
		require.Equal(t, checker.Pass, resultOf(s, i).Verdict, resultOf(s, i))
	}
}

// A target that works on one request at a time answers nobody while it works long for another scenario.
func TestOnlyWhatOthersCanHoldUpIsForgotten(t *testing.T) {
	t.Parallel()
	of := func(kinds ...checker.Kind) checker.Result {
		r := checker.Result{Verdict: checker.Fail}
		for _, k := range kinds {
			r.Findings = append(r.Findings, checker.Finding{Kind: k})
		}
		return r
	}
	require.True(t, heldUp(of(checker.StuckKey, checker.Unanswered, checker.Unavailable)))
	require.False(t, heldUp(of(checker.StuckKey, checker.Duplicate)))
	require.False(t, heldUp(of(checker.LostWrite)))
}

// Work that a request asks for leaves other scenarios alone. Work that takes long because all questions to the database are held
// does not.
func TestLongWorkIsPlayedBesideOthersWhereRequestsAskForIt(t *testing.T) {
	t.Parallel()
	library, err := FindScenarios([]string{"long-work"})
	require.NoError(t, err)
	long := library[0].Scenario
	asked := &Session{System: &sut.System{Operations: []driver.Operation{{Operation: targets.Operation{Work: &targets.Work{}}}}}}
	require.True(t, shares(asked, long))
	require.False(t, shares(&Session{System: &sut.System{Operations: []driver.Operation{{}}}}, long))
	asked.slow.create = time.Second
	require.False(t, shares(asked, long))
}

// Ctrl-C while two are played says of both what there is of them.
func TestAnInterruptionEndsAllThatArePlayed(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	m := &meeting{met: func(http.ResponseWriter, string, string) bool { interrupt(); return false }}
	report, dir := meet(t, ctx, 2, m)
	require.Equal(t, []checker.Verdict{checker.Inconclusive, checker.Inconclusive}, verdicts(report))
	require.Equal(t, 2, m.others, "no final retry, and nothing is played again")
	for _, r := range report.Results {
		require.Contains(t, fmt.Sprint(r.Reasons), "context canceled")
		require.FileExists(t, filepath.Join(dir, r.Scenario, "history.jsonl"))
	}
}

// What happens to the target while two scenarios are played happens to both.
func TestADeathIsOnRecordInAllThatWerePlayed(t *testing.T) {
	t.Parallel()
	c := new(company)
	var texts [2]strings.Builder
	for i := range texts {
		c.set(append(c.members(), &scenarioRun{record: history.NewWriter(&texts[i]), base: time.Now(), tended: tended{often: make(chan struct{})}}))
	}
	c.died(sut.Death{At: time.Now(), How: "exit status 2"})
	for i := range texts {
		require.Contains(t, texts[i].String(), "exit status 2")
	}
}
