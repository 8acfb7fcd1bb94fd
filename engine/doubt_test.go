package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A database may have a table of the same name in another schema, in which somebody else writes.
func TestAQueryNamesATableOfItsSchema(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, table string
		named        bool
	}{
		{"select id from orders where note = :marker", "orders", true},
		{"select id from orders where note = :marker", "other.orders", false},
		{"select id from old_orders where note = :marker", "orders", false},
		{"select id from sales.orders o", "sales.orders", true},
		{`select id from "Sales" . "Order"`, "Sales.Order", true},
		{"select id from presales.orders", "sales.orders", false},
	} {
		require.Equal(t, c.named, names(c.query, c.table), "%s in %s", c.table, c.query)
	}
}
