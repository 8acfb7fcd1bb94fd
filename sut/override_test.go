package sut_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/sut"
)

// saysVersion is a server that answers nothing but the question for its version.
type saysVersion string

func (v saysVersion) Connect(context.Context) (driver.Conn, error) { return v, nil }
func (v saysVersion) Driver() driver.Driver                        { return nil }
func (v saysVersion) Prepare(string) (driver.Stmt, error)          { return nil, errors.ErrUnsupported }
func (v saysVersion) Begin() (driver.Tx, error)                    { return nil, errors.ErrUnsupported }
func (v saysVersion) Close() error                                 { return nil }
func (v saysVersion) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if query != "select version()" {
		return nil, errors.New("no such function")
	}
	return &oneText{text: string(v)}, nil
}

// oneText is a row with a text.
type oneText struct {
	text string
	read bool
}

func (r *oneText) Columns() []string { return []string{"version"} }
func (r *oneText) Close() error      { return nil }
func (r *oneText) Next(row []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read, row[0] = true, r.text
	return nil
}

// TestQueriesAreReadAsTheGivenDatabaseReadsThem holds that the kind of a database that the caller has opened is asked for, and not
// taken for SQLite.
func TestQueriesAreReadAsTheGivenDatabaseReadsThem(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ version, query, refused string }{
		"MariaDB":                     {"10.11.6-MariaDB", `select id from orders where note <> 'it\'s' and note = :marker # it's the row`, ""},
		"MySQL":                       {"8.0.36", `select id from orders where note <> "\"" and note = :marker`, ""},
		"PostgreSQL":                  {"PostgreSQL 16.1", `select id from orders where note <> e'it\'s' and note = :marker`, ""},
		"a comment of MariaDB":        {"10.11.6-MariaDB", `select id from orders # where note = :marker`, "stands in quotes or in a comment"},
		"an operator of PostgreSQL's": {"PostgreSQL 16.1", `select id from orders where data #>> '{note}' = :marker`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := []byte(`name: shop
base_url: http://127.0.0.1:8080
operations:
  create:
    request: {path: /orders, body: {note: "{{.Intent.Marker}}"}}
    key: {in: header}
    rows:
      query: |
        ` + row.query + "\n")
			db := sql.OpenDB(saysVersion(row.version))
			t.Cleanup(func() { _ = db.Close() })
			system, err := sut.Load(t.Context(), sut.Options{Target: "shop", Source: source, DB: db})
			if row.refused != "" {
				require.ErrorContains(t, err, row.refused)
				return
			}
			require.NoError(t, err)
			require.NoError(t, system.Close())
		})
	}
}
