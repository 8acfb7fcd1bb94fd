package services

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheReasonStandsInTheLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		log  string
		said []string
	}{
		"go": {"listening\npanic: close of closed channel\n\ngoroutine 12 [running]:\nmain.end(...)\n\t/srv/a.go:31 +0x1d\ncreated by main.x\n\t/srv/b.go:3\nexit status 2",
			[]string{"panic: close of closed channel"}},
		"go maps": {"fatal error: concurrent map writes\n\ngoroutine 7 [running]:\n\t/a.go:1", []string{"fatal error: concurrent map writes"}},
		"go nil": {"panic: runtime error: invalid memory address\n[signal SIGSEGV: segmentation violation code=0x1]\n\ngoroutine 1 [running]:",
			[]string{"panic: runtime error: invalid memory address", "[signal SIGSEGV: segmentation violation code=0x1]"}},
		"node": {"Error: validation failed\n    at a (/a.js:1:1)\n/srv/app.js:9\n    throw err;\n    ^\n\nError [ERR_HTTP_HEADERS_SENT]: Cannot set headers after they are sent\n    at b (/a.js:2:2)\n    at c (/a.js:3:3) {\n  code: 'ERR_HTTP_HEADERS_SENT'\n}\n\nNode.js v20.1.0",
			[]string{"Error [ERR_HTTP_HEADERS_SENT]: Cannot set headers after they are sent"}},
		"node circular": {"node:events:502\n      throw er; // Unhandled 'error' event\n      ^\n\n<ref *1> Error: read ECONNRESET\n    at TCP.onStreamRead (node:internal)\nEmitted 'error' event on BoundPool instance at:\n    at Client.x (/a.js:1:1) {\n  errno: -104,\n  client: Client {\n    [Symbol(kCapture)]: false\n  }\n}\n\nNode.js v20.1.0",
			[]string{"<ref *1> Error: read ECONNRESET"}},
		"node postgres": {"error: this is a logger's\n/srv/a.js:9\nerror: terminating connection\n    at Parser.x (/p.js:1:1) {\n  length: 116,\n  code: '57P01'\n}\nerror: and this",
			[]string{"error: terminating connection"}},
		"node heap": {"<--- Last few GCs --->\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n 1: 0xb7a940 node::Abort()",
			[]string{"FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"}},
		"python": {"Traceback (most recent call last):\n  File \"/a.py\", line 3, in f\n    raise KeyError(k)\nKeyError: 'k'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"/b.py\", line 9, in g\npsycopg2.errors.UniqueViolation: duplicate\nsqlalchemy.exc.IntegrityError: duplicate key",
			[]string{"sqlalchemy.exc.IntegrityError: duplicate key"}},
		"java": {"Exception in thread \"main\" java.lang.IllegalStateException: no\n\tat a.B.c(B.java:1)\nCaused by: java.sql.SQLException: gone\n\tat a.B.d(B.java:2)\n\t... 3 more",
			[]string{"Exception in thread \"main\" java.lang.IllegalStateException: no", "Caused by: java.sql.SQLException: gone"}},
		"rust":   {"thread 'main' panicked at src/main.rs:2:5:\nno entry\nnote: run with RUST_BACKTRACE=1", []string{"thread 'main' panicked at src/main.rs:2:5:", "no entry"}},
		"ruby":   {"app.rb:3:in 'Integer#/': divided by 0 (ZeroDivisionError)\n\tfrom app.rb:3:in 'f'", []string{"app.rb:3:in 'Integer#/': divided by 0 (ZeroDivisionError)"}},
		"logger": {"2026-01-02 10:00:00 FATAL pool is empty\nbye", []string{"2026-01-02 10:00:00 FATAL pool is empty"}},
		"words":  {"listening\ncannot go on\n\tat x\nbye", []string{"listening", "cannot go on", "bye"}},
		"none":   {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines []string
			for line := range strings.SplitSeq(c.log, "\n") {
				if strings.TrimSpace(line) != "" { // as a log keeps them
					lines = append(lines, line)
				}
			}
			require.Equal(t, c.said, reasonIn(lines))
		})
	}
}
