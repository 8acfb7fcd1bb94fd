package driver_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/faults"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/proxy"
	"github.com/doubletap-harness/doubletap/scenarios"
	"github.com/doubletap-harness/doubletap/targets"
)

// h2c is net/http's server for HTTP/2 in clear text.
type h2c struct {
	*httptest.Server
	connections atomic.Int64
	gaveUp      atomic.Bool // a client: its SETTINGS did not come within 2 s, for which a machine may stand still
}

// Write takes a line of the server's log.
func (s *h2c) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("timeout waiting for")) {
		s.gaveUp.Store(true)
	}
	return len(line), nil
}

func serveH2C(t testing.TB, handler http.HandlerFunc, settings ...func(*http.HTTP2Config)) *h2c {
	t.Helper()
	s := &h2c{Server: httptest.NewUnstartedServer(handler)}
	s.Config.ErrorLog = log.New(s, "", 0)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Config.HTTP2 = &http.HTTP2Config{}
	for _, set := range settings {
		set(s.Config.HTTP2)
	}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *h2c) address() string { return s.Listener.Addr().String() }

// newRig2 is a rig whose target speaks HTTP/2.
func newRig2(t testing.TB, address string, steps ...scenarios.Step) *rig {
	t.Helper()
	r := newRig(t, address, steps...)
	r.Target.Protocol = targets.HTTP2
	return r
}

// telling answers with what was asked, as far as it is the same in all versions of HTTP.
func telling(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Add("X-More", "a")
	w.Header().Add("x-more", "b")
	w.Header()["Date"] = nil
	w.WriteHeader(http.StatusCreated)
	_, _ = fmt.Fprintf(w, "%s %s %s %d %v %s", r.Method, r.Host, r.RequestURI, r.ContentLength, r.Header, body)
}

func TestARequestIsTheSameInBothVersions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*targets.Operation){
		"with a body":    func(*targets.Operation) {},
		"without a body": func(o *targets.Operation) { o.Request.Body, o.Request.Path = nil, "/{{.Intent.Marker}}" },
		"a GET": func(o *targets.Operation) {
			o.Request.Body, o.Request.Path, o.Request.Method = nil, "/{{.Intent.Marker}}", "GET"
		},
		"with headers that only concern a connection": func(o *targets.Operation) {
			for _, name := range []string{"Keep-Alive", "Proxy-Connection", "TE"} {
				o.Request.Header[name] = "x"
			}
			o.Request.Header["Host"], o.Request.Header["X-Lines"] = "elsewhere.test", " a\r\nb "
		},
	} {
		for _, step := range []scenarios.Step{send(), burst(2)} {
			t.Run(fmt.Sprintf("%s, together %v", name, step.Burst != nil), func(t *testing.T) {
				t.Parallel()
				one, two := newRig(t, serve(t, telling), step), newRig2(t, serveH2C(t, telling).address(), step)
				change(&one.Operations[0].Operation)
				change(&two.Operations[0].Operation)
				old, young := one.drive(t).Attempts, two.drive(t).Attempts
				for n, a := range young {
					require.Empty(t, a.Error)
					for _, only := range []string{"Keep-Alive:[x] ", "Proxy-Connection:[x] ", "Te:[x] "} {
						old[n].Content = strings.ReplaceAll(old[n].Content, only, "")
					}
					if a.Together { // its head cannot be its end
						a.Content = strings.ReplaceAll(a.Content, "Content-Length:[0] ", "")
						old[n].Content = strings.ReplaceAll(old[n].Content, "Content-Length:[0] ", "")
					}
					require.Equal(t, old[n].Content, a.Content)
					old[n].Length, old[n].Header["Content-Length"] = a.Length, a.Header["Content-Length"]
					require.Equal(t, recorded(old[n]), recorded(a))
					require.Equal(t, "a, b", a.Header["X-More"])
					require.True(t, 0 < a.Start && a.Start <= a.Wrote && a.Wrote <= a.Replied && a.Replied <= a.End, "%+v", a)
					require.Positive(t, a.Sent)
				}
			})
		}
	}
}

func TestAnHTTPSTargetAgreesToHTTP2InTLS(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]scenarios.Step{"alone": send(), "in a burst": burst(3)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serveTLS(t)
			r := newRig2(t, server.Listener.Addr().String(), step)
			r.Target.BaseURL, r.Target.TLS = "https://example.com:8443/", trusting(server)
			for _, a := range r.drive(t).Attempts {
				require.Equal(t, "HTTP/2.0 example.com:8443 example.com", a.Content, a.Error)
				require.True(t, a.Complete)
			}
		})
	}
}

func trusting(server *httptest.Server) *targets.TLS {
	return &targets.TLS{Authorities: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
}

func TestATargetThatDoesNotSpeakHTTP2(t *testing.T) {
	t.Parallel()
	plain := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	plain.Config.ErrorLog = quiet()
	plain.TLS = &tls.Config{NextProtos: []string{"http/1.1"}}
	plain.StartTLS()
	t.Cleanup(plain.Close)
	both := serveTLS(t)
	for name, row := range map[string]struct {
		address, base string
		tls           *targets.TLS
		kind          history.ErrorKind
		says          string
	}{
		"it speaks HTTP/1.1":              {serve(t, telling), "http://orders.test", nil, history.Garbage, "HTTP/1.1"},
		"it refuses h2 in TLS":            {plain.Listener.Addr().String(), "https://example.com", trusting(plain), history.OtherError, "no application protocol"},
		"it agrees to nothing in TLS":     {serveSecretly(t, plain.TLS.Certificates), "https://example.com", trusting(plain), history.Garbage, `in TLS it agreed to "" and not to "h2"`},
		"its certificate is of nobody":    {both.Listener.Addr().String(), "https://example.com", nil, history.OtherError, "certificate"},
		"it closes in the handshake":      {serveRaw(t, func(p *peer) { _, _ = p.in.ReadByte(); p.end() }), "https://example.com", nil, history.Closed, "TLS handshake"},
		"it takes no connections":         {deaf(t), "http://orders.test", nil, history.Refused, "refused"},
		"it says nothing and closes":      {serveRaw(t, func(p *peer) { _, _ = p.in.Discard(24); p.end() }), "http://orders.test", nil, history.Closed, "EOF"},
		"it says something else entirely": {serveRaw(t, func(p *peer) { p.say("SSH-2.0-OpenSSH\r\n"); p.stay() }), "http://orders.test", nil, history.Garbage, "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, step := range []scenarios.Step{send(), burst(2)} {
				r := newRig2(t, row.address, step)
				r.Target.BaseURL, r.Target.TLS = row.base, row.tls
				for _, a := range r.drive(t).Attempts {
					require.Equal(t, row.kind, a.ErrorKind, a.Error)
					require.Contains(t, a.Error, row.says)
					require.True(t, a.Sent == 0 || !a.Together && row.tls == nil, "a burst waits, and so does TLS: nothing of it was sent")
				}
			}
		})
	}
}

// serveSecretly accepts TLS connections without agreeing on a protocol.
func serveSecretly(t *testing.T, certificates []tls.Certificate) string {
	return serveRaw(t, func(p *peer) {
		conn := tls.Server(p, &tls.Config{Certificates: certificates})
		_, _ = io.Copy(io.Discard, conn)
	})
}

func TestABurstIsOneConnectionAndAsManyRequestsAsItHasMembers(t *testing.T) {
	t.Parallel()
	var seen ledger
	server := serveH2C(t, func(w http.ResponseWriter, r *http.Request) {
		seen.add(r.RemoteAddr)
		w.WriteHeader(http.StatusCreated)
	})
	r := newRig2(t, server.address(), burst(20), send(), burst(20))
	attempts := r.drive(t).Attempts
	require.Len(t, attempts, 41)
	for _, a := range attempts {
		require.Equal(t, 201, a.Status, a.Error)
	}
	require.EqualValues(t, 3, server.connections.Load())
	tally := []int{}
	for _, n := range seen.tally() {
		tally = append(tally, n)
	}
	slices.Sort(tally)
	require.Equal(t, []int{1, 20, 20}, tally)
}

// writes records what is written to the connections of a road, a text for each write.
type writes struct {
	mu   sync.Mutex
	seen []string
}

type written struct {
	net.Conn
	to *writes
}

func (w written) Write(p []byte) (int, error) {
	w.to.mu.Lock()
	w.to.seen = append(w.to.seen, string(p))
	w.to.mu.Unlock()
	return w.Conn.Write(p)
}

func (r *rig) recordWrites() *writes {
	w, dial := &writes{}, r.Dialers[0]
	r.Dialers[0] = func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
		conn, passage, err := dial(ctx, lane)
		return written{conn, w}, passage, err
	}
	return w
}

// ends returns how many streams end in each write that ends any (RFC 9113, section 4.1).
func (w *writes) ends() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []int
	for _, text := range w.seen {
		text, n := strings.TrimPrefix(text, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 0
		for len(text) >= 9 {
			length, kind, flags := int(text[0])<<16|int(text[1])<<8|int(text[2]), text[3], text[4]
			if kind <= 1 && flags&1 != 0 { // DATA or HEADERS with END_STREAM
				n++
			}
			text = text[9+length:]
		}
		if n > 0 {
			all = append(all, n)
		}
	}
	return all
}

func TestTheLastFramesOfABurstAreOneWrite(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*targets.Operation){
		"with bodies":    func(*targets.Operation) {},
		"without bodies": func(o *targets.Operation) { o.Request.Body, o.Request.Path = nil, "/{{.Intent.Marker}}" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig2(t, serveH2C(t, telling).address(), burst(20))
			change(&r.Operations[0].Operation)
			w := r.recordWrites()
			attempts := r.drive(t).Attempts
			require.Equal(t, []int{20}, w.ends())
			for _, a := range attempts {
				require.Equal(t, 201, a.Status, a.Error)
				require.Equal(t, attempts[0].Sent, a.Sent, "all members send the same")
			}
		})
	}
}

func TestTheSecondOfASweepGoesInAWriteOfItsOwn(t *testing.T) {
	t.Parallel()
	first := make(chan struct{})
	var inside atomic.Int64
	server := serveH2C(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if inside.Add(1) == 1 {
			close(first)
			return
		}
		<-first
	})
	r := newRig2(t, server.address(), scenarios.Step{Sweep: &scenarios.Sweep{From: fixed(20 * time.Millisecond), To: fixed(21 * time.Millisecond), Send: plain()}})
	w := r.recordWrites()
	attempts := r.drive(t).Attempts
	require.Len(t, attempts, 2)
	require.Equal(t, []int{1, 1}, w.ends())
	slices.SortFunc(attempts, func(a, b history.Attempt) int { return cmp.Compare(a.After, b.After) })
	require.GreaterOrEqual(t, attempts[1].Wrote-attempts[0].Start, history.Offset(20*time.Millisecond))
	require.EqualValues(t, 1, server.connections.Load())
}

// The handlers wait for each other: they are left only if all members are inside at once.
func TestABurstMeetsBehindJitter(t *testing.T) {
	t.Parallel()
	const many = 20
	var inside atomic.Int64
	all := make(chan struct{})
	server := serveH2C(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if inside.Add(1) == many {
			close(all)
		}
		select {
		case <-all:
			w.WriteHeader(http.StatusCreated)
		case <-time.After(long):
		}
	})
	weather := map[string][]faults.Fault{"jitter": {{Latency: &faults.Latency{
		Delay: faults.Duration(60 * time.Millisecond), Jitter: faults.Duration(50 * time.Millisecond)}}}}
	lanes, err := proxy.Open(t.Context(), weather, proxy.Options{Upstream: server.address(), Base: time.Now()})
	require.NoError(t, err)
	step := burst(many)
	step.Burst.Lane = "jitter"
	r := newRig2(t, server.address(), step)
	r.Dialers[0] = func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) { return lanes.Dial(ctx, lane) }
	require.NoError(t, r.Drive(t.Context()))
	require.NoError(t, r.RecordPassages())
	h := r.history(t)
	require.NoError(t, lanes.Close())
	for _, a := range h.Attempts {
		require.Equal(t, 201, a.Status, a.Error)
		require.Nil(t, a.Passage, "a connection of many says nothing of one")
	}
	require.EqualValues(t, 1, server.connections.Load())
}

func TestTheWritersOfASharedConnectionAreHeldBack(t *testing.T) {
	t.Parallel()
	b := &table{}
	server := serveH2C(t, b.handler(members))
	r := newRig2(t, server.address(), gated(members))
	r.Controls.WriteGates = []driver.WriteGate{b.gate("orders", long)}
	facts := r.holding(t)
	require.Equal(t, members, *facts.Waiting)
	require.EqualValues(t, 1, server.connections.Load())
	seen := b.all()
	require.Equal(t, "shut", seen[0])
	require.Equal(t, "opened", seen[members+1], "all stand in line before anybody writes: %v", seen)
}

func TestMoreMembersThanAConnectionTakesGoOnSeveral(t *testing.T) {
	t.Parallel()
	var seen ledger
	server := serveH2C(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
		seen.add(r.RemoteAddr)
	}, func(c *http.HTTP2Config) { c.MaxConcurrentStreams = 8 })
	r := newRig2(t, server.address(), burst(20))
	w := r.recordWrites()
	h := r.drive(t)
	for _, a := range h.Attempts {
		require.Equal(t, 200, a.Status, a.Error)
		require.Equal(t, h.Intents[0].Bodies[history.Original].Content, a.Content)
	}
	require.EqualValues(t, 3, server.connections.Load())
	ends := w.ends()
	slices.Sort(ends)
	require.Equal(t, []int{4, 8, 8}, ends)
	sum := 0
	for _, n := range seen.tally() {
		require.LessOrEqual(t, n, 8)
		sum += n
	}
	require.Equal(t, 20, sum)
}

func TestAMemberThatGivesUpDoesNotDisturbTheOthers(t *testing.T) {
	t.Parallel()
	const many = 5
	var order, left atomic.Int64
	server := serveH2C(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if order.Add(1) > 2 {
			w.WriteHeader(http.StatusCreated)
			return
		}
		<-r.Context().Done() // which RST_STREAM brings about
		left.Add(1)
	})
	step := burst(many)
	step.Burst.Timeout = fixed(30 * time.Second) // so that a busy machine answers the others in time
	r := newRig2(t, server.address(), step)
	kinds := map[history.ErrorKind]int{}
	for _, a := range r.drive(t).Attempts {
		kinds[a.ErrorKind]++
		if a.ErrorKind == history.Timeout {
			require.NotZero(t, a.Wrote)
			require.Zero(t, a.Replied)
			require.GreaterOrEqual(t, a.End-a.Wrote, a.Deadline)
		}
	}
	require.Equal(t, map[history.ErrorKind]int{"": many - 2, history.Timeout: 2}, kinds)
	require.Eventually(t, func() bool { return left.Load() == 2 }, long, time.Millisecond)
	require.EqualValues(t, many, order.Load(), "nothing is sent again")
}

// The last member needs a connection of its own, which is slow: what the others wait is not their patience. A machine may be too busy to dial
// or to answer in time, and then that is what is recorded.
func TestTheBarrierOfASharedConnectionDoesNotUseUpAClientsTimeout(t *testing.T) {
	t.Parallel()
	server := serveH2C(t, telling, func(c *http.HTTP2Config) { c.MaxConcurrentStreams = members - 1 })
	step := burst(members)
	step.Burst.Timeout = fixed(3 * time.Second)
	r := newRig2(t, server.address(), step)
	w := r.recordWrites()
	r.hold(2, func(context.Context) error {
		time.Sleep(3200 * time.Millisecond)
		require.Empty(t, w.ends(), "no member is released before all are there")
		return nil
	})
	ends := []int{members - 1, 1}
	for _, a := range r.drive(t).Attempts {
		switch a.ErrorKind {
		case history.Refused:
			require.GreaterOrEqual(t, (a.End - a.Start).Duration(), 5*time.Second, a.Error)
			ends = ends[:1]
		case history.Timeout:
			require.NotZero(t, a.Wrote)
			require.GreaterOrEqual(t, a.End-a.Wrote, a.Deadline)
		default:
			require.Equal(t, 201, a.Status, a.Error)
			require.Empty(t, a.Error)
		}
	}
	require.ElementsMatch(t, ends, w.ends())
}

// Where the server gave a client up, there is nothing to see: another burst is played.
func TestAMemberThatComesLateGoesOnAConnectionOfItsOwn(t *testing.T) {
	t.Parallel()
	const tries = 3
	for try := 1; !lateMember(t, try == tries); try++ {
	}
}

// lateMember plays a burst with a late member. It reports false where the server gave a client up, unless this is the last try.
func lateMember(t *testing.T, last bool) bool {
	t.Helper()
	server := serveH2C(t, telling, func(c *http.HTTP2Config) { c.MaxConcurrentStreams = members - 1 })
	r := newRig2(t, server.address(), burst(members))
	r.Hold = time.Second
	w := r.recordWrites()
	released := func() (all int) {
		for _, n := range w.ends() { // one, unless others of them came late as well
			all += n
		}
		return all
	}
	r.hold(2, func(context.Context) error {
		require.Eventually(t, func() bool { return released() == members-1 || server.gaveUp.Load() }, long, time.Millisecond)
		return nil
	})
	attempts := r.drive(t).Attempts
	if server.gaveUp.Load() && !last {
		return false
	}
	for _, a := range attempts {
		require.Equal(t, 201, a.Status, a.Error)
		require.Empty(t, a.Error)
	}
	require.Equal(t, members, released())
	require.Equal(t, 1, w.ends()[len(w.ends())-1])
	return true
}

func TestALargeRequestWaitsForItsWindow(t *testing.T) {
	t.Parallel()
	const size = 512 << 10 // eight windows
	for name, step := range map[string]scenarios.Step{"alone": send(), "in a burst": burst(3)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serveH2C(t, func(w http.ResponseWriter, r *http.Request) {
				digest := sha256.New()
				n, _ := io.Copy(digest, r.Body)
				_, _ = fmt.Fprintf(w, "%v %x", n > size && n == r.ContentLength, digest.Sum(nil))
			}, func(c *http.HTTP2Config) {
				c.MaxReceiveBufferPerStream, c.MaxReceiveBufferPerConnection = 64<<10, 64<<10
			})
			r := newRig2(t, server.address(), step)
			r.Operations[0].Request.Body["pad"] = strings.Repeat("x", size)
			h := r.drive(t)
			sum := sha256.Sum256([]byte(h.Intents[0].Bodies[history.Original].Content))
			for _, a := range h.Attempts {
				require.Equal(t, "true "+hex.EncodeToString(sum[:]), a.Content, a.Error)
				require.Greater(t, a.Sent, int64(size))
			}
		})
	}
}

func TestLargeAnswersAreReadToTheirEnd(t *testing.T) {
	t.Parallel()
	part := bytes.Repeat([]byte("0123456789abcdef"), 4<<10)
	const parts = 200 // 12.5 MiB, more than any window
	digest := sha256.New()
	for range parts {
		digest.Write(part)
	}
	server := serveH2C(t, func(w http.ResponseWriter, _ *http.Request) {
		for range parts {
			_, _ = w.Write(part)
		}
	})
	for _, a := range newRig2(t, server.address(), burst(3)).drive(t).Attempts {
		require.Empty(t, a.Error)
		require.True(t, a.Complete)
		require.EqualValues(t, parts*len(part), a.Length)
		require.Len(t, a.Content, driver.DefaultKeepBody)
		require.Equal(t, hex.EncodeToString(digest.Sum(nil)), a.Digest)
	}
}

func TestAnHTTP2AnswerBeforeTheEndOfTheRequestIsRead(t *testing.T) {
	t.Parallel()
	server := serveH2C(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = w.Write([]byte("big"))
	}, func(c *http.HTTP2Config) { c.MaxReceiveBufferPerStream = 64 << 10 })
	r := newRig2(t, server.address(), send())
	const size = 8 << 20
	r.Operations[0].Request.Body["pad"] = strings.Repeat("x", size)
	a := r.only(t)
	require.Equal(t, 413, a.Status, a.Error)
	require.Equal(t, "big", a.Content)
	require.True(t, a.Complete)
	require.Zero(t, a.Wrote, "the last byte was never written")
	require.Less(t, a.Sent, int64(size))
}

func TestAnInterruptionEndsTheStreamsOfABurst(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, members)
	server := serveH2C(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	r := newRig2(t, server.address(), burst(members))
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := r.begin(ctx)
	for range members {
		within(t, arrived, "a member")
	}
	cancel(errEnough)
	require.ErrorIs(t, within(t, ended, "the end"), errEnough)
	for _, a := range r.history(t).Attempts {
		require.Equal(t, history.Interrupted, a.ErrorKind)
		require.NotZero(t, a.Wrote)
	}
}

func TestHTTP2TargetsAreAskedInHTTP2(t *testing.T) {
	t.Parallel()
	var seen ledger
	server := serveH2C(t, func(w http.ResponseWriter, r *http.Request) {
		seen.add(r.Proto + " " + r.Method + " " + r.URL.Path)
		switch r.URL.Path {
		case "/operations/7":
			_, _ = w.Write([]byte("done"))
		case "/received":
			_, _ = w.Write([]byte(`{"n":4}`))
		default:
			w.Header().Set("Location", "/operations/7")
			w.WriteHeader(http.StatusAccepted)
		}
	})
	r := newRig2(t, server.address(), send())
	r.Target.BaseURL = server.URL
	r.Target.Received = &targets.Received{Path: "/received", Pointer: "/n"}
	require.NoError(t, driver.Alive(t.Context(), r.Target))
	n, err := driver.Received(t.Context(), r.Target)
	require.NoError(t, err)
	require.EqualValues(t, 4, n)
	r.Following = following()
	r.drive(t)
	require.NoError(t, r.Follow(t.Context()))
	f := r.history(t).Followups[0]
	require.Equal(t, "done", f.Content)
	require.True(t, f.Complete)
	require.Equal(t, map[string]int{
		"HTTP/2.0 GET /": 1, "HTTP/2.0 GET /received": 1, "HTTP/2.0 POST /orders": 1, "HTTP/2.0 GET /operations/7": 1,
	}, seen.tally())
}
