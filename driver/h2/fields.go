package h2

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// headOf returns the head of a request as a field block (RFC 9113, section 8.3.1). It never refers to another
// request: so all members of a burst have the same one, and secrets stay out of the server's table. Ends says that
// no body follows; otherwise the length is told.
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

// headerOf returns the fields of an answer under the names that they have in HTTP/1.1.
func headerOf(f *http2.MetaHeadersFrame) http.Header {
	header := http.Header{}
	for _, field := range f.RegularFields() {
		header.Add(field.Name, field.Value)
	}
	return header
}
