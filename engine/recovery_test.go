package engine

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/ports"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// pooling is a service that asks its database by a link for each create. After a break it fails requests,
// whatever becomes of the link.
type pooling struct {
	link    string                      // address
	healthy func(broken time.Time) bool // whether a request is executed, after a break at that time
	mu      sync.Mutex
	broken  time.Time
}

func (p *pooling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	broken := p.broken
	p.mu.Unlock()
	if !broken.IsZero() && !p.healthy(broken) {
		http.Error(w, "dead connection", http.StatusInternalServerError)
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if !p.ask(key) {
		http.Error(w, "broken connection", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

// ask asks the database about a key, on a connection of its own.
func (p *pooling) ask(key string) bool {
	c, err := net.Dial("tcp", p.link)
	if err == nil {
		defer c.Close()
		fmt.Fprintln(c, key)
		_, err = bufio.NewReader(c).ReadString('\n')
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.broken = time.Now()
	}
	return err == nil
}

// lines is a server that answers each line with one.
func lines(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for in := bufio.NewScanner(c); in.Scan(); {
					fmt.Fprintln(c, "done")
				}
			}()
		}
	}()
	return l.Addr().String()
}

// afterABreak plays a scenario in which the link breaks once, and then plain creates.
func afterABreak(t *testing.T, within time.Duration, healthy func(time.Time) bool) (s *Session, struck, control checker.Result) {
	t.Helper()
	port, err := ports.Reserve("127.0.0.1")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, port.Release()) })
	link := port.Address("127.0.0.1")
	server := httptest.NewServer(&pooling{link: link, healthy: healthy})
	t.Cleanup(server.Close)
	var files []scenarios.File
	for _, text := range []string{
		"name: strike\nintents: 1\nconcurrency: 1\nsteps: [send: {cut: {link: database, moment: 1, for: 0ms}}, send: {}]",
		"name: control\nintents: 8\nconcurrency: 8\nsteps: [send: {}]",
	} {
		source := []byte(text + "\nsummary: Plain creates.\nexercised: [acknowledged]\n")
		f, err := scenarios.Load("scenario.yaml", source)
		require.NoError(t, err)
		files = append(files, scenarios.File{Path: "scenario.yaml", Source: source, Scenario: f})
	}
	s, err = newSession(t.Context(), Config{Reports: t.TempDir(), Seed: 1, Scenarios: files, SUT: sut.Options{Target: "target.yaml", Source: []byte(`name: things
base_url: ` + server.URL + `
links: {database: {listen: "` + link + `", to: "` + lines(t) + `"}}
operations:
  create:
    request: {path: /things, body: {note: "{{.Intent.Marker}}"}}
    key: {in: header}
`)}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	s.aftermath.within = within
	require.NoError(t, s.bringUp(t.Context()))
	require.NoError(t, s.PlayAll(t.Context()))
	report, err := s.Report(nil)
	require.NoError(t, err)
	return s, report.Results[0], report.Results[1]
}

// A pool that is validated every few seconds takes longer to recover than a final retry usually waits.
func TestATargetHasTimeToRecoverFromABreak(t *testing.T) {
	t.Parallel()
	s, struck, control := afterABreak(t, recoverWithin, func(broken time.Time) bool { return time.Since(broken) > 5*time.Second })
	require.Empty(t, struck.Findings)
	require.Empty(t, control.Findings)
	requireAllCreated(t, s)
}

// A pool that gives the connection that was used last away first gives its dead ones to requests that come together.
func TestAControlMeetsNoConnectionsThatAnEarlierScenarioBroke(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	inside, dead := 0, 5
	s, struck, _ := afterABreak(t, recoverWithin, func(time.Time) bool {
		mu.Lock()
		defer mu.Unlock()
		inside++
		defer func() { inside-- }()
		for come := time.Now(); inside < 2 && dead > 0 && time.Since(come) < 2*time.Second; { // plain creates that are sent together meet
			mu.Unlock()
			time.Sleep(5 * time.Millisecond)
			mu.Lock()
		}
		if inside < 2 || dead == 0 {
			return true
		}
		dead--
		return false
	})
	require.Empty(t, struck.Findings)
	requireAllCreated(t, s)
	tried, err := filepath.Glob(filepath.Join(s.dir.Path, "pilot-after-strike-*", "history.jsonl"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(tried), 2, "the plain creates of which some failed are on record, too")
}

// requireAllCreated wants that nothing in the control failed.
func requireAllCreated(t *testing.T, s *Session) {
	t.Helper()
	h, err := s.History("control")
	require.NoError(t, err)
	require.NotEmpty(t, h.Attempts)
	for _, a := range h.Attempts {
		require.Equal(t, http.StatusCreated, a.Status, a.ID)
	}
	require.Empty(t, h.Incidents)
}

func TestATargetThatDoesNotRecoverIsFound(t *testing.T) {
	t.Parallel()
	s, struck, control := afterABreak(t, 300*time.Millisecond, func(time.Time) bool { return false })
	require.Equal(t, checker.Fail, struck.Verdict)
	require.Equal(t, checker.Unavailable, struck.Findings[0].Kind)
	require.Equal(t, checker.Fail, control.Verdict, "it is judged by what is there")
	h, err := s.History("control")
	require.NoError(t, err)
	require.Equal(t, history.NotRecovered, h.Incidents[0].Kind)
	var said []string
	for _, w := range control.Warnings {
		said = append(said, w.Kind+": "+w.Text)
	}
	require.Contains(t, strings.Join(said, "\n"), "not-recovered: the target did not recover from strike within 300ms: of 10 plain creates 10 failed, the last was answered 500")
}
