package sinks_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/sinks"
	"github.com/doubletap-harness/doubletap/targets"
)

// posted sends a request for an order and returns what became of it.
func posted(t *testing.T, to, order string) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, _, err := post(t, to, "application/json", order, []byte(`{"order":"`+order+`"}`))
		done <- err
	}()
	return done
}

func TestATrapKeepsTheAnswersToAnIntentUntilItIsReleased(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"before it is done": true, "after it is done": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, r, s := payments(t, targets.HTTPSink{Idempotent: true}, sinks.Fault{})
			sprung, release := s.Trap([]string{reference, marker}, before)
			require.NoError(t, <-posted(t, to, "dt0000000000000000"), "another intent is answered")
			first, second := posted(t, to, marker), posted(t, to, marker)
			require.Equal(t, "payments-2", <-sprung)
			require.Len(t, first, 0, "it is not answered, and on record")
			got := r.messages()[1]
			require.Equal(t, history.Message{ID: got.ID, Sink: got.Sink, At: got.At, Method: "POST", Path: "/", Key: marker, Names: []string{marker}, Length: got.Length, Content: got.Content, Acted: !before, Fault: "crash"}, got)
			release()
			release()
			kept := 0
			for _, one := range []<-chan error{first, second} {
				if err := <-one; err != nil {
					require.ErrorIs(t, err, io.EOF)
					kept++
				}
			}
			require.Positive(t, kept)
			require.NoError(t, <-posted(t, to, marker))
			all := r.messages()
			require.Equal(t, !before, all[len(all)-1].First == "payments-2", "what was not done is not known by its key")
			require.Empty(t, sprung, "it tells of the first only")
		})
	}
}
