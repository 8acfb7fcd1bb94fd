package driver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// secrets maps what must not be on record to where it comes from.
func secrets() map[string]string {
	return map[string]string{
		"sesame-open-9":           "a principal's value",
		"sesame-open-9-and-more":  "a principal's value that begins with another",
		`quo"ted<&>secret/é+=`:    "a principal's value that is written differently in JSON and URLs",
		"constant-bearer-1":       "a constant in the Authorization header",
		"cookie-sent-2":           "a cookie that is sent",
		"cookie-set-3":            "a cookie that is set",
		"redacted-request-header": "a header that the target file redacts",
		"redacted-answer-header":  "the same, of the answer",
		"from-a-variable-4":       "what a variable gave to the body",
	}
}

func secretive(t testing.TB, address string) *rig {
	r := newRig(t, address, send(), send())
	r.Principals[0].Values = targets.Principal{
		"Token": "sesame-open-9", "Other": "sesame-open-9-and-more", "Odd": `quo"ted<&>secret/é+=`, "Tenant": "42",
	}
	r.Target.Redact, r.Target.Secrets = []string{"x-internal"}, []string{"from-a-variable-4"}
	r.Operations[0].Request.Path = "/orders?token={{.Principal.Odd | urlquery}}"
	r.Operations[0].Request.Header = map[string]string{
		"authorization": "Bearer constant-bearer-1", "Cookie": "session=cookie-sent-2; theme=d", "X-Internal": "redacted-request-header",
		"X-Caller": "{{.Principal.Other}}", "X-Tenant": "Tenant {{.Principal.Tenant}}", "X-Trace": "kept-as-it-is",
	}
	r.Operations[0].Request.Body = map[string]any{
		"note": "{{.Intent.Marker}}", "by": "{{.Principal.Token}}", "odd": "{{.Principal.Odd}}", "other": "{{.Principal.Other}}",
		"key": "from-a-variable-4",
	}
	return r
}

// echo answers with everything that it got, in every way in which an answer may hold it.
func echo(seen *ledger) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var members map[string]string
		_ = json.Unmarshal(body, &members)
		seen.add(fmt.Sprint(r.URL.Query(), r.Header, members))
		w.Header().Set("X-Internal", "redacted-answer-header")
		w.Header().Set("Set-Cookie", "session=cookie-set-3")
		w.Header().Set("Location", r.URL.String())
		w.Header().Set("X-Caller", r.Header.Get("X-Caller"))
		w.Header().Set("X-Trace", r.Header.Get("X-Trace"))
		again, _ := json.Marshal(map[string]any{"header": r.Header, "url": r.URL.String(), "members": members})
		_, _ = w.Write(append(again, body...))
	}
}

func TestSecretsGoOnTheWireAndNotOnRecord(t *testing.T) {
	t.Parallel()
	var seen ledger
	r := secretive(t, serve(t, echo(&seen)))
	h := r.drive(t)
	require.NoError(t, r.Probe(t.Context(), driver.Probing{Tries: 1}, false, func(history.Attempt) bool { return true }))
	wire := strings.Join(seen.all(), "\n") + "cookie-set-3 redacted-answer-header"
	record := string(r.file.bytes())
	require.Contains(t, record, "***")
	require.NotContains(t, record, "and-more", "what is left of a secret whose beginning is another")
	for secret, what := range secrets() {
		require.Contains(t, wire, secret, what)
		for _, written := range writings(t, secret) {
			require.NotContains(t, record, written, what)
		}
	}
	require.Equal(t, "***", h.Intents[0].Bodies[history.Original].Header["authorization"])
	require.Equal(t, "kept-as-it-is", h.Intents[0].Bodies[history.Original].Header["X-Trace"])
	require.Equal(t, "kept-as-it-is", h.Attempts[0].Header["X-Trace"])
	require.Contains(t, h.Attempts[0].Content, h.Intents[0].Bodies[history.Original].Marker)
	require.True(t, json.Valid([]byte(h.Intents[0].Bodies[history.Original].Content)))
}

// writings returns a text as it may stand in a file of JSON lines: once or twice encoded.
func writings(t *testing.T, text string) []string {
	t.Helper()
	all := []string{text, url.QueryEscape(text)}
	for range 2 {
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		text = strings.TrimSuffix(strings.TrimPrefix(string(quoted), `"`), `"`)
		all = append(all, text)
	}
	return all
}

func TestASecretThatIsCutOffIsMasked(t *testing.T) {
	t.Parallel()
	const text = "who: sesame-open-9"
	for name, row := range map[string]struct{ said, keep int }{
		"by the recorder": {len(text), 15}, "by the target": {15, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := serveRaw(t, func(p *peer) {
				p.request()
				p.say("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text[:row.said])
			})
			r := newRig(t, address, send())
			r.KeepBody = row.keep
			require.Equal(t, "who: ***", r.only(t).Content)
		})
	}
}

func TestShortValuesAreNotMasked(t *testing.T) {
	t.Parallel()
	r := newRig(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("4242")) }), send())
	r.Principals[0].Values["Tenant"] = "42"
	require.Equal(t, "4242", r.only(t).Content)
}

func TestErrorsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	r := newRig(t, serveRaw(t, func(p *peer) { p.request(); p.say("NOPE/1 sesame-open-9\r\n") }), send())
	a := r.only(t)
	require.Equal(t, history.Garbage, a.ErrorKind)
	require.NotContains(t, string(r.file.bytes()), "sesame")
	require.Contains(t, a.Error, "***")

	r = newRig(t, deaf(t), scenarios.Step{Send: &scenarios.Send{Lane: scenarios.Clean}})
	r.Operations[0].Request.Path = "/orders/%zz{{.Principal.Token}}"
	err := r.Drive(t.Context())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "sesame")
}

// TestWhatTheTargetGivesIsNotOnRecord: nobody has named the token of a session that was just made. Two of them can still be told apart, and a
// thing that is named by its token keeps its name.
func TestWhatTheTargetGivesIsNotOnRecord(t *testing.T) {
	t.Parallel()
	given := []string{"token-aaaaaaaa", "token-aaaaaaaa", "token-bbbbbbbb"}
	var nth atomic.Int32
	r := newRig(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"id":"token-of-7","token":"token-of-7","session":{"accessToken":"%s"},"card":"123456789","secret":"of dtabcdefgh23456723"}`, given[nth.Add(1)-1])
	}), send(), send(), send())
	r.Hooks.Identity = func(string, history.Attempt) string { return "token-of-7" }
	h := r.drive(t)
	require.Len(t, h.Attempts, 3)
	for _, a := range h.Attempts {
		require.Regexp(t, `^{"id":"token-of-7","token":"token-of-7","session":{"accessToken":"\*\*\*[0-9a-f]{8}"},"card":"123456789","secret":"of dtabcdefgh23456723"}$`, a.Content)
	}
	require.Equal(t, h.Attempts[0].Content, h.Attempts[1].Content)
	require.NotEqual(t, h.Attempts[1].Content, h.Attempts[2].Content)
	require.NotContains(t, string(r.file.bytes()), "token-aaaaaaaa")
}

// TestWhatIsComparedWithRowsStaysAsItIs: rows are on record as they are, and a thing's name or content that was
// masked would be another one.
func TestWhatIsComparedWithRowsStaysAsItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"id":"account-0001-17","of":"account-0001","account":10000001,"buyer":"customer-0001","token":"sesame-open-9"}`))
	}), send())
	r.Principals[0].Values = targets.Principal{
		"Token": "sesame-open-9", "Account": "account-0001", "Number": "10000001", "Buyer": "customer-0001", "Buy": "another-one",
	}
	r.Operations[0].Request.Body = map[string]any{
		"note": "{{.Intent.Marker}}", "buyer": "{{.Principal.Buyer}}", "other": "{{.Principal.Buy}}", "number": "{{.Principal.Number}}",
		"tenant": "tenant-0001",
	}
	r.Target.Redact, r.Operations[0].Request.Header["X-Tenant"] = []string{"X-Tenant"}, "tenant-0001"
	r.Operations[0].Rows.Content = map[string]string{"customer": "/buyer", "tenant": "/tenant"}
	r.Hooks.Identity = func(_ string, a history.Attempt) string {
		var said struct{ ID string }
		require.NoError(t, json.Unmarshal([]byte(a.Content), &said))
		return said.ID
	}
	h := r.drive(t)
	require.JSONEq(t, `{"id":"account-0001-17","of":"***","account":"***","buyer":"customer-0001","token":"***"}`, h.Attempts[0].Content)
	sent := h.Intents[0].Bodies[history.Original]
	require.Contains(t, sent.Content, `"buyer":"customer-0001"`)
	require.Contains(t, sent.Content, `"tenant":"tenant-0001"`)
	require.Equal(t, "***", sent.Header["X-Tenant"])
	require.Contains(t, sent.Content, `"other":"***"`)
	require.Contains(t, sent.Content, `"number":"***"`)
}
