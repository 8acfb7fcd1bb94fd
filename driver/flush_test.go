package driver_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/scenarios"
)

func TestAFlushIsOnRecordAndFindsNothingOfOtherStories(t *testing.T) {
	r := newRig(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }), send(), scenarios.Step{Flush: scenarios.TheStore}, send())
	held := 7 // by earlier stories
	r.Controls.Flush = func(context.Context) (int, error) {
		deleted := held
		held = 1
		return deleted, nil
	}
	h := r.drive(t)
	require.Len(t, h.Flushes, 2*len(h.Intents))
	require.Equal(t, 7, h.Flushes[0].Deleted)
	for n, f := range h.Flushes {
		if n%2 == 0 {
			require.Equal(t, -1, f.Step, "before the story")
			continue
		}
		require.Equal(t, 1, f.Step)
		require.Equal(t, 1, f.Deleted)
		require.GreaterOrEqual(t, f.Done, f.Begun)
		require.Empty(t, f.Error)
		for _, a := range h.Attempts {
			if a.Intent == f.Intent && a.Step == 0 {
				require.LessOrEqual(t, a.End, f.Begun)
			} else if a.Intent == f.Intent {
				require.GreaterOrEqual(t, a.Start, f.Done)
			}
		}
	}
}

func TestAFlushThatFailsSaysWhy(t *testing.T) {
	r := newRig(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }), send(), scenarios.Step{Flush: scenarios.TheStore}, send())
	r.Controls.Flush = func(context.Context) (int, error) { return 2, errors.New("the store is gone") }
	h := r.drive(t)
	require.NotEmpty(t, h.Flushes)
	require.Zero(t, h.Flushes[0].Done)
	require.Equal(t, "the store is gone", h.Flushes[0].Error)
	require.Len(t, h.Attempts, 2*len(h.Intents), "the story goes on")
}
