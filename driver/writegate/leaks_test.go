package writegate_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/doubletap-harness/doubletap/driver/writegate"
)

// It runs while no other test does: theirs are goroutines and sessions too.
func TestNothingIsLeftBehind(t *testing.T) {
	for _, kind := range []string{"sqlite", "postgres", "mariadb"} {
		t.Run(kind, func(t *testing.T) {
			on := newTable(t, kind)
			on.SetMaxOpenConns(1)
			sessions := map[string]string{
				"sqlite":   "select 0",
				"postgres": "select count(*) from pg_stat_activity where datname = current_database()",
				"mariadb":  "select count(*) from information_schema.processlist where db = database()",
			}[kind]
			count := func() (n int) {
				require.NoError(t, on.QueryRow(sessions).Scan(&n))
				return n
			}
			before := count()
			running := goleak.IgnoreCurrent()
			for _, end := range []func(g *writegate.Gate){holdAndRelease, holdAndForget, holdAndCallOff, holdAndClose} {
				g, err := writegate.Open(t.Context(), on.url, on.name)
				require.NoError(t, err)
				end(g)
				require.NoError(t, g.Close())
			}
			_, err := writegate.Open(t.Context(), on.url, "nothing_of_the_kind")
			require.Error(t, err)
			require.Eventually(t, func() bool { return count() == before }, soon, tick)
			goleak.VerifyNone(t, running)
			on.free(t, "1")
		})
	}
}

func holdAndRelease(g *writegate.Gate) {
	for range 3 {
		if h, err := g.Hold(context.Background(), longest); err == nil {
			_, _, _ = h.Waiting(context.Background())
			_ = h.Release()
		}
	}
}

func holdAndForget(g *writegate.Gate) {
	_, _ = g.Hold(context.Background(), time.Millisecond)
	_, _ = g.Hold(context.Background(), longest)
}

func holdAndCallOff(g *writegate.Gate) {
	ctx, cancel := context.WithCancel(context.Background())
	_, _ = g.Hold(ctx, longest)
	cancel()
	_, _ = g.Hold(ctx, longest)
}

func holdAndClose(g *writegate.Gate) {
	_, _ = g.Hold(context.Background(), longest)
	_ = g.Close()
}
