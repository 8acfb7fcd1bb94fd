package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// bomb is 1 GiB of zeros, packed.
var bomb = sync.OnceValue(func() []byte {
	var packed bytes.Buffer
	packer := gzip.NewWriter(&packed)
	zeros := make([]byte, 1<<20)
	for range 1 << 10 {
		_, _ = packer.Write(zeros)
	}
	_ = packer.Close()
	return packed.Bytes()
})

// daysOfAnswers are those of services that answer as no service should. None of them may pass.
func daysOfAnswers() []day {
	var days []day
	add := func(name string, exits []int, enemy func(w http.ResponseWriter, r *http.Request) bool, more ...string) {
		days = append(days, day{class: "answers", name: name, exits: exits, set: func(_ context.Context, b *bench) error {
			s, err := openShop(b, enemy)
			if err != nil {
				return err
			}
			err = s.runAt(b)
			b.args = append(b.args, more...)
			return err
		}})
	}
	raw := func(text string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			conn, buffer, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return true
			}
			defer conn.Close()
			_, _ = buffer.WriteString(text)
			_ = buffer.Flush()
			return true
		}
	}
	broken := []int{1, 2, 3, 4} // 3: the pilot says that the target file is not about this service
	for _, answer := range []struct{ name, text string }{
		{"nothing: the connection is closed", ""},
		{"garbage", "\x00\x01\x02\x16\x03\x01garbage\r\n\r\n"},
		{"another protocol", "SSH-2.0-OpenSSH_9.0\r\n"},
		{"a status line alone", "HTTP/1.1 201 Created\r\n"},
		{"a status that is none", "HTTP/1.1 999 " + pwned + "\r\nContent-Length: 0\r\n\r\n"},
		{"a status of no digits", "HTTP/1.1 abc Created\r\nContent-Length: 0\r\n\r\n"},
		{"a body cut short", "HTTP/1.1 201 Created\r\nContent-Length: 500\r\n\r\n{\"id\": 1}"},
		{"a negative length", "HTTP/1.1 201 Created\r\nContent-Length: -5\r\n\r\n{\"id\": 1}"},
		{"two lengths", "HTTP/1.1 201 Created\r\nContent-Length: 9\r\nContent-Length: 3\r\n\r\n{\"id\": 1}"},
		{"a chunk that is none", "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{\"id\": 1}\r\n0\r\n\r\n"},
		{"a chunk longer than memory", "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffff\r\n{\"id\": 1}"},
		{"a header without a colon", "HTTP/1.1 201 Created\r\nno colon here\r\nContent-Length: 0\r\n\r\n"},
		{"a header of 20 MiB", "HTTP/1.1 201 Created\r\nX-Long: " + strings.Repeat("a", 20<<20) + "\r\nContent-Length: 9\r\n\r\n{\"id\": 1}"},
		{"100,000 headers", "HTTP/1.1 201 Created\r\n" + strings.Repeat("X-Many: a\r\n", 100_000) + "Content-Length: 9\r\n\r\n{\"id\": 1}"},
		{"1,000 informational answers first", strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 1000) + "HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\n{\"id\": 1}"},
		{"a switch of protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"},
		{"workflow commands in a header", "HTTP/1.1 500 ::set-output name=x::" + pwned + "\r\nX-A: ::error::" + pwned + "\r\nContent-Length: 0\r\n\r\n"},
	} {
		add(answer.name, broken, raw(answer.text))
	}
	body := func(status int, kind string, content func(n int64) []byte) func(http.ResponseWriter, *http.Request) bool {
		var count atomic.Int64
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = w.Write(content(count.Add(1)))
			return true
		}
	}
	text := func(s string) func(int64) []byte { return func(int64) []byte { return []byte(s) } }
	for name, content := range map[string]func(int64) []byte{
		"an acknowledgement without a row":    func(n int64) []byte { return fmt.Appendf(nil, `{"id": %d}`, n) },
		"nothing but zeros":                   text(strings.Repeat("\x00", 4096)),
		"no UTF-8":                            text("{\"id\": 1, \"note\": \"\xff\xfe\"}"),
		"100,000 brackets":                    text(strings.Repeat("[", 100_000)),
		"a number of a million digits":        text(`{"id": ` + strings.Repeat("9", 1_000_000) + `}`),
		"a member a hundred thousand times":   text(`{` + strings.Repeat(`"id": 1, `, 100_000) + `"id": 1}`),
		"another id each time":                func(n int64) []byte { return fmt.Appendf(nil, `{"id": "%d-%s"}`, n, strings.Repeat("x", 10)) },
		"control characters":                  text("{\"id\": \"\x1b]0;" + pwned + "\x07\x1b[2J\u202e\"}"),
		"a script for browsers":               text(`{"id": "<script>document.title='` + pwned + `'</script>"}`),
		"a command for a shell":               text(`{"id": "'; touch ` + pwned + `; $(touch ` + pwned + `)"}`),
		"50 MiB":                              func(n int64) []byte { return bytes.Repeat([]byte{'a' + byte(n%26)}, 50<<20) },
		"a page of HTML in place of an order": text("<!doctype html><title>Sign in</title>"),
	} {
		add(name, broken, body(http.StatusCreated, "application/json", content))
	}
	entities := `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "` + strings.Repeat("a", 1000) + `"><!ENTITY f SYSTEM "file:///etc/passwd">`
	for n := 'b'; n <= 'e'; n++ {
		entities += fmt.Sprintf(`<!ENTITY %c "%s">`, n, strings.Repeat(fmt.Sprintf("&%c;", n-1), 1000))
	}
	add("a bomb of entities", broken, body(http.StatusCreated, "application/xml", text(entities+"]><x><id>&e;&f;</id></x>")))
	add("1 GiB of zeros, packed", broken, func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(bomb())
		return true
	})
	add("a redirect to another host", broken, func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, "http://192.0.2.1/"+pwned, http.StatusTemporaryRedirect)
		return true
	})
	add("a redirect to itself", broken, func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, r.URL.Path, http.StatusSeeOther)
		return true
	})
	add("an answer that never ends", broken, func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusCreated)
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				break
			}
			_ = http.NewResponseController(w).Flush()
		}
		return true
	})
	add("a byte a second", broken, func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusCreated)
		for range 60 {
			_, _ = w.Write([]byte(" "))
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return true
			case <-time.After(time.Second):
			}
		}
		return true
	})
	add("no answer at all", broken, func(_ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	})
	for _, status := range []int{200, 204, 301, 400, 401, 403, 404, 409, 418, 422, 429, 500, 503} {
		add(fmt.Sprintf("%d to everything, and no row", status), broken, body(status, "text/plain", func(int64) []byte {
			if status == http.StatusNoContent {
				return nil
			}
			return []byte("no")
		}))
	}
	var turn atomic.Int64
	add("every second answer is an error", []int{1, 2, 4}, func(w http.ResponseWriter, _ *http.Request) bool {
		if turn.Add(1)%2 == 0 {
			http.Error(w, "no", http.StatusInternalServerError)
			return true
		}
		return false
	}, "--parallel=1") // beside each other, one scenario could get all the errors where they do no harm
	return append(days, day{class: "answers", name: "nobody listens", exits: []int{4}, says: "no connection|refused", set: func(_ context.Context, b *bench) error {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		s, err := openShop(b, nil)
		if err != nil {
			return err
		}
		s.url = "http://" + listener.Addr().String()
		_ = listener.Close()
		return s.runAt(b)
	}})
}
