package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
)

// talker is a service that prints each request, its token included, and answers each with another number.
const talker = `
import http.server, itertools, json, os, sys
numbers = itertools.count(1)
class Orders(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        line = f"INSERT of {body['note']} for {self.headers['Authorization']} in {self.headers['Traceparent']}\n"
        os.write(1, line.encode()) # a line at once: print writes its end by itself, and other threads print as well
        text = json.dumps({"id": next(numbers)}).encode()
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Orders).serve_forever()
`

const talkerTarget = `name: talker
base_url: http://127.0.0.1:0
process: {command: [python3, talker.py, "{{.Port}}"]}
operations:
  create:
    request:
      method: POST
      path: /orders
      headers: {Authorization: "Bearer ${TOKEN}", Traceparent: "{{.Attempt.Traceparent}}"}
      body: {note: "{{.Intent.Marker}}"}
    key: {in: header, name: Idempotency-Key}
    identity: /id
`

func TestAFindingShowsWhatTheServicePrintedBetweenItsRequests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "talker.py"), []byte(talker), 0o600))
	file := filepath.Join(dir, "target.yaml")
	require.NoError(t, os.WriteFile(file, []byte(talkerTarget), 0o600))
	reports := filepath.Join(dir, "runs")
	got := callWith(t.Context(), map[string]string{"TOKEN": "hunter2hunter2"}, "run", "--target", file, "--reports", reports, "sequential-replay")
	require.Equal(t, exitFinding, got.code, "%s", got)
	finding := onlyReport(t, reports).Results[0].Findings[0]
	marker := finding.Rows[0].Marker
	for _, a := range finding.Attempts[:2] {
		trace := a.Own["Traceparent"]
		at := slices.IndexFunc(finding.Printed.Lines, func(p history.Printed) bool { return p.Text == "INSERT of "+marker+" for Bearer *** in "+trace })
		require.GreaterOrEqual(t, at, 0, "%v", finding.Printed)
		require.Greater(t, finding.Printed.Lines[at].At, a.Start)
		require.Contains(t, got.out, "      Traceparent: "+trace, "by which the attempt is found in the service's own traces")
	}
	require.Contains(t, got.out, "\n  The service's log meanwhile\n")
	for _, name := range []string{"report.md", "report.html"} {
		text, err := os.ReadFile(filepath.Join(onlyRun(t, reports), name))
		require.NoError(t, err)
		require.Contains(t, string(text), "INSERT of "+marker, name)
	}
	require.NoError(t, filepath.WalkDir(reports, func(path string, _ os.DirEntry, err error) error {
		if text, unread := os.ReadFile(path); err == nil && unread == nil {
			require.NotContains(t, string(text), "hunter2hunter2", path)
		}
		return err
	}))
	require.False(t, strings.Contains(got.out+got.err, "hunter2hunter2"))
}
