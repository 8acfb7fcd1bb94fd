package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proxy"
)

// archive is a small database: it greets, and answers each line with the same line in capitals.
type archive struct {
	addr  string
	mu    sync.Mutex
	asked []string
}

func newArchive(t testing.TB) *archive {
	a := &archive{}
	a.addr = rawTarget(t, func(c *net.TCPConn) {
		fmt.Fprintln(c, "welcome")
		for in := bufio.NewReader(c); ; {
			line, err := in.ReadString('\n')
			if err != nil {
				return // what is left is no whole line
			}
			line = strings.TrimSuffix(line, "\n")
			a.mu.Lock()
			a.asked = append(a.asked, line)
			a.mu.Unlock()
			fmt.Fprintln(c, strings.ToUpper(line))
		}
	})
	return a
}

func (a *archive) questions() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.asked...)
}

func openWire(t testing.TB, to string, o proxy.Options) *proxy.LinkProxy {
	t.Helper()
	w, err := proxy.OpenLinkProxy(t.Context(), "database", "127.0.0.1:0", to, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, w.Close())
		require.NoError(t, w.Close(), "again")
	})
	return w
}

// asker is a connection of the target.
type asker struct {
	net.Conn
	in *bufio.Reader
}

func newAsker(t testing.TB, w *proxy.LinkProxy) asker {
	t.Helper()
	c, err := net.Dial("tcp", w.Address())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(long)))
	a := asker{c, bufio.NewReader(c)}
	greeting, err := a.in.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "welcome\n", greeting)
	return a
}

func (a asker) ask(question string) (string, error) {
	if _, err := fmt.Fprintln(a, question); err != nil {
		return "", err
	}
	line, err := a.in.ReadString('\n')
	return strings.TrimSpace(line), err
}

// onEachToxiproxy runs a test with toxiproxy in process and with a server.
func onEachToxiproxy(t *testing.T, test func(t *testing.T, o proxy.Options)) {
	t.Parallel()
	t.Run("in process", func(t *testing.T) { test(t, proxy.Options{}) })
	t.Run("server", func(t *testing.T) {
		url, _ := toxiproxyServer(t)
		test(t, proxy.Options{Toxiproxy: url})
	})
}

func TestAWireIsSlowForAWhileAndItsConnectionsLive(t *testing.T) {
	onEachToxiproxy(t, func(t *testing.T, o proxy.Options) {
		w := openWire(t, newArchive(t).addr, o)
		a := newAsker(t, w)
		base := time.Now()
		for round, faults := range [][]faults.Fault{nil, {{Latency: &faults.Latency{Delay: ms(30)}}}, nil, {{Latency: &faults.Latency{Delay: ms(40), Way: faults.ResponseWay}}}} {
			facts, err := w.Slow(t.Context(), faults)
			require.NoError(t, err)
			w.Note(base)
			for _, question := range []string{"one", "two"} {
				got, err := a.ask(question)
				require.NoError(t, err)
				require.Equal(t, strings.ToUpper(question), got)
			}
			passed := w.Noted()
			require.Equal(t, "database", passed.Link)
			require.Len(t, passed.Exchanges, 2)
			for _, e := range passed.Exchanges {
				require.Greater(t, e.Asked, history.Offset(0))
				require.GreaterOrEqual(t, e.Answered-e.Asked, facts.Delay)
			}
			require.Equal(t, []history.Offset{0, 60e6, 0, 40e6}[round], facts.Delay)
			require.Equal(t, 4*(round+1), w.Moments(), "the greeting answers nothing")
			require.NoError(t, w.ClearToxics(t.Context()))
			require.NoError(t, w.ClearToxics(t.Context()), "again")
		}
		require.Empty(t, w.Noted().Exchanges, "nothing is noted any more")
	})
}

func TestAWireBreaksAtEachOfItsMoments(t *testing.T) {
	onEachToxiproxy(t, func(t *testing.T, o proxy.Options) {
		for moment := 1; moment <= 6; moment++ {
			t.Run(fmt.Sprint(moment), func(t *testing.T) {
				archive := newArchive(t)
				w := openWire(t, archive.addr, o)
				a, idle := newAsker(t, w), newAsker(t, w)
				base := time.Now()
				strike := w.Strike(base, faults.Moment(fmt.Sprint(moment)), 300*time.Millisecond)
				var answers []string
				var err error
				for _, question := range []string{"one", "two", "three"} {
					var got string
					if got, err = a.ask(question); err != nil {
						break
					}
					answers = append(answers, got)
				}
				require.Error(t, err)
				require.Equal(t, []string{"ONE", "TWO", "THREE"}[:(moment-1)/2], orEmpty(answers))
				require.Equal(t, []string{"one", "two", "three"}[:moment/2], orEmpty(archive.questions()))
				cut := strike.Over()
				require.Positive(t, cut.At)
				whole := base.Add(cut.At.Duration() + 300*time.Millisecond)
				cut.At = 0
				require.Equal(t, history.Cut{Link: "database", Moment: fmt.Sprint(moment), Answer: moment%2 == 0, Connections: 2, Away: history.Offset(300 * time.Millisecond)}, cut)
				_, err = io.ReadAll(idle)
				require.ErrorIs(t, err, syscall.ECONNRESET, "it breaks for all")

				c, err := net.Dial("tcp", w.Address())
				if err == nil { // the reset may have come already
					_, err = bufio.NewReader(c).ReadString('\n')
					_ = c.Close()
				}
				if err == nil { // this machine stood still meanwhile
					require.True(t, time.Now().After(whole), "no connection is taken for a while")
				} else {
					require.ErrorIs(t, err, syscall.ECONNRESET, "no connection is taken for a while")
				}
				eventually(t, "the wire is whole again", func() bool {
					c, err := net.Dial("tcp", w.Address())
					if err != nil {
						return false
					}
					defer c.Close()
					line, _ := bufio.NewReader(c).ReadString('\n')
					return line == "welcome\n"
				})
				got, err := newAsker(t, w).ask("four")
				require.NoError(t, err, "it breaks once")
				require.Equal(t, "FOUR", got)
			})
		}
	})
}

func TestAWireBreaksAtACommitOrItsAnswer(t *testing.T) {
	t.Parallel()
	for moment, asked := range map[faults.Moment][]string{
		faults.AtCommit: {"begin", "insert"}, faults.AtCommitted: {"begin", "insert", " COMMIT"},
	} {
		archive := newArchive(t)
		w := openWire(t, archive.addr, proxy.Options{})
		a := newAsker(t, w)
		strike := w.Strike(time.Now(), moment, time.Millisecond)
		for _, question := range []string{"begin", "insert"} {
			_, err := a.ask(question)
			require.NoError(t, err)
		}
		_, err := fmt.Fprint(a, " ") // something that has no answer
		require.NoError(t, err)
		eventually(t, "it has passed", func() bool { return w.Moments() == 5 })
		_, err = a.ask("COMMIT")
		require.Error(t, err)
		require.Equal(t, asked, archive.questions())
		cut := strike.Over()
		require.Equal(t, string(moment), cut.Moment)
		require.Positive(t, cut.At)
		require.Equal(t, moment == faults.AtCommitted, cut.Answer)
	}
}

func orEmpty(lines []string) []string { return append([]string{}, lines...) }

func TestAStrikeThatIsCalledOffOrDoesNotComeBreaksNothing(t *testing.T) {
	t.Parallel()
	w := openWire(t, newArchive(t).addr, proxy.Options{})
	a := newAsker(t, w)
	ask := func() {
		_, err := a.ask("something")
		require.NoError(t, err)
	}
	require.Equal(t, history.Cut{Link: "database", Moment: "1"}, w.Strike(time.Now(), "1", time.Second).Over())
	ask()
	early := w.Strike(time.Now(), "5", time.Second)
	ask()
	require.Equal(t, history.Cut{Link: "database", Moment: "5"}, early.Over())
	ask()
	ask()
}

func TestAWireEndsWhatItsServerEnds(t *testing.T) {
	t.Parallel()
	addr := rawTarget(t, func(c *net.TCPConn) {
		fmt.Fprintln(c, "welcome")
		_, _ = bufio.NewReader(c).ReadString('\n')
		fmt.Fprint(c, "bye")
	})
	w := openWire(t, addr, proxy.Options{})
	a := newAsker(t, w)
	_, err := fmt.Fprintln(a, "one")
	require.NoError(t, err)
	last, err := io.ReadAll(a.in)
	require.NoError(t, err)
	require.Equal(t, "bye", string(last))
}

func TestWiresWithAMistake(t *testing.T) {
	t.Parallel()
	w := openWire(t, newArchive(t).addr, proxy.Options{})
	_, err := proxy.OpenLinkProxy(t.Context(), "store", w.Address(), "127.0.0.1:1", proxy.Options{})
	require.ErrorContains(t, err, `open link "store": `)
	require.ErrorContains(t, err, "address already in use")
	_, err = w.Slow(t.Context(), []faults.Fault{loseResponse})
	require.ErrorContains(t, err, `slow link "database" down: lose: response does not slow a link down`)
	_, err = w.Slow(t.Context(), []faults.Fault{{Latency: &faults.Latency{}}})
	require.ErrorContains(t, err, "delay is missing")
}

func TestAWireBlinksAtAWriteOrItsAnswer(t *testing.T) {
	t.Parallel()
	for moment, asked := range map[faults.Moment][]string{
		faults.AtWrite: {"begin"}, faults.AtWritten: {"begin", "look dtone"}, faults.AtWritten.Nth(2): {"begin", "look dtone", "insert dtone"},
	} {
		archive := newArchive(t)
		w := openWire(t, archive.addr, proxy.Options{})
		a := newAsker(t, w)
		strike := w.Strike(time.Now(), moment, 0, "dtone", "refone")
		var err error
		for _, question := range []string{"begin", "look dtone", "insert dtone", "end"} {
			if _, err = a.ask(question); err != nil {
				break
			}
		}
		require.Error(t, err, moment)
		require.Equal(t, asked, archive.questions(), moment)
		cut := strike.Over()
		require.Equal(t, moment != faults.AtWrite, cut.Answer)
		require.Zero(t, cut.Away)
		_, err = newAsker(t, w).ask("again")
		require.NoError(t, err, "the next connection is accepted at once")
	}
}

func TestAWireNotesCommitsAndWrites(t *testing.T) {
	t.Parallel()
	w := openWire(t, newArchive(t).addr, proxy.Options{})
	a := newAsker(t, w)
	w.Note(time.Now(), "dtone")
	for _, question := range []string{"begin", "insert dtone", "insert dttwo", "commit"} {
		_, err := a.ask(question)
		require.NoError(t, err)
	}
	var noted []string
	for _, e := range w.Noted().Exchanges {
		noted = append(noted, fmt.Sprint(e.Writes, e.Commits))
	}
	require.Equal(t, []string{"false false", "true false", "false false", "false true"}, noted)
}

func TestAWireHoldsOneQuestion(t *testing.T) {
	t.Parallel()
	const pause = 50 * time.Millisecond
	for kind, questions := range map[proxy.Question][]string{
		proxy.AnyQuestion: {"select", "insert", "insert"},
		proxy.Begin:       {"BEGIN", "insert", "start transaction"},
		proxy.Commit:      {"COMMIT", "insert", "commit"},
	} {
		n := 2
		if kind == proxy.AnyQuestion {
			n = 3
		}
		w := openWire(t, newArchive(t).addr, proxy.Options{})
		a := newAsker(t, w)
		h := w.Hold(kind, n, pause)
		for _, question := range questions[:2] {
			_, err := a.ask(question)
			require.NoError(t, err)
		}
		begun := time.Now()
		_, err := fmt.Fprintln(a, questions[2])
		require.NoError(t, err)
		<-h.Held()
		_, err = fmt.Fprintln(a, "more")
		require.NoError(t, err)
		for _, question := range []string{questions[2], "more"} {
			line, err := a.in.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, strings.ToUpper(question)+"\n", line)
		}
		require.GreaterOrEqual(t, time.Since(begun), pause)
		_, err = a.ask("again")
		require.NoError(t, err)
	}
}

func TestAHeldQuestionHoldsNoOtherConnection(t *testing.T) {
	t.Parallel()
	w := openWire(t, newArchive(t).addr, proxy.Options{})
	a, other := newAsker(t, w), newAsker(t, w)
	h := w.Hold(proxy.AnyQuestion, 1, 10*long)
	_, err := fmt.Fprintln(a, "insert")
	require.NoError(t, err)
	<-h.Held()
	_, err = other.ask("something else")
	require.NoError(t, err)
	require.NoError(t, a.Close())
}

func TestAHeldQuestionOfWhoHangsUpIsNeverAsked(t *testing.T) {
	t.Parallel()
	to := newArchive(t)
	w := openWire(t, to.addr, proxy.Options{})
	a := newAsker(t, w)
	h := w.Hold(proxy.Commit, 1, long)
	_, err := fmt.Fprintln(a, "commit")
	require.NoError(t, err)
	<-h.Held()
	require.NoError(t, a.Close())
	require.NoError(t, w.Close(), "which waits for the connection")
	require.Empty(t, to.questions())
}

func TestAHoldingThatIsCalledOffHoldsNothing(t *testing.T) {
	t.Parallel()
	w := openWire(t, newArchive(t).addr, proxy.Options{})
	a := newAsker(t, w)
	h := w.Hold(proxy.AnyQuestion, 1, long)
	h.CallOff()
	_, err := a.ask("something")
	require.NoError(t, err)
}
