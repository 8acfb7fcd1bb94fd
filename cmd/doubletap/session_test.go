package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// forgetful puts a login in front of a shop, whose sessions are over after so many creates; then nobody is known,
// and is told so.
func forgetful(creates int, tell http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		var mu sync.Mutex
		logins, left := 0, 0
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			if r.URL.Path == "/login" {
				logins, left = logins+1, creates
				fmt.Fprintf(w, `{"token": "token-of-session-%d"}`, logins)
				mu.Unlock()
				return
			}
			known := left > 0 && r.Header.Get("Authorization") == fmt.Sprintf("Bearer token-of-session-%d", logins)
			if known && r.Method == http.MethodPost {
				left--
			}
			mu.Unlock()
			if !known && r.URL.Path != "/" {
				tell(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func unauthorized(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "log in", http.StatusUnauthorized)
}

func toTheLogin(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/login?next=/things", http.StatusSeeOther)
}

// TestASessionThatEndsBeforeTheFinalProbeIsRenewed holds that it is told from a target that refuses repetitions.
func TestASessionThatEndsBeforeTheFinalProbeIsRenewed(t *testing.T) {
	t.Parallel()
	for _, tell := range []http.HandlerFunc{unauthorized, toTheLogin} {
		x := newShop(t, forgetful(15, tell)).trial(t, "plain-create")
		x.file = behindALogin()
		got := x.run(t)
		require.Equal(t, exitPass, got.code, "%s", got)
		require.Contains(t, strings.Join(strings.Fields(got.out), " "), "unauthenticated, and answered after a new login: the session had expired")
		requireNowhere(t, x.reports, "token-of-session-1")
		requireNowhere(t, x.reports, "token-of-session-2")
	}

	var asked sync.Map // a target that knows nobody who asks again breaks its promise, however often one logs in
	x := newShop(t, func(next http.Handler) http.Handler {
		next = forgetful(1000, unauthorized)(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if key := r.Header.Get("Idempotency-Key"); key != "" {
				if _, again := asked.LoadOrStore(key, true); again {
					http.Error(w, "log in", http.StatusUnauthorized)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}).trial(t, "plain-create")
	x.file = behindALogin()
	got := x.run(t)
	require.Equal(t, exitFinding, got.code, "%s", got)
	require.Contains(t, got.out, "Once acknowledged, a repetition is not rejected.")
}

// behindALogin is a target file of a shop that one has to log in to.
func behindALogin() string {
	return strings.Replace(edited("${SHOP_TOKEN:-none}", "{{.Login.Token}}"), "operations:", "login: [{request: {path: /login}, take: {Token: {json: /token}}}]\noperations:", 1)
}

// TestASessionThatEndsInMidRunIsNoBrokenPromise holds that it is said, and that the next scenario logs in anew.
func TestASessionThatEndsInMidRunIsNoBrokenPromise(t *testing.T) {
	t.Parallel()
	x := newShop(t, forgetful(20, toTheLogin)).trial(t, "sequential-replay", "plain-create")
	x.file = behindALogin()
	got := x.run(t)
	require.Equal(t, exitInconclusive, got.code, "%s", got)
	require.Regexp(t, `sequential-replay +inconclusive`, got.out)
	text := strings.Join(strings.Fields(got.out), " ")
	require.Regexp(t, `the login was rejected after \d+ requests that succeeded, and every time from then on \(status 303\): did the session expire\?`, text)
	require.Regexp(t, `plain-create +pass`, got.out, "it has a login of its own")
}
