package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestALoginsLimitThatIsUsedUpIsNoFailure holds that a target which lets no login through for its rate limit ends a run without a verdict, and that
// what is printed says so, and what to do.
func TestALoginsLimitThatIsUsedUpIsNoFailure(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method+" "+r.URL.Path != "POST /login" {
			return false
		}
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	got := o.trial(t, formFile, "plain-create").run(t)
	require.Equal(t, exitInconclusive, got.code, "%s", got)
	require.Contains(t, got.err, "login[1] (POST /login) for the principal alice was answered 429")
	require.Contains(t, got.err, "the target limits the rate of logins, and lets no more through for now: run again when it does, lift the limit for tests")
}
