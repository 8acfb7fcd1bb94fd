package curl_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/export/curl"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// odd is what a service may hand out, and all that a shell, JSON, HTML and a form might take for its own.
const odd = `a+b/c=&d;e 'f' "g" <h> \i $j ` + "`k`" + ` %6c #m é`

const page = `<!doctype html><title>Order</title>
<!-- <input name="csrf" value="a comment's"> -->
<script>document.write('<input name="csrf" value="of a script">')</script>
<meta name='csrf-token' content='a+b/c=&amp;d;e &#39;f&#39; &quot;g&quot; &lt;h&gt; \i $j ` + "`k`" + ` %6c #m &#xE9;'>
<form id=search action="/search?a>b"><input type=hidden name=csrf value="of another form"></form>
<form class="order" action="/things?no"></form><form class="big order" action="/things"><INPUT TYPE="hidden" Name="csrf" disabled
  value="a&#43;b/c=&amp;d;e 'f' &#34;g&#34; &lt;h> \i $j ` + "`k`" + ` %6c #m é"><b id=total> 1&nbsp;<i>200</i> </b></form>`

// stepped is a script for an operation with steps, against base.
func stepped(t *testing.T, base, source string, o targets.Operation, login []targets.Step) curl.Script {
	t.Helper()
	s, err := scenarios.Load("s.yaml", []byte(source))
	require.NoError(t, err)
	d := driver.Workload{
		Target: targets.Target{BaseURL: base, Login: login}, Operations: []driver.Operation{{Name: operation, Operation: o}},
		Plan: scenarios.NewPlan(s, 1), Names: driver.Names{Seed: 1, Run: "run", Scenario: s.Name},
	}
	requests, err := d.Rehearse()
	require.NoError(t, err)
	steps, err := d.RehearseSteps()
	require.NoError(t, err)
	return curl.Script{
		Title: "duplicate", Origin: "found", Base: base, Plan: d.Plan, Requests: requests, Steps: steps,
		Judge: curl.Judge{Sees: curl.Differs, Where: []string{"status"}, Means: curl.Means{Done: []contract.Signature{{Statuses: []int{201}}}}},
	}
}

func bash(t *testing.T, s curl.Script) (int, string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "bash", write(t, s))
	command.Env = append(os.Environ(), "PATH="+hasty(t)+":"+os.Getenv("PATH"))
	out, _ := command.CombinedOutput()
	return command.ProcessState.ExitCode(), string(out)
}

// Values go as they are from where a target file finds them to where it has them, whatever is in them.
func TestAScriptTakesValuesAsTheDriverDoes(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got *http.Request
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			w.Header().Add("X-Token", "of-a-header")
			w.Header().Add("X-Token", "second")
			w.Header().Add("Location", "/places/17?x=1")
			http.SetCookie(w, &http.Cookie{Name: "session2", Value: "other"})
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "a=b c", Path: "/"})
			io.WriteString(w, page)
		case "/json":
			fmt.Fprintf(w, `{"deep": [{"a/b": %q, "big":9007199254740993, "yes": true, "half": 1.50}], "text": "not: 12345678901234567890, of it"}`, "x\ty"+odd)
		default:
			mu.Lock()
			defer mu.Unlock()
			all, _ := io.ReadAll(r.Body)
			got, body = r.Clone(r.Context()), string(all)
			w.WriteHeader(http.StatusCreated)
		}
	}))
	t.Cleanup(server.Close)
	prepare := []targets.Step{
		{Request: targets.Request{Method: "GET", Path: "/page"}, Extract: map[string]targets.Extract{
			"Html":    {HTML: `form.order input[name='csrf']`, Attribute: "value"},
			"Meta":    {HTML: `meta[name=csrf-token]`, Attribute: "content"},
			"Text":    {HTML: `b#total`},
			"First":   {HTML: `form input[type=hidden][name=csrf]`, Attribute: "value"},
			"Header":  {Header: "x-token"},
			"Cookie":  {Cookie: "session"},
			"Pattern": {Pattern: `(?i)Location: /places/([0-9]+)`},
			"Body":    {Pattern: `<title>(\w+)`},
		}},
		{Request: targets.Request{Method: "GET", Path: "/json"}, Extract: map[string]targets.Extract{
			"Json": {JSON: "/deep/0/a~1b"}, "Big": {JSON: "/deep/0/big"}, "Yes": {JSON: "/deep/0/yes"},
		}},
	}
	o := targets.Operation{
		Prepare: prepare,
		Request: targets.Request{
			Path:   "/things/{{.Prepared.Pattern}}/{{.Prepared.Body}}?of={{.Prepared.Html | urlquery}}",
			Header: map[string]string{"X-All": "{{.Prepared.Header}}; {{.Prepared.Cookie}}", "X-Meta": "{{.Prepared.Meta}}"},
			Body: map[string]any{
				"note": "{{.Intent.Marker}}", "text": "<{{.Prepared.Html}}>", "json": "{{.Prepared.Json}}", "big": "{{.Prepared.Big | json}}",
				"yes": "{{.Prepared.Yes | json}}", "name": "{{.Prepared.Header | json}}", "total": "{{.Prepared.Text}}", "first": "{{.Prepared.First}}",
			},
		},
		Key: targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "Idempotency-Key"}},
	}
	code, out := bash(t, stepped(t, server.URL, one, o, nil))
	require.Equal(t, 0, code, "%s", out)
	require.Equal(t, "/things/17/Order", got.URL.Path)
	require.Equal(t, odd, got.URL.Query().Get("of"))
	require.Equal(t, "of-a-header, second; a=b c", got.Header.Get("X-All"))
	require.Equal(t, odd, got.Header.Get("X-Meta"))
	marker := strings.Split(strings.Split(body, `"note":"`)[1], `"`)[0]
	require.JSONEq(t, fmt.Sprintf(`{"note": %q, "text": %q, "json": %q, "big": 9007199254740993, "yes": true, "name": "of-a-header, second", "total": "1\u00a0200", "first": "of another form"}`,
		marker, "<"+odd+">", "x\ty"+odd), body)
	require.Contains(t, body, "9007199254740993", "no digit is lost")

	o.Request.Body, o.Request.Form = nil, map[string]any{"note": "{{.Intent.Marker}}", "csrf": "{{.Prepared.Html}}", "big": "{{.Prepared.Big | json}}"}
	code, out = bash(t, stepped(t, server.URL, one, o, nil))
	require.Equal(t, 0, code, "%s", out)
	require.NoError(t, parseForm(got, body))
	require.Equal(t, odd, got.PostForm.Get("csrf"))
	require.Equal(t, "9007199254740993", got.PostForm.Get("big"))
}

func parseForm(r *http.Request, body string) error {
	r.Body = io.NopCloser(strings.NewReader(body))
	return r.ParseForm()
}

// A key that the target issues is fetched for each request that is to have one, also for retries, and things are cleaned up
// however the script ends.
func TestAScriptFetchesKeysAndCleansUp(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var issued, removed, made, prepared int
	var keys []string
	status, prepares := http.StatusCreated, http.StatusCreated
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch r.Method + r.URL.Path {
		case "GET/form":
			issued++
			fmt.Fprintf(w, `<input name=token value="k&#43;%d">`, issued)
		case "POST/parents":
			prepared++
			w.WriteHeader(prepares)
			fmt.Fprintf(w, `{"id": %d}`, prepared)
		case "POST/things":
			made++
			if r.ParseForm() == nil {
				keys = append(keys, r.PostForm.Get("token"))
			}
			w.Header().Set("Location", fmt.Sprintf("/things/n%d", made))
			w.WriteHeader(status)
		default:
			removed++
			keys = append(keys, r.Method+r.URL.Path)
		}
	}))
	t.Cleanup(server.Close)
	o := targets.Operation{
		Prepare: []targets.Step{{Request: targets.Request{Path: "/parents"}, Extract: map[string]targets.Extract{"Parent": {JSON: "/id"}}}},
		Request: targets.Request{Path: "/things", Form: map[string]any{"note": "{{.Intent.Marker}}"}},
		Key: targets.Key{Key: contract.Key{In: contract.KeyInBody, Name: "token"}, Issued: []targets.Step{{
			Request: targets.Request{Method: "GET", Path: "/form"}, Extract: map[string]targets.Extract{targets.IssuedKey: {HTML: "input[name=token]", Attribute: "value"}},
		}}},
		Identity: contract.Identity{Header: "Location", Pattern: "/things/(.*)"},
		Remove:   []targets.Step{{Request: targets.Request{Method: "DELETE", Path: "/things/{{.Made.Identity}}"}}},
		Cleanup:  []targets.Step{{Request: targets.Request{Method: "DELETE", Path: "/parents/{{.Prepared.Parent}}"}}},
	}
	again := scenario(`send: {retry: {max: 2, backoff: 1ms, on: ["201"], key: fresh}}, remove, send: {key: fresh}`, "")
	again = strings.Replace(again, "intents: 2", "intents: 1", 1)
	code, out := bash(t, stepped(t, server.URL, again, o, nil))
	require.Equal(t, 0, code, "%s", out)
	require.ElementsMatch(t, []string{"k+1", "k+2", "k+3", "k+4", "DELETE/things/n3", "DELETE/parents/1"}, keys, "%s", out)
	require.Equal(t, []string{"DELETE/things/n3", "DELETE/parents/1"}, []string{keys[3], keys[5]}, "what the last answer named, and then its parent")
	require.Equal(t, prepared+1, removed, "and what it made")

	keys, prepares = nil, http.StatusTeapot
	code, out = bash(t, stepped(t, server.URL, again, o, nil))
	require.Equal(t, 2, code)
	require.Contains(t, out, `operations.create.prepare[0] (POST /parents): was answered 418: {"id": 2}`)
	require.Empty(t, keys, "what was not prepared is not cleaned up")

	prepares, status = http.StatusCreated, http.StatusBadRequest
	code, out = bash(t, stepped(t, server.URL, again, o, nil))
	require.Equal(t, 2, code)
	require.Contains(t, out, "no answer has named what is to be removed")
	require.Contains(t, keys, "DELETE/parents/3", "what was prepared is cleaned up all the same")
}

func TestASelectorThatAScriptDoesNotKnowIsSaid(t *testing.T) {
	t.Parallel()
	for selector, known := range map[string]bool{
		"input": true, "*[name=a]": true, "#id": true, "input.a.b": true, `input[name="items[]"]`: true, "form#a input[name=b]": true,
		`form[action="/a b"] input`: true, "input[required]": true,
		"div input": false, "form > input": false, "input:checked": false, `input[name^=a]`: false, "input + b": false, "a, b": false, "": false, "form form input": false,
	} {
		e := targets.Extract{HTML: selector}
		if selector != "" {
			require.Equal(t, known, curl.CannotTake(e) == "", selector)
		}
	}
	require.Empty(t, curl.CannotTake(targets.Extract{JSON: "/a"}))
}
