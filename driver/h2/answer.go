package h2

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
)

// What makes an answer malformed in every version of HTTP.
var (
	errLongHead = errors.New("malformed HTTP response: its head does not end")
	errEndless  = errors.New("malformed HTTP response: informational answers without end")
)

// mostInformational is how many informational answers may come before the answer.
const mostInformational = 10

// head takes HEADERS: the head of an answer, an informational one, or trailers (section 8.1).
func (st *stream) head(f *http2.MetaHeadersFrame) {
	if st.status != 0 {
		if !f.StreamEnded() {
			st.malformed(errors.New("malformed HTTP response: a second head"))
			return
		}
		st.finish()
		return
	}
	status, err := strconv.Atoi(f.PseudoValue("status"))
	switch {
	case f.Truncated:
		st.malformed(errLongHead)
	case err != nil || status < 100 || status < 200 && f.StreamEnded():
		st.malformed(fmt.Errorf("malformed HTTP response: status %q", f.PseudoValue("status")))
	case status < 200:
		if st.informational++; st.informational > mostInformational {
			st.malformed(errEndless)
		}
	default:
		st.replied, st.status, st.header = st.now(), status, headerOf(f)
		if f.StreamEnded() {
			st.finish()
		}
	}
}

// data takes a part of the answer's body.
func (st *stream) data(f *http2.DataFrame) {
	if st.status == 0 {
		st.malformed(errors.New("malformed HTTP response: a body without a head"))
		return
	}
	n, _ := st.body.Write(f.Data())
	st.length += int64(n)
	if f.StreamEnded() {
		st.finish()
	}
}

// finish checks the end of the answer against its Content-Length (section 8.1.1).
func (st *stream) finish() {
	said, there := strings.Join(st.header.Values("Content-Length"), ", "), st.header.Values("Content-Length") != nil
	length, err := strconv.ParseInt(said, 10, 64)
	empty := st.status == http.StatusNoContent || st.status == http.StatusNotModified
	switch got := st.length; {
	case !there, got == length && err == nil, empty && got == 0:
		st.complete = true
		st.done(nil)
	case err == nil && got < length:
		st.done(fmt.Errorf("the answer ended after %d of %d bytes: %w", got, length, io.ErrUnexpectedEOF))
	default:
		st.malformed(fmt.Errorf("malformed HTTP response: %d bytes, and a length of %q", got, said))
	}
}

// cut takes RST_STREAM (section 6.4). Before the first byte of an answer it means that the
// server refused; after it, that the answer broke off, which is an unknown outcome.
func (st *stream) cut(code http2.ErrCode) {
	st.reset = true
	if st.replied == 0 {
		st.done(fmt.Errorf("%w (RST_STREAM, %s)", ErrStreamReset, code))
		return
	}
	st.done(fmt.Errorf("the answer broke off (RST_STREAM, %s): %w", code, io.ErrUnexpectedEOF))
}

// malformed ends an answer that is not HTTP.
func (st *stream) malformed(err error) {
	if st.replied == 0 {
		st.replied = st.now()
	}
	st.done(err)
}

// done ends the answer. An error says why it is not whole.
func (st *stream) done(err error) {
	st.err = err
	delete(st.connection.streams, st.id)
	close(st.over)
}
