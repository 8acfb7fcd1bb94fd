package driver

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
)

// longestHead bounds what an answer may have before its body: 1 MiB.
const longestHead = 1 << 20

// What makes an answer garbage whatever the version of HTTP.
var (
	errLongHead = errors.New("malformed HTTP response: its head does not end")
	errEndless  = errors.New("malformed HTTP response: informational answers without end")
)

// receive reads the answer into the record. An error that is neither the network's nor an
// early end is garbage. A body that breaks off keeps what came of it, and the record is
// not Complete: a cut 2xx is no acknowledgement.
func (x *exchange) receive(conn net.Conn) error {
	source := &answerReader{conn: conn, room: longestHead}
	in := bufio.NewReader(source)
	response, err := x.readFinal(in)
	if err != nil {
		return source.explain(err)
	}
	defer response.Body.Close()
	source.room = math.MaxInt64
	x.record.Status = response.StatusCode
	x.record.Header, x.cookies = flatten(response.Header), response.Header.Values("Set-Cookie")
	body := newRecordedBody(x.keep)
	_, err = io.Copy(body, response.Body)
	x.idle = err == nil && !response.Close && response.StatusCode != http.StatusSwitchingProtocols && in.Buffered() == 0
	return cmp.Or(err, x.keepBody(body, err == nil))
}

// mostInformational is how many informational answers may come before the answer.
const mostInformational = 10

// readFinal reads the head of the answer and skips informational ones (RFC 9110, section 15.2):
// they are not the answer, and no reply.
func (x *exchange) readFinal(in *bufio.Reader) (*http.Response, error) {
	for range mostInformational {
		x.record.Replied = 0
		if _, err := in.Peek(1); err != nil {
			return nil, err
		}
		x.record.Replied = x.now()
		response, err := http.ReadResponse(in, x.http)
		switch {
		case err != nil:
			return nil, err
		case response.StatusCode < 100:
			return nil, fmt.Errorf("malformed HTTP response: status %d", response.StatusCode)
		case response.StatusCode >= 200, response.StatusCode == http.StatusSwitchingProtocols:
			return response, nil
		}
	}
	return nil, errEndless
}

// answerReader reads a connection for http.ReadResponse. It remembers how the answer began
// and whether the connection has ended, and bounds the head, which net/http does not.
type answerReader struct {
	conn  net.Conn
	room  int64 // bytes that may still be read
	begin []byte
	ended bool
}

// protocol is what every answer begins with.
const protocol = "HTTP/"

// Read reads on, until there is no room left: a head without an end is an error.
func (r *answerReader) Read(p []byte) (int, error) {
	if r.room <= 0 {
		return 0, errLongHead
	}
	n, err := r.conn.Read(p)
	r.room -= int64(n)
	r.begin = append(r.begin, p[:min(n, len(protocol)-len(r.begin))]...)
	r.ended = r.ended || errors.Is(err, io.EOF)
	return n, err
}

// explain tells a head that broke off, which looks malformed to http.ReadResponse, from
// garbage: the connection has ended, and what came is the beginning of "HTTP/".
func (r *answerReader) explain(err error) error {
	if r.ended && strings.HasPrefix(protocol, string(r.begin)) {
		return fmt.Errorf("the answer broke off: %w (%s)", io.ErrUnexpectedEOF, err)
	}
	return err
}

// flatten keeps the answer's headers, several lines of one name joined as RFC 9110 section 5.3 allows.
func flatten(h http.Header) map[string]string {
	flat := make(map[string]string, len(h))
	for name, lines := range h {
		flat[name] = strings.Join(lines, ", ")
	}
	return flat
}
