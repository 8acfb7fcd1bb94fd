package snapshots_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkManyMarkers takes snapshots of a table in which each marker has one row, with an index. DOUBLETAP_BENCH_LARGE=1 adds a
// million of markers.
func BenchmarkManyMarkers(b *testing.B) {
	for _, kind := range []string{"sqlite", "postgres", "mariadb"} {
		for _, n := range []int{10_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				if n > 100_000 && (kind != "postgres" || os.Getenv("DOUBLETAP_BENCH_LARGE") == "") {
					b.Skip("set DOUBLETAP_BENCH_LARGE=1, for PostgreSQL")
				}
				on := newTable(b, kind)
				markers := on.fill(b, n)
				if kind == "postgres" {
					on.exec(b, "analyze "+on.name)
				}
				r := on.open(b, "select id, amount, price from things where note = :marker")
				for b.Loop() {
					s := r.Snapshot(b.Context(), markers)
					require.Empty(b, s.Error)
					require.Len(b, s.Rows[markers[n-1]], 1)
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/snapshot")
			})
		}
	}
}
