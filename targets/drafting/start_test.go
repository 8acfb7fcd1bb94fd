package drafting

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets/databases"
)

// TestStartFindsPortAndDatabase holds that a process gets a port and a database of each run in the way that the environment shows.
func TestStartFindsPortAndDatabase(t *testing.T) {
	t.Parallel()
	const base, database = "http://127.0.0.1:8080/api", "postgres://shop:secret@127.0.0.1:5432/shop"
	for _, c := range []struct {
		command, line string
		words         []string
		env           map[string]string
		free          bool
	}{
		{"node server.js", "PORT=8080", []string{"node", "server.js"}, map[string]string{"PORT": "{{.Port}}"}, true},
		{"node server.js", "export HTTP_PORT='8080'", []string{"node", "server.js"}, map[string]string{"HTTP_PORT": "{{.Port}}"}, true},
		{"./shop -listen 127.0.0.1:8080", "A=b", []string{"./shop", "-listen", "127.0.0.1:{{.Port}}"}, map[string]string{}, true},
		{"flask run --port=8080", "A=b", []string{"flask", "run", "--port={{.Port}}"}, map[string]string{}, true},
		{"./shop 18080", "PORT=9090", []string{"./shop", "18080"}, map[string]string{}, false},
		{"./shop", "DB=postgres://shop:secret@127.0.0.1/shop?sslmode=disable", []string{"./shop"}, map[string]string{"DB": "{{.Database.URL}}"}, false},
		{"./shop", "DB=postgresql+asyncpg://shop:secret@localhost:5432/shop?a=b", []string{"./shop"},
			map[string]string{"DB": "postgresql+asyncpg://{{.Database.User}}:{{.Database.Password}}@{{.Database.Host}}:{{.Database.Port}}/shop?a=b"}, false},
		{"./shop", "JDBC_URL=jdbc:postgresql://127.0.0.1:5432/shop", []string{"./shop"}, map[string]string{"JDBC_URL": "jdbc:postgresql://{{.Database.Host}}:{{.Database.Port}}/shop"}, false},
		{"./shop --dsn=postgres://shop:secret@127.0.0.1:5432/shop", "A=b", []string{"./shop", "--dsn={{.Database.URL}}"}, map[string]string{}, false},
		{"./shop --port={{.Port}} --db '{{ .Database.Host }}'", "A=b", []string{"./shop", "--port={{.Port}}", "--db", "{{.Database.Host}}"}, map[string]string{}, true},
		{"./shop --format '{{.Name}} $'", "A=b", []string{"./shop", "--format", `{{"{{"}}.Name}} $$`}, map[string]string{}, false},
		{"env DB=postgres://shop:secret@127.0.0.1:5432/shop PORT=8080 ./shop", "A=b", []string{"env", "DB={{.Database.URL}}", "PORT={{.Port}}", "./shop"}, map[string]string{}, true},
		{"sh -c 'DB=postgres://shop:secret@127.0.0.1:5432/shop ./shop'", "A=b", []string{"sh", "-c", "DB={{.Database.URL}} ./shop"}, map[string]string{}, false},
		{"./shop", "DB_HOST=localhost\nDB_PORT=5432", []string{"./shop"}, map[string]string{"DB_HOST": "{{.Database.Host}}", "DB_PORT": "{{.Database.Port}}"}, false},
		{"./shop", "PGHOST=127.0.0.1\nPGPORT=5432", []string{"./shop"}, map[string]string{"PGHOST": "{{.Database.Host}}", "PGPORT": "{{.Database.Port}}"}, false},
		{"./shop", "DB_HOST=127.0.0.1\nDB_PORT=5433", []string{"./shop"}, map[string]string{}, false},
		{"./shop", "DB=postgresql://admin:other@127.0.0.1:5432/shop", []string{"./shop"}, map[string]string{}, false},
		{"./shop", "DB=postgresql://127.0.0.1:5432/shop?password=secret", []string{"./shop"}, map[string]string{}, false},
		{"./shop", "DB=postgres://127.0.0.1/other", []string{"./shop"}, map[string]string{}, false},
		{"./shop", "DB=mysql://127.0.0.1:5432/shop", []string{"./shop"}, map[string]string{}, false},
	} {
		s, err := ReadStart(c.command, strings.Split(c.line, "\n"), base, database)
		require.NoError(t, err)
		require.Equal(t, c.words, s.Command)
		require.Equal(t, c.env, s.Env, c.line)
		require.Equal(t, c.free, s.FreePort, c)
	}
	for _, wrong := range []string{"", "node 'server.js", "migrate && serve"} {
		_, err := ReadStart(wrong, nil, base, database)
		require.Error(t, err, wrong)
	}
}

// TestAcceptedWorkHasTimeAfterACrash holds that a queue may wait before it gives out again what a dead worker held.
func TestAcceptedWorkHasTimeAfterACrash(t *testing.T) {
	t.Parallel()
	queued := Answer{Status: 202, Body: map[string]any{"state": "queued"}}
	for _, start := range []*Start{nil, {Command: []string{"node"}}} {
		f := File{
			Target: "shop", Source: "a test", BaseURL: "http://localhost", Database: true, Start: start, Proof: &Proof{Table: databases.Table{Name: "jobs"}, Where: Where{Column: "note", Exact: true}, Text: "/note"},
			Draft: Draft{Name: "create", Method: "POST", Path: "/jobs", Body: map[string]any{"note": "a"}, Texts: []string{"/note"}, Key: InHeader("Idempotency-Key")},
		}
		f.Learn(Repeated{First: queued, Again: queued, Rows: 1})
		text, err := f.Text()
		require.NoError(t, err)
		require.Equal(t, start != nil, strings.Contains(text, "within: 10s, recovery: 60s}"), text)
	}
}
