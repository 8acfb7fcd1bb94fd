package cmd

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// forgetful puts a login in front of a shop, whose sessions are over after so many creates; then nobody is known.
func forgetful(creates int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		var mu sync.Mutex
		logins, left := 0, 0
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			if r.URL.Path == "/login" {
				logins, left = logins+1, creates
				fmt.Fprintf(w, `{"token": "token-%d"}`, logins)
				mu.Unlock()
				return
			}
			known := left > 0 && r.Header.Get("Authorization") == fmt.Sprintf("Bearer token-%d", logins)
			if known && r.Method == http.MethodPost {
				left--
			}
			mu.Unlock()
			if !known && r.Method == http.MethodPost {
				http.Error(w, "log in", http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// TestASessionThatEndsInMidRunIsNoBrokenPromise holds that it is said, and that the next scenario logs in anew.
func TestASessionThatEndsInMidRunIsNoBrokenPromise(t *testing.T) {
	t.Parallel()
	x := newShop(t, forgetful(20)).trial(t, "sequential-replay", "plain-create")
	x.file = strings.Replace(edited("${SHOP_TOKEN:-none}", "{{.Login.Token}}"), "operations:", "login: [{request: {path: /login}, take: {Token: {json: /token}}}]\noperations:", 1)
	got := x.run(t)
	require.Equal(t, exitInconclusive, got.code, "%s", got)
	require.Regexp(t, `sequential-replay +inconclusive`, got.out)
	text := strings.Join(strings.Fields(got.out), " ")
	require.Regexp(t, `the login was refused after \d+ requests that went through, and from then on every time \(status 401\): does the session end\?`, text)
	require.Regexp(t, `plain-create +pass`, got.out, "it has a login of its own")
}
