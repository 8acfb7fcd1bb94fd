package curl_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/export/curl"
	"github.com/doubletap-harness/doubletap/internal/standin"
)

// shop answers the n-th request, from 1, with the same key; body is what it has of the request.
type shop func(w http.ResponseWriter, n int, key, body string)

// judged runs a script for a scenario against a shop, and returns its exit code and what it said.
func judged(t *testing.T, source string, judge curl.Judge, answer shop) (int, string) {
	t.Helper()
	return judgedIn(t, 1, source, judge, answer)
}

// judgedIn is judged, with so many tries at most.
func judgedIn(t *testing.T, tries int, source string, judge curl.Judge, answer shop) (int, string) {
	t.Helper()
	var mu sync.Mutex
	counts := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		key := r.Header.Get("Idempotency-Key")
		mu.Lock()
		defer mu.Unlock()
		counts[key]++
		answer(w, counts[key], key, string(body))
	}))
	defer server.Close()
	s := scripted(t, server.URL, source)
	for id, r := range s.Requests {
		r.Secret = nil
		s.Requests[id] = r
	}
	s.Variables, s.Judge, s.Rounds = nil, judge, tries
	command := exec.CommandContext(t.Context(), "bash", write(t, s))
	command.Env = append(os.Environ(), "PATH="+hasty(t)+":"+os.Getenv("PATH"))
	out, _ := command.CombinedOutput()
	return command.ProcessState.ExitCode(), string(out)
}

// hasty is a folder with a sleep that does not: nothing that a shop of the tests does takes time.
func hasty(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, standin.Program(filepath.Join(dir, "sleep"), "#!/bin/sh\n"))
	return dir
}

func scenario(steps, more string) string {
	return "name: s\nsummary: s\nintents: 2\n" + more + "steps: [" + steps + "]\nexercised: [acknowledged]\n"
}

// always answers with one status and one body.
func always(status int, body string) shop {
	return func(w http.ResponseWriter, _ int, _, _ string) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// after answers the first request of a key with 201, and the others in another way.
func after(then shop) shop {
	return func(w http.ResponseWriter, n int, key, body string) {
		if n > 1 {
			then(w, n, key, body)
			return
		}
		w.Header().Set("Location", "/things/1")
		always(http.StatusCreated, `{"id": "1", "at": 1}`)(w, n, key, body)
	}
}

func TestAScriptSeesByItselfWhetherItHappenedAgain(t *testing.T) {
	t.Parallel()
	const twice, other = "send, send", "send, alter: {}"
	same := after(after(nil).again())
	refuseOther := func(w http.ResponseWriter, n int, key, body string) {
		if strings.Contains(body, "another") {
			always(http.StatusUnprocessableEntity, "")(w, n, key, body)
			return
		}
		after(after(nil).again())(w, n, key, body)
	}
	hangUp := func(http.ResponseWriter, int, string, string) { panic(http.ErrAbortHandler) }
	forgets := contract.Contract{Expiry: contract.Expiry{After: contract.Duration(4 * time.Second), Then: contract.ExpiryExecute}}
	anew := func(w http.ResponseWriter, n int, key, body string) {
		if n == 3 { // the key is forgotten
			always(http.StatusCreated, `{"id": "2", "at": 3}`)(w, n, key, body)
			return
		}
		same(w, n, key, body)
	}
	for name, c := range map[string]struct {
		source        string
		judge         curl.Judge
		broken, right shop
	}{
		"status":        {scenario(twice, ""), curl.Judge{Sees: curl.Differs, Where: []string{"status"}}, after(always(200, `{"id": "1", "at": 1}`)), same},
		"member":        {scenario(twice, ""), curl.Judge{Sees: curl.Differs, Where: []string{"/at"}}, after(always(201, `{"id": "1", "at": 2}`)), same},
		"other member":  {scenario(twice, ""), curl.Judge{Sees: curl.Differs, Where: []string{"/id"}}, after(always(201, `{"id": "2", "at": 1}`)), after(always(201, `{"id": "1", "at": 2}`))},
		"name in XML":   {scenario(twice, ""), curl.Judge{Sees: curl.Differs, Where: []string{"identity"}, Identity: contract.Identity{Pattern: `"id": "([0-9]+)"`}}, after(always(201, `{"id": "2", "at": 1}`)), after(always(201, `{"id": "1", "at": 2}`))},
		"header":        {scenario(twice, ""), curl.Judge{Sees: curl.Differs, Where: []string{"Location"}}, after(always(201, `{"id": "1", "at": 1}`)), same},
		"body":          {scenario(twice, ""), curl.Judge{Sees: curl.Differs, Where: []string{"body"}}, after(always(201, `null`)), same},
		"forgotten":     {scenario("send, send, wait: expired, send", ""), curl.Judge{Sees: curl.Differs, Where: []string{"/at"}, Promise: forgets}, after(always(201, `{"id": "1", "at": 2}`)), anew},
		"late":          {scenario("send", ""), curl.Judge{Sees: curl.Differs, Where: []string{"status"}, Late: true}, after(always(200, "")), same},
		"refused":       {scenario("send", ""), curl.Judge{Sees: curl.Refused}, secondKey(always(500, "")), same},
		"unanswered":    {scenario("burst: {copies: 2}", ""), curl.Judge{Sees: curl.Unanswered}, after(hangUp), same},
		"died":          {scenario("burst: {copies: 2}", ""), curl.Judge{Sees: curl.Died}, thirdKey(always(500, "")), same},
		"mixed":         {scenario("send", "twins: 2\n"), curl.Judge{Sees: curl.Mixed}, secondKey(always(409, "")), same},
		"both bodies":   {scenario(other, ""), curl.Judge{Sees: curl.Altered}, same, refuseOther},
		"without a key": {scenario("tabs: [{at: 0s, key: none}]", ""), curl.Judge{Sees: curl.Keyless}, same, always(400, "")},
		"told without a credential": {scenario("respell: {spelling: no-credential}, send, respell: {spelling: no-credential}", ""), curl.Judge{Sees: curl.Told}, func(w http.ResponseWriter, n int, key, body string) {
			if n == 1 {
				always(401, "")(w, n, key, body)
				return
			}
			same(w, n, key, body)
		}, func(w http.ResponseWriter, n int, key, body string) {
			if n != 2 {
				always(401, "")(w, n, key, body)
				return
			}
			same(w, n, key, body)
		}},
		"undeclared": {scenario(twice, ""), curl.Judge{Sees: curl.Undeclared}, after(always(200, "null")), same},
		"leaked": {scenario("send", "neighbours: {of: 2, keys: case}\n"), curl.Judge{Sees: curl.Leaked}, firstBody(), func(w http.ResponseWriter, n int, key, body string) {
			always(201, body)(w, n, key, body)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doneAt := []int{200, 201}
			if c.judge.Sees == curl.Undeclared {
				doneAt = []int{201}
			}
			c.judge.Means.Done = []contract.Signature{{Statuses: doneAt}}
			code, out := judged(t, c.source, c.judge, c.broken)
			require.Equal(t, 1, code, "%s", out)
			require.Contains(t, out, "it happened again: in 1 of 1 tries")
			code, out = judged(t, c.source, c.judge, c.right)
			require.Equal(t, 0, code, "%s", out)
			require.Contains(t, out, "it did not happen")
			if slices.Contains([]string{"refused", "member", "without a key"}, name) { // one of each way to see it
				code, out = judged(t, c.source, c.judge, hangUp)
				require.Equal(t, 2, code, "a target that is not there shows nothing: %s", out)
			}
		})
	}
}

// GraphQL answers everything with 200, and a path may answer a taken key and what is there already with one status: members
// and headers tell them apart.
func TestAScriptTellsAnswersOfOneStatusApart(t *testing.T) {
	t.Parallel()
	done := contract.Signature{Statuses: []int{200}, Where: map[string]any{"/errors": nil}}
	reused := contract.Signature{Statuses: []int{200}, Where: map[string]any{"/errors/0/extensions/code": "KEY_REUSED"}}
	running := contract.Signature{Statuses: []int{200}, Where: map[string]any{"/errors/0/extensions/code": "RUNNING"}}
	graph := curl.Means{Earlier: []contract.Signature{running}, Done: []contract.Signature{done}, Refused: []contract.Signature{reused}}
	sent := curl.Means{
		Done:    []contract.Signature{{Statuses: []int{303}, Headers: map[string]string{"Location": `^/orders/\d+$`}}},
		Refused: []contract.Signature{{Statuses: []int{303}, Headers: map[string]string{"Location": "^/login"}}},
	}
	conflict := curl.Means{Done: []contract.Signature{{Statuses: []int{201}}}, Exists: []contract.Signature{{Statuses: []int{409}}}, Refused: []contract.Signature{{Statuses: []int{409}}}}
	failing := func(code string) shop { return always(200, `{"errors": [{"extensions": {"code": "`+code+`"}}]}`) }
	made := always(200, `{"data": {"id": 1}}`)
	to := func(location string) shop {
		return func(w http.ResponseWriter, _ int, _, _ string) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusSeeOther)
		}
	}
	second := func(first, then shop) shop {
		return func(w http.ResponseWriter, n int, key, body string) {
			if n > 1 {
				first = then
			}
			first(w, n, key, body)
		}
	}
	const other, keyless = "send, alter: {}", "tabs: [{at: 0s, key: none}]"
	for name, c := range map[string]struct {
		source        string
		judge         curl.Judge
		broken, right shop
	}{
		"both bodies":       {scenario(other, ""), curl.Judge{Sees: curl.Altered, Means: graph}, made, second(made, failing("KEY_REUSED"))},
		"both bodies, form": {scenario(other, ""), curl.Judge{Sees: curl.Altered, Means: sent}, to("/orders/7"), second(to("/orders/7"), to("/login"))},
		"both, conflict":    {scenario(other, ""), curl.Judge{Sees: curl.Altered, Means: conflict}, always(201, ""), second(always(201, ""), always(409, ""))},
		"without a key":     {scenario(keyless, ""), curl.Judge{Sees: curl.Keyless, Means: graph}, made, failing("KEY_MISSING")},
		"refused":           {scenario("send", ""), curl.Judge{Sees: curl.Refused, Means: graph}, secondKeyOf(made, failing("RUNNING")), made},
		"undeclared":        {scenario("send, send", ""), curl.Judge{Sees: curl.Undeclared, Means: graph}, second(made, failing("ODD")), second(made, failing("RUNNING"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out := judged(t, c.source, c.judge, c.broken)
			require.Equal(t, 1, code, "%s", out)
			code, out = judged(t, c.source, c.judge, c.right)
			require.Equal(t, 0, code, "%s", out)
		})
	}
}

// A target that declines some requests, as business, goes on with the next try.
func TestAScriptGoesOnWhereATryIsDeclined(t *testing.T) {
	t.Parallel()
	means := curl.Means{Done: []contract.Signature{{Statuses: []int{201}}}, Declined: []contract.Signature{{Statuses: []int{402}}}}
	declining := func(some func(key int) bool, then shop) shop {
		seen := map[string]int{}
		return func(w http.ResponseWriter, n int, key, body string) {
			if seen[key] == 0 {
				seen[key] = len(seen) + 1
			}
			if some(seen[key]) {
				always(402, "")(w, n, key, body)
				return
			}
			then(w, n, key, body)
		}
	}
	firstTry := func(key int) bool { return key < 3 }
	judge := curl.Judge{Sees: curl.Differs, Where: []string{"status"}, Means: means}
	judge.Means.Done = append(judge.Means.Done, contract.Signature{Statuses: []int{200}})
	code, out := judgedIn(t, 6, scenario("send, send", ""), judge, declining(firstTry, after(always(200, ""))))
	require.Equal(t, 1, code, "%s", out)
	require.Contains(t, out, "it happened again: in 1 of 2 tries")
	code, out = judgedIn(t, 6, scenario("send, send", ""), judge, declining(firstTry, after(nil).again()))
	require.Equal(t, 0, code, "%s", out)
	require.Contains(t, out, "it did not happen: in 0 of 5 tries")
	code, out = judgedIn(t, 6, scenario("send, send", ""), judge, declining(func(key int) bool { return key != 1 }, after(nil).again()))
	require.Equal(t, 2, code, "%s", out)
	require.Contains(t, out, "it did not happen in 1 tries, and nothing was done in the others of 6, which is too little")
	code, out = judgedIn(t, 6, scenario("send, send", ""), judge, always(402, ""))
	require.Equal(t, 2, code, "%s", out)
	require.Contains(t, out, "no request was done, so nothing could happen again")
	code, out = judgedIn(t, 6, scenario("send", ""), curl.Judge{Sees: curl.Refused, Means: means}, declining(firstTry, after(nil).again()))
	require.Equal(t, 0, code, "what is declined for good is no request that is never done: %s", out)
}

// again answers all requests of a key as the first one.
func (s shop) again() shop {
	return func(w http.ResponseWriter, _ int, key, body string) { s(w, 1, key, body) }
}

// secondKey answers the first key that it sees as it should, and each other in another way.
func secondKey(then shop) shop { return nthKey(2, then) }

// thirdKey is secondKey, one key later.
func thirdKey(then shop) shop { return nthKey(3, then) }

func nthKey(n int, then shop) shop { return nthKeyOf(n, after(nil).again(), then) }

// secondKeyOf answers the first key in one way, and each other in another.
func secondKeyOf(right, then shop) shop { return nthKeyOf(2, right, then) }

func nthKeyOf(n int, right, then shop) shop {
	seen := map[string]int{}
	return func(w http.ResponseWriter, i int, key, body string) {
		if seen[key] == 0 {
			seen[key] = len(seen) + 1
		}
		if seen[key] >= n {
			then(w, i, key, body)
			return
		}
		right(w, i, key, body)
	}
}

// firstBody answers each request with the body of the first one.
func firstBody() shop {
	first := ""
	return func(w http.ResponseWriter, n int, key, body string) {
		if first == "" {
			first = body
		}
		always(201, first)(w, n, key, body)
	}
}

// What a script cannot do, it says in its head, and does not take for a pass.
func TestAScriptThatCannotShowItSaysSo(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { always(201, "{}")(w, 1, "", "") }))
	t.Cleanup(server.Close)
	s := scripted(t, server.URL, scenario("send: {lane: gone}", "lanes: {gone: [lose: request]}\n"))
	s.Judge, s.Variables = curl.Judge{Sees: curl.Keyless, Means: curl.Means{Done: []contract.Signature{{Statuses: []int{201}}}}}, nil
	s.Minimal = true
	for id, r := range s.Requests {
		r.Secret = nil
		s.Requests[id] = r
	}
	require.Equal(t, []string{"the faults of the lane gone"}, s.Limits())
	out, err := exec.CommandContext(t.Context(), "bash", write(t, s)).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "which says nothing: see what is not in here")
}
