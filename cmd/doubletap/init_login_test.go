package main

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInitLogsInOnce holds that init and runs get by with few logins, and with another where one is taken no more: a service lets three
// through, one of which ends after so many requests, and what is created is created as by a service that counts none.
func TestInitLogsInOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ends, logins int64 }{
		"a login lasts":           {1 << 20, 2},
		"a login ends while used": {4, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logins, used atomic.Int64
			s := newShop(t, func(next http.Handler) http.Handler {
				inside := trade(next)
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					switch {
					case r.URL.Path == "/login" && logins.Add(1) > 3:
						w.WriteHeader(http.StatusTooManyRequests)
					case r.URL.Path != "/login" && r.URL.Path != "/" && logins.Load() == 1 && used.Add(1) > c.ends:
						w.WriteHeader(http.StatusUnauthorized)
					default:
						inside.ServeHTTP(w, r)
					}
				})
			})
			env := map[string]string{"DATABASE_URL": "sqlite://" + s.path, "TRADE_USER": "alice", "TRADE_PASSWORD": "s3same-0pen"}
			file, got := initiated(t, env, exitPass, "--openapi", writeFile(t, "trade.yaml", customersDocument), "--operation", "addOrder", "--url", s.url, "--db", env["DATABASE_URL"])
			require.NotContains(t, got.err, "could not be repeated")
			require.Contains(t, readFile(t, file), "level: idempotent #")
			got = callWith(t.Context(), env, "run", "sequential-replay", "--reports", t.TempDir(), "--target", file)
			require.Equal(t, exitPass, got.code, "%s", got)
			require.Equal(t, c.logins, logins.Load())
		})
	}
}
