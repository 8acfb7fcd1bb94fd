package sinks

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/doubletap-harness/doubletap/contract"
	"github.com/doubletap-harness/doubletap/history"
	"github.com/doubletap-harness/doubletap/jsonpointer"
	"github.com/doubletap-harness/doubletap/targets"
)

// How much of a request is read.
const (
	mostBody    = 4 << 20   // bytes of a body that are looked at
	mostDrained = 256 << 20 // bytes of a body that are read at all
	mostStored  = 100_000   // answers that are remembered by their keys
)

// httpSink answers requests in place of a service.
type httpSink struct {
	inbox  *Inbox
	spec   targets.HTTPSink
	server io.Closer
	ended  chan struct{} // closed when it ends: nobody waits any more
	close  func() error  // closing again does nothing

	first map[string]answered // by method, path and key; guarded by the inbox's lock
}

// answered is the first answer to a key.
type answered struct {
	message string // its name; empty: it was not taken down
	answer  reply
}

// reply is an answer that can be sent.
type reply struct {
	status int
	header map[string]string
	body   []byte
}

// serveHTTP begins to answer what comes to a listener.
func serveHTTP(listener net.Listener, spec targets.HTTPSink, in *Inbox) *httpSink {
	h := &httpSink{inbox: in, spec: spec, ended: make(chan struct{}), first: map[string]answered{}}
	h.close = sync.OnceValue(func() error {
		close(h.ended)
		return h.server.Close()
	})
	h.server = in.HearHTTP(listener, noHTTP, time.Minute, h)
	return h
}

// ServeHTTP takes a request down, and answers it.
func (h *httpSink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, length, err := read(r.Body)
	m := history.Message{Method: r.Method, Path: r.URL.RequestURI(), Length: length, Traces: traces(r.Header.Get("Traceparent"))}
	said := parsed(body, r.Header.Get("Content-Type"))
	m.Key, m.Intent, m.Names = at(h.spec.Key, r, said), at(h.spec.Intent, r, said), find(sent(r, body)...)
	if err != nil { // nobody waits for an answer
		m.Error = "its body broke off: " + err.Error()
		h.inbox.mu.Lock()
		h.inbox.take(&m, body)
		h.inbox.mu.Unlock()
		return
	}
	if length > mostBody {
		m.Error = fmt.Sprintf("its body has %d bytes, of which the first %d were looked at", length, mostBody)
	}
	answer, fault := h.act(&m, said, body)
	switch fault.Kind {
	case Lost:
		if fault.Hold != nil {
			select {
			case <-fault.Hold:
			case <-r.Context().Done():
			case <-h.ended:
			}
		}
		panic(http.ErrAbortHandler)
	case Late:
		select {
		case <-time.After(fault.For):
		case <-r.Context().Done():
		case <-h.ended:
		}
	}
	answer.write(w)
}

// act decides on the answer and takes the message down, as one step: of two requests with one key one is the first.
func (h *httpSink) act(m *history.Message, said any, body []byte) (reply, Fault) {
	h.inbox.mu.Lock()
	defer h.inbox.mu.Unlock()
	base, _, _ := strings.Cut(m.Path, "?")
	key := strings.Join([]string{m.Method, base, m.Key}, "\x00")
	known, repeated := h.first[key]
	repeated = repeated && m.Key != "" && h.spec.Idempotent
	var answer reply
	if repeated {
		answer, m.Acted, m.First = known.answer, true, cmp.Or(known.message, offRecord)
	} else {
		answer, m.Acted = h.answer(*m, base, said)
	}
	m.Status = answer.status
	fault := h.inbox.disturb(m)
	sent := answer
	switch fault.Kind {
	case Error:
		sent = reply{status: http.StatusInternalServerError, header: asJSON(), body: []byte(`{"error": "internal"}`)}
		m.Status = sent.status
	case Lost:
		m.Status = 0
	}
	h.inbox.take(m, body)
	if !repeated && m.Acted && m.Key != "" && h.spec.Idempotent && h.inbox.remembers(len(key)+len(answer.body), len(h.first)) {
		h.first[key] = answered{message: m.ID, answer: answer}
	}
	return sent, fault
}

// answer is what the target file says, and whether the service then has done what was asked.
func (h *httpSink) answer(m history.Message, base string, said any) (reply, bool) {
	id := strings.ToLower(rand.Text()[:16])
	if len(h.spec.Answers) == 0 {
		return reply{status: http.StatusOK, header: asJSON(), body: fmt.Appendf(nil, `{"id":%q}`, id)}, true
	}
	for _, a := range h.spec.Answers {
		fits, _ := path.Match(a.Path, base)
		if a.Method != "" && a.Method != m.Method || a.Path != "" && !fits {
			continue
		}
		header, body, err := a.Fill(targets.NewSinkRequest(id, m.Key, base, said))
		if err != nil {
			return reply{status: http.StatusInternalServerError, header: asJSON(), body: fmt.Appendf(nil, `{"error":%q}`, err.Error())}, false
		}
		if body != nil && header["Content-Type"] == "" {
			header["Content-Type"] = "application/json"
		}
		return reply{status: a.Status, header: header, body: body}, a.Acts()
	}
	return reply{status: http.StatusNotFound, header: asJSON(), body: fmt.Appendf(nil, `{"error":%q}`, "no answer of this sink fits "+m.Method+" "+base)}, false
}

// asJSON is the header of an answer in JSON.
func asJSON() map[string]string { return map[string]string{"Content-Type": "application/json"} }

// write sends the answer.
func (r reply) write(w http.ResponseWriter) {
	for name, value := range r.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body) // the client may be gone
}

// read reads the beginning of a body, and counts the rest.
func read(in io.Reader) (body []byte, length int64, err error) {
	body, err = io.ReadAll(io.LimitReader(in, mostBody))
	length = int64(len(body))
	if err == nil && length == mostBody {
		var more int64
		more, err = io.Copy(io.Discard, io.LimitReader(in, mostDrained))
		length += more
	}
	return body, length, err
}

// sent is all of a request in which it may say what it is about.
func sent(r *http.Request, body []byte) [][]byte {
	all := [][]byte{[]byte(r.URL.RequestURI())}
	for _, values := range r.Header {
		for _, value := range values {
			all = append(all, []byte(value))
		}
	}
	return append(all, body)
}

// parsed is what a body says: JSON, or the members of a form; nil: neither.
func parsed(body []byte, kind string) any {
	if out := unpacked(body); out != nil {
		body = out
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber() // an id of 19 digits stays as it is
	if decoder.Decode(&value) == nil && !decoder.More() {
		return value
	}
	if !strings.HasPrefix(kind, "application/x-www-form-urlencoded") {
		return nil
	}
	form, _ := url.ParseQuery(string(body))
	members := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(form)) {
		members[name] = form[name][0]
		if before, rest, is := strings.Cut(name, "["); is && strings.HasSuffix(rest, "]") && before != "" {
			nest(members, append([]string{before}, strings.Split(strings.TrimSuffix(rest, "]"), "][")...), form[name][0])
		}
	}
	return members
}

// nest puts the member of a form whose name is metadata[order] where JSON has it, at /metadata/order. What is there stays.
func nest(members map[string]any, names []string, value string) {
	for _, name := range names[:len(names)-1] {
		if members[name] == nil {
			members[name] = map[string]any{}
		}
		inner, is := members[name].(map[string]any)
		if !is {
			return
		}
		members = inner
	}
	if last := names[len(names)-1]; members[last] == nil {
		members[last] = value
	}
}

// at is the text at a place of a request; empty: it has none.
func at(key targets.SinkKey, r *http.Request, said any) string {
	switch key.In {
	case contract.KeyNowhere:
		return ""
	case contract.KeyInPath:
		if fits, _ := path.Match(key.Name, r.URL.Path); !fits {
			return ""
		}
		before, _, _ := strings.Cut(key.Name, "*")
		text, _, _ := strings.Cut(r.URL.Path[len(before):], "/")
		return text
	case contract.KeyInQuery:
		return r.URL.Query().Get(key.Name)
	case contract.KeyInBody:
		pointer := key.Name
		if !strings.HasPrefix(pointer, "/") {
			pointer = jsonpointer.Of(key.Name)
		}
		switch value, _ := jsonpointer.Resolve(said, pointer); value.(type) {
		case nil, map[string]any, []any:
			return ""
		default:
			return fmt.Sprint(value)
		}
	default:
		return r.Header.Get(key.Name)
	}
}

// traces are the trace of a traceparent (W3C Trace Context); nil: it is none.
func traces(parent string) []string {
	parts := strings.Split(parent, "-")
	if len(parts) < 4 || len(parts[1]) != 32 {
		return nil
	}
	return []string{strings.ToLower(parts[1])}
}

// find returns the markers and references in texts.
func find(texts ...[]byte) []string {
	var s Search
	for _, text := range texts {
		s.In(text)
	}
	return s.Names()
}

// noHTTP says what came on a connection without a request.
func noHTTP(first []byte) string {
	if first[0] == TLSHandshake {
		return "a connection began with a TLS handshake, and this sink speaks plain HTTP: the target has to use an http:// URL"
	}
	return "what came on a connection is no HTTP request"
}
