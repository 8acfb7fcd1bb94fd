package driver_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// stepped is a rig whose target has steps of every kind, and which keeps to the address for them.
func stepped(t *testing.T, s scenarios.Scenario, handler http.HandlerFunc) *rig {
	t.Helper()
	address := serve(t, handler)
	r := newRigFor(t, address, s)
	r.Target.BaseURL = "http://" + address
	r.Target.Login = []targets.Step{{
		Request: targets.Request{Path: "/login", Body: map[string]any{"token": "{{.Principal.Token}}"}},
		Extract: map[string]targets.Extract{"Token": {Header: "X-Given"}},
	}}
	o := &r.Operations[0].Operation
	o.Request.Path = "/customers/{{.Prepared.Customer}}/orders"
	o.Request.Header = map[string]string{"X-Short": "{{.Login.Token}}", "Cookie": "cart={{.Prepared.Cart}}"}
	o.Request.Body["echo"] = "{{.Prepared.Cart}}"
	o.Prepare = []targets.Step{{
		Request: targets.Request{Path: "/customers/{{.Intent.Marker}}"},
		Extract: map[string]targets.Extract{"Customer": {Header: "X-Given"}, "Cart": {Cookie: "cart"}},
	}}
	o.Key.Issued = []targets.Step{{
		Request: targets.Request{Method: "GET", Path: "/form"}, Extract: map[string]targets.Extract{"Form": {Header: "X-Given"}},
	}, {
		Request: targets.Request{Method: "GET", Path: "/form/{{.Issued.Form}}"}, Extract: map[string]targets.Extract{"Key": {Header: "X-Given"}},
	}}
	o.Cleanup = []targets.Step{{Request: targets.Request{Method: "DELETE", Path: "/customers/{{.Prepared.Customer}}"}}}
	return r
}

// giving answers every step with something that no other step was given.
func giving(seen *ledger) http.HandlerFunc {
	var given atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		what := strings.Split(r.URL.Path, "/")[1]
		seen.add(fmt.Sprintf("%s %s key=%s short=%s", r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"), r.Header.Get("X-Short")))
		n := given.Add(1)
		w.Header().Set("X-Given", fmt.Sprintf("%s%d", what, n))
		http.SetCookie(w, &http.Cookie{Name: "cart", Value: fmt.Sprintf("secret-cart-%d", n)})
		w.Write(body) // an API may echo what it was sent
	}
}

func twins(intents int, steps ...scenarios.Step) scenarios.Scenario {
	return scenarios.Scenario{Name: "trial", Intents: intents, Concurrency: 1, Twins: 2, Steps: steps}
}

func TestEveryIntentHasWhatItTakesAndEveryKeyIsIssued(t *testing.T) {
	t.Parallel()
	seen := &ledger{}
	retried := plain()
	retried.Retry = &scenarios.Retry{Max: 2, Key: scenarios.FreshKey, On: []scenarios.RetryOn{"200"}}
	fresh := plain()
	fresh.Key = scenarios.FreshKey
	r := stepped(t, twins(4, scenarios.Step{Send: &retried}, scenarios.Step{Send: &fresh}, send()), giving(seen))
	require.Equal(t, 2*2+2*4*4, r.Steps())
	require.NoError(t, r.SetUp(t.Context()))
	require.Len(t, seen.all(), 1+2+2*4*4, "one login, two families, four keys for each intent")
	r.drive(t)
	r.CleanUp(t.Context())
	h := r.history(t)

	keys := map[string]string{}
	customers := map[string]string{}
	for _, a := range h.Attempts {
		require.Regexp(t, `^form\d+$`, a.Key)
		if who, twice := keys[a.Key]; twice {
			require.Equal(t, who, a.Intent)
		}
		keys[a.Key] = a.Intent
	}
	require.Len(t, keys, 4*4)
	for _, i := range h.Intents {
		body := i.Bodies[history.Original]
		customers[body.Path] = body.Marker
		require.Equal(t, "***", body.Header["X-Short"], "what a login gave is a secret, however short")
		require.Contains(t, body.Content, `"echo":"***"`, "and so is a cookie")
	}
	require.Len(t, customers, 2, "twins share what was prepared")
	require.NotContains(t, string(r.file.bytes()), "secret-cart")
	require.Equal(t, r.sender.Logins(), map[string]map[string]string{"alice": {"Token": "login1"}})
	gone := 0
	for what := range seen.tally() {
		if strings.HasPrefix(what, "DELETE ") {
			gone++
		}
	}
	require.Equal(t, 2, gone)
	require.Len(t, h.Steps, 1+2+2*4*4+2)
	for _, s := range h.Steps {
		require.Empty(t, s.Error)
		require.Equal(t, 200, s.Status)
		require.Greater(t, s.End, s.Start)
	}
}

func TestALoginThatIsThereIsUsed(t *testing.T) {
	t.Parallel()
	seen := &ledger{}
	r := stepped(t, twins(2, send()), giving(seen))
	r.Logins = map[string]map[string]string{"alice": {"Token": "from-before"}}
	r.Operations[0].Request.Body["who"] = "{{.Login.Token}}"
	require.NoError(t, r.SetUp(t.Context()))
	r.drive(t)
	require.NotContains(t, strings.Join(seen.all(), "\n"), "/login")
	require.Contains(t, strings.Join(seen.all(), "\n"), "short=from-before")
	require.NotContains(t, string(r.file.bytes()), "from-before")
}

// TestALoginThatHasExpiredIsDoneAnew holds that a step which is not taken with the login of an earlier scenario is sent with a new one, unless
// the login is new, the target counts what it gets, or the step is refused for something else.
func TestALoginThatHasExpiredIsDoneAnew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuses string // the path that takes no old login
		status  int
		logins  map[string]map[string]string
		counts  bool
		fails   bool
	}{
		"in prepare":                 {"customers", http.StatusUnauthorized, map[string]map[string]string{"alice": {"Token": "old"}}, false, false},
		"for a key":                  {"form", http.StatusUnauthorized, map[string]map[string]string{"alice": {"Token": "old"}}, false, false},
		"for something else":         {"form", http.StatusForbidden, map[string]map[string]string{"alice": {"Token": "old"}}, false, true},
		"where requests are counted": {"form", http.StatusUnauthorized, map[string]map[string]string{"alice": {"Token": "old"}}, true, true},
		"of this scenario":           {"form", http.StatusUnauthorized, nil, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := &ledger{}
			gives := giving(seen)
			r := stepped(t, twins(2, send()), func(w http.ResponseWriter, q *http.Request) {
				if token := q.Header.Get("X-Short"); strings.HasPrefix(q.URL.Path, "/"+c.refuses) && (token == "old" || c.logins == nil) {
					w.WriteHeader(c.status)
					return
				}
				gives(w, q)
			})
			r.Logins = c.logins
			o := &r.Operations[0].Operation
			for _, steps := range [][]targets.Step{o.Prepare, o.Key.Issued} {
				for n := range steps {
					steps[n].Request.Header = map[string]string{"X-Short": "{{.Login.Token}}"}
				}
			}
			if c.counts {
				r.Target.Received = &targets.Received{}
			}
			r.Hooks.Unauthenticated = func(a history.Attempt) bool { return a.Status == http.StatusUnauthorized }
			err := r.SetUp(t.Context())
			if c.fails {
				require.ErrorIs(t, err, driver.ErrStep)
				return
			}
			require.NoError(t, err)
			h := r.drive(t)
			all := strings.Join(seen.all(), "\n")
			require.Equal(t, 1, strings.Count(all, "POST /login"), all)
			require.NotContains(t, all, "/orders key= ", all)
			for _, a := range h.Attempts {
				require.Equal(t, http.StatusOK, a.Status)
			}
			require.Len(t, h.Attempts, 2)
		})
	}
}

func TestAKeyThatIsIssuedTwiceIsNone(t *testing.T) {
	t.Parallel()
	r := stepped(t, twins(2, send()), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Given", "same")
		http.SetCookie(w, &http.Cookie{Name: "cart", Value: "c"})
	})
	err := r.SetUp(t.Context())
	require.ErrorIs(t, err, driver.ErrStep)
	require.ErrorContains(t, err, "operations.create.key.issued gave the same key twice")
	r.CleanUp(t.Context())
	require.Equal(t, history.Cleanup, r.history(t).Steps[len(r.history(t).Steps)-1].For, "what was prepared is cleaned up")
}

func TestAStepIsSentOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	address := serveRaw(t, func(p *peer) {
		p.request()
		asked.Add(1)
		p.reset()
	})
	r := newRig(t, address, send())
	r.Target.BaseURL = "http://" + address
	r.Target.Login = []targets.Step{{Request: targets.Request{Method: "GET", Path: "/login?{{.Principal.Token}}"}}}
	err := r.SetUp(t.Context())
	require.ErrorIs(t, err, driver.ErrStep)
	require.ErrorContains(t, err, "login[0] (GET /login?***) for the principal alice got no answer: ")
	require.EqualValues(t, 1, asked.Load())
	steps := r.history(t).Steps
	require.Len(t, steps, 1)
	require.Equal(t, "/login?***", steps[0].Path)
}

func TestARateLimitIsKept(t *testing.T) {
	t.Parallel()
	const per = 100 * time.Millisecond
	address := serve(t, func(http.ResponseWriter, *http.Request) {})
	r := newRigFor(t, address, scenarios.Scenario{Name: "trial", Intents: 3, Concurrency: 3, Steps: []scenarios.Step{burst(4)}})
	r.Pace = driver.NewPace(&targets.RateLimit{Requests: 4, Per: contract.Duration(per)})
	h := r.drive(t)
	require.Len(t, h.Attempts, 12)
	first := map[string]history.Offset{}
	last := history.Offset(0)
	for _, a := range h.Attempts {
		if first[a.Intent] == 0 || a.Start < first[a.Intent] {
			first[a.Intent] = a.Start
		}
		last = max(last, a.Start)
	}
	require.GreaterOrEqual(t, last.Duration(), 2*per, "the third burst waits until two are paid for")
	require.ErrorContains(t, r.Pace.Wait(t.Context(), 5), "5 requests at once are more than the 4")
}

func TestABurstLargerThanTheLimitIsNotSent(t *testing.T) {
	t.Parallel()
	address := serve(t, func(http.ResponseWriter, *http.Request) { require.Fail(t, "sent") })
	r := newRig(t, address, burst(5))
	r.Pace = driver.NewPace(&targets.RateLimit{Requests: 4, Per: contract.Duration(time.Second)})
	require.ErrorContains(t, r.Drive(t.Context()), "rate_limit")
}

func TestARefusalAtTheDoorHoldsEverybodyBack(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	r := newRigFor(t, address, scenarios.Scenario{Name: "trial", Intents: 2, Concurrency: 1, Steps: []scenarios.Step{send()}})
	r.Pace = driver.NewPace(nil)
	r.Hooks.Throttled = func(a history.Attempt) bool { return a.Status == http.StatusTooManyRequests }
	h := r.drive(t)
	require.Len(t, h.Attempts, 2)
	require.GreaterOrEqual(t, (h.Attempts[1].Start - h.Attempts[0].End).Duration(), 990*time.Millisecond)
}

// TestALoginIsSentAgainWhenItsLimitLetsIt holds that a login which is turned away for a rate limit is sent when its answer lets it, so
// often and no more.
func TestALoginIsSentAgainWhenItsLimitLetsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		turned int64 // away, before one is let through
		header string
		logins int64
		fails  string
	}{
		"in so many seconds":           {1, "Retry-After", 2, ""},
		"when the limit begins anew":   {2, "RateLimit-Reset", 3, ""},
		"it does not say when":         {1, "X-Other", 2, ""},
		"it lets none through, at all": {100, "Retry-After", 3, "login[0] (POST /login) for the principal alice was answered 429"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			r := stepped(t, twins(2, send()), giving(&ledger{}))
			r.Target.BaseURL = "http://" + serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Given", "token")
				if asked.Add(1) <= c.turned {
					w.Header().Set(c.header, "1")
					w.WriteHeader(http.StatusTooManyRequests)
				}
			})
			r.Operations[0].Prepare, r.Operations[0].Key.Issued = nil, nil
			var given map[string]map[string]string
			r.Hooks.LoggedIn = func(logins map[string]map[string]string) { given = logins }
			err := r.SetUp(t.Context())
			require.Equal(t, c.logins, asked.Load())
			if c.fails != "" {
				require.ErrorIs(t, err, driver.ErrStep)
				require.ErrorContains(t, err, c.fails)
				require.Nil(t, given)
				return
			}
			require.NoError(t, err)
			require.Equal(t, map[string]map[string]string{"alice": {"Token": "token"}}, given)
		})
	}
}
