package rundir_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/rundir"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// What is sent again of a finding strikes where it struck, unless that was after the request.
func TestAFindingIsSentAgainAtItsMoment(t *testing.T) {
	t.Parallel()
	at := scenarios.Span{Fixed: 7 * time.Millisecond}
	whole := scenarios.Span{Share: 1.2}
	for name, c := range map[string]struct {
		step     string
		from, to scenarios.Span
	}{
		"a sweep":                  {"sweep: {from: 0ms, to: 120%}", at, at},
		"a crash in the request":   {"crash: {from: 0ms, to: 120%}", at, at},
		"a crash after the answer": {"crash: {from: 100%, to: 120%}", scenarios.Span{Share: 1}, whole},
		"a crash of another step":  {"send, crash: {from: 0ms, to: 120%}", scenarios.Span{}, whole},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Load("s.yaml", []byte("name: s\nsummary: s\nintents: 5\nconcurrency: 1\nsteps: ["+c.step+"]\nexercised: [acknowledged]\n"))
			require.NoError(t, err)
			f := rundir.Finding{Finding: checker.Finding{Intent: "i003", Attempts: []history.Attempt{{ID: "i003-1", Intent: "i003", After: history.Offset(at.Fixed)}}}}
			f.Finding.Crashes = []history.Crash{{Attempt: "i003-1", After: history.Offset(at.Fixed)}}
			got := f.Narrowed(s)
			require.Equal(t, 1, got.Intents)
			last := got.Steps[len(got.Steps)-1]
			if last.Sweep != nil {
				require.Equal(t, []scenarios.Span{c.from, c.to}, []scenarios.Span{last.Sweep.From, last.Sweep.To})
				return
			}
			require.Equal(t, []scenarios.Span{c.from, c.to}, []scenarios.Span{last.Crash.From, last.Crash.To})
		})
	}
}
