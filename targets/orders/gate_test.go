package orders_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// gate holds the payment authorisations of an API until a test opens them one by one, so that a test decides what
// happens while a request is being executed, on a busy machine as well. It hands them out in the order in which they come.
type gate chan func()

func newGate() gate { return make(gate) }

// authorise takes the place of an API's payment authorisation.
func (g gate) authorise(ctx context.Context) error {
	through, open := context.WithCancel(context.Background())
	defer open()
	select {
	case g <- open:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-through.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// openForAll opens for every request until the test ends.
func (g gate) openForAll(t *testing.T) {
	t.Helper()
	go func() {
		for {
			select {
			case open := <-g:
				open()
			case <-t.Context().Done():
				return
			}
		}
	}()
}

// next waits for the next authorisation and returns what opens it.
func (g gate) next(t *testing.T) (open func()) {
	t.Helper()
	select {
	case open = <-g:
		return open
	case <-time.After(soon):
		require.Fail(t, "no request is being executed")
		return nil
	}
}
