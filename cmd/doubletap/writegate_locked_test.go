package main

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Another client writes to the table in a long transaction: then no writer is blocked, which is on
// record, and the burst goes all the same.
func TestATableThatSomebodyElseHolds(t *testing.T) {
	t.Parallel()
	_, env := serving(t, "unique-key")
	source, err := os.ReadFile("../../docs/examples/orders.yaml")
	require.NoError(t, err)
	file := writeFile(t, "orders.yaml", strings.Replace(string(source), `"${DATABASE_URL}"`, `"${DATABASE_URL}", write_gate: {tables: [orders]}`, 1))
	reports := t.TempDir()
	p := start(t, []string{"ORDERS_URL=" + env["ORDERS_URL"], "DATABASE_URL=" + env["DATABASE_URL"]}, "run", "--target", file, "--reports", reports,
		writeFile(t, "some.yaml", strings.NewReplacer("long", "some", "1000", "100").Replace(long)), writeFile(t, "gate.yaml", gateScenario))
	eventually(t, "the run is under way", busyWith(reports, "some", 5))
	db, err := sql.Open("pgx", env["DATABASE_URL"])
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { tx.Rollback() })
	_, err = tx.ExecContext(t.Context(), "lock table orders in row exclusive mode")
	require.NoError(t, err)
	require.Equal(t, exitInconclusive, p.wait(t), "%s", p.out)
	require.Contains(t, p.out.String(), "no writer was blocked in 3 bursts: the table could not be locked")
}
