package driver

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"golang.org/x/net/http2"
)

// head takes HEADERS: the head of an answer, an informational one, or trailers (section 8.1).
func (st *stream) head(f *http2.MetaHeadersFrame) {
	if st.status != 0 {
		if !f.StreamEnded() {
			st.spoil(errors.New("malformed HTTP response: a second head"))
			return
		}
		st.finish()
		return
	}
	status, err := strconv.Atoi(f.PseudoValue("status"))
	switch {
	case f.Truncated:
		st.spoil(errLongHead)
	case err != nil || status < 100 || status < 200 && f.StreamEnded():
		st.spoil(fmt.Errorf("malformed HTTP response: status %q", f.PseudoValue("status")))
	case status < 200:
		if st.informational++; st.informational > mostInformational {
			st.spoil(errEndless)
		}
	default:
		header := headerOf(f)
		st.replied, st.status, st.header, st.cookies = st.now(), status, flatten(header), header.Values("Set-Cookie")
		if f.StreamEnded() {
			st.finish()
		}
	}
}

// data takes a part of the answer's body.
func (st *stream) data(f *http2.DataFrame) {
	if st.status == 0 {
		st.spoil(errors.New("malformed HTTP response: a body without a head"))
		return
	}
	_, _ = st.body.Write(f.Data()) // to memory
	if f.StreamEnded() {
		st.finish()
	}
}

// finish holds the end of the answer against the length that it was said to have (section 8.1.1).
func (st *stream) finish() {
	said, there := st.header["Content-Length"]
	length, err := strconv.ParseInt(said, 10, 64)
	empty := st.status == http.StatusNoContent || st.status == http.StatusNotModified
	switch got := st.body.length; {
	case !there, got == length && err == nil, empty && got == 0:
		st.complete = true
		st.done(nil)
	case err == nil && got < length:
		st.done(fmt.Errorf("the answer ended after %d of %d bytes: %w", got, length, io.ErrUnexpectedEOF))
	default:
		st.spoil(fmt.Errorf("malformed HTTP response: %d bytes, and a length of %q", got, said))
	}
}

// cut takes RST_STREAM (section 6.4).
func (st *stream) cut(code http2.ErrCode) {
	st.reset = true
	if st.replied == 0 {
		st.done(fmt.Errorf("%w (RST_STREAM, %s)", errStreamReset, code))
		return
	}
	st.done(fmt.Errorf("the answer broke off (RST_STREAM, %s): %w", code, io.ErrUnexpectedEOF))
}

// spoil ends an answer that is none.
func (st *stream) spoil(err error) {
	if st.replied == 0 {
		st.replied = st.now()
	}
	st.done(err)
}

// done ends the answer: it is whole, or there is a reason why not.
func (st *stream) done(err error) {
	st.err = err
	delete(st.session.streams, st.id)
	close(st.over)
}
