package databases_test

import (
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/doubletap-harness/doubletap/internal/sqldrivers" // opened by their names
	"github.com/doubletap-harness/doubletap/targets/databases"
)

func TestAFileIsOpenedAsAsked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b%20c?.db")
	address := (&url.URL{Scheme: "sqlite", Path: path}).String()
	for _, mode := range []databases.Mode{databases.ReadOnly, databases.ReadWrite} {
		_, err := databases.Open(t.Context(), address, mode)
		require.ErrorContains(t, err, "reach database at "+path)
		require.NoFileExists(t, path, "a missing file is not made")
	}
	require.NoError(t, os.WriteFile(path, nil, 0o600))

	written, err := databases.Open(t.Context(), address, databases.ReadWrite)
	require.NoError(t, err)
	defer written.Close()
	require.Equal(t, databases.SQLite, written.Dialect)
	require.Equal(t, path, written.Host)
	_, err = written.Exec("create table things (id int)")
	require.NoError(t, err)

	read, err := databases.Open(t.Context(), address, databases.ReadOnly)
	require.NoError(t, err)
	defer read.Close()
	_, err = read.Exec("insert into things values (1)")
	require.Error(t, err)
	require.ErrorIs(t, read.QueryRow("select id from things").Scan(new(int)), sql.ErrNoRows)
}

// SQLAlchemy and what follows it write an absolute path with a slash more: sqlite:////tmp/shop.db.
func TestAFileIsFoundHoweverManySlashesLeadToIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	for _, slashes := range []string{"sqlite:", "sqlite://", "sqlite:///", "sqlite:////"} {
		db, err := databases.Open(t.Context(), slashes+filepath.ToSlash(path), databases.ReadOnly)
		require.NoError(t, err, slashes)
		require.Equal(t, path, db.Host, slashes)
		require.NoError(t, db.Close())
	}
}

func TestOpenSaysWhatIsWrongAndNotThePassword(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ url, says string }{
		"an unknown scheme":   {"oracle://u:hunter22@h/d", "expected sqlite, postgres, mysql or mariadb"},
		"no scheme":           {"/tmp/orders.db", "expected sqlite, postgres, mysql or mariadb"},
		"not a URL":           {"postgres://u:hunter22@h:port/%zz", "cannot be parsed"},
		"not the driver's":    {"postgres://u:hunter22@127.0.0.1:1/d?sslmode=perhaps", "127.0.0.1:1"},
		"nobody listens":      {"postgresql://u:hunter22@127.0.0.1:1/d", "reach database at 127.0.0.1:1"},
		"nobody listens (my)": {"mysql://u:hunter22@127.0.0.1:1/d", "reach database at 127.0.0.1:1"},
	} {
		_, err := databases.Open(t.Context(), c.url, databases.ReadOnly)
		require.ErrorContains(t, err, c.says, name)
		require.NotContains(t, err.Error(), "hunter22", name)
		require.NotContains(t, err.Error(), "\n", name)
	}
}

func TestHostsAreAllThatADriverMayCall(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][]string{
		"sqlite:///tmp/orders.db":                        nil,
		"mariadb://u:p@db.example:3307/d":                {"db.example"},
		"mysql://u:p@[::1]/d":                            {"::1"},
		"postgres://u:p@one.example:1,two.example:2/d":   {"one.example", "two.example"},
		"postgres://u:p@one.example/d?host=real.example": {"real.example"},
		"postgres:///d?host=/run/postgresql":             {"/run/postgresql"},
	} {
		hosts, err := databases.HostsOf(address)
		require.NoError(t, err, address)
		require.Equal(t, want, hosts, address)
	}
	_, err := databases.HostsOf("postgres://u:hunter22@h:port/%zz")
	require.ErrorContains(t, err, "cannot be parsed")
	_, err = databases.HostsOf("postgres://u:hunter22@h/d?sslmode=perhaps")
	require.ErrorContains(t, err, "cannot be understood")
	require.NotContains(t, err.Error(), "hunter22")
}

func TestAnErrorOfManyLinesIsOne(t *testing.T) {
	t.Parallel()
	require.Equal(t, "failed: refused", databases.OneLine(errors.New("failed:\n\trefused\n\trefused")))
}

func TestParametersAreNumberedWhereTheDriverWantsIt(t *testing.T) {
	t.Parallel()
	require.Equal(t, "$2", databases.PostgreSQL.Parameter(2))
	require.Equal(t, "?", databases.MariaDB.Parameter(2))
	require.Equal(t, "?", databases.SQLite.Parameter(2))
}

// TestAURLMayBeThatOfAnotherClient holds that what a URL says to Prisma, to a pool or to JDBC keeps no driver from its server, and that what the
// server or the driver does not know for another reason still does.
func TestAURLMayBeThatOfAnotherClient(t *testing.T) {
	t.Parallel()
	for variable, members := range map[string][]string{
		postgresVariable: {"schema=public", "schema=public&connection_limit=5&pool_timeout=0", "pgbouncer=true", "currentSchema=shop&prepareThreshold=0", "pool_max_conns=4"},
		mariadbVariable:  {"connection_limit=5&sslaccept=accept_invalid_certs", "useSSL=false&serverTimezone=UTC&characterEncoding=utf8", "pool_recycle=60"},
	} {
		for _, more := range members {
			address := os.Getenv(variable)
			if _, query, _ := strings.Cut(address, "?"); query != "" {
				address += "&" + more
			} else {
				address += "?" + more
			}
			db, err := databases.Open(t.Context(), address, databases.ReadOnly)
			require.NoError(t, err, more)
			path := ""
			if strings.Contains(more, "shop") {
				require.NoError(t, db.QueryRowContext(t.Context(), "show search_path").Scan(&path))
				require.Equal(t, "shop", path)
			}
			require.NoError(t, db.Close())
			_, err = databases.Open(t.Context(), address+"&shema=public", databases.ReadOnly)
			require.ErrorContains(t, err, "shema")
		}
	}
}

// TestSQLiteKeepsTablesOfItsOwn holds that the tables are known in which SQLite keeps the index of a full text, and that those of others are none.
func TestSQLiteKeepsTablesOfItsOwn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "texts.db")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	db, err := databases.Open(t.Context(), (&url.URL{Scheme: "sqlite", Path: path}).String(), databases.ReadWrite)
	require.NoError(t, err)
	defer db.Close()
	require.Empty(t, db.Shadows(t.Context()))
	_, err = db.Exec("create virtual table texts using fts5(title, body); create table orders (id int); create table orders_idx (id int)")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"texts_config", "texts_content", "texts_data", "texts_docsize", "texts_idx"}, db.Shadows(t.Context()))
}
