package driver_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/driver"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/scenarios"
)

// answers says what becomes of an attempt, given what the server does once it has the request.
var answers = map[string]struct {
	answer func(*peer)
	want   history.Attempt // what of it is compared, see recorded
}{
	"an answer with a body": {
		says("HTTP/1.1 201 Created\r\nContent-Length: 8\r\nX-Id: 7\r\n\r\n{\"id\":7}"),
		history.Attempt{Status: 201, Header: map[string]string{"Content-Length": "8", "X-Id": "7"}, Content: `{"id":7}`, Length: 8, Complete: true},
	},
	"two lines of one header are joined": {
		says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nVia: a\r\nVia: b\r\n\r\n"),
		history.Attempt{Status: 200, Header: map[string]string{"Content-Length": "0", "Via": "a, b"}, Complete: true},
	},
	"a chunked body": {
		says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
		history.Attempt{Status: 200, Content: "abcde", Length: 5, Complete: true},
	},
	"a body that ends with the connection": {
		says("HTTP/1.1 200 OK\r\n\r\nuntil the end"),
		history.Attempt{Status: 200, Content: "until the end", Length: 13, Complete: true},
	},
	"an answer without a body, although it names a length": {
		says("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
		history.Attempt{Status: 304, Header: map[string]string{"Content-Length": "5"}, Complete: true},
	},
	"no content, on a connection that stays": {
		func(p *peer) { p.say("HTTP/1.1 204 No Content\r\n\r\n"); p.stay() },
		history.Attempt{Status: 204, Complete: true},
	},
	"informational answers are skipped": {
		says("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"),
		history.Attempt{Status: 201, Header: map[string]string{"Content-Length": "2"}, Content: "{}", Length: 2, Complete: true},
	},
	"an informational answer is no reply": {
		says("HTTP/1.1 103 Early Hints\r\n\r\n"), history.Attempt{ErrorKind: history.Closed},
	},
	"informational answers without end": {
		says(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 11)), history.Attempt{ErrorKind: history.Garbage},
	},
	"a body shorter than its length": {
		says("HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\n{\"id\""),
		history.Attempt{Status: 201, Header: map[string]string{"Content-Length": "9"}, Content: `{"id"`, Length: 5, ErrorKind: history.Truncated},
	},
	"a chunked body that breaks off": {
		says("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"),
		history.Attempt{Status: 201, Content: "ab", Length: 2, ErrorKind: history.Truncated},
	},
	"a chunked body without its last chunk": {
		says("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"),
		history.Attempt{Status: 201, Content: "ab", Length: 2, ErrorKind: history.Truncated},
	},
	"a head that breaks off in a name":      {says("HTTP/1.1 201 Created\r\nContent-Ty"), history.Attempt{ErrorKind: history.Truncated}},
	"a head that breaks off in a value":     {says("HTTP/1.1 201 Created\r\nContent-Length: 1"), history.Attempt{ErrorKind: history.Truncated}},
	"a status line that breaks off":         {says("HTTP/1.1 20"), history.Attempt{ErrorKind: history.Truncated}},
	"the first letter of an answer":         {says("H"), history.Attempt{ErrorKind: history.Truncated}},
	"closed before an answer":               {func(*peer) {}, history.Attempt{ErrorKind: history.Closed}},
	"reset before an answer":                {(*peer).reset, history.Attempt{ErrorKind: history.Reset}},
	"another protocol":                      {says("SSH-2.0-OpenSSH_9.6\r\n"), history.Attempt{ErrorKind: history.Garbage}},
	"another protocol without a line's end": {says("SSH-2.0"), history.Attempt{ErrorKind: history.Garbage}},
	"a status that is none":                 {says("HTTP/1.1 000 OK\r\n\r\n"), history.Attempt{ErrorKind: history.Garbage}},
	"a length that is none":                 {says("HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n"), history.Attempt{ErrorKind: history.Garbage}},
	"a header without a colon":              {says("HTTP/1.1 200 OK\r\nnonsense\r\n\r\n{}"), history.Attempt{ErrorKind: history.Garbage}},
	"a transfer encoding that was not asked for": {
		says("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"), history.Attempt{ErrorKind: history.Garbage},
	},
	"a chunk of no length": {
		says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n"),
		history.Attempt{Status: 200, ErrorKind: history.Garbage},
	},
	"a head without end": {
		func(p *peer) {
			p.say("HTTP/1.1 200 OK\r\n")
			for range 2000 {
				p.say("X-More: %s\r\n", strings.Repeat("x", 1000))
			}
		},
		history.Attempt{ErrorKind: history.Garbage},
	},
}

func says(text string) func(*peer) { return func(p *peer) { p.say("%s", text) } }

// recorded is what of an attempt the answer alone decides.
func recorded(a history.Attempt) history.Attempt {
	if len(a.Header) == 0 {
		a.Header = nil
	}
	return history.Attempt{
		Status: a.Status, Header: a.Header, Content: a.Content, Length: a.Length,
		Digest: a.Digest, Complete: a.Complete, ErrorKind: a.ErrorKind,
	}
}

func TestAnAnswerIsRecordedAsItWas(t *testing.T) {
	t.Parallel()
	for name, row := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := serveRaw(t, func(p *peer) { p.request(); row.answer(p) })
			a := newRig(t, address, send()).only(t)
			require.Equal(t, row.want, recorded(a), a.Error)
			require.Equal(t, row.want.ErrorKind == "", a.Error == "", a.Error)
			replied := a.Status != 0 || a.ErrorKind == history.Truncated || a.ErrorKind == history.Garbage
			require.Equal(t, replied, a.Replied != 0)
			require.NotZero(t, a.Sent)
			require.LessOrEqual(t, a.Start, a.Wrote)
			require.LessOrEqual(t, max(a.Wrote, a.Replied), a.End)
		})
	}
}

func TestAResetInsideTheBodyIsAReset(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	address := serveRaw(t, func(p *peer) {
		p.request()
		p.say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
		<-read
		p.reset()
	})
	r := newRig(t, address, send())
	r.Dialers[0] = func(ctx context.Context, _ string) (net.Conn, driver.Tap, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		return &listening{Conn: conn, until: "abc", heard: func() { close(read) }}, nil, err
	}
	a := r.only(t)
	require.Equal(t, history.Reset, a.ErrorKind)
	require.Equal(t, "abc", a.Content)
	require.False(t, a.Complete)
}

// listening says when its client has read something.
type listening struct {
	net.Conn
	until string
	heard func()
	text  string
}

func (l *listening) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	before := strings.Contains(l.text, l.until)
	l.text += string(p[:n])
	if !before && strings.Contains(l.text, l.until) {
		l.heard()
	}
	return n, err
}

func TestAClientGivesUpAtItsDeadline(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]string{"before the answer": "", "inside the answer": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := serveRaw(t, func(p *peer) { p.request(); p.say("%s", part); p.stay() })
			a := newRig(t, address, sendWithin(2*time.Second)).only(t)
			require.Equal(t, history.Timeout, a.ErrorKind)
			require.Equal(t, history.Offset(2*time.Second), a.Deadline)
			require.NotZero(t, a.Sent)
			require.NotZero(t, a.Wrote)
			require.False(t, a.Complete)
			require.GreaterOrEqual(t, a.End-a.Start, a.Deadline)
			require.Equal(t, part != "", a.Replied != 0)
		})
	}
}

func TestADeadlineIsAShareOfTheNormalTime(t *testing.T) {
	t.Parallel()
	step := send()
	step.Send.Timeout = scenarios.Span{Share: 2.5}
	r := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), step)
	r.Normal = 8 * time.Second
	require.Equal(t, history.Offset(20*time.Second), r.only(t).Deadline)
}

func TestADeadlineOfNoTimeIsTheUsualOne(t *testing.T) {
	t.Parallel()
	step := send()
	step.Send.Timeout = scenarios.Span{Share: 0.5}
	a := newRig(t, serve(t, func(http.ResponseWriter, *http.Request) {}), step).only(t)
	require.Equal(t, history.Offset(10*time.Second), a.Deadline)
	require.Equal(t, 200, a.Status)
}

func TestARefusedDialSendsNothing(t *testing.T) {
	t.Parallel()
	a := newRig(t, deaf(t), send()).only(t)
	require.Equal(t, history.Refused, a.ErrorKind)
	require.Zero(t, a.Sent)
	require.Zero(t, a.Wrote)
}

// A lane's entry is a queue: an impatient client must not be taken for one that was refused.
func TestDialsMayTakeLongerThanAClientsPatience(t *testing.T) {
	t.Parallel()
	r := newRig(t, serveRaw(t, func(p *peer) { p.request(); p.stay() }), sendWithin(time.Millisecond))
	dial := r.Dialers[0]
	r.Dialers[0] = func(ctx context.Context, lane string) (net.Conn, driver.Tap, error) {
		deadline, _ := ctx.Deadline()
		require.Greater(t, time.Until(deadline), time.Second)
		return dial(ctx, lane)
	}
	require.Equal(t, history.Timeout, r.only(t).ErrorKind)
}

// A server that refuses a large request answers and closes while it is still being written.
func TestAnAnswerBeforeTheEndOfTheRequestIsRead(t *testing.T) {
	t.Parallel()
	address := serveRaw(t, func(p *peer) {
		_, _ = p.in.ReadString('\n')
		p.say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig")
	})
	r := newRig(t, address, send())
	const size = 1 << 20
	r.Operations[0].Request.Body["pad"] = strings.Repeat("x", size)
	r.Dialers[0] = func(ctx context.Context, _ string) (net.Conn, driver.Tap, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		return conn, nil, errors.Join(err, conn.(*net.TCPConn).SetWriteBuffer(16<<10))
	}
	a := r.only(t)
	require.Equal(t, 413, a.Status, a.Error)
	require.Equal(t, "big", a.Content)
	require.True(t, a.Complete)
	require.Zero(t, a.Wrote, "the last byte was never written")
	require.Less(t, a.Sent, int64(size))
}

func TestABodyIsKeptUpToTheLimitAndDigestedWhole(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		body, content string
		digested      bool
	}{
		"at the limit":   {"12345678", "12345678", false},
		"past the limit": {"123456789", "12345678", true},
		"not text":       {"a\xff", "a\uFFFD", true},
		"cut in a rune":  {"1234567é", "1234567\uFFFD", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(row.body)) }), send())
			r.KeepBody = 8
			a := r.only(t)
			require.True(t, a.Complete)
			require.Equal(t, int64(len(row.body)), a.Length)
			require.Equal(t, row.content, a.Content)
			sum := sha256.Sum256([]byte(row.body))
			require.Equal(t, map[bool]string{true: hex.EncodeToString(sum[:])}[row.digested], a.Digest)
		})
	}
}
