package snapshots_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/snapshots"
)

func manyMarkers(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("m%04d", i)
	}
	return all
}

func TestASnapshotTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, on table) {
		r := on.open(t, "select id from things where note = :marker")
		var told []int
		s := r.Reader.Snapshot(t.Context(), []snapshots.Question{{Rows: r.query, Markers: manyMarkers(250), Answered: func(n int) { told = append(told, n) }}})
		require.Empty(t, s.Error)
		require.Equal(t, []int{100, 200, 250}, told)
	})
}

// As where the database starts again, or ends sessions that are idle.
func TestAConnectionThatBreaksInASnapshotIsOpenedAnew(t *testing.T) {
	t.Parallel()
	on := newTable(t, "postgres")
	on.insert(t, "1", "m0000", 5)
	on.insert(t, "2", "m0199", 5)
	r := on.open(t, "select id from things where note = :marker")
	var once sync.Once
	broken := 0
	question := snapshots.Question{Rows: r.query, Markers: manyMarkers(200), Answered: func(int) {
		once.Do(func() {
			require.NoError(t, on.db.QueryRow(`select count(pg_terminate_backend(pid)) from pg_stat_activity
				where query like 'select 0 as doubletap_index%' || $1 || '%' and pid <> pg_backend_pid()`, on.name).Scan(&broken))
		})
	}}
	s := r.Reader.Snapshot(t.Context(), []snapshots.Question{question})
	require.Positive(t, broken)
	require.Empty(t, s.Error)
	require.Len(t, s.Rows["m0000"], 1)
	require.Len(t, s.Rows["m0199"], 1)
}

func TestAStatementThatTakesTooLongNamesWhatMayLack(t *testing.T) {
	t.Parallel()
	on := newTable(t, "postgres")
	on.insert(t, "1", "m0000", 5)
	r := on.open(t, "select id from things where note = :marker")
	r.Patience = 300 * time.Millisecond
	tx, err := on.db.Begin()
	require.NoError(t, err)
	defer tx.Rollback()
	_, err = tx.Exec("lock table " + on.name)
	require.NoError(t, err)
	begun := time.Now()
	s := r.Snapshot(t.Context(), []string{"m0000"})
	require.Contains(t, s.Error, "no answer for 1 markers in 300ms: is there an index on the column that is compared with :marker?")
	require.Nil(t, s.Rows)
	require.Less(t, time.Since(begun), 30*time.Second, "it is not asked again")
}

// TestAHundredThousandMarkersNeedNoIndex: PostgreSQL reads the table once for many markers.
func TestAHundredThousandMarkersNeedNoIndex(t *testing.T) {
	t.Parallel()
	on := newTable(t, "postgres")
	markers := on.fill(t, 100_000)
	on.exec(t, "drop index "+on.name+"_note")
	r := on.open(t, "select id, amount, price from things where note = :marker")
	told := 0
	s := r.Reader.Snapshot(t.Context(), []snapshots.Question{{Rows: r.query, Markers: markers, Answered: func(n int) { told++ }}})
	require.Empty(t, s.Error)
	require.Len(t, s.Rows, len(markers))
	require.Len(t, s.Rows[markers[99_999]], 1)
	require.Greater(t, told, 5, "it tells how far it is")
}
