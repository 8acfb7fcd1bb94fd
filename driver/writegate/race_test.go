package writegate_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver/writegate"
)

// checkThenInsert is a guard that two can pass at once. It says when it has read.
func (on table) checkThenInsert(t testing.TB, id, note string, read func()) {
	found := on.rows(t, note)
	read()
	if found == 0 {
		_, err := on.Exec(on.insertion(), id, note)
		require.NoError(t, err)
	}
}

// insertOrLose leaves the guard to a unique constraint on the note.
func (on table) insertOrLose(_ testing.TB, id, note string, read func()) {
	read()
	_, _ = on.Exec(on.insertion(), id, note) // the error of those who lose
}

// burst lets n make the same thing at once, behind the gate if there is one, and returns how many rows
// were made.
func (on table) burst(t testing.TB, g *writegate.Gate, n int, note string, create func(t testing.TB, id, note string, read func())) int {
	var held *writegate.Held
	if g != nil {
		var err error
		held, err = g.Hold(t.Context(), longest)
		require.NoError(t, err)
	}
	var all, reads sync.WaitGroup
	reads.Add(n)
	for i := range n {
		all.Go(func() { create(t, fmt.Sprint(note, i), note, reads.Done) })
	}
	if g != nil {
		reads.Wait()
		if on.counts {
			on.inLine(t, held, n)
		}
		require.NoError(t, held.Release())
	}
	all.Wait()
	return on.rows(t, note)
}

// inLine looks as often as it can, for the benchmark's sake.
func (on table) inLine(t testing.TB, held *writegate.Held, n int) {
	for deadline := time.Now().Add(soon); ; {
		waiting, _, err := held.Waiting(t.Context())
		require.NoError(t, err)
		if waiting == n {
			return
		}
		require.Less(t, waiting, n)
		require.True(t, time.Now().Before(deadline), "%d of %d wait", waiting, n)
	}
}

func TestWhoIsBehindTheGateWritesAtOnce(t *testing.T) {
	const rounds = 20
	for _, n := range []int{2, 10} {
		t.Run(fmt.Sprintf("check then insert, %d at once", n), func(t *testing.T) {
			onEach(t, func(t *testing.T, on table) {
				g := on.gate(t)
				for round := range rounds {
					require.Equal(t, n, on.burst(t, g, n, fmt.Sprint("m", round), on.checkThenInsert))
				}
			})
		})
		t.Run(fmt.Sprintf("a unique constraint, %d at once", n), func(t *testing.T) {
			onEach(t, func(t *testing.T, on table) {
				on.exec(t, "create unique index "+on.name+"_note on "+on.name+"(note)")
				g := on.gate(t)
				for round := range rounds {
					require.Equal(t, 1, on.burst(t, g, n, fmt.Sprint("m", round), on.insertOrLose))
				}
			})
		})
	}
}

// A guard that locks is not a writer: nobody who still stands before it is taken for one behind it.
func TestALockingGuardIsNoWriter(t *testing.T) {
	for kind, locking := range map[string]string{
		"postgres": "lock table %s in exclusive mode", "mariadb": "select id from %s where note = 'm' for update",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			on := newTable(t, kind)
			h := on.hold(t)
			ended := make(chan error, 1)
			go func() {
				tx, err := on.Begin()
				if err == nil {
					_, err = tx.Exec(fmt.Sprintf(locking, on.name))
					_ = tx.Rollback()
				}
				ended <- err
			}()
			insert := on.inserts(t, 1)
			on.arrive(t, h, 1)
			time.Sleep(pause)
			on.arrive(t, h, 1)
			require.Empty(t, ended, "it waits")
			require.NoError(t, h.Release())
			require.NoError(t, <-ended)
			require.NoError(t, <-insert)
		})
	}
}

// BenchmarkBurst says how long a burst takes and how often it makes a duplicate, with the gate and
// without it.
func BenchmarkBurst(b *testing.B) {
	for _, kind := range []string{"sqlite", "postgres", "mariadb"} {
		for _, n := range []int{2, 10} {
			b.Run(fmt.Sprintf("%s/n=%d/gated", kind, n), func(b *testing.B) { benchmarkBurst(b, kind, n, true) })
			b.Run(fmt.Sprintf("%s/n=%d/plain", kind, n), func(b *testing.B) { benchmarkBurst(b, kind, n, false) })
		}
	}
}

func benchmarkBurst(b *testing.B, kind string, n int, gated bool) {
	on := newTable(b, kind)
	on.SetMaxIdleConns(n) // a target keeps its connections
	var g *writegate.Gate
	if gated {
		g = on.gate(b)
	}
	rounds, duplicated := 0, 0
	for b.Loop() {
		if on.burst(b, g, n, fmt.Sprint("m", rounds), on.checkThenInsert) > 1 {
			duplicated++
		}
		rounds++
	}
	b.ReportMetric(float64(duplicated)/float64(rounds), "duplicated/round")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(rounds), "ms/round")
}
