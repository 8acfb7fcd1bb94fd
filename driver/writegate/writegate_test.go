package writegate_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver/writegate"
	"github.com/doubletap-harness/doubletap/internal/servers"
	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // opened by their names
	"github.com/doubletap-harness/doubletap/targets/databases"
)

const (
	longest = 30 * time.Second      // no test holds a gate for that long
	soon    = time.Minute           // a busy machine gets there
	tick    = 5 * time.Millisecond  // between two looks
	pause   = 50 * time.Millisecond // in which a write that does not wait is seen
)

// urls are the servers that every test runs on; SQLite's file is made per test.
var urls = map[string]string{}

func TestMain(m *testing.M) {
	if address := os.Getenv(holderURL); address != "" {
		holdUntilKilled(address)
	}
	os.Exit(withServers(m))
}

func withServers(m *testing.M) int {
	return servers.Serving(func(postgres, mariadb string) int {
		urls["postgres"], urls["mariadb"] = postgres, mariadb
		return m.Run()
	})
}

// table is a fresh table (id, note) on one database, and what a target has open.
type table struct {
	*databases.Database
	url, name string
	counts    bool // the database can tell who waits
}

// onEach runs a test on a fresh table of every database.
func onEach(t *testing.T, test func(t *testing.T, on table)) {
	for _, kind := range []string{"sqlite", "postgres", "mariadb"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, newTable(t, kind))
		})
	}
}

func newTable(t testing.TB, kind string) table {
	t.Helper()
	on := table{url: urls[kind], counts: kind != "sqlite", name: "things_" + strings.ToLower(rand.Text())}
	if kind == "sqlite" {
		on.url = newFile(t)
	}
	var err error
	on.Database, err = databases.Open(t.Context(), on.url, databases.ReadWrite)
	require.NoError(t, err)
	t.Cleanup(func() { on.Close() })
	on.exec(t, "create table "+on.name+" (id varchar(40) primary key, note varchar(100) not null)")
	return on
}

// newFile makes an empty database in the mode that most applications use.
func newFile(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "with space.db")
	db, err := sql.Open("sqlite", "file:"+url.PathEscape(path)+"?_pragma=journal_mode(wal)")
	require.NoError(t, err)
	require.NoError(t, db.Ping())
	require.NoError(t, db.Close())
	return (&url.URL{Scheme: "sqlite", Path: path}).String()
}

func (on table) exec(t testing.TB, statement string, args ...any) {
	t.Helper()
	_, err := on.Exec(statement, args...)
	require.NoError(t, err)
}

// gate opens a gate for the table.
func (on table) gate(t testing.TB) *writegate.Gate {
	t.Helper()
	g, err := writegate.Open(t.Context(), on.url, on.name)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	return g
}

// hold opens a gate for the table and holds it.
func (on table) hold(t testing.TB) *writegate.Held {
	t.Helper()
	h, err := on.gate(t).Hold(t.Context(), longest)
	require.NoError(t, err)
	return h
}

func (on table) insertion() string {
	return fmt.Sprintf("insert into %s(id, note) values (%s, %s)", on.name, on.Dialect.Parameter(1), on.Dialect.Parameter(2))
}

// inserts starts n inserts, and returns a channel on which each says how it ended.
func (on table) inserts(t testing.TB, n int) <-chan error {
	ended := make(chan error, n)
	for i := range n {
		go func() {
			_, err := on.Exec(on.insertion(), fmt.Sprint("i", i), "waits")
			ended <- err
		}()
	}
	return ended
}

// arrive waits until n inserts stand in line, or for a pause where the database cannot tell.
func (on table) arrive(t testing.TB, h *writegate.Held, n int) {
	t.Helper()
	if !on.counts {
		_, known, err := h.Waiting(t.Context())
		require.NoError(t, err)
		require.False(t, known)
		time.Sleep(pause)
		return
	}
	waiting := 0
	require.Eventually(t, func() bool {
		count, known, err := h.Waiting(t.Context())
		waiting = count
		return err == nil && known && count == n
	}, soon, tick, "%d of %d wait", waiting, n)
}

// free requires that the table can be written.
func (on table) free(t testing.TB, id string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	_, err := on.ExecContext(ctx, on.insertion(), id, "free")
	require.NoError(t, err)
}

func (on table) rows(t testing.TB, note string) (n int) {
	t.Helper()
	query := fmt.Sprintf("select count(*) from %s where note = %s", on.name, on.Dialect.Parameter(1))
	require.NoError(t, on.QueryRow(query, note).Scan(&n))
	return n
}

func TestReadsPassAndWritesStandInLine(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		for _, n := range []int{1, 2, 10} {
			h := on.hold(t)
			ended := on.inserts(t, n)
			on.arrive(t, h, n)
			require.Zero(t, on.rows(t, "waits"), "a read passes, and nothing is written")
			select {
			case err := <-ended:
				t.Fatalf("an insert went on although the gate is held: %v", err)
			case <-time.After(pause):
			}
			require.NoError(t, h.Release())
			for range n {
				require.NoError(t, <-ended)
			}
			on.arrive(t, h, 0)
			require.Equal(t, n, on.rows(t, "waits"))
			on.exec(t, "delete from "+on.name)
		}
	})
}

func TestAWriterBehindACommentIsAWriter(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		h := on.hold(t)
		ended := make(chan error)
		go func() {
			_, err := on.Exec("/* shop:\nmake */ -- by the\n\t"+on.insertion(), "1", "waits")
			ended <- err
		}()
		on.arrive(t, h, 1)
		require.NoError(t, h.Release())
		require.NoError(t, <-ended)
	})
}

func TestReleasingAgainDoesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		ctx, cancel := context.WithCancel(t.Context())
		g := on.gate(t)
		h, err := g.Hold(ctx, longest)
		require.NoError(t, err)
		cancel()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { require.NoError(t, h.Release()) })
		}
		all.Wait()
		later, err := g.Hold(t.Context(), longest)
		require.NoError(t, err)
		require.NoError(t, h.Release(), "the old one does not release the new one")
		ended := on.inserts(t, 1)
		on.arrive(t, later, 1)
		require.Empty(t, ended)
		require.NoError(t, later.Release())
		require.NoError(t, <-ended)
	})
}

func TestTheGateOpensByItself(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, g *writegate.Gate){
		"at its deadline": func(t *testing.T, g *writegate.Gate) {
			_, err := g.Hold(t.Context(), 100*time.Millisecond)
			require.NoError(t, err)
		},
		"when the context ends": func(t *testing.T, g *writegate.Gate) {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := g.Hold(ctx, longest)
			require.NoError(t, err)
			time.AfterFunc(100*time.Millisecond, cancel)
		},
		"when it is closed": func(t *testing.T, g *writegate.Gate) {
			_, err := g.Hold(t.Context(), longest)
			require.NoError(t, err)
			require.NoError(t, g.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, on table) {
				end(t, on.gate(t))
				on.free(t, "1")
			})
		})
	}
}

func TestTheSecondWaitsForTheFirst(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		g := on.gate(t)
		first, err := g.Hold(t.Context(), longest)
		require.NoError(t, err)
		hurried, cancel := context.WithTimeout(t.Context(), pause)
		defer cancel()
		_, err = g.Hold(hurried, longest)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		second := make(chan error, 1)
		go func() {
			h, err := g.Hold(t.Context(), longest)
			if err == nil {
				err = h.Release()
			}
			second <- err
		}()
		select {
		case err := <-second:
			t.Fatalf("the second did not wait: %v", err)
		case <-time.After(pause):
		}
		require.NoError(t, first.Release())
		require.NoError(t, <-second)
	})
}

func TestALockThatCannotBeHadIsAnError(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		other := on.gate(t)
		writer, err := on.Begin()
		require.NoError(t, err)
		_, err = writer.Exec(on.insertion(), "1", "not committed")
		require.NoError(t, err)
		_, err = other.Hold(t.Context(), longest)
		require.ErrorContains(t, err, "hold back the writers of "+on.name)
		_, err = writegate.Open(t.Context(), on.url, on.name)
		require.ErrorContains(t, err, "take the lock within 1s")
		require.NoError(t, writer.Commit())
		h, err := other.Hold(t.Context(), longest)
		require.NoError(t, err)
		require.NoError(t, h.Release())
	})
}

func TestAClosedGateIsNotHeld(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		g := on.gate(t)
		require.NoError(t, g.Close())
		require.NoError(t, g.Close())
		_, err := g.Hold(t.Context(), longest)
		require.ErrorContains(t, err, "the gate is closed")
	})
}

func TestNoTimeAtAllIsAMistake(t *testing.T) {
	onEach(t, func(t *testing.T, on table) {
		_, err := on.gate(t).Hold(t.Context(), 0)
		require.ErrorContains(t, err, "expected a time above zero")
	})
}
