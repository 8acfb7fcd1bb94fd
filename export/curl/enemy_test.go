package curl_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/export/curl"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/internal/standin"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

const raced = `name: raced
summary: Some of each way to send.
intents: 1
steps:
  - send: {retry: {max: 1, backoff: 1ms, on: [no-answer], key: fresh}}
  - burst: {copies: 2}
  - burst: {copies: 2, altered: 1}
  - respell: {spelling: order}
exercised: [acknowledged]
`

// hostile is a script in which a stranger has written every text.
func hostile(t require.TestingT, text string, client curl.Client) curl.Script {
	s, err := scenarios.Load("s.yaml", []byte(raced))
	require.NoError(t, err)
	o := driver.Operation{Name: operation, Operation: targets.Operation{
		Request: targets.Request{
			Method: "POST", Path: "/things/x",
			Header: map[string]string{"X-" + text: "v", "X-Note": text, "Authorization": "Bearer " + text, "X-Secret.Token": text},
			Body:   map[string]any{"note": "{{.Intent.Marker}}", "text": text, text: "x"},
		},
		Key:   targets.Key{Key: contract.Key{In: contract.KeyInHeader, Name: "Idempotency-Key"}},
		Alter: map[string]any{"text": "another"},
	}}
	if strings.Contains(text, "{{") { // a template, which is another language
		o.Request.Header = map[string]string{"X-Note": "x"}
		o.Request.Body = map[string]any{"note": "{{.Intent.Marker}}", "text": "x"}
	}
	plan := scenarios.NewPlan(s, 1)
	d := driver.Workload{Operations: []driver.Operation{o}, Plan: plan, Names: driver.Names{Seed: 1, Run: "run", Scenario: s.Name}}
	requests, err := d.Rehearse()
	require.NoError(t, err)
	for id, r := range requests {
		r.Secret, r.Path = append(r.Secret, "X-Secret.Token"), r.Path+text
		r.Body = append(r.Body, text...)
		requests[id] = r
	}
	step := driver.RehearsedStep{
		Rehearsed: driver.Rehearsed{Rendered: targets.Rendered{Method: text, Path: "/" + text, Header: map[string]string{"X-Note": text}, Body: []byte(text)}},
		Step: targets.Step{Request: targets.Request{Path: text}, Extract: map[string]targets.Extract{
			text: {JSON: text}, "B": {Header: text}, "C": {Cookie: text}, "D": {Pattern: text}, "E": {HTML: "input", Attribute: text},
		}},
		Extract: map[string]string{text: "1", "B": "2", "C": "3", "D": "4", "E": "5"},
	}
	steps := []driver.RehearsedRun{{For: history.Login, Place: text, Steps: []driver.RehearsedStep{step}}, {For: history.Cleanup, Place: text, Steps: []driver.RehearsedStep{step}}}
	return curl.Script{
		Steps: steps, Title: text, Origin: text, Base: "http://127.0.0.1:9/" + text, Plan: plan, Requests: requests, Normal: 1,
		Lanes: map[string][]faults.Fault{text: nil}, Links: map[string][]faults.Fault{text: {}},
		Variables: map[string]string{"stands-for-key": "key"}, Rows: map[string]string{operation: "select " + text + " where note = :marker"},
		Client: client, Database: "sqlite://" + text, Judge: curl.Judge{Sees: curl.TooMany, Identity: contract.Identity{JSON: text, Header: text, Pattern: text}, Where: []string{text}},
		Files: []curl.File{{Option: "--cacert", Variable: "TLS_CA", Path: text}}, Lacks: []string{text},
	}
}

// stubs is a folder with programs that do nothing in place of those that a script talks to others with.
func stubs(t testing.TB) string {
	dir := t.TempDir()
	for _, name := range []string{"curl", "sqlite3", "psql", "mariadb", "openssl", "sleep"} {
		require.NoError(t, standin.Program(filepath.Join(dir, name), "#!/bin/sh\nexit 0\n"))
	}
	return dir
}

// harmless runs a script. A file that $PWNED names, and any other in its folder, must not appear.
func harmless(t require.TestingT, s curl.Script, stubs string) {
	var script bytes.Buffer
	require.NoError(t, s.Write(&script))
	dir, err := os.MkdirTemp("", "curl-enemy-")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	command := exec.Command("bash", "-c", script.String())
	command.Dir = dir
	command.Env = []string{
		"PATH=" + stubs + ":/usr/bin:/bin", "PWNED=" + filepath.Join(dir, "pwned"), "AUTHORIZATION=a", "X_SECRET_TOKEN=a", "HEADER_=a", "key=a", "TMPDIR=" + os.TempDir(),
	}
	out, err := command.CombinedOutput()
	if err != nil {
		var ended *exec.ExitError
		require.ErrorAs(t, err, &ended, "%s", out)
		require.NotContains(t, string(out), "syntax error", "%s", script.String())
		require.NotContains(t, string(out), "command not found", "%s", script.String())
		require.NotContains(t, string(out), "bad substitution", "%s", script.String())
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left, "%s", script.String())
	require.NotRegexp(t, `[\x00-\x09\x0b-\x1f\x7f]`, script.String(), "a terminal shows it")
}

// enemies are texts that would like to be obeyed by a shell.
func enemies() []string {
	const touch = `: >"$PWNED"`
	return []string{
		"x", "it's", "{tenant}", "$(" + touch + ")", "`" + touch + "`", "'; " + touch + "; '", `"; ` + touch + `; "`, "\n" + touch + "\n", "}\n" + touch + "\n{",
		"\nEND\n)\n" + touch + "\n", "\nEN\x01D\n)\n" + touch, "\x1b'; " + touch + "; '", "\u2028" + touch, "::error::x", "</script>", "]]>", "[a](b)", "@org", "#[1-2]",
		`\`, `\'; ` + touch + "; #", "\r\n" + touch + "\r\n", "${marker}", "a.b", "$PWNED", "!!", "~", "-K/dev/null", "|" + touch, "&" + touch + "&", ";" + touch,
	}
}

func TestNoTextOfAStrangerIsObeyedByAScript(t *testing.T) {
	t.Parallel()
	nothing := stubs(t)
	for i, text := range enemies() {
		harmless(t, hostile(t, text, clients()[i%len(clients())]), nothing)
	}
}

func clients() []curl.Client {
	return []curl.Client{curl.SQLite, curl.NoClient, curl.Postgres, curl.MariaDB}
}

func FuzzScript(f *testing.F) {
	nothing := stubs(f)
	for i, text := range enemies() {
		f.Add(text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, client uint8) {
		if len(text) < 1000 { // an argument of a program has a bound
			harmless(t, hostile(t, text, clients()[int(client)%len(clients())]), nothing)
		}
	})
}
