package driver_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
)

// following asks for what a Location names, until it says done.
func following() *driver.Following {
	return &driver.Following{
		Monitor: func(a history.Attempt) string { return a.Header["Location"] },
		Settled: func(f history.Followup) bool { return strings.Contains(f.Content, "done") },
		Within:  long,
	}
}

// accepted is a rig whose target takes every request and says later what became of it.
func accepted(t *testing.T, location string, status func(http.ResponseWriter, *http.Request), changes ...func(*driver.Config)) *rig {
	t.Helper()
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			status(w, r)
			return
		}
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusAccepted)
	})
	r := newRig(t, address, send())
	r.Target.BaseURL = "http://" + address + "/api"
	r.Following = following()
	for _, change := range changes {
		change(&r.Config)
	}
	r.drive(t)
	return r
}

func TestAnAcceptedAttemptIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	r := accepted(t, "/operations/7", func(w http.ResponseWriter, q *http.Request) {
		require.Equal(t, "/operations/7", q.URL.Path)
		require.Equal(t, "Bearer sesame-open-9", q.Header.Get("Authorization"))
		require.Empty(t, q.Header.Get("Content-Type"))
		if asked.Add(1) < 3 {
			_, _ = w.Write([]byte(`{"state":"running"}`))
			return
		}
		_, _ = w.Write([]byte(`{"state":"done","by":"sesame-open-9"}`))
	})
	require.NoError(t, r.Follow(t.Context()))
	require.NoError(t, r.Follow(t.Context()), "nothing is left to follow")
	h := r.history(t)
	require.Len(t, h.Followups, 1)
	f := h.Followups[0]
	require.Greater(t, f.At, h.Attempts[0].End)
	f.At = 0
	require.Equal(t, history.Followup{Attempt: "i001.1", Tries: 3, Status: 200, Content: `{"state":"done","by":"***"}`, Complete: true}, f)
	require.EqualValues(t, 3, asked.Load())
}

// TestAStatusIsAskedForWhereItIs: on record the way there is without the secret, and could not be found.
func TestAStatusIsAskedForWhereItIs(t *testing.T) {
	t.Parallel()
	r := accepted(t, "/of/sesame-open-9/7", func(w http.ResponseWriter, q *http.Request) {
		require.Equal(t, "/of/sesame-open-9/7", q.URL.Path)
		_, _ = w.Write([]byte("done"))
	})
	require.NoError(t, r.Follow(t.Context()))
	h := r.history(t)
	require.Equal(t, "/of/***/7", h.Attempts[0].Header["Location"])
	require.Equal(t, "done", h.Followups[0].Content)
}

func TestAnAcceptedAttemptIsFollowedNoLongerThanPromised(t *testing.T) {
	t.Parallel()
	r := accepted(t, "/operations/7", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("running")) })
	begun := time.Now()
	r.Following.Within = 5 * time.Second
	require.NoError(t, r.Follow(t.Context()))
	require.Less(t, time.Since(begun), long)
	h := r.history(t)
	require.Greater(t, h.Followups[0].Tries, 1)
	require.Equal(t, "running", h.Followups[0].Content)
}

func TestAThrottledQuestionHoldsTheNextBack(t *testing.T) {
	t.Parallel()
	asked := make(chan time.Time, 2)
	r := accepted(t, "/operations/7", func(w http.ResponseWriter, _ *http.Request) {
		if asked <- time.Now(); len(asked) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = w.Write([]byte("done"))
	}, func(c *driver.Config) {
		c.Pace = driver.NewPace(nil)
		c.Hooks.Throttled = func(a history.Attempt) bool { return a.Complete && a.Status == http.StatusTooManyRequests }
	})
	require.NoError(t, r.Follow(t.Context()))
	first, second := <-asked, <-asked
	require.GreaterOrEqual(t, second.Sub(first), 990*time.Millisecond)
	require.Equal(t, "done", r.history(t).Followups[0].Content)
}

func TestNobodyButTheTargetIsAskedForAStatus(t *testing.T) {
	t.Parallel()
	r := accepted(t, "http://elsewhere.test/operations/7", func(http.ResponseWriter, *http.Request) { require.Fail(t, "asked") })
	r.Following.Within = 20 * time.Millisecond
	require.NoError(t, r.Follow(t.Context()))
	f := r.history(t).Followups[0]
	require.Contains(t, f.Error, "another host: elsewhere.test")
	require.Zero(t, f.Status)
	require.False(t, f.Complete)
}

func TestFollowingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked atomic.Int64
	r := accepted(t, "/operations/7", func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 2 {
			cancel()
		}
		_, _ = w.Write([]byte("running"))
	})
	r.Following.Within = time.Hour
	require.ErrorIs(t, r.Follow(ctx), context.Canceled)
	require.Len(t, r.history(t).Followups, 1)
}
