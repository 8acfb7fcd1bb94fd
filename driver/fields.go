package driver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// headOf returns the head of a request as a field block (RFC 9113, section 8.3.1). None of it is told in terms
// of another request: so all members of a burst have the same one, and secrets stay out of the server's table.
// Ends says that nothing follows; otherwise the length is told, so that nobody takes it for unknown.
func headOf(r *http.Request, ends bool) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	add := func(name, value string) {
		_ = encoder.WriteField(hpack.HeaderField{Name: name, Value: value, Sensitive: true}) // to memory
	}
	add(":method", r.Method)
	add(":scheme", r.URL.Scheme)
	add(":authority", r.Host)
	add(":path", r.URL.RequestURI())
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			if travels(name, value) {
				add(strings.ToLower(name), inOneLine(value))
			}
		}
	}
	if !ends || r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		add("content-length", strconv.FormatInt(r.ContentLength, 10))
	}
	return block.Bytes()
}

// travels reports whether a field may stand in HTTP/2: those that concern a connection may not (section
// 8.2.2), the host has a place of its own, and the length is what it is.
func travels(name, value string) bool {
	switch strings.ToLower(name) {
	case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade", "host", "content-length":
		return false
	case "te":
		return strings.EqualFold(value, "trailers")
	default:
		return true
	}
}

// inOneLine is a field's value as net/http writes it in HTTP/1.1.
func inOneLine(value string) string {
	return strings.Trim(strings.NewReplacer("\n", " ", "\r", " ").Replace(value), " \t")
}

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
		st.replied, st.status, st.header = st.now(), status, headerOf(f)
		if f.StreamEnded() {
			st.finish()
		}
	}
}

// headerOf returns the fields of an answer under the names that they have in HTTP/1.1.
func headerOf(f *http2.MetaHeadersFrame) map[string]string {
	header := http.Header{}
	for _, field := range f.RegularFields() {
		header.Add(field.Name, field.Value)
	}
	return flatten(header)
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
