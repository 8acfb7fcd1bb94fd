package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proxy"
)

func TestEveryPassageBelongsToItsConnection(t *testing.T) {
	t.Parallel()
	target := new(target)
	target.release = make(chan struct{})
	target.serve(t, func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		w.WriteHeader(id)
	})
	l := open(t, target.addr(), map[string][]faults.Fault{
		"jittery": {{Latency: &faults.Latency{Delay: ms(20), Jitter: ms(20)}}},
		"lossy":   {loseResponse},
	})
	type outcome struct {
		lane string
		want int
		saw  int
		tap  *proxy.Tap
		err  error
	}
	outcomes := make(chan outcome, 150)
	for want := 400; want < 450; want++ {
		for _, lane := range []string{"jittery", "lossy", faults.Clean} {
			go func() {
				c, p, err := l.Dial(context.Background(), lane)
				if err != nil {
					outcomes <- outcome{err: err}
					return
				}
				defer c.Close()
				saw := exchange(c, request("/"+strconv.Itoa(want), 10))
				outcomes <- outcome{lane: lane, want: want, saw: saw.status, tap: p}
			}()
		}
	}
	for range cap(outcomes) {
		o := <-outcomes
		require.NoError(t, o.err)
		if o.lane != "lossy" {
			require.Equal(t, o.want, o.saw)
		}
		require.Equal(t, o.want, settled(t, o.tap).Status)
	}
	require.Zero(t, l.InFlight())
}

func TestATargetThatRefusesIsToldApart(t *testing.T) {
	t.Parallel()
	l := open(t, refusing(t), map[string][]faults.Fault{"withheld": {withhold}})
	c, p := dial(t, l, faults.Clean)
	eventually(t, "the refusal is recorded", func() bool { return p.Facts().Refused })
	require.NotEqual(t, history.Timeout, exchange(c, request("/orders", 2)).kind())
	require.Equal(t, history.Passage{Refused: true}, p.Facts())

	_, p = dial(t, l, "withheld")
	eventually(t, "the refusal is recorded", func() bool { return p.Facts().Refused })
	require.Zero(t, l.InFlight())
}

func TestATargetThatDiesInItsAnswer(t *testing.T) {
	t.Parallel()
	const part = "HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\nhalf"
	for name, linger := range map[string]int{"with a close": -1, "with a reset": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seenPart := make(chan struct{})
			addr := rawTarget(t, func(c *net.TCPConn) {
				defer c.Close()
				readRequest(c)
				_, _ = io.WriteString(c, part)
				<-seenPart // a reset would overtake it
				_ = c.SetLinger(linger)
			})
			c, p := dial(t, open(t, addr, nil), faults.Clean)
			_, err := io.WriteString(c, request("/orders", 2))
			require.NoError(t, err)
			_, err = io.ReadFull(c, make([]byte, len(part)))
			require.NoError(t, err)
			close(seenPart)
			rest, _ := io.ReadAll(c)
			require.Empty(t, rest)
			facts := settled(t, p)
			require.EqualValues(t, len(part), facts.Down)
			require.Equal(t, 201, facts.Status)
			require.Zero(t, facts.Left)
		})
	}
}

func TestAResetByTheLaneIsAResetToTheTarget(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		fault faults.Fault
		reset bool
	}{
		"a lost request resets":      {fault: loseRequest, reset: true},
		"a request cut short closes": {fault: toxic("limit_data", "upstream", map[string]any{"bytes": 1})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			addr := rawTarget(t, func(c *net.TCPConn) {
				defer c.Close()
				_, err := io.Copy(io.Discard, c)
				ended <- err
			})
			c, p := dial(t, faulty(t, addr, row.fault), "faulty")
			_, _ = io.WriteString(c, request("/orders", 2))
			err := <-ended
			require.Equal(t, row.reset, err != nil, "the target read: %v", err)
			require.NotZero(t, settled(t, p).Left)
		})
	}
}

func TestInterimAnswersAreNotTheAnswer(t *testing.T) {
	t.Parallel()
	proceed := make(chan struct{})
	addr := rawTarget(t, func(c *net.TCPConn) {
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 100 Conti")
		<-proceed
		_, _ = io.WriteString(c, "nue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
		readRequest(c)
		_, _ = io.WriteString(c, "HTTP/1.")
		_, _ = io.WriteString(c, "1 201 Created\r\nContent-Length: 0\r\n\r\n")
	})
	c, p := dial(t, open(t, addr, nil), faults.Clean)
	eventually(t, "something comes back", func() bool { return p.Facts().Down > 0 })
	require.Zero(t, p.Facts().Answered)
	close(proceed)
	_, err := io.WriteString(c, request("/orders", 2))
	require.NoError(t, err)
	facts := settled(t, p)
	require.Equal(t, 201, facts.Status)
	require.Less(t, facts.Arrived, facts.Answered)
}

func TestAnAnswerThatIsNotHTTPHasNoStatus(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"SSH-2.0-x\r\n", "HTTP/1.1 abc \r\n", "HTTP/2 200 OK\r\n", "HTTP/1.1 2"} {
		addr := rawTarget(t, func(c *net.TCPConn) {
			defer c.Close()
			_, _ = io.WriteString(c, answer)
		})
		_, p := dial(t, open(t, addr, nil), faults.Clean)
		facts := settled(t, p)
		require.Zero(t, facts.Status, answer)
		require.NotZero(t, facts.Answered, answer)
	}
}

// What breaks while much is on its way must not jam toxiproxy: goleak sees it.
func TestNothingIsStuckWhenClientsLeaveInTheMiddle(t *testing.T) {
	t.Parallel()
	target := newTarget(t, 1<<20)
	l := open(t, target.addr(), map[string][]faults.Fault{
		"late":   {{Latency: &faults.Latency{Delay: ms(3), Way: faults.ResponseWay}}},
		"narrow": {{Bandwidth: &faults.Bandwidth{Rate: 20_000}}},
		"sliced": {{Slice: &faults.Slice{Size: 1000, Delay: faults.Duration(time.Microsecond)}}},
	})
	for _, road := range l.Facts() {
		for range 5 {
			c, p := dial(t, l, road.Name)
			_, err := io.WriteString(c, request("/orders", 100))
			require.NoError(t, err)
			_, err = io.ReadFull(c, make([]byte, 10))
			require.NoError(t, err)
			require.NoError(t, c.Close())
			settled(t, p)
		}
	}
}

func TestNothingIsStuckWhenLanesCloseInTheMiddle(t *testing.T) {
	t.Parallel()
	target := newTarget(t, 1<<20)
	l := open(t, target.addr(), map[string][]faults.Fault{
		"late":     {{Latency: &faults.Latency{Delay: faults.Duration(time.Hour), Way: faults.ResponseWay}}},
		"narrow":   {{Bandwidth: &faults.Bandwidth{Rate: 1}}},
		"sliced":   {{Slice: &faults.Slice{Size: 1, Delay: ms(1)}}},
		"withheld": {withhold},
		"closing":  {{SlowClose: &faults.SlowClose{Delay: faults.Duration(time.Hour)}}},
	})
	for _, road := range l.Facts() {
		c, p := dial(t, l, road.Name)
		go func() { _, _ = io.WriteString(c, request("/orders", 100)) }()
		if road.Name == "late" || road.Name == "withheld" {
			settled(t, p)
		}
	}
	started := time.Now()
	require.NoError(t, l.Close())
	require.Less(t, time.Since(started), long)
	require.NoError(t, l.Close(), "again")
	require.Zero(t, l.InFlight())
}

func TestNothingDelayedArrivesAfterRemoveFaults(t *testing.T) {
	t.Parallel()
	target := newTarget(t, 10)
	l := faulty(t, target.addr(), faults.Fault{Latency: &faults.Latency{Delay: faults.Duration(time.Hour)}})
	c, p := dial(t, l, "faulty")
	_, err := io.WriteString(c, request("/orders", 2))
	require.NoError(t, err)
	eventually(t, "the connection stands", func() bool { return p.Facts().Opened != 0 })
	require.NoError(t, l.RemoveFaults(t.Context()))
	require.Zero(t, target.started.Load())
	require.Zero(t, p.Facts().Up)
}

func TestTwoLanesAtOnceDoNotCollide(t *testing.T) {
	t.Parallel()
	target := newTarget(t, 10)
	lanes := map[string][]faults.Fault{"faulty": {withhold}}
	one, other := open(t, target.addr(), lanes), open(t, target.addr(), lanes)
	require.NoError(t, one.RemoveFaults(t.Context()))
	_, p := dial(t, other, "faulty")
	require.Zero(t, p.Facts().Answered)
	c, _ := dial(t, one, faults.Clean)
	require.Equal(t, 201, exchange(c, request("/orders", 2)).status)
}

func TestDialsAndClosesAtOnce(t *testing.T) {
	t.Parallel()
	target := newTarget(t, 10)
	l := faulty(t, target.addr(), withhold)
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			for {
				c, _, err := l.Dial(context.Background(), "faulty")
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, request("/orders", 2))
				_ = c.Close()
			}
		})
	}
	eventually(t, "there is traffic", func() bool { return target.committed.Load() > 20 })
	require.NoError(t, l.RemoveFaults(t.Context()))
	clients.Wait()
}

func TestACloseWakesAReadUnderWay(t *testing.T) {
	t.Parallel()
	target := newSlowTarget(t)
	c, _ := dial(t, faulty(t, target.addr(), withhold), "faulty")
	read := make(chan error)
	go func() {
		_, err := c.Read(make([]byte, 1))
		read <- err
	}()
	require.NoError(t, c.Close())
	require.ErrorIs(t, <-read, net.ErrClosed)
	_, err := c.Read(make([]byte, 1))
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = c.Write([]byte("x"))
	require.ErrorIs(t, err, net.ErrClosed)
	require.ErrorIs(t, c.Close(), net.ErrClosed)
}

func TestFactsOfLanes(t *testing.T) {
	t.Parallel()
	l := open(t, "127.0.0.1:1", map[string][]faults.Fault{
		"slow": {
			{Latency: &faults.Latency{Delay: ms(100), Jitter: ms(20)}},
			{Latency: &faults.Latency{Delay: ms(5), Jitter: ms(20), Way: faults.RequestWay}},
			toxic("latency", "upstream", map[string]any{"latency": 7}),
		},
		"clean": nil,
	})
	require.Equal(t, []history.Lane{
		{Name: "clean", Proxy: "in-process", Doorstep: true},
		{
			Name: "slow",
			Faults: []string{
				"latency 100ms ± 20ms, both ways",
				"latency 5ms ± 20ms, on the request",
				`toxic latency upstream {"latency":7,"jitter":0}`,
			},
			Delay:    history.Offset(167 * time.Millisecond),
			Proxy:    "in-process",
			Doorstep: true,
		},
	}, l.Facts())
}

func TestMistakesInOpenAndDial(t *testing.T) {
	t.Parallel()
	for complaint, lanes := range map[string]map[string][]faults.Fault{
		`open lanes: lane "clean" is the one without faults`:           {"clean": {withhold}},
		`open lane "a": a fault is exactly one thing, this is nothing`: {"a": {{}}, "b": {withhold}},
		`open lane "z": toxic: there is no type "wobble"`:              {"a": {withhold}, "z": {toxic("wobble", "upstream", nil)}},
	} {
		_, err := proxy.Open(t.Context(), lanes, proxy.Options{Upstream: "127.0.0.1:1"})
		require.ErrorContains(t, err, complaint)
	}
	l := open(t, "127.0.0.1:1", map[string][]faults.Fault{"slow": nil})
	_, _, err := l.Dial(t.Context(), "fast")
	require.EqualError(t, err, `dial: there is no lane "fast", only clean, slow`)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = l.Dial(over, "slow")
	require.ErrorIs(t, err, context.Canceled)
	_, err = proxy.Open(over, nil, proxy.Options{Upstream: "127.0.0.1:1"})
	require.ErrorIs(t, err, context.Canceled)
}

func BenchmarkExchange(b *testing.B) {
	target := newTarget(b, 100)
	l := open(b, target.addr(), nil)
	for name, connect := range map[string]func() (net.Conn, error){
		"direct": func() (net.Conn, error) { return net.Dial("tcp", target.addr()) },
		"clean lane": func() (net.Conn, error) {
			c, _, err := l.Dial(context.Background(), faults.Clean)
			return c, err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				c, err := connect()
				require.NoError(b, err)
				require.Equal(b, 201, exchange(c, request(fmt.Sprint("/", i), 100)).status)
				_ = c.Close()
			}
		})
	}
}

func TestATargetOnAUnixDomainSocketIsSeenAtItsDoorstep(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	require.NoError(t, err)
	target := &target{release: make(chan struct{})}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		target.committed.Add(1)
		answer(w, 10)
	})}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() { _ = server.Close(); serving.Wait() })
	for name, url := range map[string]string{"in process": "", "on a server": serverOf(t)} {
		l := openWith(t, proxy.Options{Socket: path, Toxiproxy: url}, map[string][]faults.Fault{"lossy": {loseResponse}, "cut": {loseRequest}})
		c, p := dial(t, l, faults.Clean)
		require.Equal(t, 201, exchange(c, request("/orders", 2)).status, name)
		require.Equal(t, 201, settled(t, p).Status, name)
		before := target.committed.Load()
		c, p = dial(t, l, "lossy")
		require.Equal(t, history.Reset, exchange(c, request("/orders", 2)).kind(), name)
		require.Equal(t, 201, settled(t, p).Status, name)
		require.Equal(t, before+1, target.committed.Load(), name)
		c, _ = dial(t, l, "cut")
		require.Equal(t, history.Reset, exchange(c, request("/orders", 1<<20)).kind(), name)
		require.Equal(t, before+1, target.committed.Load(), name)
		require.NoError(t, l.Close())
	}
	_ = server.Close()
	l := openWith(t, proxy.Options{Socket: path}, nil)
	_, p := dial(t, l, faults.Clean)
	eventually(t, "no listener", func() bool { return p.Facts().Refused })
}

func serverOf(t *testing.T) string {
	url, _ := toxiproxyServer(t)
	return url
}
