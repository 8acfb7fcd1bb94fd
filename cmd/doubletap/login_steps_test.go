package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/rundir"
)

// requireNoSecrets holds that nothing of a login is on record.
func (x trial) requireNoSecrets(t *testing.T) {
	t.Helper()
	for _, secret := range []string{officePassword, officeSession, officeToken, "csrf & more", `csrf \u0026 more`} {
		requireNowhere(t, x.reports, secret)
	}
}

// historyOf reads what is on record of a scenario of the only run.
func (x trial) historyOf(t *testing.T, scenario string) *history.History {
	t.Helper()
	h, err := rundir.Dir{Path: onlyRun(t, x.reports)}.ReadHistory(scenario)
	require.NoError(t, err)
	return h
}

// purposes counts the steps of a history.
func purposes(h *history.History) map[history.Purpose]int {
	n := map[history.Purpose]int{}
	for _, s := range h.Steps {
		n[s.For]++
	}
	return n
}

func TestAFormWhoseTokenIsTakenInOnePiecePasses(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	played := strings.Fields("plain-create sequential-replay burst-same-key double-click tabs-one-key distinct-twins key-blank key-case altered-after withheld-answer")
	x := o.trial(t, formFile, append(played, "--inconclusive", "warn")...) // a busy machine does not get to everything
	got := x.run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Regexp(t, `key-case +n/a +0ms  the target hands its keys out`, got.out)
	require.Regexp(t, `key-blank +n/a +0ms  the target hands its keys out`, got.out)
	require.Regexp(t, `burst-same-key +pass`, got.out)
	require.EqualValues(t, 2, o.logins.Load(), "each principal logged in once")
	require.Zero(t, o.count(t, "customers"), "all were cleaned up")
	require.NotZero(t, o.count(t, "orders"))
	x.requireNoSecrets(t)

	first := x.historyOf(t, rundir.FirstPilotName)
	require.Equal(t, map[history.Purpose]int{history.Login: 4, history.Prepare: 1, history.Issue: 1, history.Cleanup: 1}, purposes(first))
	plain := x.historyOf(t, "plain-create")
	for _, step := range plain.Steps {
		if step.For == history.Cleanup {
			require.Greater(t, step.Start, plain.T2.At, "what was prepared stayed until after the last look")
		} else {
			require.Less(t, step.End, plain.Before.At, "and was there before the first")
		}
	}
	twins := x.historyOf(t, "distinct-twins")
	require.Equal(t, len(twins.Intents)/2, purposes(twins)[history.Prepare], "twins have one customer")
	require.Equal(t, len(twins.Intents)/2, purposes(twins)[history.Cleanup])
	require.Equal(t, len(twins.Intents), purposes(twins)[history.Issue], "and a form each")
}

func TestAFormWhoseTokenIsTakenInTwoPiecesIsCaught(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.broken = true
	x := o.trial(t, formFile, "burst-same-key", "--seed", "3")
	got := x.run(t)
	require.Equal(t, exitFinding, got.code, "%s", got)
	require.Regexp(t, `burst-same-key +fail.*duplicate in \d+ of 12 intents`, got.out)
	x.requireNoSecrets(t)
	x.checked(t, got)

	finding := filepath.Join(onlyRun(t, x.reports), rundir.FindingsName, "F1")
	target := writeFile(t, "target.yaml", x.file)
	again := callWith(t.Context(), x.env, "replay", finding, "--target", target, "--reports", t.TempDir(), "--until-fail", "--times", "20")
	require.Equal(t, exitFinding, again.code, "%s", again)
	shrunk := callWith(t.Context(), x.env, "shrink", finding, "--target", target, "--reports", t.TempDir(), "--budget", "5s")
	require.Contains(t, []int{exitPass, exitInconclusive}, shrunk.code, "%s", shrunk)
	o.scripted(t, x, finding, target)
	require.Equal(t, exitPass, callWith(t.Context(), x.env, "export", finding, "--target", target, "--as", "go").code)
}

// scripted holds that the script of a finding logs in, prepares, fetches keys and cleans up, shows the finding for as long as the office is
// broken, and holds no secret.
func (o *office) scripted(t *testing.T, x trial, finding, target string) {
	t.Helper()
	file := exported(t, finding, "curl", x.env, "--target", target)
	text := readFile(t, file)
	for _, secret := range []string{officePassword, officeSession, officeToken, "csrf & more"} {
		require.NotContains(t, text, secret)
	}
	env := map[string]string{"ORDERS_URL": o.url, "DATABASE_URL": x.env["OFFICE_DATABASE"], "OFFICE_PASSWORD": officePassword}
	for _, broken := range []bool{true, false} {
		o.broken = broken
		logins := o.logins.Load()
		code, out := script(t, file, env)
		require.Equal(t, map[bool]int{true: 1, false: 0}[broken], code, "%s", out)
		require.EqualValues(t, 1, o.logins.Load()-logins, "one sends, so one logs in")
		require.Zero(t, o.count(t, "customers"), "all were cleaned up")
		require.NotContains(t, out, officeToken)
	}
	env["OFFICE_PASSWORD"] = "another's"
	code, out := script(t, file, env)
	require.Equal(t, 2, code, "%s", out)
	require.Contains(t, out, "login[1] (POST /login): was answered 401")
}

func TestStepsSpeakHTTP2AsWell(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	x := o.trial(t, formFile+"protocol: http/2\n", "burst-same-key", "plain-create")
	got := x.run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
	x.requireNoSecrets(t)
}

func TestTheDoctorTakesTheStepsAsWell(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.trial(t, formFile).examined(t, exitPass, "acknowledged in", "ready:", "the target hands its keys out")
	require.Zero(t, o.count(t, "customers"))
}

// TestAStepThatFailsEndsTheRun is the list of what can go wrong before the first attempt.
func TestAStepThatFailsEndsTheRun(t *testing.T) {
	t.Parallel()
	answer := func(path string, status int, header, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method+" "+r.URL.Path != path {
				return false
			}
			if name, value, found := strings.Cut(header, ": "); found {
				w.Header().Set(name, value)
			}
			w.WriteHeader(status)
			w.Write([]byte(body))
			return true
		}
	}
	for name, c := range map[string]struct {
		refuse func(http.ResponseWriter, *http.Request) bool
		file   string
		says   []string
		not    string
	}{
		"the password is wrong": {
			nil, strings.Replace(formFile, "{{.Login.Csrf}}", "another", 1),
			[]string{"login[1] (POST /login) for the principal alice was answered 401, expected 200", `alice is not known by ***`}, officePassword,
		},
		"the token is elsewhere": {
			nil, strings.Replace(formFile, "json: /access_token", "json: /token", 1),
			[]string{"login[1] (POST /login) for the principal alice was answered 200, and there is no Token: json /token: nothing stands there; the answer has /access_token"}, officeToken,
		},
		"the login says yes in another way": {
			answer("POST /login", 201, "", `{"access_token":"`+officeToken+`x"}`), formFile,
			[]string{"login[1]", "was answered 201, expected 200"}, officeToken,
		},
		"the form is another": {
			answer("GET /login", 200, "", "<form></form>"), formFile, []string{"login[0] (GET /login) for the principal alice", "no Csrf: html input[name=csrf], attribute value: the page has no such element"}, "",
		},
		"the session is not given": {
			answer("POST /login", 200, "Set-Cookie", `{"access_token":"t"}`), formFile, []string{"no Session: cookie session: the answer does not set it"}, "",
		},
		"there are too many": {
			answer("POST /customers", 429, "Retry-After: 1", "slow down"), formFile,
			[]string{"operations.order.prepare[0] (POST /customers) for intent i001 for the principal alice was answered 429, expected 2xx or 3xx", "slow down", "rate_limit"}, "",
		},
		"the customer has no address": {
			answer("POST /customers", 201, "", "{}"), formFile, []string{"operations.order.prepare[0]", "no Customer: pattern Location: /customers/([0-9]+): nothing in the answer matches"}, "",
		},
		"the form is not there": {
			answer("GET /orders/new", 404, "", "what?"), formFile, []string{"operations.order.key.issued[0] (GET /orders/new) for intent i001 for the principal alice was answered 404", "what?"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.refuse = c.refuse
			x := o.trial(t, c.file, "plain-create", "sequential-replay")
			got := x.run(t)
			require.Equal(t, exitEnvironment, got.code, "%s", got)
			for _, text := range c.says {
				require.Contains(t, got.err, text)
			}
			require.LessOrEqual(t, lines(got.err), 1, "one message: %s", got.err)
			require.Zero(t, o.count(t, "orders"))
			require.Zero(t, o.count(t, "customers"), "what was prepared was cleaned up")
			if c.not != "" {
				require.NotContains(t, got.err+got.out, c.not)
			}
			x.requireNoSecrets(t)
			var recorded bool
			for _, pilot := range []string{rundir.FirstPilotName, rundir.PilotAcross("principals"), rundir.PilotName} {
				if h, err := (rundir.Dir{Path: onlyRun(t, x.reports)}).ReadHistory(pilot); err == nil && len(h.Incidents) > 0 {
					require.Equal(t, history.StepFailed, h.Incidents[0].Kind)
					recorded = true
				}
			}
			require.True(t, recorded, "the history says so too")
			x.checked(t, got)
		})
	}
}

func TestATargetThatIsNotThereIsNoFailedLogin(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	x := o.trial(t, formFile, "plain-create")
	x.env["OFFICE_URL"] = freeAddress(t)
	x.file = strings.Replace(x.file, "received: {path: /received, pointer: /n}\n", "", 1)
	got := x.run(t)
	require.Equal(t, exitEnvironment, got.code)
	require.Contains(t, got.err, "is the target running?")
	require.Equal(t, 1, lines(got.err))
}

func TestACleanupThatFailsIsAWarning(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			http.Error(w, "customers stay", http.StatusConflict)
			return true
		}
		return false
	}
	x := o.trial(t, formFile, "plain-create")
	got := x.run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
	require.Contains(t, strings.Join(strings.Fields(got.out), " "), "cleanups failed; the first: operations.order.cleanup[0] (DELETE /customers/")
	require.Contains(t, got.out, "customers stay")
	text, err := os.ReadFile(filepath.Join(onlyRun(t, x.reports), "report.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), "cleanup-failed")
	x.requireNoSecrets(t)
}

func TestBurstsThatARateLimitForbidsAreSaidBeforehand(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	x := o.trial(t, formFile+"rate_limit: {requests: 4, per: 20ms}\n", "burst-same-key", "tabs-one-key", "--dry-run")
	got := x.run(t)
	require.Contains(t, got.out, "burst-same-key  not applicable: it sends 10 requests at once, and the target lets 4 through (rate_limit)")
	require.Contains(t, got.out, "tabs-one-key    12 intents")
	require.Contains(t, got.out, "at most 4 requests in 20ms\n", "which is soon done")
	require.Zero(t, o.asked.Load())
	x.args = x.args[:2]
	got = x.run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
}

func TestASlowRunIsAnnounced(t *testing.T) {
	t.Parallel()
	got := newOffice(t).trial(t, formFile+"rate_limit: {requests: 20, per: 1m}\n", "tabs-one-key", "--dry-run").run(t)
	require.Regexp(t, `at most 20 requests in 1m0s, so that the run takes up to [0-9]+m[0-9]+s\n`, got.out)
}

func TestTheDoctorSaysThatAKeyIsHandedOutTwice(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.db.Exec("insert into tokens values ('of the session', 'alice')")
	o.refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/orders/new" {
			io.WriteString(w, `<input name=token value="of the session">`)
		}
		return r.URL.Path == "/orders/new"
	}
	o.trial(t, formFile).examined(t, exitEnvironment, "✗ plain create", "operations.order.key.issued gave the same key twice", "can be taken in prepare")
}

// bookingWithLogin is a target file for a create that takes a login and nothing else, and keeps no keys.
const bookingWithLogin = `name: bookings
base_url: ${OFFICE_URL}
database: {url: "${OFFICE_DATABASE}"}
login:
  - request: {path: /login, body: {user: alice, password: "${OFFICE_PASSWORD}", csrf: "${OFFICE_CSRF}"}}
    take: {Token: {json: /access_token}}
operations:
  book:
    request: {path: /bookings, headers: {X-Token: "{{.Login.Token}}"}, body: {note: "{{.Intent.Marker}}"}}
    key: {in: header}
    rows: {query: select id from bookings where note = :marker}
`

func TestAScriptLogsInAsThoseWhoSend(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	x := o.trial(t, bookingWithLogin, "sequential-replay")
	got := x.run(t)
	require.Equal(t, exitFinding, got.code, "%s", got)
	x.requireNoSecrets(t)
	finding := filepath.Join(onlyRun(t, x.reports), rundir.FindingsName, "F1")
	require.FileExists(t, filepath.Join(finding, rundir.TargetName), "the target file spells no secret out")
	for name, c := range map[string]struct{ target, password string }{
		"from a variable": {x.file, "OFFICE_PASSWORD"},
		"in HTTP/2":       {x.file + "protocol: http/2\n", "OFFICE_PASSWORD"},
		"two principals":  {x.file + "principals: {alice: {A: b}, bob-2: {A: b}}\n", "OFFICE_PASSWORD"},
		"spelled out":     {strings.Replace(x.file, "${OFFICE_PASSWORD}", officePassword, 1), "PASSWORD"},
		"of a principal": {
			strings.Replace(x.file, "${OFFICE_PASSWORD}", "{{.Principal.Pass}}", 1) + "principals: {alice: {Pass: " + officePassword + "}}\n", "ALICE_PASS",
		},
	} {
		file := exported(t, finding, "curl", x.env, "--target", writeFile(t, "target.yaml", c.target))
		text := readFile(t, file)
		require.NotContains(t, text, officePassword)
		require.Equal(t, name == "in HTTP/2", strings.Contains(text, " --http2-prior-knowledge"))
		logins := o.logins.Load()
		code, out := script(t, file, map[string]string{
			"ORDERS_URL": o.url, "DATABASE_URL": x.env["OFFICE_DATABASE"], "OFFICE_CSRF": "csrf & more", c.password: officePassword,
		})
		require.Equal(t, 1, code, "%s: %s", name, out)
		require.EqualValues(t, 1, o.logins.Load()-logins, name)
	}
}

func TestALoginThatIsSpelledOutIsNotHandedOn(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	x := o.trial(t, strings.Replace(bookingWithLogin, `"${OFFICE_PASSWORD}"`, officePassword, 1), "sequential-replay")
	require.Equal(t, exitFinding, x.run(t).code)
	x.requireNoSecrets(t)
	require.NoFileExists(t, filepath.Join(onlyRun(t, x.reports), rundir.FindingsName, "F1", rundir.TargetName))
}

func TestTheTargetItselfIsAskedBySomebodyWhoIsLoggedIn(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	file := strings.Replace(bookingWithLogin, "database: {url: \"${OFFICE_DATABASE}\"}\n", "", 1)
	file = strings.Replace(file, "{query: select id from bookings where note = :marker}",
		`{http: {path: "/bookings?note={{.Intent.Marker}}", headers: {Authorization: "Bearer {{.Login.Token}}"}}, identity: id}`, 1)
	x := o.trial(t, file, "sequential-replay")
	got := x.run(t)
	require.Equal(t, exitFinding, got.code, "%s", got)
	require.Regexp(t, `sequential-replay +fail.*duplicate in 8 of 8`, got.out)
	x.requireNoSecrets(t)
	require.FileExists(t, filepath.Join(onlyRun(t, x.reports), rundir.FindingsName, "F1", rundir.TargetName))
}

// A login is the first that meets a wrong scheme. The target takes connections, so nobody is sent to look whether it runs.
func TestALoginAtAPortWithoutTLS(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	x := o.trial(t, bookingWithLogin, "sequential-replay")
	x.env["OFFICE_URL"] = strings.Replace(x.env["OFFICE_URL"], "http://", "https://", 1)
	got := x.run(t)
	require.Equal(t, exitConfig, got.code, got)
	require.Contains(t, got.err, "the target does not speak TLS there: base_url is https")
	require.NotContains(t, got.err, "is the target running?")
}
