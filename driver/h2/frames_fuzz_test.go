package h2_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/doubletap-harness/doubletap/driver/h2"
)

// frames writes what a server may send.
func frames(write func(*http2.Framer)) []byte {
	var text bytes.Buffer
	framer := http2.NewFramer(&text, nil)
	framer.AllowIllegalWrites = true
	write(framer)
	return text.Bytes()
}

// fields is a head of an answer.
func fields(pairs ...string) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for i := 0; i < len(pairs); i += 2 {
		_ = encoder.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return block.Bytes()
}

// FuzzFrames has a server say anything on a connection and hang up. The exchange ends, and is whole or says why it is not.
func FuzzFrames(f *testing.F) {
	head := func(w *http2.Framer, ends bool, pairs ...string) {
		_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields(pairs...), EndHeaders: true, EndStream: ends})
	}
	for _, write := range []func(*http2.Framer){
		func(w *http2.Framer) {
			_ = w.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 10})
			head(w, false, ":status", "201", "content-length", "8")
			_ = w.WriteData(1, true, []byte(`{"id":7}`))
		},
		func(w *http2.Framer) { head(w, true, ":status", "200") },
		func(w *http2.Framer) { head(w, false, ":status", "103"); head(w, true, ":status", "204") },
		func(w *http2.Framer) { head(w, true, ":status", "100") },
		func(w *http2.Framer) { head(w, true, ":status", "x", "a", "b") },
		func(w *http2.Framer) { head(w, false, ":status", "200"); head(w, true, "trailer", "1") },
		func(w *http2.Framer) { head(w, false, ":status", "200"); head(w, false, ":status", "200") },
		func(w *http2.Framer) {
			_ = w.WriteGoAway(0, http2.ErrCodeNo, []byte("bye"))
			head(w, true, ":status", "200")
		},
		func(w *http2.Framer) { _ = w.WriteRSTStream(1, http2.ErrCodeCancel) },
		func(w *http2.Framer) {
			head(w, false, ":status", "200")
			_ = w.WriteRSTStream(1, http2.ErrCodeNo)
			_ = w.WriteData(1, true, nil)
		},
		func(w *http2.Framer) {
			_ = w.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}, http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
			_ = w.WriteWindowUpdate(0, 1<<31-1)
			_ = w.WriteWindowUpdate(1, 1)
		},
		func(w *http2.Framer) { _ = w.WritePing(false, [8]byte{1}); _ = w.WriteData(1, true, []byte("no head")) },
		func(w *http2.Framer) {
			_ = w.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, BlockFragment: fields(":path", "/"), EndHeaders: true})
		},
		func(w *http2.Framer) {
			_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x0f}})
			_ = w.WriteContinuation(1, true, nil)
		},
		func(w *http2.Framer) { _ = w.WriteRawFrame(0x77, 0xff, 1<<31, []byte("unknown")) },
	} {
		f.Add(frames(write))
	}
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Add([]byte{0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, text []byte) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/orders", strings.NewReader(`{"amount":1200}`))
		require.NoError(t, err)
		begun, over := time.Now(), make(chan struct{})
		var body bytes.Buffer
		x := h2.Exchange{
			Request: request, Body: &body, DialTimeout: long, Timeout: long, Now: func() time.Duration { return time.Since(begun) },
			Dial: func(context.Context) (net.Conn, error) {
				near, far := net.Pipe()
				go func() {
					defer close(over)
					go func() { _, _ = far.Write(text); _ = far.Close() }()
					_, _ = io.Copy(io.Discard, far)
				}()
				return near, nil
			},
		}
		got, err := h2.NewPool().Do(t.Context(), x)
		<-over
		if err != nil {
			require.False(t, got.Complete, "%v", err)
			return
		}
		require.True(t, got.Complete)
		require.GreaterOrEqual(t, got.Status, 200)
		require.LessOrEqual(t, body.Len(), len(text))
	})
}
