package targets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/targets"
)

func TestAURLWithoutASchemeIsToldWithWhatIsExpected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, database, want string }{
		{"localhost:8080", "sqlite:///x.db", `f.yaml:2:11: base_url: expected a URL that begins with http:// or https://, got "localhost:8080", did you mean "http://localhost:8080"?`},
		{"127.0.0.1:8080", "sqlite:///x.db", `f.yaml:2:11: base_url: expected a URL that begins with http:// or https://, got "127.0.0.1:8080", did you mean "http://127.0.0.1:8080"?`},
		{"http://127.0.0.1", "localhost:5432/shop", `f.yaml:3:17: database.url: expected a URL with a scheme, such as postgres://USER@HOST:PORT/NAME; the schemes are sqlite, postgres, postgresql, mysql or mariadb`},
		{"http://127.0.0.1", "jdbc:postgresql://localhost/shop", `f.yaml:3:17: database.url: expected a URL such as postgres://USER@HOST:PORT/NAME, without jdbc:`},
		{"http://127.0.0.1", "postgress://localhost/shop", `f.yaml:3:17: database.url: unknown scheme "postgress", did you mean "postgres"? the schemes are sqlite, postgres, postgresql, mysql or mariadb`},
	} {
		file := "name: n\nbase_url: " + c.base + "\ndatabase: {url: \"" + c.database + `"}
operations:
  create:
    request: {path: /orders, body: {note: "{{.Intent.Marker}}"}}
    rows: {query: "select id from orders where note = :marker"}
`
		_, err := targets.Load("f.yaml", []byte(file), nil)
		require.EqualError(t, err, c.want)
	}
}
