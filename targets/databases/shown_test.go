package databases_test

import (
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

func based64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// existing is a database in which nothing is made.
func existing(t *testing.T, dialect databases.Dialect) string {
	t.Helper()
	if dialect != databases.SQLite {
		return os.Getenv(map[databases.Dialect]string{databases.PostgreSQL: postgresVariable, databases.MariaDB: mariadbVariable}[dialect])
	}
	path := filepath.Join(t.TempDir(), "empty.db")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	return "sqlite://" + path
}

const aUUID = "0b8c1d2e-1f11-4222-8333-94445555666a"

// TestAKeyInAnotherSpellingIsKnown holds that a database shows a key as answers do, whichever it is.
func TestAKeyInAnotherSpellingIsKnown(t *testing.T) {
	t.Parallel()
	bare := strings.ReplaceAll(aUUID, "-", "")
	raw, err := hex.DecodeString(bare)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		value, text string
		number      bool
	}{
		"a prefix before a UUID":          {value: aUUID, text: "ord_" + aUUID},
		"a prefix and no hyphens":         {value: aUUID, text: "ord_" + bare},
		"upper case":                      {value: aUUID, text: strings.ToUpper(aUUID)},
		"upper case without hyphens":      {value: aUUID, text: "X" + strings.ToUpper(bare)},
		"a link around a UUID":            {value: aUUID, text: "/v1/orders/" + aUUID + "/lines"},
		"a prefix before a number":        {number: true, value: "17", text: "ord_17"},
		"a number with zeros":             {number: true, value: "17", text: "INV-00000017"},
		"zeros alone":                     {number: true, value: "17", text: "000017"},
		"a number longer than its zeros":  {number: true, value: "123456789", text: "INV-123456789"},
		"a global id of GraphQL":          {number: true, value: "17", text: based64("Order:17")},
		"a global id without padding":     {number: true, value: "17", text: strings.TrimRight(based64("Order:17"), "=")},
		"a URN":                           {value: aUUID, text: "urn:uuid:" + aUUID},
		"bytes in hex":                    {value: string(raw), text: bare},
		"bytes as a UUID":                 {value: string(raw), text: aUUID},
		"bytes as a UUID behind a prefix": {value: string(raw), text: "ord_" + aUUID},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, found := databases.Showing(c.value, c.text)
			require.True(t, found)
			require.Equal(t, c.text, s.Of(c.value))
			for _, dialect := range dialects() {
				if !s.Possible(dialect) {
					continue
				}
				db, err := databases.Open(t.Context(), existing(t, dialect), databases.ReadOnly)
				require.NoError(t, err)
				defer db.Close()
				literal := "'" + c.value + "'"
				switch {
				case c.value == string(raw) && dialect == databases.PostgreSQL:
					literal = `decode('` + bare + `', 'hex')`
				case c.value == string(raw):
					literal = "x'" + bare + "'"
				case c.number:
					literal = c.value
				}
				var got string
				require.NoError(t, db.QueryRowContext(t.Context(), "select "+s.In(dialect, "k")+" as k from (select "+literal+" as k) as t").Scan(&got), dialect)
				require.Equal(t, c.text, got, dialect)
			}
		})
	}
	for value, text := range map[string]string{
		"1": "a1b2c3", "17": "117", "7": "order 7", "2": "2026-11-2", "3": "v2/3x", aUUID: "it's " + aUUID, "12": "YWJj",
	} {
		_, found := databases.Showing(value, text)
		require.False(t, found, "%s is not shown by %s", value, text)
	}
}
