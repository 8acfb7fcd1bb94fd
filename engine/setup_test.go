package engine

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/sut"
)

// pages is a notebook whose notes are on pages, which are made and thrown away.
type pages struct {
	notebook
	made, gone atomic.Int64
	throwing   func() // is called when a page is to be thrown away
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodDelete:
		p.throwing()
		p.gone.Add(1)
		w.WriteHeader(http.StatusNoContent)
	case r.URL.Path == "/pages":
		w.Header().Set("Location", fmt.Sprint(p.made.Add(1)))
		w.WriteHeader(http.StatusCreated)
	default:
		p.notebook.ServeHTTP(w, r)
	}
}

// TestARunThatIsStoppedWhileItTidiesUpLeavesNothing holds that all that was prepared goes again, whenever the run is stopped.
func TestARunThatIsStoppedWhileItTidiesUpLeavesNothing(t *testing.T) {
	t.Parallel()
	const intents = 40
	ctx, stop := context.WithCancel(t.Context())
	p := &pages{notebook: notebook{notes: map[string]string{}}}
	p.throwing = func() {
		if p.made.Load() > intents/2 { // those of the pilot are gone by then
			stop()
		}
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	source := []byte("name: plain\nsummary: Creates.\nintents: 20\nsteps: [send]\nexercised: [acknowledged]\n")
	f, err := scenarios.Load("scenario.yaml", source)
	require.NoError(t, err)
	target := strings.Replace(string(notesFile(server.URL, "")), "    key:", `    prepare: [{request: {path: /pages}, extract: {Page: {header: Location}}}]
    cleanup: [{request: {method: DELETE, path: "/pages/{{.Prepared.Page}}"}}]
    key:`, 1)
	_, err = Run(ctx, Config{
		Reports: t.TempDir(), Seed: 1, Scenarios: []scenarios.File{{Path: "scenario.yaml", Source: source, Scenario: f}},
		SUT: sut.Options{Target: "target.yaml", Source: []byte(target)},
	})
	require.Error(t, ctx.Err(), "%d were made: %v", p.made.Load(), err)
	require.Equal(t, p.made.Load(), p.gone.Load())
}
