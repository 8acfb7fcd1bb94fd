package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// numbered is a target file whose marker is the amount of an order: the API is told no text that doubletap could find again.
func numbered(t *testing.T, design, database string) string {
	t.Helper()
	file, _ := serviceFile(t, design, database)
	text := strings.NewReplacer(
		"create_order:\n", "create_order:\n    marker: number\n",
		`note: "{{.Intent.Marker}}"`, "note: the same in each order",
		"amount: 1200", `amount: "{{.Intent.Marker | json}}"`,
		"alter: {amount: 9900}", "alter: {item: chair}",
		"    invalid: {amount: -1}\n", "",
		"where note = :marker", "where amount = :marker",
	).Replace(readFile(t, file))
	return writeFile(t, "numbered.yaml", text)
}

func TestAnAPIThatTakesNoText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		design, database string
		code             int
	}{
		{"unique-key", "sqlite", exitPass}, {"unique-key", "postgres", exitPass}, {"unique-key", "mariadb", exitPass},
		{"check-then-insert", "postgres", exitFinding},
	} {
		t.Run(c.design+" on "+c.database, func(t *testing.T) {
			t.Parallel()
			p := start(t, []string{"TMPDIR=" + openFolder(t)}, "run", "--reports", t.TempDir(), "--target", numbered(t, c.design, c.database), "--seed", "1",
				"plain-create", "altered-after", "burst-same-key")
			require.Equal(t, c.code, p.wait(t), "%s", p.out)
			require.Contains(t, p.out.String(), "✓ plain-create", "%s", p.out)
		})
	}
}

func TestInitFindsANumberForAMarker(t *testing.T) {
	t.Parallel()
	address, database := newMannered(t, manners{created: 201, again: 201, mismatch: 422, wants: `"EUR"`})
	env := map[string]string{"DATABASE_URL": database}
	file, _ := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: 1' -d '{"quantity": 2, "customer_id": 17, "amount": 1200, "currency": "EUR"}' `+address+"/orders", "--db", database)
	text := readFile(t, file)
	for _, line := range []string{"marker: number", "amount: '{{.Intent.Marker | json}}'", "customer_id: 17", "currency: EUR", "where orders.amount = :marker", "alter: {quantity: 3}", "on_mismatch: reject"} {
		require.Contains(t, text, line)
	}
	got := callWith(t.Context(), env, "run", "--target", file, "--reports", t.TempDir(), "--seed", "1", "plain-create", "sequential-replay", "altered-after")
	require.Equal(t, exitPass, got.code, "%s\n%s", text, got)
}
