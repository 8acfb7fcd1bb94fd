package servers

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server that has taken the port of another one must not be mistaken for it: it has another password.
func TestAnotherServerAtThePortIsNotOurs(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]struct {
		start func(context.Context, Options) (*Server, error)
		greet func(context.Context, site) error
	}{
		"postgres": {Postgres, greetPostgres}, "mariadb": {MariaDB, greetMariaDB}, "redis": {Redis, greetRedis}, "nats": {NATS, greetNATS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := kind.start(t.Context(), Options{})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, server.Stop()) })
			ours := server.process.where
			require.NoError(t, kind.greet(t.Context(), ours))
			others := ours
			others.password = "another"
			others.dir, err = os.MkdirTemp("", "") // its path is short enough for a socket
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, os.RemoveAll(others.dir)) })
			require.Error(t, kind.greet(t.Context(), others))
		})
	}
}
