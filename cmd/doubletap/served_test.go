package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/sut"
	"github.com/doubletap-harness/doubletap/targets/databases"
)

// A served design that is killed cannot tidy up after itself.
func TestAServedDesignLeavesNothingOnAServer(t *testing.T) {
	t.Parallel()
	for kind, variable := range map[string]string{"postgres": postgresVariable, "mariadb": mariadbVariable} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			got := typed(t, "run", "--target", sut.ServedPrefix+"unique-key", "--database", os.Getenv(variable), "--instances", "2",
				"--seed", "1", "--reports", dir, "plain-create", "crash-between")
			require.Equal(t, exitPass, got.code, "%s", got)
			require.Contains(t, got.out, "--database \"$"+sut.DatabaseVariable+"\"", "the URL holds a password")

			printed, err := os.ReadFile(filepath.Join(onlyRun(t, dir), sut.ProcessLogName))
			require.NoError(t, err)
			place := regexp.MustCompile(`DATABASE_URL=.*(doubletap_[0-9a-z]+)`).FindSubmatch(printed)
			require.NotNil(t, place, "%s", printed)
			db, err := databases.Open(t.Context(), os.Getenv(variable), databases.ReadOnly)
			require.NoError(t, err)
			defer db.Close()
			left := 0
			require.NoError(t, db.QueryRow("select count(*) from information_schema.schemata where schema_name = '"+string(place[1])+"'").Scan(&left))
			require.Zero(t, left)
		})
	}
}
