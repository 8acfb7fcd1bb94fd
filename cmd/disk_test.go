package cmd

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/checker"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// countingTwice returns a target in front of another that counts every request as two.
func countingTwice(t *testing.T, behind string) (*atomic.Int64, string) {
	u, err := url.Parse(behind)
	require.NoError(t, err)
	count := new(atomic.Int64)
	pass := httputil.NewSingleHostReverseProxy(u)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/-/received" {
			fmt.Fprintf(w, `{"received":%d}`, count.Load())
			return
		}
		count.Add(2)
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return count, server.URL
}

// fullAfter is a disk with so much room.
type fullAfter struct{ room int }

func (f *fullAfter) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

// perform1000 plays the long scenario against a shop, in an act that the caller completes.
func perform1000(t *testing.T, s *shop, complete func(*act)) error {
	t.Helper()
	x := s.trial(t)
	getenv := func(name string) (string, bool) { v, set := x.env[name]; return v, set }
	o := runOptions{target: writeFile(t, "target.yaml", x.file)}
	sub, err := openSubject(t.Context(), nil, o, streams{out: io.Discard, err: io.Discard, getenv: getenv})
	require.NoError(t, err)
	require.NoError(t, sub.connect(t.Context(), func(scenarios.Need) bool { return false }))
	t.Cleanup(func() { sub.close() })
	f, err := scenarios.Load("long.yaml", []byte(long))
	require.NoError(t, err)
	a := &act{
		stage:    &stage{subject: sub, run: "run", dir: runDir{t.TempDir()}, progress: func(int, int) {}, silence: silence},
		scenario: f, base: time.Now(),
	}
	complete(a)
	return a.perform(t.Context(), scenarios.NewPlan(f, 1))
}

func TestADiskThatFillsUpStopsTheSending(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	err := perform1000(t, s, func(a *act) { a.record = history.NewWriter(&fullAfter{room: 400_000}) })
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, exitSurroundings, codeOf(err))
	require.Less(t, s.things(t), 900, "what cannot be recorded is not sent")
}

// TestATargetThatFallsSilent would take more than an hour if every client waited out its deadline.
func TestATargetThatFallsSilent(t *testing.T) {
	t.Parallel()
	var answered atomic.Int64
	asleep := make(chan struct{})
	s := newShop(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if answered.Add(1) > 20 {
				select {
				case <-asleep:
				case <-r.Context().Done():
				}
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	t.Cleanup(func() { close(asleep) }) // before the shop waits for its answers
	var into text
	require.NoError(t, perform1000(t, s, func(a *act) {
		a.silence, a.record = 300*time.Millisecond, history.NewWriter(&into)
	}))
	h, err := history.Read(strings.NewReader(into.String()))
	require.NoError(t, err)
	require.Len(t, h.Incidents, 1)
	require.Equal(t, history.TargetGone, h.Incidents[0].Kind)
	require.Contains(t, h.Incidents[0].Text, "the target answers nothing any more, for 600ms now")
	require.Less(t, len(h.Attempts), 100)
	require.Equal(t, checker.Broken, checker.Check(h, checker.Terms{}).Verdict)
}

// TestAFullDisk runs on a disk of its own, where that can be had.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no disk to fill here: mount: %v; TestADiskThatFillsUpStopsTheSending covers the rest", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, 0) })
	s := newShop(t, nil)
	x := s.trial(t, "plain-create", writeFile(t, "long.yaml", long), "double-click")
	x.reports = filepath.Join(disk, "runs")
	got := x.run(t)
	require.Equal(t, exitSurroundings, got.code, "%s", got)
	require.Contains(t, got.err, "scenario long")
	require.Contains(t, got.err, "no space left on device")
	require.LessOrEqual(t, lines(got.err), 3, "%s", got)
	require.Contains(t, got.out, "plain-create  pass", "what was done is reported")
	require.Contains(t, got.out, "it was not run")
	require.Less(t, s.things(t), 900, "what cannot be recorded is not sent")
}

func TestATerminalThatIsGoneDoesNotKeepTheReportFromTheDisk(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	x := s.trial(t)
	getenv := func(name string) (string, bool) { v, set := x.env[name]; return v, set }
	code := execute(t.Context(), []string{"run", "--target", writeFile(t, "target.yaml", x.file), "--reports", x.reports, "plain-create"},
		streams{out: failing{}, err: io.Discard, getenv: getenv})
	require.Equal(t, exitSurroundings, code)
	require.FileExists(t, filepath.Join(onlyRun(t, x.reports), "report.json"))
}

func TestACrashIsNotInconclusive(t *testing.T) {
	t.Parallel()
	var message text
	code := execute(t.Context(), []string{"targets", "list"}, streams{out: crashing{}, err: &message, getenv: os.LookupEnv})
	require.Equal(t, exitSurroundings, code)
	require.Contains(t, message.String(), "a fault in doubletap itself: a crash")
}

type crashing struct{}

func (crashing) Write([]byte) (int, error) { panic("a crash") }

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

func TestAFileThatCannotBeWrittenStaysAsItWas(t *testing.T) {
	t.Parallel()
	path := writeFile(t, "matrix.json", "as it was")
	broken := func(w io.Writer) error {
		_, err := io.WriteString(w, "the beg")
		return errors.Join(err, syscall.ENOSPC)
	}
	require.ErrorIs(t, renderFile(path, broken), syscall.ENOSPC)
	require.Equal(t, "as it was", readFile(t, path))
	require.NoError(t, renderFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "anew"); return err }))
	require.Equal(t, "anew", readFile(t, path))
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)
}
