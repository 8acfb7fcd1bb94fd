package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInitSaysThatItsBurstStoppedTheService holds that copies which wait for each other are spoken of, as where each create needs two
// connections out of a pool of two. A service that gives up waiting, and says so, is another matter.
func TestInitSaysThatItsBurstStoppedTheService(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		patience time.Duration
		says     func(require.TestingT, any, any, ...any)
	}{
		"it waits for ever": {time.Hour, require.Contains},
		"it gives up":       {50 * time.Millisecond, require.NotContains},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over, pool := make(chan struct{}), make(chan struct{}, 2)
			shop := newShop(t, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					select {
					case pool <- struct{}{}:
					case <-over:
						return
					}
					defer func() { <-pool }()
					for came := time.Now(); len(pool) < cap(pool) && time.Since(came) < 300*time.Millisecond; { // copies that come at once meet
						time.Sleep(time.Millisecond)
					}
					select {
					case pool <- struct{}{}:
						<-pool
						next.ServeHTTP(w, r)
					case <-time.After(c.patience):
						w.WriteHeader(http.StatusServiceUnavailable)
					case <-over:
					}
				})
			})
			t.Cleanup(func() { close(over) })
			env := map[string]string{"DATABASE_URL": "sqlite://" + shop.path}
			file, got := initiated(t, env, exitPass, "--curl", `curl -H 'Idempotency-Key: k-1' -d '{"note": "a lamp"}' `+shop.url+"/things", "--db", env["DATABASE_URL"])
			text := strings.NewReplacer("\n# ", " ", "\n", " ").Replace(readFile(t, file))
			for _, says := range []string{"copies of a create that were sent at once got no answer", "restart the service before a run"} {
				c.says(t, got.out+got.err, says)
				c.says(t, text, says)
			}
		})
	}
}
