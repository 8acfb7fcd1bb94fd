package engine

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// notesFile is a target file of a service of notes, with one more line.
func notesFile(address, line string) []byte {
	return fmt.Appendf(nil, `name: notes
base_url: %s
%s
operations:
  create:
    request: {path: /notes, body: {note: "{{.Intent.Marker}}"}}
    key: {in: header}
    rows: {http: {path: "/notes?note={{.Intent.Marker}}"}, items: "", identity: id}
`, address, line)
}

// notebook is a correct service that lists what it holds: one note for each key.
type notebook struct {
	mu    sync.Mutex
	notes map[string]string // by key
}

func (n *notebook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r.Method == http.MethodPost {
		var body struct{ Note string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		n.notes[r.Header.Get("Idempotency-Key")] = body.Note
		w.WriteHeader(http.StatusCreated)
		return
	}
	found := []map[string]string{}
	for key, note := range n.notes {
		if note == r.URL.Query().Get("note") {
			found = append(found, map[string]string{"id": key})
		}
	}
	_ = json.NewEncoder(w).Encode(found)
}

// A target that answers nothing any more has ended the run: each further scenario would wait out its patience again.
func TestNoMoreRoundsAreSentToATargetThatAnswersNothing(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(&notebook{notes: map[string]string{}})
	t.Cleanup(server.Close)
	source := []byte("name: race\nsummary: Two at once.\nintents: 1\nsteps: [burst: {copies: 2}]\nexercised: [acknowledged]\n")
	f, err := scenarios.Load("scenario.yaml", source)
	require.NoError(t, err)
	more := 0
	s, err := newSession(t.Context(), Config{
		Reports: t.TempDir(), Seed: 1, Scenarios: []scenarios.File{{Path: "scenario.yaml", Source: source, Scenario: f}}, Course: Course{MoreRounds: time.Hour},
		Observe: func(e Event) {
			if _, is := e.(MoreRounds); is {
				more++
			}
		},
		SUT: sut.Options{Target: "target.yaml", Source: notesFile(server.URL, "")},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.bringUp(t.Context()))
	require.NoError(t, s.PlayAll(t.Context()))
	s.lost = history.NoAnswer
	require.NoError(t, playMore(t.Context(), s))
	require.Zero(t, more)
	s.lost = ""
	require.NoError(t, playMore(t.Context(), s))
	require.Equal(t, 1, more, "it would have been played again otherwise")
}
