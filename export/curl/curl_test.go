package curl_test

import (
	"bytes"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/export/curl"
	"github.com/doubletap-harness/doubletap/internal/standin"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

var update = flag.Bool("update", false, "write the golden files")

// awkward is all that a shell might take for its own.
const awkward = "it's \"$HOME\" `id` \\n ${x} !\\\\"

const operation = "create"

// scripted is a script for a scenario's source, against base.
func scripted(t *testing.T, base, source string) curl.Script {
	t.Helper()
	s, err := scenarios.Load("s.yaml", []byte(source))
	require.NoError(t, err)
	o := driver.Operation{Name: operation, Operation: targets.Operation{
		Request: targets.Request{
			Path: "/things?as={{.Intent.Number}}", Header: map[string]string{"X-Note": "it's \"$HOME\" `id`", "Authorization": "Bearer stands-for-TOKEN"},
			Body: map[string]any{"note": "{{.Intent.Marker}}", "text": awkward, "of": "{{.Intent.Reference}}"},
		},
		Key:   targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "Idempotency-Key"}},
		Alter: map[string]any{"text": "another"},
	}}
	plan := scenarios.NewPlan(s, 1)
	d := driver.Workload{Operations: []driver.Operation{o}, Plan: plan, Names: driver.Names{Seed: 1, Run: "run", Scenario: s.Name}}
	requests, err := d.Rehearse()
	require.NoError(t, err)
	return curl.Script{
		Title: "duplicate", Origin: "found", Base: base, Plan: plan, Requests: requests, Lanes: s.Lanes, Links: s.Links, Normal: 20 * time.Millisecond,
		Variables: map[string]string{"stands-for-TOKEN": "TOKEN"},
		Rows:      map[string]string{operation: `select "id" from things where note = :marker`},
	}
}

func write(t *testing.T, s curl.Script) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, s.Write(&out))
	file := filepath.Join(t.TempDir(), "again.sh")
	require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
	return file
}

const everything = `name: everything
summary: All that a script has words for.
intents: 1
concurrency: 1
lanes: {slow: [{latency: {delay: 5ms}}]}
links: {database: [latency: 5ms]}
background: {rate: 10, intents: 2}
steps:
  - send: {lane: slow, timeout: 50%, retry: {max: 2, backoff: 10ms, on: [no-answer, "409", 5xx], key: fresh}}
  - wait: 15ms
  - wait: committed
  - look: {}
  - burst: {copies: 4}
  - burst: {copies: 3, altered: 1, write_gate: true}
  - tabs: [{at: 0s}, {at: 10ms, key: none}]
  - sweep: {from: 5ms, to: 5ms}
  - alter: {key: fresh}
  - respell: {spelling: order}
exercised: [overlapped]
`

const one = `name: one
summary: The least there is.
intents: 1
steps: [{send: {}}]
exercised: [acknowledged]
`

const emptied = `name: emptied
summary: The store loses what it holds.
intents: 1
concurrency: 1
steps: [send, flush: store, send]
exercised: [flushed]
`

const keyHeaders = `name: key-headers
summary: Two keys in two headers, and one under a name in lower case.
intents: 1
steps: [respell: {spelling: two-headers}, respell: {spelling: header-case}]
exercised: [respelled]
`

func TestTheScriptIsAsItWas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source string
		change func(*curl.Script)
	}{
		"everything":  {everything, func(*curl.Script) {}},
		"key-headers": {keyHeaders, func(*curl.Script) {}},
		"emptied":     {emptied, func(*curl.Script) {}},
		"sqlite": {one, func(s *curl.Script) {
			s.Client, s.Database, s.Judge.Sees = curl.SQLite, "sqlite:///tmp/x.db", curl.TooMany
		}},
		"postgres": {one, func(s *curl.Script) {
			s.Client, s.Judge = curl.Postgres, curl.Judge{Sees: curl.Lost, Means: curl.Means{Done: []contract.Signature{{Statuses: []int{201}}}}, Identity: contract.Identity{JSON: "/id"}}
		}},
		"mariadb": {one, func(s *curl.Script) { s.Client = curl.MariaDB }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scripted(t, "http://127.0.0.1:8080", c.source)
			c.change(&s)
			file := write(t, s)
			out, err := exec.CommandContext(t.Context(), "bash", "-n", file).CombinedOutput()
			require.NoError(t, err, "%s", out)
			got, err := os.ReadFile(file)
			require.NoError(t, err)
			golden := filepath.Join("testdata", name+".sh")
			if *update {
				require.NoError(t, os.WriteFile(golden, got, 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		})
	}
}

func TestAScriptWaitsByWhatIsPromisedOfKeys(t *testing.T) {
	t.Parallel()
	s := scripted(t, "http://127.0.0.1:9", scenario("send, wait: 500ms, send, wait: {for: remembered, pauses: [3s]}, send, wait: expired, send", ""))
	s.Client, s.Judge.Sees, s.Judge.Promise.Expiry.After = curl.SQLite, curl.TooMany, contract.Duration(4*time.Second)
	text := func() string {
		var out bytes.Buffer
		require.NoError(t, s.Write(&out))
		return out.String()
	}
	require.Regexp(t, `(?s)wait\.\nsleep 0\.5\n.*wait\.\nsleep 2\n.*wait until the key is forgotten\.\nsleep 5\.1\n`, text(), "five eighths of 4s, less what it has slept")
	require.Contains(t, text(), "$of_1 -gt 2 ", "one for each time in which the key is known")
	s.Judge.Promise.Expiry.Then = contract.ExpiryReject
	require.Contains(t, text(), "$of_1 -gt 1 ")
	s.Judge.Natural, s.Judge.Promise.NaturalKey = true, []string{"/of"}
	require.Regexp(t, `wait\.\nsleep 3\n`, text(), "a natural key is not forgotten")
	require.Contains(t, text(), "$of_1 -gt 1 ")
}

// seen is what a server was sent.
type seen struct{ path, key, note, token, body string }

func TestWhatIsSentIsWhatTheDriverSends(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var all []seen
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, seen{r.RequestURI, r.Header.Get("Idempotency-Key"), r.Header.Get("X-Note"), r.Header.Get("Authorization"), string(body)})
		if len(all) == 1 {
			w.WriteHeader(http.StatusConflict)
		}
	}))
	t.Cleanup(server.Close)
	s := scripted(t, server.URL, strings.Replace(everything, "timeout: 50%", "timeout: 9s", 1))
	command := exec.CommandContext(t.Context(), "bash", write(t, s))
	command.Env = append(os.Environ(), "TOKEN=secret $HOME")
	out, err := command.CombinedOutput()
	require.Error(t, err, "nobody counted the rows")
	require.Equal(t, 2, command.ProcessState.ExitCode(), "%s", out)

	require.Len(t, all, 2+4+3+2+2+1+1, "%s", out)
	marker := strings.Split(strings.Split(all[0].body, `"note":"`)[1], `"`)[0]
	require.Regexp(t, `^dt[a-z2-7]{16}$`, marker)
	keys := map[string]int{}
	planned := s.Requests[s.Plan.Intents[0].Moves[0].Batch[0].ID]
	own := all[2].key
	for _, one := range all {
		keys[one.key]++
		require.Equal(t, "/things?as=1", one.path)
		require.Equal(t, "Bearer secret $HOME", one.token)
		require.Equal(t, planned.Header["X-Note"], one.note)
		if one.key == own && strings.Contains(one.body, marker) && !strings.Contains(one.body, "another") && !strings.Contains(one.body, ", ") {
			require.Equal(t, len(planned.Body), len(one.body), "%s", one.body)
			require.Contains(t, one.body, `"text":"it's \"$HOME\" `+"`id`"+` \\n ${x} !\\\\"`)
		}
	}
	require.Contains(t, all[len(all)-1].body, "\\u0064"+marker[1:], "the other spelling has the same marker")
	require.Equal(t, 1, keys[""], "one tab sends none")
	require.Equal(t, all[0].key, own)
	require.NotEqual(t, all[0].key, all[1].key, "the retry has a fresh one")
	require.Len(t, keys, 4, "own, none, the retry's, the altered one's")
}

// A database URL is percent-encoded, and its query is no part of the place. Clients take names as they are.
// Where the target itself lists the rows there is no query, and nobody is sent to a database with an empty one.
func TestRowsThatNoDatabaseHasAreNotAskedOfOne(t *testing.T) {
	t.Parallel()
	s := scripted(t, "http://127.0.0.1:1", one)
	s.Rows = map[string]string{}
	text, err := os.ReadFile(write(t, s))
	require.NoError(t, err)
	require.NotContains(t, string(text), "doubletap_rows")
	require.NotContains(t, string(text), "ask the database")
}

func TestTheDatabaseIsThatOfItsURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		client curl.Client
		url    string
		asked  string
	}{
		{curl.SQLite, "sqlite:///tmp/my%20shop%26c.db?mode=ro#x", "-readonly|/tmp/my shop&c.db|"},
		{curl.SQLite, `sqlite:///tmp/a\n.db`, `-readonly|/tmp/a\n.db|`},
		{curl.SQLite, "sqlite:/tmp/x.db", "-readonly|/tmp/x.db|"},
		{curl.SQLite, "sqlite:100%25.db", "/100%25.db|"},
		{curl.Postgres, "postgres://me:p%26%3f@127.0.0.1:1/shop", "|--tuples-only|postgres://me:p%26%3f@127.0.0.1:1/shop|--command|"},
		{
			curl.Postgres, "postgresql://127.0.0.1:1/shop?schema=own&connection_limit=5&sslmode=disable&pgbouncer=true",
			"|postgresql://127.0.0.1:1/shop?options=-csearch_path%3Down&sslmode=disable|",
		},
		{curl.Postgres, "postgres://127.0.0.1:1/shop?connection_limit=5", "|postgres://127.0.0.1:1/shop|"},
		{curl.MariaDB, "mariadb://me%2b:p%40ss%25@127.0.0.1:3307/my%20shop?x=1", "p@ss%|--batch|--skip-column-names|--user|me+|--host|127.0.0.1|--port|3307|my shop|--execute|"},
	} {
		t.Run(c.url, func(t *testing.T) {
			t.Parallel()
			s := scripted(t, "http://127.0.0.1:9", one)
			s.Client, s.Judge.Sees = c.client, curl.TooMany
			dir := stubs(t)
			said := filepath.Join(dir, "said")
			for _, name := range []string{"sqlite3", "mariadb", "psql"} {
				require.NoError(t, standin.Program(filepath.Join(dir, name), "#!/bin/sh\n{ printf '%s|' \"$MYSQL_PWD\" \"$@\"; echo; } >>'"+said+"'\n"))
			}
			command := exec.CommandContext(t.Context(), "bash", write(t, s))
			command.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "TOKEN=x", "DATABASE_URL=" + c.url}
			out, _ := command.CombinedOutput()
			got, err := os.ReadFile(said)
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(got), c.asked, "%s", out)
		})
	}
}
