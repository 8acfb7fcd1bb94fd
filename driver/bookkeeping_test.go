package driver_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// passing gives every connection, in the order of dialling, the passage that facts returns for it.
func (r *rig) passing(facts func(dial int) history.Passage) {
	var mu sync.Mutex
	dial, dials := r.Dialers[0], 0
	r.Dialers[0] = func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
		mu.Lock()
		dials++
		n := dials
		mu.Unlock()
		conn, _, err := dial(ctx, lane)
		return conn, seenAs(func() history.Passage { return facts(n) }), err
	}
}

func TestPassagesAreRecordedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), send(), send())
	r.passing(func(dial int) history.Passage {
		return history.Passage{Opened: 1, Arrived: 2, Answered: 3, Up: int64(dial)}
	})
	r.drive(t)
	require.NoError(t, r.RecordPassages())
	require.NoError(t, r.RecordPassages())
	require.Len(t, r.lines(t, "passage"), 2)
	for n, a := range r.history(t).Attempts {
		require.Equal(t, int64(n+1), a.Passage.Up)
	}
}

func TestWhatIsSuspicious(t *testing.T) {
	t.Parallel()
	answer := func(p *peer) { p.request(); p.created() }
	hangUp := func(p *peer) { p.request() }
	seen := history.Passage{Opened: 1, Arrived: 2, Answered: 3}
	for name, row := range map[string]struct {
		script        func(*peer)
		lane          string
		passage       *history.Passage
		unseen, broke bool
	}{
		"a complete answer":                         {answer, scenarios.Clean, &seen, false, false},
		"a complete answer without an upstream tap": {answer, scenarios.Clean, nil, false, false},
		"no answer on the clean lane":               {hangUp, scenarios.Clean, nil, true, true},
		"no answer on another lane":                 {hangUp, "side", nil, true, false},
		"no answer, although the target gave one":   {hangUp, "side", &seen, false, false},
		"a request that the target still has":       {hangUp, "side", &history.Passage{Opened: 1, Arrived: 2}, true, false},
		"a connection that no tap saw":              {hangUp, "side", &history.Passage{}, true, false},
		"a request that never arrived":              {hangUp, "side", &history.Passage{Opened: 1}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := send()
			step.Send.Lane = row.lane
			r := newRig(t, serveRaw(t, row.script), step)
			if row.passage != nil {
				r.passing(func(int) history.Passage { return *row.passage })
			}
			r.drive(t)
			left, broke := r.Suspicious()
			require.Equal(t, row.unseen, !left.IsZero(), "unseen")
			require.Equal(t, row.broke, broke, "broke")
		})
	}
}

func TestMarkersAreThoseOfTheBodies(t *testing.T) {
	t.Parallel()
	altered := plain()
	address := serve(t, func(http.ResponseWriter, *http.Request) {})
	for name, row := range map[string]struct {
		scenario scenarios.Scenario
		want     int
	}{
		"one for each intent":       {scenarios.Scenario{Intents: 4, Steps: []scenarios.Step{send()}}, 4},
		"two where bodies differ":   {scenarios.Scenario{Intents: 4, Steps: []scenarios.Step{send(), {Alter: &altered}}}, 8},
		"one for each set of twins": {scenarios.Scenario{Intents: 5, Twins: 2, Steps: []scenarios.Step{send()}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRigFor(t, address, row.scenario)
			recorded := map[string]bool{}
			for _, i := range r.drive(t).Intents {
				for _, body := range i.Bodies {
					require.Contains(t, body.Content, body.Marker)
					recorded[body.Marker] = true
				}
			}
			require.Len(t, r.Markers()["create"], row.want)
			require.Len(t, recorded, row.want)
			for _, marker := range r.Markers()["create"] {
				require.True(t, recorded[marker])
			}
		})
	}
}

func TestBothBodiesGoOutAsTheyAreRecorded(t *testing.T) {
	t.Parallel()
	var seen ledger
	address := serveRaw(t, func(p *peer) {
		raw := p.request()
		seen.add(raw[len(raw)-60:])
		p.created()
	})
	altered := plain()
	h := newRig(t, address, send(), scenarios.Step{Alter: &altered}).drive(t)
	bodies := h.Intents[0].Bodies
	require.Contains(t, bodies[history.Original].Content, "1200")
	require.Contains(t, bodies[history.Altered].Content, "9900")
	for n, a := range h.Attempts {
		content := bodies[a.Body].Content
		require.Contains(t, seen.all()[n], content[len(content)-40:])
	}
}

func TestATargetIsAskedHowMuchItReceived(t *testing.T) {
	t.Parallel()
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "GET", r.Method)
		if r.URL.Path == "/api/count" {
			_, _ = w.Write([]byte(`{"seen":{"requests":12},"text":"12"}`))
			return
		}
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	})
	target := targets.Target{BaseURL: "http://" + address + "/api/", Received: &targets.Received{Path: "/count", Pointer: "/seen/requests"}}
	n, err := driver.Received(t.Context(), target)
	require.NoError(t, err)
	require.Equal(t, int64(12), n)
	for _, received := range []targets.Received{{Path: "/count", Pointer: "/text"}, {Path: "/count", Pointer: "/seen/none"}, {Path: "/nowhere"}} {
		target.Received = &received
		_, err := driver.Received(t.Context(), target)
		require.ErrorContains(t, err, "count")
	}
}

func TestATargetThatAnswersAnythingIsAlive(t *testing.T) {
	t.Parallel()
	require.NoError(t, driver.Alive(t.Context(), targets.Target{BaseURL: "http://" + serve(t, http.NotFound)}))
	require.Error(t, driver.Alive(t.Context(), targets.Target{BaseURL: "http://" + deaf(t)}))
	silent := serveRaw(t, func(*peer) {})
	require.Error(t, driver.Alive(t.Context(), targets.Target{BaseURL: "http://" + silent}))
	rash := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			panic(http.ErrAbortHandler)
		}
	})
	require.NoError(t, driver.Alive(t.Context(), targets.Target{BaseURL: "http://" + rash}), "it closes the connection on a GET, and answers everything else")
}
