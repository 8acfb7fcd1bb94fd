package main

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
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// counting returns a target in front of another that counts every request as so many.
func counting(t *testing.T, each int64, behind string) (*atomic.Int64, string) {
	u, err := url.Parse(behind)
	require.NoError(t, err)
	count := new(atomic.Int64)
	pass := httputil.NewSingleHostReverseProxy(u)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/-/received" {
			fmt.Fprintf(w, `{"received":%d}`, count.Load())
			return
		}
		count.Add(each)
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return count, server.URL
}

// TestAFullDisk runs on a disk of its own, where that can be had.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=256k"); err != nil {
		cannot(t, "no disk to fill here: mount: %v; TestADiskThatFillsUpStopsTheSending covers the rest", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, 0) })
	s := newShop(t, nil)
	x := s.trial(t, "--parallel=1", "plain-create", writeFile(t, "long.yaml", long), "double-click")
	x.reports = filepath.Join(disk, "runs")
	got := x.run(t)
	require.Equal(t, exitEnvironment, got.code, "%s", got)
	require.Contains(t, got.err, "scenario long")
	require.Contains(t, got.err, "no space left on device")
	require.Regexp(t, `long/history\.jsonl: no space left on device`, got.err, "the file is named")
	require.NotRegexp(t, `/\.[A-Z2-7]{26}`, got.err, "by the name that it was to have")
	require.LessOrEqual(t, lines(got.err), 3, "%s", got)
	require.Contains(t, got.out, "plain-create  pass", "what was done is reported")
	require.Contains(t, got.out, "it was not run")
	require.Less(t, s.things(t), 900, "what cannot be recorded is not sent")
	again := callWith(t.Context(), nil, "check", onlyRun(t, x.reports))
	require.Contains(t, again.out, "plain-create  pass", "what is there can be read")
}

func TestATerminalThatIsGoneDoesNotKeepTheReportFromTheDisk(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	x := s.trial(t)
	getenv := func(name string) (string, bool) { v, set := x.env[name]; return v, set }
	code := execute(t.Context(), []string{"run", "--target", writeFile(t, "target.yaml", x.file), "--reports", x.reports, "plain-create"},
		streams{out: failing{}, err: io.Discard, getenv: getenv})
	require.Equal(t, exitEnvironment, code)
	require.FileExists(t, filepath.Join(onlyRun(t, x.reports), "report.json"))
}

func TestACrashIsNotInconclusive(t *testing.T) {
	t.Parallel()
	var message text
	code := execute(t.Context(), []string{"targets", "list"}, streams{out: crashing{}, err: &message, getenv: os.LookupEnv})
	require.Equal(t, exitEnvironment, code)
	require.Contains(t, message.String(), "a fault in doubletap itself: a crash")
}

type crashing struct{}

func (crashing) Write([]byte) (int, error) { panic("a crash") }

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }
