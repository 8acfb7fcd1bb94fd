package services_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/doubletap-harness/doubletap/internal/ports"
	"github.com/doubletap-harness/doubletap/internal/standin"
	"github.com/doubletap-harness/doubletap/sut/services"
)

// role makes this test program a service, or a process that starts one and is killed.
const role = "DOUBLETAP_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "owner":
		own()
	default:
		serve(os.Getenv(role))
	}
}

// serve is a service on $PORT that tells its number and that of a child. Deaf ones ignore SIGTERM.
func serve(kind string) {
	fmt.Println("the token is hunter2hunter2 for", os.Getenv("PORT"))
	if kind == "broken" {
		fmt.Println("cannot find my configuration")
		os.Exit(3)
	}
	if once := os.Getenv("ONCE"); once != "" {
		if _, err := os.Stat(once); err == nil {
			os.Exit(3)
		}
		if err := os.WriteFile(once, nil, 0o600); err != nil {
			panic(err)
		}
	}
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		panic(err)
	}
	if kind == "deaf" {
		signal.Ignore(syscall.SIGTERM)
	}
	begun := time.Now()
	http.HandleFunc("/pids", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, os.Getpid(), " ", child.Process.Pid) })
	http.HandleFunc("/end", func(http.ResponseWriter, *http.Request) { fmt.Println("no more"); os.Exit(4) })
	http.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {
		if kind == "never" || kind == "slow" && time.Since(begun) < 100*time.Millisecond {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

// own starts a service, tells its port and waits to be killed.
func own() {
	port, err := ports.Reserve("127.0.0.1")
	if err != nil {
		panic(err)
	}
	if _, err := services.Start(context.Background(), options("plain", port.Number, io.Discard)); err != nil {
		panic(err)
	}
	fmt.Println(port.Number)
	select {}
}

func options(kind string, port int, log io.Writer) services.Options {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return services.Options{
		Command: []string{self}, Dir: os.TempDir(), Env: []string{role + "=" + kind, fmt.Sprint("PORT=", port)},
		Ready: func(ctx context.Context) error {
			answer, err := get(port, "/health")
			if err == nil && answer != "" {
				return errors.New("not well")
			}
			return err
		},
		Within: time.Minute, Signal: syscall.SIGTERM, Grace: time.Minute,
		Log: services.NewLog(log, []string{"hunter2hunter2"}),
	}
}

func get(port int, path string) (string, error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		return answer.Status, nil
	}
	return string(text), err
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := ports.Reserve("127.0.0.1")
	require.NoError(t, err)
	t.Cleanup(func() { port.Release() })
	return port.Number
}

func start(t *testing.T, o services.Options) *services.Service {
	t.Helper()
	s, err := services.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return s
}

// pids are the numbers of a service and of its child.
func pids(t *testing.T, port int) []int {
	t.Helper()
	text, err := get(port, "/pids")
	require.NoError(t, err)
	var all []int
	for _, word := range strings.Fields(text) {
		n, err := strconv.Atoi(word)
		require.NoError(t, err)
		all = append(all, n)
	}
	require.Len(t, all, 2)
	return all
}

// requireGone waits until processes have ended: those that lost their parent are reaped by another process.
func requireGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		require.Eventually(t, func() bool {
			state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return err != nil || strings.Contains(string(state), ") Z ")
		}, time.Minute, 5*time.Millisecond, "process %d", pid)
	}
}

func TestAServiceRunsUntilItIsStopped(t *testing.T) {
	for kind, grace := range map[string]time.Duration{"plain": time.Minute, "slow": time.Minute, "deaf": 50 * time.Millisecond} {
		t.Run(kind, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			port, log := freePort(t), &strings.Builder{}
			o := options(kind, port, log)
			o.Grace = grace
			s, err := services.Start(t.Context(), o)
			require.NoError(t, err)
			require.NoError(t, s.Ended())
			require.NoError(t, o.Ready(t.Context()), "it is ready when Start returns")
			numbers := pids(t, port)
			require.NoError(t, s.Stop())
			requireGone(t, numbers)
			require.NoError(t, s.Stop(), "stopping again does nothing")
			require.Equal(t, fmt.Sprintf("the token is *** for %d\n", port), log.String())
		})
	}
}

func TestAKilledServiceIsStartedAgain(t *testing.T) {
	port := freePort(t)
	s := start(t, options("plain", port, io.Discard))
	first := pids(t, port)
	require.NoError(t, s.Kill())
	requireGone(t, first)
	require.Error(t, s.Ended())
	require.ErrorContains(t, s.Kill(), "signal: killed", "it cannot be killed twice")
	require.NoError(t, s.Restart(t.Context()))
	require.NoError(t, s.Ended())
	require.NotEqual(t, first, pids(t, port))
}

func TestAServiceThatEndsByItselfSaysWhy(t *testing.T) {
	port := freePort(t)
	s := start(t, options("plain", port, io.Discard))
	numbers := pids(t, port)
	_, _ = get(port, "/end")
	require.Eventually(t, func() bool { return s.Ended() != nil }, time.Minute, time.Millisecond)
	require.ErrorContains(t, s.Ended(), "the process has ended (exit status 4); the last that it printed: the token is ***")
	require.ErrorContains(t, s.Ended(), " | no more")
	require.Error(t, s.Kill())
	requireGone(t, numbers)
}

// TestAFleetIsTended lets one of two end by itself, and kills both at another time.
func TestAFleetIsTended(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ports := []int{freePort(t), freePort(t)}
	f, err := services.StartFleet(t.Context(), []services.Options{options("plain", ports[0], io.Discard), options("plain", ports[1], io.Discard)})
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Stop()) }()
	told := make(chan services.Death, 9)
	stop := f.Tend(t.Context(), func(d services.Death) { told <- d })
	defer stop()
	require.NoError(t, f.Kill())
	require.NoError(t, f.Restart(t.Context()), "that was us")
	require.False(t, f.Down())
	first := pids(t, ports[1])
	_, _ = get(ports[1], "/end")
	d := <-told
	require.Equal(t, 2, d.Instance)
	require.Equal(t, "exit status 4", d.How)
	require.Contains(t, d.Said, "no more")
	require.NoError(t, d.Err)
	require.True(t, d.Ready.After(d.At))
	require.NotEqual(t, first, pids(t, ports[1]))
	require.NoError(t, f.Ended())
	stop()
	require.Empty(t, told)
}

func TestAServiceThatCannotBeStartedAgain(t *testing.T) {
	port := freePort(t)
	o := options("plain", port, io.Discard)
	o.Env = append(o.Env, "ONCE="+filepath.Join(t.TempDir(), "once"))
	f, err := services.StartFleet(t.Context(), []services.Options{o})
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Stop()) }()
	_, _ = get(port, "/end")
	told := make(chan services.Death, 9)
	defer f.Tend(t.Context(), func(d services.Death) { told <- d })()
	d := <-told
	require.Zero(t, d.Instance)
	require.ErrorContains(t, d.Err, "ended before it was ready (exit status 3)")
	require.Zero(t, d.Ready)
	require.False(t, f.Down(), "nobody starts it any more")
}

func TestAServiceThatDoesNotStartSaysWhy(t *testing.T) {
	notThere := options("plain", 1, io.Discard)
	notThere.Command = []string{"./no-such-shop"}
	nowhere := options("plain", 1, io.Discard)
	nowhere.Dir = filepath.Join(t.TempDir(), "none")
	late := options("never", freePort(t), io.Discard)
	late.Within = 30 * time.Second // in which a busy machine gets a process to say that it is not well
	elsewhere, nowhereElse := options("plain", freePort(t), io.Discard), freePort(t)
	elsewhere.Within, elsewhere.Ready = 2*time.Second, func(context.Context) error {
		_, err := get(nowhereElse, "/")
		return err
	}
	for name, c := range map[string]struct {
		options services.Options
		says    []string
	}{
		"it listens elsewhere":    {elsewhere, []string{"not ready within 2s", "nobody listens there: does it take the port from {{.Port}}?"}},
		"it ends":                 {options("broken", freePort(t), io.Discard), []string{"ended before it was ready (exit status 3)", "cannot find my configuration", "the token is ***"}},
		"it is never ready":       {late, []string{"not ready within 30s: not well", "the token is ***"}},
		"it is no program":        {notThere, []string{"there is no program ./no-such-shop: "}},
		"its directory is no one": {nowhere, []string{"there is no directory " + nowhere.Dir}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := services.Start(t.Context(), c.options)
			for _, text := range c.says {
				require.ErrorContains(t, err, text)
			}
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestAProgramIsFoundWhereItIsToRun(t *testing.T) {
	o := options("plain", freePort(t), io.Discard)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(o.Command[0], filepath.Join(dir, "the-shop")))
	t.Chdir(dir)
	o.Command = []string{"./the-shop"}
	for _, o.Dir = range []string{".", dir, filepath.Join("..", filepath.Base(dir))} {
		s, err := services.Start(t.Context(), o)
		require.NoError(t, err, "in %s", o.Dir)
		require.NoError(t, s.Stop())
	}
	o.Command = []string{"the-shop"}
	_, err := services.Start(t.Context(), o)
	require.ErrorContains(t, err, "there is no program the-shop", "a name alone is looked for in PATH")
}

func TestAStartThatIsGivenUpLeavesNothing(t *testing.T) {
	port := freePort(t)
	o := options("never", port, io.Discard)
	ctx, cancel := context.WithCancelCause(t.Context())
	given := errors.New("given up")
	var numbers []int
	ready := o.Ready
	o.Ready = func(ctx context.Context) error {
		err := ready(ctx)
		if err != nil && err.Error() == "not well" && numbers == nil {
			numbers = pids(t, port)
			cancel(given)
		}
		return err
	}
	_, err := services.Start(ctx, o)
	require.ErrorIs(t, err, given)
	requireGone(t, numbers)
}

// TestAStartThatWasNotWaitedForIsNotWaitedForAgain gives up the second start of a service.
func TestAStartThatWasNotWaitedForIsNotWaitedForAgain(t *testing.T) {
	o := options("plain", freePort(t), io.Discard)
	ctx, cancel := context.WithCancelCause(t.Context())
	given, starts, ready := errors.New("given up"), 1, o.Ready
	o.Ready = func(ctx context.Context) error {
		if starts > 1 {
			cancel(given)
			return errors.New("not well")
		}
		return ready(ctx)
	}
	f, err := services.StartFleet(t.Context(), []services.Options{o})
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Stop()) }()
	require.NoError(t, f.Kill())
	starts = 2
	require.ErrorIs(t, f.Restart(ctx), given)
	require.False(t, f.Down(), "nobody waits for it any more")
}

func TestAServiceEndsWithTheProcessThatStartedIt(t *testing.T) {
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), role+"=owner")
	owner.Stderr = os.Stderr
	out, err := owner.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, owner.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	port, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	numbers := pids(t, port)
	require.NoError(t, owner.Process.Kill())
	_ = owner.Wait()
	requireGone(t, numbers)
}

func TestPortsThatAreTakenAreKnown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	require.True(t, services.Taken(listener.Addr().String()))
	address, release, err := standin.Nobody()
	require.NoError(t, err)
	defer release()
	require.False(t, services.Taken(address))
}

func TestALogHoldsNoSecretsHoweverItIsWritten(t *testing.T) {
	for name, pieces := range map[string][]string{
		"at once":               {"a hunter2hunter2\nb\n"},
		"in pieces":             {"a hunter2", "hunter2", "\nb\n"},
		"without an end":        {"a hunter2hunter2\nb"},
		"the longer one counts": {"a hunter2hunter2hunter2hunter2\nb"},
	} {
		t.Run(name, func(t *testing.T) {
			out := &strings.Builder{}
			log := services.NewLog(out, []string{"", "hunter2hunter2", "hunter2hunter2hunter2hunter2"})
			for _, piece := range pieces {
				n, err := log.Write([]byte(piece))
				require.NoError(t, err)
				require.Len(t, piece, n)
			}
			require.Equal(t, "; the last that it printed:\n    a ***\n    b", log.String())
			require.NoError(t, log.Flush())
			require.Equal(t, "a ***\nb\n", out.String())
		})
	}
	require.Equal(t, "; it printed nothing", services.NewLog(io.Discard, nil).String())
}

func TestALogHidesWhatItLearnsLater(t *testing.T) {
	out := &strings.Builder{}
	log := services.NewLog(out, []string{"hunter2hunter2"})
	_, _ = fmt.Fprintln(log, "gave token-1 to hunter2hunter2")
	log.Hide("token-1", "")
	_, _ = fmt.Fprintln(log, "got token-1 of hunter2hunter2")
	require.Equal(t, "; the last that it printed:\n    gave *** to ***\n    got *** of ***", log.String())
	require.Empty(t, out.String(), "a line waits for what is learned a moment later")
	require.NoError(t, log.Flush())
	require.Equal(t, "gave *** to ***\ngot *** of ***\n", out.String())
}

func TestALogThatCannotBeWrittenIsToldInTheEnd(t *testing.T) {
	out, in := io.Pipe()
	require.NoError(t, out.Close())
	log := services.NewLog(in, nil)
	_, err := log.Write([]byte("a\n"))
	require.NoError(t, err)
	require.ErrorIs(t, log.Flush(), io.ErrClosedPipe)
}

func TestAFleetIsKilledAndStartedAgainAsOne(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ports := []int{freePort(t), freePort(t), freePort(t)}
	var all []services.Options
	for _, port := range ports {
		all = append(all, options("plain", port, io.Discard))
	}
	f, err := services.StartFleet(t.Context(), all)
	require.NoError(t, err)
	require.NoError(t, f.Ended())
	var first []int
	for _, port := range ports {
		first = append(first, pids(t, port)...)
	}
	require.NoError(t, f.Kill())
	requireGone(t, first)
	require.ErrorContains(t, f.Ended(), "instance 1: the process has ended (signal: killed)")
	require.NoError(t, f.Restart(t.Context()))
	require.NoError(t, f.Ended())
	_, _ = get(ports[1], "/end")
	require.Eventually(t, func() bool { return f.Ended() != nil }, time.Minute, time.Millisecond)
	require.ErrorContains(t, f.Ended(), "instance 2: the process has ended (exit status 4)")
	require.ErrorContains(t, f.Kill(), "instance 2: ")
	require.NoError(t, f.Stop())
	for _, port := range ports {
		require.False(t, services.Taken(fmt.Sprint("127.0.0.1:", port)))
	}
}

func TestAFleetOfWhichOneDoesNotStartLeavesNothing(t *testing.T) {
	port := freePort(t)
	_, err := services.StartFleet(t.Context(), []services.Options{options("plain", port, io.Discard), options("broken", freePort(t), io.Discard)})
	require.ErrorContains(t, err, "instance 2: it ended before it was ready (exit status 3)")
	require.False(t, services.Taken(fmt.Sprint("127.0.0.1:", port)))
	_, err = services.StartFleet(t.Context(), []services.Options{options("broken", port, io.Discard)})
	require.ErrorContains(t, err, "it ended before it was ready")
	require.NotContains(t, err.Error(), "instance")
	require.NoError(t, services.Fleet(nil).Stop())
	require.NoError(t, services.Fleet(nil).Ended())
}

func TestALogAsksForSecretsBeforeItPassesLinesOn(t *testing.T) {
	out := &strings.Builder{}
	log := services.NewLog(out, nil)
	asked := 0
	log.Learn(func() []string { asked++; return []string{"token-1"} })
	_, _ = fmt.Fprintln(log, "gave token-1")
	long := strings.Repeat("x", 60<<10)
	for range 100 { // more than what waits
		_, _ = fmt.Fprintln(log, long)
	}
	require.NoError(t, log.Flush())
	require.True(t, strings.HasPrefix(out.String(), "gave ***\n"))
	require.Less(t, asked, 10, "not for every line")
}

func TestALogKnowsWhenALineCame(t *testing.T) {
	log := services.NewLog(io.Discard, []string{"hunter2hunter2"})
	_, _ = fmt.Fprint(log, "before\n")
	time.Sleep(time.Millisecond)
	moment := time.Now()
	_, _ = fmt.Fprint(log, "gave token-1 to hunter2hunter2\r\n\n")
	log.Learn(func() []string { return []string{"token-1"} })
	lines := log.Since(moment)
	require.Len(t, lines, 1, "no blank lines, and none of before")
	require.Equal(t, "gave *** to ***", lines[0].Text)
	require.False(t, lines[0].At.Before(moment))

	for n := range 3 {
		_, _ = fmt.Fprintf(log, "%d %s\n", n, strings.Repeat("x", 400<<10))
	}
	lines = log.Since(moment)
	require.Len(t, lines, 2, "1 MiB at most")
	require.True(t, strings.HasPrefix(lines[1].Text, "2 "), "the last")
}
