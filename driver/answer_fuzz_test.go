package driver

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/doubletap-harness/doubletap/history"
)

// said is a connection on which a target says something and hangs up.
type said struct {
	net.Conn
	text *bytes.Reader
}

func (s said) Read(p []byte) (int, error) { return s.text.Read(p) }

// FuzzAnswer reads anything as the answer to a request. What is on record of it is bounded and fits into a history.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{
		"HTTP/1.1 201 Created\r\nContent-Length: 8\r\nX-Id: 7\r\n\r\n{\"id\":7}", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.0 200 OK\r\n\r\nuntil the end", "HTTP/1.1 204 No Content\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nSet-Cookie: a=b; Path=/\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n\x78\x9c\x03\x00\x00\x00\x00\x01", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "HTTP/1.1 200 OK\r\n\r\n{\"caf\xe9\": [1e999999999, \"\\ud800\"]}", "SSH-2.0", "HTTP/1.1 99 \r\n\r\n", "",
	} {
		f.Add([]byte(text))
	}
	const keep = 64
	f.Fuzz(func(t *testing.T, text []byte) {
		request, err := http.NewRequest(http.MethodPost, "http://localhost/orders", nil)
		require.NoError(t, err)
		x := exchange{http: request, keep: keep, now: func() history.Offset { return 1 }}
		x.record = history.Attempt{ID: "i001.1", Intent: "i001"}
		if err := x.receive(said{text: bytes.NewReader(text)}); err != nil {
			x.fail(t.Context(), err, history.Garbage)
			require.NotEmpty(t, x.record.ErrorKind)
			require.False(t, x.record.Complete)
		} else {
			require.True(t, x.record.Complete)
			require.GreaterOrEqual(t, x.record.Status, 100)
		}
		require.LessOrEqual(t, len(x.record.Content), 3*keep, "of each byte that is no UTF-8 three are made")
		require.LessOrEqual(t, x.record.Length, int64(longestRead+len(text)))
		line, err := json.Marshal(x.record)
		require.NoError(t, err)
		var again history.Attempt
		require.NoError(t, json.Unmarshal(line, &again))
	})
}
