package main

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/ports"
	"github.com/doubletap-harness/doubletap/rundir"
)

// answering makes a target that answers everything so.
func answering(status int, contentType, body string) func(http.Handler) http.Handler {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			io.WriteString(w, body)
		})
	}
}

// accepting makes a target that accepts every create, and whose status resource says always the same.
func accepting(status string) func(http.Handler) http.Handler {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			if r.Method == http.MethodGet {
				io.WriteString(w, status)
				return
			}
			w.Header().Set("Location", "/operations/1")
			w.WriteHeader(http.StatusAccepted)
			io.WriteString(w, "{}")
		})
	}
}

// accepted is a target file that knows of 202.
func accepted(done string) string {
	return shopFile + "contract: {ack: {statuses: [201], accepted: {statuses: [202], monitor: Location, done: {where: " + done + "}, identity: /thing, within: 100ms}}}\n"
}

// edited makes a target file with one thing changed.
func edited(from, to string) string { return strings.Replace(shopFile, from, to, 1) }

// seeOther is a shop whose creates are answered with a redirect.
var seeOther = strings.Replace(edited("    identity: /id", `    identity: {header: location, pattern: "/things/([0-9]+)"}`), "operations:", `contract: {ack: {statuses: [303], headers: {Location: "^/things/[0-9]"}}}
operations:`, 1)

// leadingTo answers everything with a redirect.
func leadingTo(place string) func(http.Handler) http.Handler {
	return func(http.Handler) http.Handler { return http.RedirectHandler(place, http.StatusSeeOther) }
}

// TestOneClearMessage is the list of what can be wrong with a target or its file before anything is
// broken on purpose: it is said once, with the place to mend, and the exit code says whose it is.
func TestOneClearMessage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wrap func(http.Handler) http.Handler
		file string
		code int
		says []string
	}{
		"the login is refused": {
			answering(401, "application/json", `{"error":"who are you"}`), "", exitConfig,
			[]string{"answered 401", "credentials", "operations.create.request.headers", "who are you"},
		},
		"the login is not enough":        {answering(403, "text/plain", "no"), "", exitConfig, []string{"answered 403", "credentials"}},
		"there is no such path":          {answering(404, "text/plain", "no"), "", exitConfig, []string{"answered 404", "base_url", "path of operations.create.request"}},
		"the request is not taken":       {answering(422, "text/plain", "item is missing"), "", exitConfig, []string{"answered 422", "not what the target takes", "item is missing"}},
		"the target is not well":         {answering(500, "text/plain", "stack"), "", exitEnvironment, []string{"answered 500", "not well", "stack"}},
		"the answer is not declared":     {answering(202, "application/json", "{}"), "", exitConfig, []string{"answered 202", "contract.ack", "[200 201 204]"}},
		"the answer leads elsewhere":     {answering(302, "text/plain", ""), "", exitConfig, []string{"answered 302", "contract.ack"}},
		"the form leads to a login page": {leadingTo("/login?ticket=s3cret"), seeOther, exitConfig, []string{"answered 303, and yet is no acknowledgement", "it leads to /login?..."}},
		"the redirect names nothing":     {leadingTo("/things/new#s3cret"), strings.Replace(seeOther, "/things/[0-9]", "/things", 1), exitConfig, []string{"nothing at Location by /things/([0-9]+)", "operations.create.identity", "Location: /things/new#..."}},
		"the answer is no JSON":          {answering(201, "application/json", "<html>"), "", exitConfig, []string{"answered 201", "not the JSON that it claims to be"}},
		"the identity is elsewhere":      {nil, edited("identity: /id", "identity: /order/id"), exitConfig, []string{"nothing at /order/id", "operations.create.identity"}},
		"the marker is not stored":       {nil, edited("where note =", "where 'x' || note ="), exitConfig, []string{"no row that operations.create.rows.query of", "it is in things.note and body: let the query look there"}},
		"the query is not SQL":           {nil, edited("from things", "from from things"), exitConfig, []string{"operations.create.rows.query", "syntax error"}},
		"there is no such table":         {nil, edited("from things", "from thinks"), exitConfig, []string{"operations.create.rows.query", "thinks"}},
		"the query finds too much":       {nil, edited("query: select id from things where note = :marker", "query: select id from things where note = :marker union all select id from things where note = :marker"), exitConfig, []string{"finds 2 rows for one plain create"}},
		"there is no such column":        {nil, edited(", identity: id}", ", identity: order_id}"), exitConfig, []string{`operations.create.rows.identity`, `"order_id"`, "no such column"}},
		"the count is not there":         {nil, shopFile + "received: {path: /count, pointer: /n}\n", exitConfig, []string{"received of", "count"}},
		"the status resource never says so": {
			accepting(`{"state":"finished"}`), accepted("{/state: done}"), exitConfig,
			[]string{"after 100ms its status resource does not say that it is done", "answers 200", "contract.ack.accepted.done", "finished"},
		},
		"the status resource names nothing": {
			accepting(`{"state":"done"}`), accepted("{/state: done}"), exitConfig,
			[]string{"nothing at /thing", "contract.ack.accepted.identity"},
		},
		"the status resource is not named": {
			answering(202, "application/json", "{}"), accepted("{/state: done}"), exitConfig,
			[]string{"does not name a status resource at Location", "contract.ack.accepted.monitor"},
		},
		"the answer is not kept whole": {padded(3), "", exitConfig, []string{"it is longer than 2 MiB", "as operations.create.identity of", "Leave that line out"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newShop(t, c.wrap).trial(t)
			if c.file != "" {
				x.file = c.file
			}
			got := x.run(t)
			require.Equal(t, c.code, got.code, "%s", got)
			for _, text := range c.says {
				require.Contains(t, got.err, text)
			}
			require.LessOrEqual(t, lines(got.err), 2, "one message: %s", got.err)
			require.NotContains(t, got.out+got.err, "lost-acknowledged-write")
			require.NotContains(t, got.out+got.err, "s3cret")
			require.FileExists(t, filepath.Join(onlyRun(t, x.reports), "junit.xml"))
			asked := 1
			if c.code == exitEnvironment {
				asked = 10 // it may be well again the next time
			}
			require.LessOrEqual(t, attemptsOnRecord(t, onlyRun(t, x.reports)), asked)
			x.examined(t, c.code, c.says...)
		})
	}
}

// padded makes every answer so many MiB longer, at its front.
func padded(mib int) func(http.Handler) http.Handler {
	padding := bytes.Repeat([]byte("x"), 1<<20)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(answer.Code)
			io.WriteString(w, `{"padding":"`)
			for range mib {
				w.Write(padding)
			}
			io.WriteString(w, `",`+strings.TrimPrefix(answer.Body.String(), "{"))
		})
	}
}

func attemptsOnRecord(t *testing.T, run string) int {
	n := 0
	for _, h := range histories(t, run) {
		n += len(h.Attempts)
	}
	return n
}

// histories reads all histories of a run, the pilot's as well.
func histories(t *testing.T, run string) []*history.History {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(run, "*", rundir.HistoryName))
	require.NoError(t, err)
	var all []*history.History
	for _, path := range found {
		h, err := rundir.Dir{Path: run}.ReadHistory(filepath.Base(filepath.Dir(path)))
		require.NoError(t, err)
		all = append(all, h)
	}
	return all
}

func TestAHugeAnswerIsNoBurden(t *testing.T) {
	t.Parallel()
	x := newShop(t, padded(50)).trial(t)
	few := filepath.Join(t.TempDir(), "few.yaml")
	require.NoError(t, os.WriteFile(few, []byte("name: few\nsummary: Few.\nintents: 1\nsteps: [{send: {}}, {send: {}}]\nexercised: [replayed]\n"), 0o644))
	x.args = []string{few}
	x.file = edited("    identity: /id\n", "")
	got := x.run(t)
	require.Equal(t, exitPass, got.code, "%s", got)
	x.checked(t, got)
	for _, h := range histories(t, onlyRun(t, x.reports)) {
		for _, a := range h.Attempts {
			require.GreaterOrEqual(t, a.Length, int64(50<<20), "it was read to its end")
			require.Less(t, len(a.Content), 100<<10, "and not kept")
		}
	}
}

// listener starts a target that is no HTTP server. It returns its URL.
func listener(t *testing.T, serve func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return "http://" + l.Addr().String()
}

// request reads until a request has come whole, as far as this test sends any, and returns its method.
func request(conn net.Conn) string {
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return ""
	}
	return r.Method
}

func TestTargetsThatAreNone(t *testing.T) {
	t.Parallel()
	var unanswered atomic.Int64
	neverAnswers := func(c net.Conn) {
		if request(c) == http.MethodPost {
			unanswered.Add(1)
		}
		io.Copy(io.Discard, c)
	}
	for name, c := range map[string]struct {
		url  string
		says string
	}{
		"it is not there":        {freeAddress(t), "takes no connections: is the target running?"},
		"it never answers":       {listener(t, neverAnswers), "takes connections and did not answer a plain create within 2s (--pilot-timeout)"},
		"it closes at once":      {listener(t, func(c net.Conn) { c.Close() }), "takes connections and ends them without an answer"},
		"it closes after asking": {listener(t, func(c net.Conn) { request(c); c.Close() }), "takes connections and ends them without an answer"},
		"it sends garbage":       {listener(t, func(c net.Conn) { request(c); io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n"); c.Close() }), "does not answer in HTTP"},
		"it stops in the middle": {
			listener(t, func(c net.Conn) {
				request(c)
				io.WriteString(c, "HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{")
				c.Close()
			}), "broke off the answer to a plain create",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newShop(t, nil).trial(t, "plain-create")
			if name == "it never answers" {
				x.args = append(x.args, "--pilot-timeout", "2s")
			}
			x.env["SHOP_URL"] = c.url
			got := x.run(t)
			require.Equal(t, exitEnvironment, got.code, "%s", got)
			require.Contains(t, got.err, c.says)
			require.Contains(t, got.err, c.url)
			require.Equal(t, 1, lines(got.err), "one message: %s", got.err)
			if name == "it never answers" {
				require.EqualValues(t, 1, unanswered.Load(), "it was asked once")
			}
			x.checked(t, got)
			x.examined(t, exitEnvironment, c.says)
		})
	}
}

// freeAddress returns the URL of a port that is not in use, and that the system gives to no client and no server of another test.
func freeAddress(t *testing.T) string {
	t.Helper()
	port, err := ports.Reserve("127.0.0.1")
	require.NoError(t, err)
	t.Cleanup(func() { port.Release() })
	return "http://" + port.Address("127.0.0.1")
}

func TestSecretsReachNoFileAndNoScreen(t *testing.T) {
	t.Parallel()
	const secret = "hunter22-and-more"
	for name, file := range map[string]string{
		"from the environment": shopFile,
		"in the file":          edited("${SHOP_TOKEN:-none}", secret),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			echo := func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Set-Cookie", "session="+secret)
					if r.Header.Get("Authorization") == "Bearer "+secret {
						next.ServeHTTP(w, r)
					}
				})
			}
			x := newShop(t, echo).trial(t, "plain-create", "sequential-replay")
			x.env["SHOP_TOKEN"], x.file = secret, file
			got := x.run(t)
			require.Equal(t, exitPass, got.code, "%s", got)
			require.NotContains(t, got.String(), secret)
			requireNowhere(t, x.reports, secret)
		})
	}
}
