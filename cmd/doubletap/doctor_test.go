package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// examined lets the doctor look at a trial's target, and wants this exit code and these words.
func (x trial) examined(t *testing.T, code int, says ...string) {
	t.Helper()
	args := []string{"doctor", "--target", writeFile(t, "target.yaml", x.file)}
	if at := slices.Index(x.args, "--pilot-timeout"); at >= 0 {
		args = append(args, x.args[at:at+2]...)
	}
	got := callWith(t.Context(), x.env, args...)
	require.Equal(t, code, got.code, "%s", got)
	text := strings.Join(strings.Fields(got.out), " ")
	for _, words := range says {
		require.Contains(t, text, strings.Join(strings.Fields(words), " "), "%s", got)
	}
	require.Empty(t, got.err, "all is said line by line")
}

// wrapped makes a shop's answers pass through change.
func wrapped(change func(answer *httptest.ResponseRecorder, n int)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		var n atomic.Int64
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			change(answer, int(n.Add(1)))
			for name, values := range answer.Header() {
				w.Header()[name] = values
			}
			w.WriteHeader(answer.Code)
			_, _ = w.Write(answer.Body.Bytes())
		})
	}
}

// TestTheDoctorNamesTheCause is the list of what is wrong beyond what a run would say itself; the tables of
// TestOneClearMessage and TestTargetsThatAreNone are examined as well.
func TestTheDoctorNamesTheCause(t *testing.T) {
	t.Parallel()
	postgres, err := url.Parse(os.Getenv(postgresVariable))
	require.NoError(t, err)
	wrongPassword, nowhere := *postgres, *postgres
	wrongPassword.User = url.UserPassword(postgres.User.Username(), "wrong-password")
	nowhere.Host = strings.TrimPrefix(freeAddress(t), "http://")
	for name, c := range map[string]struct {
		wrap     func(http.Handler) http.Handler
		file     string
		database string
		code     int
		says     []string
	}{
		"nothing": {
			nil, shopFile, "", exitPass,
			[]string{"✓ plain create", "✓ identity found at /id", "! received", "! write gate not declared", "✓ clock", "✓ repetition", "✓ burst", "· not tried", "ready:"},
		},
		"the password is wrong":      {nil, shopFile, wrongPassword.String(), exitEnvironment, []string{"✗ database", "password authentication failed", "a run would end here"}},
		"the database is not there":  {nil, shopFile, nowhere.String(), exitEnvironment, []string{"✗ database", "connection refused"}},
		"the file is not there":      {nil, shopFile, "sqlite:///nowhere/shop.db", exitEnvironment, []string{"✗ database", "unable to open"}},
		"there is no database":       {nil, strings.Split(shopFile, "database:")[0] + "operations:" + strings.Split(strings.Split(shopFile, "operations:")[1], "    rows:")[0], "", exitPass, []string{"! database none is declared"}},
		"the host is another's":      {nil, edited("${SHOP_URL}", "https://shop.example.com"), "", exitConfig, []string{"✗ hosts", "shop.example.com", "allow_hosts: [shop.example.com]"}},
		"the table cannot be locked": {nil, gatedShop("thingz"), "", exitPass, []string{"✗ write gate", "thingz", "leave database.write_gate out"}},
		"the table can be locked":    {nil, gatedShop("things"), "", exitPass, []string{"✓ write gate writes to things can be held back"}},
		"the identity is not said":   {nil, edited("    identity: /id\n", ""), "", exitPass, []string{"! identity not declared"}},
		"the rate limit is slow":     {nil, shopFile + "rate_limit: {requests: 200, per: 100h}\n", "", exitPass, []string{"! rate limit 200 requests in 100h0m0s: a run of the whole library, of up to", "takes up to ", "name fewer scenarios"}},
		"the rate limit will do":     {nil, shopFile + "rate_limit: {requests: 200, per: 1s}\n", "", exitPass, []string{"✓ rate limit 200 requests in 1s: a run of the whole library", "takes up to"}},
		"the clock is wrong": {wrapped(func(a *httptest.ResponseRecorder, _ int) {
			a.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
		}), shopFile, "", exitPass, []string{"! clock", "the target's is 1h0m"}},
		"a repetition has another body": {wrapped(func(a *httptest.ResponseRecorder, n int) {
			a.Body.WriteString(strings.Repeat(" ", n))
			a.Code = 200 + n%2
		}), shopFile, "", exitFinding, []string{"✗ repetition replay-mismatch", "say in contract what it promises"}},
		"a repetition fails": {
			wrapped(func(a *httptest.ResponseRecorder, n int) {
				if n > 5 {
					a.Code = http.StatusInternalServerError
				}
			}), shopFile, "", exitFinding, []string{"✗ repetition refused-though-done"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newShop(t, c.wrap).trial(t)
			x.file = c.file
			if c.database != "" {
				x.env["SHOP_DATABASE"] = c.database
			}
			x.examined(t, c.code, c.says...)
		})
	}
}

func TestTheDoctorLeavesNoFiles(t *testing.T) {
	before, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	newShop(t, nil).trial(t).examined(t, exitPass, "ready:")
	after, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	for _, entry := range after {
		known := false
		for _, old := range before {
			known = known || old.Name() == entry.Name()
		}
		require.True(t, known || !strings.HasPrefix(entry.Name(), "doubletap-doctor-"), entry.Name())
	}
}
