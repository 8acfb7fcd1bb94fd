package orders_test

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/orders"
)

// The usual collations of MariaDB are for prose, and the database is as its administrator has made it.
func TestAKeptDatabaseIsTakenForNoProse(t *testing.T) {
	t.Parallel()
	folded, padded := refusesKeysAlike("Key", "kEY"), refusesKeysAlike("key", "key ")
	for _, usual := range []string{"utf8mb4 collate utf8mb4_general_ci", "latin1"} {
		for design, refuses := range map[string]round{
			"unique-key": folded, "in-progress-409": folded, "memory-with-log": folded, "key-in-body": padded,
		} {
			t.Run(design+" over "+usual, func(t *testing.T) {
				t.Parallel()
				s := serve(t, orders.Options{Design: design, Database: proseDatabase(t, usual), Keep: true, Work: fast})
				require.False(t, refuses(t, s, newIntent("kept")))
			})
		}
		for design, refuses := range map[string]round{"key-collation-case": folded, "key-collation-pads": padded} {
			t.Run(design+" over "+usual, func(t *testing.T) {
				t.Parallel()
				s := serve(t, orders.Options{Design: design, Database: proseDatabase(t, usual), Keep: true, Work: fast})
				require.True(t, refuses(t, s, newIntent("kept")), "what a table says of itself counts")
			})
		}
	}
}

// proseDatabase is the URL of a new database on the MariaDB server.
func proseDatabase(t *testing.T, usual string) string {
	t.Helper()
	admin := openURL(t, databases["mariadb"])
	name := "prose_" + strings.ToLower(rand.Text())
	_, err := admin.Exec("create database " + name + " character set " + usual)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := admin.Exec("drop database " + name)
		require.NoError(t, err)
		require.NoError(t, admin.Close())
	})
	link, err := url.Parse(databases["mariadb"])
	require.NoError(t, err)
	link.Path = "/" + name
	return link.String()
}

// Not parallel: it changes the folder in which relative paths begin.
func TestASQLiteFileHasOneNameInEverySpelling(t *testing.T) {
	for _, keep := range []bool{true, false} {
		for _, spelling := range []string{"sqlite:shop.db", "sqlite://shop.db", "sqlite:./shop.db", "sqlite://HERE/shop.db"} {
			t.Run(fmt.Sprint(spelling, " kept ", keep), func(t *testing.T) {
				t.Chdir(t.TempDir())
				here, err := os.Getwd()
				require.NoError(t, err)
				address := strings.Replace(spelling, "HERE", here, 1)
				server, err := orders.Start(t.Context(), orders.Options{Design: "unique-key", Database: address, Keep: keep, Work: fast})
				require.NoError(t, err)
				require.FileExists(t, "shop.db")
				require.NoError(t, server.Close())
				if keep {
					require.FileExists(t, "shop.db")
				} else {
					require.NoFileExists(t, "shop.db")
				}
			})
		}
	}
	_, err := orders.Start(t.Context(), orders.Options{Design: "unique-key", Database: "sqlite:", Keep: true})
	require.ErrorContains(t, err, "names no file")
}
