package databases_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAProgramLinksItsOwnDrivers runs a program that registers another driver as "sqlite". If this package linked one
// too, the program would panic.
func TestAProgramLinksItsOwnDrivers(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "run", "./testdata/owndriver").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, `opened file:/tmp/shop.db?mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)
true no database driver is linked for postgres: add import _ "github.com/jackc/pgx/v5/stdlib", or another package that registers "pgx" in database/sql
true no database driver is linked for mariadb: add import _ "github.com/go-sql-driver/mysql", or another package that registers "mysql" in database/sql
`, string(out))
}
