package driver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// remover is a rig whose intents remove what they have made: so many rows are found before and left after it, and
// it is answered with a status.
func remover(t *testing.T, seen *ledger, found, left, status int) *rig {
	fresh := plain()
	fresh.Key = scenarios.FreshKey
	t.Helper()
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		seen.add(r.Method + " " + r.URL.Path)
		if r.Method == http.MethodDelete {
			w.WriteHeader(status)
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"id":"o%d"}`, seen.tally()["POST /orders"])
	})
	steps := []scenarios.Step{send(), {Remove: &scenarios.Remove{}}, {Send: &fresh}}
	r := newRigFor(t, address, scenarios.Scenario{Name: "trial", Intents: 3, Concurrency: 1, Steps: steps})
	r.Target.BaseURL = "http://" + address
	r.Operations[0].Remove = []targets.Step{{Request: targets.Request{Method: http.MethodDelete, Path: "/orders/{{.Made.Identity}}"}}}
	r.Hooks.Identity = func(operation string, a history.Attempt) string {
		require.Equal(t, r.Operations[0].Name, operation)
		_, id, _ := strings.Cut(a.Content, `"id":"`)
		return strings.TrimSuffix(id, `"}`)
	}
	asked := 0
	r.Rows = func(context.Context, string, string) (int, error) {
		asked++
		if asked%2 == 1 {
			return found, nil
		}
		return left, nil
	}
	return r
}

func TestARemovalIsOnRecordAndAskedForNoMore(t *testing.T) {
	t.Parallel()
	seen := &ledger{}
	r := remover(t, seen, 2, 0, http.StatusNoContent)
	require.Equal(t, len(r.Plan.Intents), r.Steps())
	h := r.drive(t)
	require.Len(t, h.Removals, len(h.Intents))
	for n, removed := range h.Removals {
		require.Empty(t, removed.Error)
		require.Equal(t, 2, removed.Found)
		require.Equal(t, 1, removed.Step)
		require.Greater(t, removed.Done, removed.Begun)
		require.Contains(t, seen.all(), fmt.Sprintf("DELETE /orders/o%d", 2*n+1), "it is known by its name")
	}
	require.Len(t, h.Steps, len(h.Intents))
	require.Equal(t, history.Remove, h.Steps[0].For)
	keys := map[string]bool{}
	for _, a := range h.Attempts {
		if a.Step == 0 {
			keys[a.Key] = true
		}
	}
	require.NoError(t, r.Probe(t.Context(), driver.Probing{}, false, func(history.Attempt) bool { return true }))
	asked := 0
	for _, a := range r.history(t).Attempts {
		if a.Probe {
			asked++
			require.False(t, keys[a.Key], "no promise says what the first key means")
		}
	}
	require.Equal(t, len(h.Intents), asked)
}

func TestARemovalThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	for why, r := range map[string]*rig{
		"operations.create.remove[0] (DELETE /orders/o1) for intent i001 for the principal alice was answered 404": remover(t, &ledger{}, 1, 0, http.StatusNotFound),
		"its row is still found (1)":     remover(t, &ledger{}, 1, 1, http.StatusNoContent),
		"there was no row to be removed": remover(t, &ledger{}, 0, 0, http.StatusNoContent),
		"its rows cannot be read": func() *rig {
			r := remover(t, &ledger{}, 1, 0, http.StatusNoContent)
			r.Rows = nil
			return r
		}(),
		"no answer has named it (identity)": func() *rig {
			r := remover(t, &ledger{}, 1, 0, http.StatusNoContent)
			r.Hooks.Identity = func(string, history.Attempt) string { return "" }
			return r
		}(),
	} {
		h := r.drive(t)
		require.Zero(t, h.Removals[0].Done)
		require.Contains(t, h.Removals[0].Error, why)
		require.Len(t, h.Attempts, 2*len(h.Intents), "the story goes on")
	}
}

// A form's token, say, is known from the middle of the story on.
func TestWhatARemovalTakesIsASecretFromThenOn(t *testing.T) {
	t.Parallel()
	r := remover(t, &ledger{}, 1, 0, http.StatusNoContent)
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "csrf", Value: "secret-token"})
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, "your token is secret-token")
	})
	r.Target.BaseURL, r.Dialers = "http://"+address, []driver.Dialer{dialerTo(address)}
	o := &r.Operations[0].Operation
	o.Remove = []targets.Step{
		{Request: targets.Request{Method: http.MethodGet, Path: "/form"}, Extract: map[string]targets.Extract{"Csrf": {Cookie: "csrf"}}},
		{Request: targets.Request{Method: http.MethodDelete, Path: "/orders/{{.Intent.Marker}}?csrf={{.Made.Csrf}}"}},
	}
	for n, a := range r.drive(t).Attempts {
		if n > 0 {
			require.Equal(t, "your token is ***", a.Content)
		}
	}
}
